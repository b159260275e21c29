"""`vigor` in a process that holds a lock as long as it lives: python -m vigor.studio.locked FILE ARGUMENTS..."""

import runpy
import sys

from filelock import FileLock


def main() -> None:
    with FileLock(sys.argv[1]):
        sys.argv[:2] = ["vigor"]
        runpy.run_module("vigor", run_name="__main__")


if __name__ == "__main__":
    main()
