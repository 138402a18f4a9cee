# SPDX-License-Identifier: MIT
"""A controller's link to a live simulation: `sinew play` by its WebSocket, with the standard library alone."""

from __future__ import annotations

import base64
import json
import os
import re
import socket
from typing import Any, NamedTuple

from ._core import OfThisProcess
from ._errors import Error
from ._units import seconds

_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10  # kinds of WebSocket frames


class Sample(NamedTuple):
    """Probes and inputs of a live simulation at one instant."""

    t: float
    """Simulated time, s."""
    probes: dict[str, float]
    """Components of the probes by name, such as `tip.x`, SI."""
    inputs: dict[str, float]
    """Inputs of the actuators, and parameters with a slider, by name, SI."""


class Link(OfThisProcess):
    """A link to a live simulation, for a controller: sets inputs, reads probes, in lock step or by the clock.

    `address` is the one `sinew play` prints, or `Play.address`. In lock step (`advance`) the simulation waits for the
    controller; by the clock (`watch`, `read`) it goes on by itself. The link takes the control from a page that is open; the page
    goes on showing the robot.
    """

    _instead = "make another one"

    def __init__(self, address: str, timeout: float = 30.0):
        found = re.fullmatch(r"http://(127\.0\.0\.1|localhost):(\d+)(/[0-9a-f]+/)", address.strip())
        if not found:
            raise ValueError(f"{address!r} is no address of a live simulation; 'sinew play' prints it, as http://127.0.0.1:PORT/SECRET/")
        self._socket = socket.create_connection((found[1], int(found[2])), timeout=timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._rest = b""
        host = f"{found[1]}:{found[2]}"
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(
            f"GET {found[3]}live HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode()
        )  # fmt: skip
        head = self._until(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 101"):
            self._socket.close()
            raise Error(f"the live simulation refuses the connection: {head.splitlines()[0].decode(errors='replace')}")
        hello = self._message("hello")
        self.step: float = hello["step"]
        """Length of a step, s."""
        self.probes: list[str] = [f"{c['probe']}.{c['component']}" if c["component"] else c["probe"] for c in hello["columns"]]
        """Components of probes in a sample."""
        self.inputs: dict[str, tuple[float, float]] = {c["name"]: (c["low"], c["high"]) for c in hello["controls"]}
        """Inputs and their ranges; values beyond them are clamped."""
        self._send({"do": "take"})
        self._send({"do": "watch", "value": 1})  # no frames of poses

    # ---- bytes

    def _take(self, n: int) -> bytes:
        while len(self._rest) < n:
            more = self._socket.recv(65536)
            if not more:
                raise Error("the live simulation has ended")
            self._rest += more
        out, self._rest = self._rest[:n], self._rest[n:]
        return out

    def _until(self, mark: bytes) -> bytes:
        while mark not in self._rest:
            more = self._socket.recv(65536)
            if not more:
                raise Error("the live simulation refuses the connection: has it the right secret?")
            self._rest += more
        out, self._rest = self._rest.split(mark, 1)
        return out

    def _frame(self, opcode: int, payload: bytes) -> None:
        mask = os.urandom(4)
        size = bytes([0x80 | len(payload)]) if len(payload) < 126 else b"\xfe" + len(payload).to_bytes(2, "big")
        self._socket.sendall(bytes([0x80 | opcode]) + size + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(payload)))

    def _send(self, message: dict[str, Any]) -> None:
        self._frame(_TEXT, json.dumps(message).encode())

    def _message(self, *kinds: str) -> Any:
        """The next message of these kinds; a note before it is an error, told once it has come."""
        note = ""
        while True:
            head = self._take(2)
            size = head[1] & 0x7F
            if size >= 126:
                size = int.from_bytes(self._take(2 if size == 126 else 8), "big")
            opcode, payload = head[0] & 0xF, self._take(size)
            if opcode == _PING:
                self._frame(_PONG, payload)
            elif opcode == _CLOSE:
                raise Error("the live simulation has ended")
            if opcode != _TEXT:
                continue
            message = json.loads(payload)
            if message["type"] == "note":
                note = message["words"]
            if message["type"] in kinds:
                if note:
                    raise Error(note)
                return message

    def _sample(self) -> Sample:
        m = self._message("sample")
        if m["failed"]:
            raise Error("the simulation is stopped, since a step failed; reset() begins again")
        return Sample(m["t"], dict(zip(self.probes, m["columns"])), dict(zip(self.inputs, m["controls"])))

    # ---- calls

    def _control(self, name: str) -> int:
        names = list(self.inputs)
        if name not in names:
            raise KeyError(f"there is no input {name!r}; the inputs are {', '.join(names) or 'none'}")
        return names.index(name)

    def apply(self, values: dict[str, float] | None = None, **named: float) -> None:
        """Set efforts, pressures or parameters from the next step on: `link.apply(motor=2.0)`, SI.

        Given motions (an angle, a cable length) cannot jump and are refused; use `set` for them.
        """
        for name, value in {**(values or {}), **named}.items():
            self._send({"do": "apply", "control": self._control(name), "value": float(value)})

    def set(self, values: dict[str, float] | None = None, **named: float) -> None:
        """Set inputs as a slider does: they follow within about 0.1 s, smoothly."""
        for name, value in {**(values or {}), **named}.items():
            self._send({"do": "set", "control": self._control(name), "value": float(value)})

    def advance(self, span: float | str) -> Sample:
        """Simulate `span` seconds, a whole number of steps, at once, and return the sample at their end (lock step)."""
        self._send({"do": "advance", "value": seconds(span, "span")})
        return self._sample()

    def watch(self, rate: float) -> None:
        """Let the simulation follow the clock, and send samples, up to 60 a second of simulated time, for `read`."""
        self._send({"do": "watch", "value": float(rate)})
        self._send({"do": "pause", "on": False})

    def read(self) -> Sample:
        """The next sample; waits for it."""
        return self._sample()

    def reset(self) -> None:
        """Begin again: no input set, parameters as in the file."""
        self._send({"do": "reset"})

    def close(self) -> None:
        """End the link; the simulation goes on, or waits for a page."""
        self._socket.close()

    def __enter__(self) -> "Link":
        return self

    def __exit__(self, *why: object) -> None:
        self.close()
