# SPDX-License-Identifier: MIT
"""Runs the command on a model, under limits, and keeps its messages and results."""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import weakref

import model_text

SINEW = os.environ.get("SINEW", str(pathlib.Path(__file__).resolve().parents[2] / "build/sinew"))
SLOW = "SINEW_SLOW" in os.environ  # a build with sanitizers
CPU_LIMIT = int(os.environ.get("SINEW_CPU_LIMIT", 150 if SLOW else 15))  # s of processor time for one run
ENVIRONMENT = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

# warnings that are not about the accuracy of the numbers
BESIDE = re.compile("was open by|which causes an impact|left out|dropped|limits only warn|would have to push"
                    "|ends where it begins|is satisfied identically|and no direction")
RESOLVED = re.compile(r"only to ([0-9.e+-]+) of the length")


def limit():
    """In the child: a limit on processor time, and no core file."""
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


class Outcome:
    """The messages and results of one run of a model."""

    def __init__(self, code, out, err):
        self.code, self.err = code, err
        self.t, self.values, self.totals, self.last = [], {}, {}, {}
        try:
            self.reply = json.loads(out) if out else {}
        except ValueError:
            self.reply = {}
        if self.reply.get("runs"):
            self.totals = self.reply["runs"][0]
            self.last = self.totals.get("last") or {}

    @property
    def done(self):
        return self.code == 0

    @property
    def refused(self):
        return self.code == 2

    @property
    def hung(self):
        return self.code in (-signal.SIGXCPU, -signal.SIGKILL)

    @property
    def advanced(self):
        """Did the time advance before the run was stopped?"""
        return bool(self.t) and (self.t[-1] or 0) > 0

    @property
    def crashed(self):
        """Did it end by a signal or a sanitizer's report?"""
        return (self.code < 0 and not self.hung) or "Sanitizer" in self.err or "runtime error:" in self.err \
            or self.code not in (0, 1, 2) and not self.hung

    @property
    def message(self):
        """The line with the reason of the failure."""
        lines = [line for line in self.err.splitlines() if "warning:" not in line and "note:" not in line]
        return lines[0] if lines else f"exit status {self.code}, no message"

    @property
    def warnings(self):
        """Warnings about the accuracy of the numbers."""
        return [line.split("warning: ", 1)[1] for line in self.err.splitlines()
                if "warning: " in line and not BESIDE.search(line)]

    def told(self, difference):
        """Has the run warned of an error of this size, relative to the length?"""
        for line in self.warnings:
            number = RESOLVED.search(line)
            if not number or difference < 30*float(number[1]):
                return True
        return False

    @property
    def not_finite(self):
        """The name of a position, frequency or energy that is not finite."""
        for name, value in self.last.items():
            if value is None and not re.match(r"f\.\d+$|.*@", name):
                return name
        for name, column in self.values.items():
            if any(v is None for v in column) and not re.match(r"f\.", name):
                return name
        return None


class Command:
    """Runs models in a scratch folder, which is removed with it; the same model is run once."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="sinew_random_"))
        weakref.finalize(self, shutil.rmtree, self.folder, True)
        self.known = {}   # outcomes by text
        self.used = []    # (name, text) of the variants run since `begin`
        self.processor = 0.0

    def begin(self):
        self.known, self.used = {}, []

    def call(self, *args):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([SINEW, *map(str, args)], cwd=self.folder, stdin=subprocess.DEVNULL, text=True,
                              capture_output=True, preexec_fn=limit, env=ENVIRONMENT, check=False, errors="replace")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.processor += after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return done

    def frames(self, outcome, output="out.h5"):
        """Reads the values of the probes over time."""
        done = self.call("show", output, "--csv")
        lines = done.stdout.splitlines()
        if done.returncode or not lines:
            return
        names = lines[0].split(",")
        columns = list(zip(*(map(number, line.split(",")) for line in lines[1:]))) or [[] for _ in names]
        outcome.t = list(columns[0])
        outcome.values = {name: list(column) for name, column in zip(names[1:], columns[1:])}

    def __call__(self, model, name="plain"):
        """The outcome of a model; `name` is that of the variant."""
        text = model_text.text(model)
        if (name, text) not in self.used:
            self.used.append((name, text))
        if text not in self.known:
            (self.folder / "model.yaml").write_text(text)
            output = self.folder / "out.h5"
            output.unlink(missing_ok=True)
            done = self.call("run", "model.yaml", "-o", "out.h5", "--json")
            outcome = Outcome(done.returncode, done.stdout, done.stderr)
            if output.exists() and (done.returncode in (0, 1) or outcome.hung):
                self.frames(outcome)
            self.known[text] = outcome
        return self.known[text]


def number(word):
    """A number of a table, None where the text is not a number."""
    try:
        value = float(word)
    except ValueError:
        return None
    return value if value - value == 0 else None
