# SPDX-License-Identifier: MIT
"""Common parts of the tests of the command: a scratch folder, models to run, and a way to call it."""
import json
import os
import pathlib
import resource
import subprocess
import tempfile
import textwrap
import time
import unittest

SINEW = os.environ.get("SINEW", str(pathlib.Path(__file__).resolve().parents[2] / "build/sinew"))
# a build with sanitizers: the same lines, fewer times
SLOW = "SINEW_SLOW" in os.environ
# s: only a hang takes longer, even on a busy machine
PATIENCE = 900
SOURCE = pathlib.Path(os.environ.get("SINEW_SOURCE", pathlib.Path(__file__).resolve().parents[2]))


def few(rows, among):
    """These rows; under sanitizers only every n-th."""
    return rows[::among] if SLOW else rows


# a clamped rod rolled up by a torque at its tip: x = L sin(k L)/(k L) with k = C/EI
ROLLED = """\
sinew: 1
title: Clamped rod, rolled up by a tip torque
gravity: 0
parameters: {C: 1 N*m}
materials: {rubber: {young: 100 MPa, poisson: 0.5, density: 1000 kg/m^3}}
robot:
  arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 10 mm}}, material: rubber, strain: {bend_y: legendre 3}}}
loads:
  roll: {on: arm.tip, torque: [0, C, 0], frame: body}
study:
  - static: {name: rolled}
probes: {tip: {position: arm.tip}, e: energy}
runs: {text: {}, more: {C: 2 N*m}}
expect:
  - {probe: tip.x, run: text, after: rolled, value: 0.7508843574, within: 1e-9, source: closed form}
  - {probe: tip.x, run: more, at: end, value: 0.2201482043, within: 1e-9, source: closed form}
"""

# the same rod along a path of very many equilibria: long enough to be interrupted
LONG = """\
sinew: 1
title: A long path of equilibria
gravity: 0
materials: {rubber: {young: 100 MPa, poisson: 0.5, density: 1000 kg/m^3}}
robot:
  arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 10 mm}}, material: rubber, strain: {bend_y: legendre 8, bend_z: legendre 8}}}
loads:
  push: {on: arm.tip, force: [0, 0.2 N*sin(2*pi*t/(10 s)), 0.2 N*cos(2*pi*t/(7 s))]}
study:
  - static: {name: path, for: 100000 s, step: 0.1 s}
probes: {tip: {position: arm.tip}}
"""


class Result:
    """Status and output of a call."""

    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        return json.loads(self.out)

    def __repr__(self):
        return f"exit {self.code}\n--- stdout\n{self.out}\n--- stderr\n{self.err}"


class Case(unittest.TestCase):
    """A test in its own scratch folder."""

    maxDiff = None

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def write(self, name, text):
        path = self.folder / name
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(textwrap.dedent(text))
        return name

    def sinew(self, *args, timeout=PATIENCE, **more):
        more.setdefault("stdout", subprocess.PIPE)
        done = subprocess.run([SINEW, *map(str, args)], cwd=self.folder, stderr=subprocess.PIPE, timeout=timeout,
                              stdin=subprocess.DEVNULL, text=True, **more)
        result = Result(done)
        self.assertNotIn("Sanitizer", done.stderr, result)
        self.assertGreaterEqual(done.returncode, 0, f"killed by a signal: {result}")
        return result

    def start(self, *args, **more):
        """Start it and return at once; the test must end it."""
        process = subprocess.Popen([SINEW, *map(str, args)], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, **more)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def wait_until(self, done, process, pause=0.02):
        """Waits until done() while the process runs."""
        deadline = time.monotonic() + PATIENCE
        while not done():
            self.assertIsNone(process.poll(), "ended by itself")
            self.assertLess(time.monotonic(), deadline, "nothing happens")
            time.sleep(pause)

    def wait_for_work(self, process, seconds):
        """Waits until the process has used this much processor time, rather than wall-clock time."""
        ticks = seconds * os.sysconf("SC_CLK_TCK")
        stat = pathlib.Path(f"/proc/{process.pid}/stat")
        self.wait_until(lambda: sum(map(int, stat.read_text().rsplit(")", 1)[1].split()[11:13])) >= ticks, process)

    def frames(self, name):
        """Number of frames that the first run of a file has at present; 0: there is no file yet."""
        if name not in self.files():
            return 0
        return self.succeeds("show", name, "--json").json["runs"][0]["frames"]

    def files(self):
        """Names in the scratch folder, hidden ones too."""
        return sorted(p.name for p in self.folder.iterdir())

    def succeeds(self, *args, **more):
        result = self.sinew(*args, **more)
        self.assertEqual(result.code, 0, result)
        return result

    def fails(self, code, *args, **more):
        result = self.sinew(*args, **more)
        self.assertEqual(result.code, code, result)
        self.assertTrue(result.err.strip(), f"says nothing: {result}")
        return result


def has_viewer():
    """Was the command built with Node?"""
    done = subprocess.run([SINEW, "view", "/nonexistent.h5"], capture_output=True, text=True)
    return "without its viewer" not in done.stderr


def has_cairo():
    """Was the command built with cairo?"""
    done = subprocess.run([SINEW, "plot", "/nonexistent.h5", "-o", "f.png"], capture_output=True, text=True)
    return "without cairo" not in done.stderr


def limit_work(seconds):
    """For preexec_fn: killed after this much processor time."""
    return lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))


def limit_file_size(size):
    """For preexec_fn: writing beyond `size` bytes of a file is an error."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


main = unittest.main
