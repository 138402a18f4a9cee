#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What Python adds to the C library: steps, inputs, laws, poses; a batch on one thread and on two; predictive control.

usage: bench/python.py [--csv FILE]

The C step is that of one call of snw_robot_advance, in which no Python runs. Times are the smallest of many
repetitions; rows are differences and ratios, since times depend on the machine. The batch is measured by the clock, and
by the processor time of the process, which other processes disturb less: threads that wait for each other need more.
"""

import argparse
import pathlib
import time

import numpy as np

import sinew
from sinew import control
from sinew._core import ffi, lib, new_error

ARM = """
sinew: 1
gravity: [0, 0, -9.81]
materials: {silicone: {young: 1 MPa, poisson: 0.48, density: 1070 kg/m^3, damping: 20 ms}}
robot:
  base: {on: world, joint: revolute, axis: y, stiffness: 1 N*m, body: {mass: 0.2 kg, box: [5 cm, 5 cm, 5 cm]}}
  arm: {on: base, rod: {length: 0.3 m, section: {circle: {radius: 1 cm}}, material: silicone, strain: kirchhoff legendre 3}}
actuators:
  motor: {joint: base, effort: 0 N*m}
  cord(k=1..2): {tendon: {along: arm, at: [0, 0, 8 mm*(3 - 2*k)]}, effort: 0 N}
probes: {tip: {position: arm.tip}}
"""
CIRCLE = pathlib.Path(__file__).resolve().parent.parent / "examples" / "control" / "circle.yaml"
STEP, STEPS, ROBOTS = 2e-3, 10, 32
SECONDS = 4.0  # for each row


def smallest(*calls, before=lambda: None, seconds=SECONDS, clock=time.perf_counter):
    """Smallest times of the functions, s; they take turns, so that a busy machine disturbs all of them alike."""
    best, end = [np.inf] * len(calls), time.monotonic() + seconds
    while time.monotonic() < end:
        for i, call in enumerate(calls):
            before()
            start = clock()
            call()
            best[i] = min(best[i], clock() - start)
    return best


def times(call, count=200):
    """A function that calls `call` many times."""

    def repeat():
        for _ in range(count):
            call()

    return repeat


def steps_of_one():
    robot = sinew.Robot(text=ARM)
    sim, err = robot.simulate(STEP), new_error()
    sim.controls["motor"] = 0.0
    state = sim.save()
    start = lambda: sim.restore(state)  # noqa: E731

    def by_c():
        lib.snw_robot_advance(robot._r, STEP, STEPS, ffi.NULL, err)

    def law(_robot):
        return 0.0

    c, python = smallest(by_c, times(sim.step, STEPS), before=start)
    yield "step by C", 1e6 * c / STEPS, "us"
    yield "step by Python, more than C", 1e6 * (python - c) / STEPS, "us"
    yield "step by Python over C", python / c, ""
    sim.controls["motor"] = law
    other, (called, empty) = smallest(times(sim.step, STEPS), before=start), smallest(times(lambda: law(robot)), times(lambda: None))
    yield "law in Python, more than its call", 1e6 * ((other[0] - python) / STEPS - (called - empty) / 200), "us"
    del sim.controls["motor"]


def calls_of_one():
    robot = sinew.Robot(text=ARM)
    u, controls = robot.u, robot.controls

    def write_u():
        u[0] = 0.0

    def write_control():
        controls["motor"] = 0.0

    by_u, by_name, empty = smallest(times(write_u), times(write_control), times(lambda: None))
    yield "robot.u[0] = x", 1e6 * (by_u - empty) / 200, "us"
    yield "controls[name] = x", 1e6 * (by_name - empty) / 200, "us"
    out, at, r = ffi.new("double[]", 6 * robot.nv + 16), robot._at("arm.tip", None), robot._r
    for name, ours, theirs in (
        ("pose", lambda: robot.pose("arm.tip"), lambda: lib.snw_robot_pose(r, at, out)),
        ("jacobian", lambda: robot.jacobian("arm.tip"), lambda: lib.snw_robot_jacobian(r, at, 1, out, ffi.NULL)),
        ("probe", lambda: robot.probe("tip"), lambda: lib.snw_robot_probe(r, b"tip", 3, out)),
    ):
        mine, c = smallest(times(ours, 50), times(theirs, 50))
        yield f"{name}(..) over its call of C", mine / c, ""


def batches():
    model = sinew.Model(text=ARM)
    one, two = (sinew.Batch(model, ROBOTS, threads=n) for n in (1, 2))
    q, v = one.q.copy(), one.v.copy()

    def begin():
        for batch in (one, two):
            batch.q[:], batch.v[:] = q, v
            batch.start(STEP)

    for count in (2, 20):
        calls = [lambda b=b: b.step(count=count) for b in (one, two)]
        a, b = smallest(*calls, before=begin, seconds=3 * SECONDS)
        yield f"batch of {ROBOTS}, {count} steps, 2 threads over 1, by the clock", a / b, ""
        a, b = smallest(*calls, before=begin, clock=time.process_time)
        yield f"batch of {ROBOTS}, {count} steps, 2 threads over 1, by processor time", 2 * a / b, ""


def predictive_control():
    """Updates of the controller of examples/control/circle.yaml: horizon of 0.5 s, by processor time."""
    cords = ["across(1)", "across(2)", "forth(1)", "forth(2)"]
    arm = sinew.Robot(CIRCLE, set={f"{c}.effort": "4 N" for c in cords})
    arm.equilibrium()
    for count in (25, 50):
        steps = arm.step_map(0.5 / count, cords, ["tip", "speed"], scheme="bdf2")
        mpc = control.MPC(steps, count, {"tip": 1e4, "speed": 20}, 1e-3, rest=[4] * 4, limits={c: (0, 15) for c in cords})
        target = arm.probe("tip") + np.array([0.03, 0.02, 0.003])
        point, to, u = steps.begin(arm, [4] * 4), np.concatenate([target, np.zeros(3)]), np.full(4, 4.0)
        for _ in range(5):  # on the way to the target
            u = mpc.update(point, to)
            point, _ = steps.step(point, u)
        (best,) = smallest(lambda: mpc.update(point, to), clock=time.process_time)
        yield f"update over 0.5 s in {count} steps, {steps.nx} states, 4 tendons with limits", 1e3 * best, "ms"


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--csv", help="add the rows to this file")
    path = options.parse_args().csv
    print("\nPython and the C library; smallest of many repetitions\n")
    for table in (steps_of_one, calls_of_one, batches, predictive_control):
        for name, value, unit in table():
            print(f"  {name:62s} {value:8.3g} {unit}", flush=True)
            if path:
                with open(path, "a", encoding="utf-8") as f:
                    f.write(f'python,"{name}",{unit or "ratio"},{value:.6g}\n')


if __name__ == "__main__":
    main()
