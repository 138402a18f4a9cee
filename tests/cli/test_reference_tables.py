# SPDX-License-Identifier: MIT
"""Rows of the tables of independent programs that the examples leave out (docs/references.md, K): the examples' robots with other
numbers, and what they must show."""
import csv

import harness
from harness import SOURCE, Case

# Lee's frame that stretches, EA = 4320 N, and the same with GA = 1384.615 N
LEE = f"""\
sinew: 1
include: {SOURCE}/examples/paths/lee_frame.yaml
parameters: {{c: 1/(4320 N)}}
robot:
  column: {{rod: {{section: {{stiffness: {{stretch: 1/c}}}}, strain: {{stretch: legendre 10}}}}}}
  near: {{rod: {{section: {{stiffness: {{stretch: 1/c}}}}, strain: {{stretch: legendre 6}}}}}}
  far: {{rod: {{section: {{stiffness: {{stretch: 1/c}}}}, strain: {{stretch: legendre 10}}}}}}
runs:
  path: {{path.by: c}}
  first: {{study: [static: {{for: 1.8 s, step: 0.2 s}}]}}
expect:
  - {{probe: load, run: path, point: fold, value: 1.855672754, relative: 2e-8, source: independent program}}
  - {{probe: [at.x, at.y], run: path, point: fold, value: [24 + 26.880574, 120 - 48.735137], within: 2e-6, source: the same}}
  - {{probe: load, run: path, point: fold.2, value: -0.941443156, relative: 2e-8, source: the same}}
  - {{probe: [at.x, at.y], run: path, point: fold.2, value: [24 + 90.195674, 120 - 58.216815], within: 2e-6, source: the same}}
  - {{probe: [at.x, at.y], run: path, at: end, value: [24 + 85.91308647, 120 - 92.72764116], within: 2e-6, source: P = 2}}
  - {{probe: [at.x, at.y], run: first, at: 1 s, value: [24 + 1.91433177, 120 - 10.70687468], within: 2e-7, source: P = 1}}
  - {{probe: [at.x, at.y], run: first, at: end, value: [24 + 18.78689691, 120 - 41.37468981], within: 2e-6, source: P = 1.8}}
"""
# the same without load between and past the folds; the frame that does not stretch there and on its first branch
UNLOADED = """\
sinew: 1
include: lee.yaml
runs:
  path: ~
  first: ~
  between: {path.range: [0 s, 2 s]}
  past: {study: [path: {range: [-2 s, 2 s]}, path: {range: [0 s, 2.5 s], start: down}]}
expect:
  - {probe: [at.x, at.y], run: between, at: end, value: [24 + 79.24637425, 120 - 52.76960790], within: 1e-6, source: independent program}
  - {probe: [at.x, at.y], run: past, at: end, value: [24 + 90.10679186, 120 - 85.27905445], within: 1e-6, source: the same}
"""
STIFF = f"""\
sinew: 1
include: {SOURCE}/examples/paths/lee_frame.yaml
runs:
  between: {{path.range: [0 s, 2 s]}}
  past: {{study: [path: {{range: [-2 s, 2 s]}}, path: {{range: [0 s, 2.5 s], start: down}}]}}
  first: {{study: [static: {{for: 1.8 s, step: 0.2 s}}]}}
expect:
  - {{probe: [at.x, at.y], run: between, at: end, value: [24 + 79.27374890, 120 - 52.76658781], within: 1e-6, source: independent program}}
  - {{probe: [at.x, at.y], run: past, at: end, value: [24 + 90.11857244, 120 - 85.28675234], within: 1e-6, source: the same}}
  - {{probe: [at.x, at.y], run: first, at: 1 s, value: [24 + 1.91172680, 120 - 10.69070344], within: 1e-7, source: the same}}
  - {{probe: [at.x, at.y], run: first, at: end, value: [24 + 18.77768946, 120 - 41.36191585], within: 1e-6, source: the same}}
"""
# turns of v, the way down of the loaded point: folds of a path that prescribes v
TURNS = """\
sinew: 1
include: {file}
parameters: {{P: 0 N}}
robot:
  hand: {{on: world, pose: {{xyz: [24, 120, 0]}}, joint: prismatic, axis: -y}}
  cart: {{on: hand, joint: prismatic, axis: x}}
loops: {{hold: {{join: [cart, near.tip], as: revolute, axis: z}}}}
actuators: {{pull: {{joint: hand, position: 1 m/s*t}}}}
probes: {{force: {{effort: pull}}, u: {{value: cart}}, v: {{value: hand}}}}
runs: {{path: ~, first: ~}}
study: [path: {{range: [-1 s, 75 s]}}]
expect:
  - {{probe: [force, u, v], point: fold, value: {first}, within: 2e-6, source: independent program}}
  - {{probe: [force, u, v], point: fold.2, value: {second}, within: 2e-6, source: the same}}
"""
SHEAR = """\
sinew: 1
include: lee.yaml
robot:
  column: {rod: {section: {stiffness: {shear_y: 1384.615 N}}, strain: {shear_y: legendre 10}}}
  near: {rod: {section: {stiffness: {shear_y: 1384.615 N}}, strain: {shear_y: legendre 6}}}
  far: {rod: {section: {stiffness: {shear_y: 1384.615 N}}, strain: {shear_y: legendre 10}}}
runs: {path: {path.by: ~}, first: ~}
expect:
  - {probe: load, point: fold, value: 1.854452709, relative: 2e-8, source: independent program}
  - {probe: [at.x, at.y], point: fold, value: [24 + 26.878328, 120 - 48.754240], within: 2e-6, source: the same}
  - {probe: load, point: fold.2, value: -0.939248964, relative: 2e-8, source: the same}
  - {probe: [at.x, at.y], point: fold.2, value: [24 + 90.177001, 120 - 58.224958], within: 2e-6, source: the same}
"""

# the column's head at other loads, beside the branch and on it, and folds of the column that leans against a lateral force
COLUMN = f"""\
sinew: 1
include: {SOURCE}/examples/paths/column.yaml
runs:
  perfect: ~
  pushed: ~
  against: ~
  turned(20): {{path.range: [0 s, 1.01539686554 s]}}
  turned(60): {{path.range: [0 s, 1.15171962047 s]}}
  turned(160): {{path.range: [0 s, 4.03008596605 s]}}
  beside: {{H: 0.01 N, study: [static: {{for: 1.1 s, step: 0.1 s}}]}}
  fold(2): &fold
    H: 0.01 N
    side: -1
    P: Pcr*(1.5 + t/(1 s))
    study: [static, change: {{side: 1}}, path: {{range: [-1 s, 0.2 s], start: down, folds: {{of: H, range: [0.01 N, 0.02 N]}}}}]
  fold(5): {{<<: *fold, study: [static, change: {{side: 1}}, path: {{range: [-1 s, 0.2 s], start: down, folds: {{of: H, range: [0.01 N, 0.05 N]}}}}]}}
expect:
  - at: end
    within: 1e-8
    source: elliptic integrals
    table:
      - [probe, run, value]
      - [[head.x, head.z], turned(20), [-0.219413042396, 0.969730907364]]
      - [[head.x, head.z], turned(60), [-0.593207646165, 0.741019606076]]
      - [[head.x, head.z], turned(160), [-0.624603512953, -0.340318855691]]
      - [[head.x, turn.ry], beside, [0.51808126534, 0.883593097861 - pi/2]]
      - [[load, head.x, push], fold(2), [1.04420479894, -0.217449778, 0.02]]
      - [[load, head.x, push], fold(5), [1.08050734689, -0.292181162, 0.05]]
  - within: 1e-9
    source: elliptic integrals
    table:
      - [probe, run, at, value]
      - [[head.x, turn.ry], beside, 0.9 s, [0.0327689146409, 0.0512240393599 - pi/2]]
      - [[head.x, turn.ry], beside, 1 s, [0.21488360878, 0.341404897728 - pi/2]]
"""

# the two rods of the planar robot at right angles, unloaded: tip, force in the hinge (on the left rod), moment at its base
RIGHT = f"""\
sinew: 1
include: {SOURCE}/examples/paths/rfrfr.yaml
parameters: {{q1: 90 deg, P: 0 N}}
robot: {{left: {{pose: {{xyz: [-0.25, 0, 0]}}}}, right: {{pose: {{xyz: [0.25, 0, 0]}}}}}}
initial: {{left: {{strain: {{bend_z: -0.5}}}}, right: {{strain: {{bend_z: 0.5}}}}}}
study: [static]
runs: ~
probes: {{hinge: {{reaction: tip}}, foot: {{reaction: left}}}}
expect:
  - {{probe: [tip.x, tip.y], at: end, value: [0, 0.961662551], within: 2e-9, source: independent program}}
  - {{probe: [hinge.fx, hinge.fy, foot.mz], at: end, value: [-0.802004738, 0, 0.771257922], within: 2e-9, source: the same}}
"""

# frequencies of Beck's column under follower forces below its load
BECK = f"""\
sinew: 1
include: {SOURCE}/examples/paths/beck.yaml
parameters: {{P: 10}}
loads: {{press: {{force: ["-P*1 N", 0, 0]}}}}
study: [static, modes: {{count: 2}}]
probes: {{load: ~, f: frequency}}
runs: {{P: {{P: {{each: [10, 15, 20]}}}}}}
expect:
  - at: end
    relative: 1e-7
    source: characteristic equation
    table:
      - [probe, run, value]
      - [[f.1, f.2], P.1, [5.17576226128/(2*pi), 18.586794893/(2*pi)]]
      - [[f.1, f.2], P.2, [6.62740668347/(2*pi), 16.2598297625/(2*pi)]]
      - [[f.1, f.2], P.3, [10.5289421819/(2*pi), 11.5106166254/(2*pi)]]
"""

# the twisted rod under stronger thrust and stronger tension
TWIST = f"""\
sinew: 1
include: {SOURCE}/examples/paths/twisted_rod.yaml
runs:
  free: ~
  pulled: ~
  pressed: ~
  T: {{T: {{each: [-30 N, -10 N, 50 N]}}, path.range: [0 s, 16 s]}}
  strong: {{T: 100 N, path.range: [0 s, 22 s]}}
expect:
  - point: branch
    relative: 1e-7
    source: characteristic determinant
    table:
      - [probe, run, value]
      - [torque, T.1, 3.8004296234801]
      - [torque, T.2, 7.4510156442978]
      - [torque, T.3, 15.589323932754]
      - [torque, strong, 20.983500828141]
"""

# the fold of the truss for other rises
TRUSS = f"""\
sinew: 1
include: {SOURCE}/examples/paths/truss.yaml
runs:
  load: ~
  series: ~
  design: ~
  curve: ~
  H: {{H: {{each: [0.05 m, 0.3 m, 0.5 m]}}, path.range: [-60 s, 60 s]}}
expect:
  - point: fold
    relative: 1e-9
    source: closed form
    table:
      - [probe, run, value]
      - [load, H.1, 0.0480524777]
      - [load, H.2, 9.9499169577]
      - [load, H.3, 42.9143257312]
"""

# slews by full acceleration and braking in other times, with damping, and by a shaped acceleration (zero vibration)
SLEW = f"""\
sinew: 1
include: {SOURCE}/examples/optimal/slew.yaml
parameters:
  T: 1 s
  z: 0
  bang(s): 4/T^2*(1 s^2)*(step(s, 0 s) - 2*step(s, T/2) + step(s, T))
  wd: w*sqrt(1 - 0.02^2)
  K: exp(-0.02*pi/sqrt(1 - 0.02^2))
  push: bang(t)
robot: {{mode: {{damping: 2*z*w*(1 kg)}}}}
study: [dynamic: {{for: T, step: T/400, scheme: gauss6}}]
probes: {{residual: {{law: "sqrt(q^2 + ((dq + z*w*q)/(w*sqrt(1 - z^2)))^2)"}}}}
optimize: ~
runs:
  still: ~
  bang: ~
  fast: {{T: 0.8 s}}
  whole: {{T: 4/3*1 s}}
  damped: {{z: 0.02}}
  fast_damped: {{z: 0.02, T: 0.8 s}}
  whole_damped: {{z: 0.02, T: 4/3*1 s}}
  shaped:
    z: 0.02
    push: bang(t)/(1 + K) + K*bang(t - pi/wd)/(1 + K)
    dynamic.for: T + pi/wd
    dynamic.step: (T + pi/wd)/800
expect:
  - at: end
    source: closed form
    table:
      - [probe, run, value, within]
      - [residual, fast, 0.2545718654, 1e-9]
      - [residual, whole, 0, 1e-9]
      - [residual, damped, 0.0824207689, 1e-9]
      - [residual, fast_damped, 0.2365596116, 1e-9]
      - [residual, whole_damped, 0.000353335, 1e-9]
      - [residual, shaped, 0, 1e-9]
      - [phi, shaped, 1, 1e-9]
"""


def interpolated(points, s):
    """The polynomial through points that are numbered, at s."""
    total = [0.0] * len(points[0])
    for i, p in enumerate(points):
        weight = 1.0
        for k in range(len(points)):
            weight *= (s - k) / (i - k) if k != i else 1
        total = [a + weight * x for a, x in zip(total, p)]
    return total


def largest(points):
    """Where the second number of the polynomial is largest: its slope, a difference, halved to zero."""
    low, high = 2.0, 4.0
    for _ in range(60):
        s = 0.5 * (low + high)
        rises = interpolated(points, s + 1e-3)[1] > interpolated(points, s - 1e-3)[1]
        low, high = (s, high) if rises else (low, s)
    return interpolated(points, low)


class Tables(Case):
    def verifies(self, name, text):
        self.write(name, text)
        self.succeeds("verify", name)

    def test_lees_frame_that_stretches_and_shears(self):
        self.verifies("lee.yaml", LEE)
        # the first fold moves by dP*/d(1/EA), the second one too
        self.succeeds("run", "lee.yaml", "--run", "path", "-q")
        points = self.succeeds("show", "lee.h5", "--json").json["runs"][0]["special"]
        folds = [p for p in points if p["kind"] == "fold"]
        for fold, want in zip(folds, (-0.8727029, 2.9624519)):
            self.assertAlmostEqual(fold["by"]["c"], want, delta=1e-5)
        self.verifies("shear.yaml", SHEAR)
        self.verifies("unloaded.yaml", UNLOADED)
        self.verifies("stiff.yaml", STIFF)

    def test_lees_frame_turns_back(self):
        self.write("lee.yaml", LEE)
        turns = TURNS.format(file="lee.yaml", first=[1.194410, 61.747470, 61.002979], second=[-0.438048, 81.229008, 50.746251])
        self.verifies("soft.yaml", turns)
        stiff = TURNS.format(file=f"{SOURCE}/examples/paths/lee_frame.yaml", first=[1.194539, 61.766307, 61.012363],
                             second=[-0.439166, 81.257368, 50.731337])  # fmt: skip
        self.verifies("stiff.yaml", stiff.replace("runs: {path: ~, first: ~}\n", ""))
        self.write("free.yaml", f"sinew: 1\ninclude: {SOURCE}/examples/paths/lee_frame.yaml\nruns: {{path: {{}}}}\n")
        # and of u: the largest one on the path of the load, by interpolation between its points
        for want, name in (((-0.685858, 94.359764, 71.373901), "lee.yaml"), ((-0.686253, 94.380637, 71.372083), "free.yaml")):
            self.write("fine.yaml", f"sinew: 1\ninclude: {name}\nruns: {{path: {{path.step: 0.1}}}}\n")
            self.succeeds("run", "fine.yaml", "--run", "path", "-q")
            rows = list(csv.DictReader(self.succeeds("show", "fine.h5", "--csv", "--probe", "load", "--probe", "at").out.splitlines()))
            points = [(float(r["load"]), float(r["at.x"]) - 24, 120 - float(r["at.y"])) for r in rows]
            top = max(range(len(points)), key=lambda i: points[i][1])
            near = points[top - 3 : top + 4]
            for got, value in zip(largest(near), want):
                self.assertAlmostEqual(got, value, delta=2e-6)

    def test_a_column_at_other_loads(self):
        self.verifies("column.yaml", COLUMN)

    def test_two_rods_at_right_angles(self):
        self.verifies("right.yaml", RIGHT)

    def test_beck_below_flutter(self):
        self.verifies("beck.yaml", BECK)

    def test_a_twisted_rod_pressed_and_pulled(self):
        self.verifies("twist.yaml", TWIST)

    def test_slews_of_a_link(self):
        self.verifies("slew.yaml", SLEW)

    def test_a_truss_of_other_rises(self):
        self.verifies("truss.yaml", TRUSS)


if __name__ == "__main__":
    harness.main()
