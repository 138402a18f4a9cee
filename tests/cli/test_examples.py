# SPDX-License-Identifier: MIT
"""Statements of the examples that `expect` cannot check: values of the independent programs that they name, two
formulations of one robot, the noise in the forces of a loop."""
import csv
import io
import pathlib
import sys
from math import pi, radians, sin

import harness

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "oracle"))
import cat
import examples
import limbs
import tendons


class Examples(harness.Case):
    def table(self, name, run, *probes, more=()):
        """The values of probes in a run, by row: {"t": .., "tip.x": ..}."""
        self.succeeds("run", harness.SOURCE / "examples" / name, "-q", "--run", run, "-o", "out.h5", *more)
        out = self.succeeds("show", "out.h5", "--csv", *(a for p in probes for a in ("--probe", p))).out
        (self.folder / "out.h5").unlink()
        return [{k: float(v) if v else None for k, v in row.items()} for row in csv.DictReader(io.StringIO(out))]

    @staticmethod
    def last(rows, t):
        return [row for row in rows if abs(row["t"] - t) < 1e-9][-1]

    def near(self, got, wanted, within):
        for a, b in zip(got, wanted, strict=True):
            self.assertAlmostEqual(a, b, delta=within)

    def test_double_pendulum(self):
        rows = self.table("hybrid/double_pendulum.yaml", "swing", "upper", "lower")
        times = [1, 2, 4, 7, 10]
        for t, (a, b) in zip(times, examples.double_pendulum(radians(120), times)):
            row = self.last(rows, t)
            self.near([row["upper"], row["upper"] + row["lower"]], [a, b], 1e-7)

    def test_soft_arm(self):
        row = self.table("hybrid/soft_arm.yaml", "lift", "q(1)", "q(2)", "torque(1)", "torque(2)", "hand")[0]
        names = ("q(1)", "q(2)", "torque(1)", "torque(2)", "hand.x", "hand.z")
        self.near([row[k] for k in names], examples.soft_arm(), 1e-7)
        row = self.table("hybrid/soft_arm.yaml", "locked", "f")[-1]
        self.near([row["f.1"], row["f.3"]], [examples.beam_with_mass(1.65), examples.beam_with_mass(15.7)], 2e-6)

    def test_three_rods(self):
        rows = self.table("parallel/three_rods.yaml", "motors", "plate", "motor(1)", "motor(2)", "motor(3)")
        even, odd = self.last(rows, 1.5), rows[-1]
        for row, motors in ((even, [radians(20)] * 3), (odd, [radians(35), radians(20), radians(20)])):
            place, turn, torque = examples.three_rods(motors)
            self.near([row[f"plate.{k}"] for k in ("x", "y", "z", "rx", "ry", "rz")], place + turn, 1e-7)
            self.near([row[f"motor({k})"] for k in (1, 2, 3)], torque, 1e-6)
        self.agree(rows, self.table("parallel/three_rods.yaml", "reversed", "plate"))

    def test_falling_cat(self):
        row = self.table("locomotion/falling_cat.yaml", "weightless", "trunk", "h")[-1]
        w, x, y, z = cat.turn(radians(82.3), 2500)
        # it starts with a rotation of half a turn about x
        self.near([row[f"trunk.q{k}"] for k in "wxyz"], [-x, w, -z, y], 1e-9)
        self.near([row[f"h.l{k}"] for k in "xyz"], [0, 0, 0], 1e-12)
        self.assertLess(abs(w), 1e-3)  # half a revolution

    def test_six_rods(self):
        self.agree(*(self.table("parallel/six_rods.yaml", run, "plate") for run in ("move", "moved")))

    def agree(self, rows, others):
        self.assertEqual(len(rows), len(others))
        for row, other in zip(rows, others):
            self.near([row[f"plate.{k}"] for k in "xyz"], [other[f"plate.{k}"] for k in "xyz"], 1e-7)
            self.near([row[f"plate.r{k}"] for k in "xyz"], [other[f"plate.r{k}"] for k in "xyz"], 1e-6)

    def test_tendon_twin(self):
        text = (harness.SOURCE / "examples/parallel/tendon_twin.csv").read_text()
        rows = [[float(v) for v in line.split(",")] for line in text.splitlines() if line[0].isdigit()]
        robot, q = limbs.tendon_twin()
        for k, (t, q, _) in enumerate(robot.runge_kutta(q, 4e-3, 5 * 250)):
            if k % 5 == 4:
                row = rows[k // 5 + 1]
                self.near([t, q[0], q[3], q[1], q[2], q[4], q[5]], row, 3e-6)

    def test_tendon_arms(self):
        row = self.table("tendon/helix.yaml", "hanging", "tip", "root")[-1]
        (x, y, z), moment = tendons.helix(0.75, 40)
        self.near([row[f"tip.{k}"] for k in "xyz"], [z, y, -x], 1e-7)  # the arm hangs: its x is down, its z along x
        self.near([row["root.my"], row["root.mz"]], moment[1:], 1e-7)
        row = self.table("tendon/two_sections.yaml", "pulled", "mid", "tip")[-1]
        for name, (x, y, z) in zip(("mid", "tip"), tendons.two_sections([20.0, 0.0, 5.0, 0.0, 15.0, 4.0], 20)[0]):
            self.near([row[f"{name}.{k}"] for k in "xyz"], [z, y, -x], 1e-6)

        row = self.table("shooting/three_sections.yaml", "main", "first", "second", "tip")[0]
        for name, end in zip(("first", "second", "tip"), tendons.three_sections([6.0, 0, 1.0, 0, 5.0, 1.0, 3.0, 0, 0], 6)[0]):
            self.near([row[f"{name}.{k}"] for k in "xyz"], end, 1e-5)

    def test_tendon_release(self):
        row = self.last(self.table("tendon/boyer_release.yaml", "convergent", "tip"), 0.5)
        tip = tendons.release(lambda x: 5e-3 * (1 - x), lambda x: -5e-3, 4.6, [0.5])[0]
        self.near([row["tip.x"], row["tip.y"]], tip, 1e-7)

    def test_snap(self):
        rows = self.table("parallel/rfrfr_singularity.yaml", "cross", "tip", "speed")
        robot, q, force = limbs.singularity(radians(60))
        for t, q, v in robot.generalized_alpha(q, force, 5e-3, 478, 0.5):
            if t > 2.37:
                tip, speed = robot.tip(t, q, v)
                row = self.last(rows, round(t, 3))
                self.near([row["tip.x"], row["tip.y"]], tip, 1e-6)
                self.near([row["speed.vx"], row["speed.vy"]], speed, 1e-5)

    def test_trailers(self):
        def steer(t):
            u = min(max(t - 1, 0), 1)
            return 0.3 * (u - sin(2 * pi * u) / (2 * pi))
        rows = self.table("locomotion/trailers.yaml", "circle", "car", "bend(1)", "bend(2)")
        for t in (4, 20):
            x, y, _, *bends = examples.trailers(0.5, steer, 0, t)
            row = self.last(rows, t)
            self.near([row["car.x"], row["car.y"], row["bend(1)"], row["bend(2)"]], [x, y, *bends], 1e-8)
        row = self.last(self.table("locomotion/trailers.yaml", "backwards", "bend(1)", "bend(2)"), 2.5)
        self.near([row["bend(1)"], row["bend(2)"]], examples.trailers(-0.5, lambda t: 0, 0.01, 2.5)[3:], 1e-8)

    def test_fish_tail(self):
        for run, way in (("cruise", (0.4, 3, 0.6)), ("slow", (0.2, 3, 0.6)), ("wavy", (0.4, 6, 0.9))):
            beat = [row["hold.fx"] for row in self.table("fluid/fish_tail.yaml", run, "hold.fx") if row["t"] > 2.0001]
            wanted = examples.thrust(*way)
            self.assertAlmostEqual(sum(beat) / len(beat) / wanted, 1, delta=1e-5)

    def test_pump(self):
        def rise(t, a, b):
            return min(max((t - a) / (b - a), 0), 1)
        flows = {"leaking": (lambda t: 2e-7 * rise(t, 0.1, 0.3), 2e-12, 5e-4),
                 "tight": (lambda t: 2e-7 * (rise(t, 0.1, 0.3) - rise(t, 0.5, 0.7)), 0, 2e-5)}
        for run, (flow, leak, within) in flows.items():
            rows = self.table("fluid/pump.yaml", run, "gauge", "filled")
            for t in (0.5, 2):
                p, volume = examples.pump(flow, leak, t)
                row = self.last(rows, t)
                self.assertAlmostEqual(row["gauge"] / p, 1, delta=within)
                self.assertAlmostEqual(row["filled"] / volume, 1, delta=2e-5)

    def test_noise_of_a_loop(self):
        """references.md G7.7: that of plain Newmark grows, that of generalized-alpha with rho 0.5 is 2.2e-4 to 2.5e-4 N
        for a minute."""
        def noise(rows, start, end):
            part = [row for row in rows if start <= row["t"] <= end]
            return max(abs(a[k] - 2 * b[k] + c[k]) for a, b, c in zip(part, part[1:], part[2:])
                       for k in ("hinge.fx", "hinge.fy"))
        steady = self.table("parallel/rfrfr.yaml", "long.1", "hinge")
        for start, end in ((8, 10), (15, 20), (25, 30), (35, 40), (50, 60)):
            self.assertTrue(2.15e-4 < noise(steady, start, end) < 2.55e-4, (start, noise(steady, start, end)))
        growing = self.table("parallel/rfrfr.yaml", "newmark", "hinge",
                             more=("--set", "dynamic.for=40 s", "--set", "dynamic.loop_velocities=scheme"))
        self.assertGreater(noise(growing, 35, 40), 10 * noise(growing, 8, 10))


if __name__ == "__main__":
    harness.main()
