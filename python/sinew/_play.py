# SPDX-License-Identifier: MIT
"""A live simulation in a browser or in a notebook, by the command `sinew play`."""

from __future__ import annotations

import html
import os
import pathlib
import subprocess
import tempfile
import weakref

import numpy as np

from . import _command
from ._core import OfThisProcess, file_name, written
from ._errors import Error, in_python
from ._link import Link
from ._model import Model
from ._types import Array, Overrides, Path
from ._units import seconds


def _end(process: "subprocess.Popen[str]", folder: "tempfile.TemporaryDirectory[str]") -> None:
    """End the command; a recording is finished first."""
    if process.poll() is None:
        process.send_signal(2)  # as Ctrl-C
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe:
            pipe.close()
    folder.cleanup()


class Play(OfThisProcess):
    """A live simulation: a page with the robot, a slider for each actuator, and the mouse to pull at it.

    A notebook on this machine shows the page inline; `open()` shows it in the browser. It runs until `close()`, until the
    object is no longer used, or until Python ends. The robot it was made from does not move with it. `paused`: time stands still
    until the page or a link lets it go, so that a controller begins at the initial state.
    """

    _instead = "start another one"

    def __init__(self, model: Path | None = None, *, text: str | None = None, run: str | None = None,
                 set: Overrides | None = None, state: tuple[float, Array, Array] | None = None,
                 step: float | str | None = None, output: Path | None = None,
                 paused: bool = False, height: int = 560):  # fmt: skip
        if isinstance(model, Model):
            raise TypeError("a live simulation of a Model is Play.of(model), that of a robot robot.play()")
        if (model is None) == (text is None):
            raise TypeError("give either the path of a model file or text=")
        folder = tempfile.TemporaryDirectory(prefix="sinew-")
        if model is None:
            path = os.path.join(folder.name, "model.yaml")
            pathlib.Path(path).write_text(text or "", encoding="utf-8")
        else:
            path = file_name(model)
        args = [_command.path(), "play", path, "--embed"]
        if paused:
            args.append("--paused")
        if output is not None:
            args += ["-o", os.fspath(output)]
        if run:
            args += ["--run", run]
        if step is not None:
            args += ["--step", repr(seconds(step, "step"))]
        for where, value in (set or {}).items():
            args += ["--set", f"{where}={written(value)}"]
        if state is not None:
            numbers = np.concatenate([[state[0]], state[1], state[2]])
            file = os.path.join(folder.name, "state.txt")
            pathlib.Path(file).write_text("\n".join(repr(float(x)) for x in numbers), encoding="ascii")
            args += ["--state", file]
        self.height = height
        """Height of the page in a notebook, pixels."""
        # a session of its own: Ctrl-C in a terminal or an interrupted cell does not end it
        self._process = subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                         start_new_session=True)  # fmt: skip
        self._finish = weakref.finalize(self, _end, self._process, folder)
        self.address = ""
        """Address of the page, with its secret; it answers on this machine only."""
        for line in self._process.stdout or ():
            if line.strip().startswith("http://"):
                self.address = line.strip()
                break
        if not self.address:
            message = self._process.stderr.read().strip() if self._process.stderr else ""
            self.close()
            raise Error(in_python(message) or "the live simulation did not start")

    @classmethod
    def of(cls, model: Model, *, state: tuple[float, Array, Array] | None = None, step: float | str | None = None,
           output: Path | None = None) -> "Play":  # fmt: skip
        """A live simulation of a model as it was read, with the values set since; `state`: t (s), q, v to begin from."""
        source = model._source
        if source is None:
            raise Error("the file of this model is not known; give its path: sinew.Play(path)")
        return cls(source.path, text=source.text, run=source.run, set=source.set, state=state, step=step, output=output)

    @property
    def running(self) -> bool:
        """Does the simulation still answer?"""
        return self._process.poll() is None

    def open(self) -> None:
        """Show the page in the browser."""
        import webbrowser

        webbrowser.open(self.address)

    def link(self) -> "Link":
        """A controller's link to the simulation: inputs in, probes out, in lock step or by the clock."""
        return Link(self.address)

    def close(self) -> None:
        """End the simulation and any recording."""
        self._finish()

    def __enter__(self) -> "Play":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _repr_html_(self) -> str:
        if not self.running:
            return "<p>The live simulation has ended.</p>"
        return (f'<iframe src="{html.escape(self.address)}" style="width: 100%; height: {self.height}px; border: 0">'
                "</iframe>")  # fmt: skip

    def __repr__(self) -> str:
        return f"<sinew.Play at {self.address}>" if self.running else "<sinew.Play: ended>"
