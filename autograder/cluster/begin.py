"""The zygote's first steps. Importing torch takes seconds, in which nobody listens to the grader: should it end, so does this."""

from __future__ import annotations

import importlib

from autograder.cluster import process


def main() -> None:
    process.die_with_parent()
    zygote = importlib.import_module("autograder.cluster.zygote")
    process.die_with_parent(False)  # from here on the zygote ends by itself, and its ranks before it
    zygote.main()


if __name__ == "__main__":
    main()
