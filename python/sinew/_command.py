# SPDX-License-Identifier: MIT
"""The command `sinew` that belongs to this package."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

from ._errors import NotConverged, error_of


def path() -> str:
    """Path of the command: `SINEW` of the environment, the one beside this package, or the first in PATH."""
    given = os.environ.get("SINEW")
    if given:
        return given
    here = pathlib.Path(__file__).parent
    for beside in (here / "bin" / "sinew", here.parent.parent / "sinew"):  # installed; in the build folder
        if beside.is_file() and os.access(beside, os.X_OK):
            return str(beside)
    found = shutil.which("sinew")
    if found:
        return found
    raise FileNotFoundError("the command 'sinew' is not installed; set SINEW to its path")


def call(*args: str, read: Callable[[dict[str, Any]], object] | None = None, key: str = "") -> dict[str, Any]:
    """Run the command with `--json` and return its reply; a failure raises the exception of its status.

    `read`: what makes a result of a reply that has `key`, which is that of the exception where a search ends short of its
    goal.
    """
    done = subprocess.run([path(), *args, "--json"], capture_output=True, text=True, check=False)
    try:
        reply: dict[str, Any] = json.loads(done.stdout)
    except json.JSONDecodeError:
        reply = {}
    if done.returncode != 0:
        error = reply.get("error", {})
        failure = error_of(error.get("status", ""), error.get("text") or done.stderr.strip(),
                           error.get("file"), error.get("line"), error.get("column"))  # fmt: skip
        if read and key in reply and isinstance(failure, NotConverged):
            failure.result = read(reply)
        raise failure
    return reply
