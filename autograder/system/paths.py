"""Where the kit is."""

from __future__ import annotations

from pathlib import Path

# The folder that holds assignment/, autograder/ and handout/.
ROOT = Path(__file__).resolve().parent.parent.parent
