"""Prints what pyproject.toml requires, for pip: run before anything is installed, so it imports nothing else."""

import tomllib
from pathlib import Path

project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]
print(
    " ".join(
        requirement.replace(" ", "")
        for requirement in [*project["dependencies"], *project["optional-dependencies"]["test"]]
    )
)
