# SPDX-License-Identifier: MIT
"""Memory does not grow: robots and batches are opened, closed and stepped, parameters changed, files written, many times."""

import os
import resource

import numpy as np

import sinew

TIMES = int(os.environ.get("SINEW_TIMES", "2000"))  # 100000 by hand

TINY = """
sinew: 1
robot: {bob: {on: world, joint: revolute, axis: y, body: {mass: 1, box: [0.1, 0.1, 0.1], com: [1, 0, 0]}}}
parameters: {m: 1 kg}
probes: {at: {position: bob}}
"""


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize()


def growth(call, times):
    for _ in range(times // 10):
        call()
    before = resident()
    for _ in range(times):
        call()
    return resident() - before


def test_opening_and_closing():
    model = sinew.Model(text=TINY)
    assert growth(lambda: sinew.Robot(model), TIMES) < 2e6
    assert growth(lambda: sinew.Model(text=TINY), TIMES // 4) < 2e6


def test_steps_views_and_probes():
    robot = sinew.Robot(text=TINY)
    sim = robot.simulate(1e-3)

    def once():
        sim.step()
        np.sum(robot.q)
        robot.probe("at")

    assert growth(once, 10 * TIMES) < 1e6


def test_errors_and_parameters():
    robot = sinew.Robot(text=TINY)

    def once():
        try:
            robot.parameters["m"] = "1 s"
        except sinew.Error:
            pass
        robot.parameters["m"] = "2 kg"

    assert growth(once, TIMES // 4) < 2e6


def test_batches_and_result_files(tmp_path):
    model = sinew.Model(text=TINY)

    def once():
        batch = sinew.Batch(model, 3, threads=2)
        batch.start(1e-3)
        batch.step(count=2)
        batch.robots[1].probe("at")

    assert growth(once, TIMES // 4) < 2e6
    path = tmp_path / "tiny.yaml"
    path.write_text(TINY + "study: [dynamic: {for: 2 ms, step: 1 ms}]\n")
    assert growth(lambda: sinew.run(path, tmp_path / "tiny.h5").close(), TIMES // 40) < 4e6
