"""The zygote's first steps: should the grader end in the seconds that importing torch takes, so does this."""

from __future__ import annotations

import importlib
import sys

from autograder.system import process


def main() -> None:
    process.die_with_parent()
    if process.has_hung_up(int(sys.argv[1])):
        return  # the grader had ended before that
    importlib.import_module("autograder.cluster.zygote").main()


if __name__ == "__main__":
    main()
