# SPDX-License-Identifier: MIT
"""`python -m sinew` is the command `sinew`."""

import os
import sys

from ._command import path


def main() -> None:
    """Replace this process by the command, with the same arguments."""
    command = path()
    os.execv(command, [command, *sys.argv[1:]])


if __name__ == "__main__":
    main()
