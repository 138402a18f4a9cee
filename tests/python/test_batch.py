# SPDX-License-Identifier: MIT
import numpy as np
import pytest

import sinew


def test_robots_of_a_batch_move_as_they_do_alone(arm_text):
    model = sinew.Model(text=arm_text)
    n = 7
    start, torque = np.linspace(-0.5, 0.5, n), np.linspace(0, 0.2, n)
    with sinew.Batch(model, n, lanes=1) as batch:
        batch.q[:, 0] = start
        batch.start(2e-3)
        batch.controls["motor"] = torque
        batch.step(count=20)
        for i in range(n):
            alone = sinew.Robot(model)
            alone.q[0] = start[i]
            sim = alone.simulate(2e-3)
            sim.controls["motor"] = torque[i]
            sim.step(count=20)
            assert np.array_equal(alone.q, batch.q[i])
            assert np.array_equal(alone.probe("tip"), batch.probe("tip")[i])
        assert np.allclose(batch.t, 0.04)
        assert not batch.failed.any()


def test_parameters_may_differ(arm_text):
    with sinew.Batch(sinew.Model(text=arm_text), 3, lanes=1) as batch:
        batch.parameters["E"] = [1e6, 2e6, 4e6]
        assert np.array_equal(batch.parameters["silicone.young"], [1e6, 2e6, 4e6])
        batch.start(5e-3)
        batch.step(count=10)
        for i, E in enumerate([1e6, 2e6, 4e6]):
            alone = sinew.Robot(text=arm_text, set={"E": E})
            alone.simulate(5e-3).step(count=10)
            assert np.array_equal(alone.q, batch.q[i])
        with pytest.raises(sinew.ArgumentError, match="needs 3 values"):
            batch.parameters["E"] = [1e6]


def test_a_robot_that_fails_leaves_the_others_alone(arm_text):
    with sinew.Batch(sinew.Model(text=arm_text), 3) as batch:
        batch.start(5e-3)
        batch.controls["motor"] = [0.0, 1e30, 0.0]
        batch.step(count=3)
        assert list(batch.failed) == [False, True, False]
        assert np.array_equal(batch.q[0], batch.q[2])
        batch.controls["motor"] = 0.0
        batch.q[1], batch.v[1] = 0, 0
        batch.q[1, -4] = 1  # unit quaternion
        batch.start(5e-3, at=batch.failed)
        batch.step()
        assert not batch.failed.any() and np.allclose(batch.t, [0.02, 0.005, 0.02])


def test_a_batch_must_be_started(arm_text):
    with pytest.raises(sinew.ArgumentError, match="at least one"):
        sinew.Batch(sinew.Model(text=arm_text), 0)
    with sinew.Batch(sinew.Model(text=arm_text), 2) as batch, pytest.raises(sinew.ArgumentError, match="start"):
        batch.step()


def test_arrays_are_those_of_the_robots(arm_text):
    batch = sinew.Batch(sinew.Model(text=arm_text), 3, threads=2)
    assert batch.u.shape == (3, 3) and np.isnan(batch.u).all()
    batch.robots[1].controls["motor"] = 0.1
    assert batch.u[1, 0] == 0.1
    batch.u[2, 0] = 0.2
    assert batch.robots[2].controls["motor"] == 0.2
    del batch.controls["motor"]
    assert np.isnan(batch.robots[2].u).all()
    batch.controls["cord(1)"] = [0.0, 0.5, 1.0]
    with pytest.raises(sinew.ArgumentError, match="needs one value, or 3"):
        batch.controls["cord(1)"] = [0.0, 0.5]
    batch.equilibrium()
    tip = batch.probe("tip")
    for i in range(3):
        alone = sinew.Robot(text=arm_text)
        alone.controls["cord(1)"] = 0.5 * i
        alone.equilibrium()
        assert np.array_equal(alone.q, batch.q[i]) and np.array_equal(alone.probe("tip"), tip[i])
    with pytest.raises(ValueError, match="read-only"):
        batch.t[0] = 1


def test_some_robots_are_stepped_and_errors_have_texts(arm_text):
    batch = sinew.Batch(sinew.Model(text=arm_text), 3)
    batch.set_time(1.0, at=[False, False, True])
    batch.start(5e-3)
    batch.step(at=[True, False, True])
    assert np.allclose(batch.t, [0.005, 0, 1.005])
    batch.u[0, 0] = 1e30
    batch.step()
    assert list(batch.failed) == [True, False, False] and list(batch.errors) == [0]
    assert "converge" in batch.errors[0] or "step" in batch.errors[0]
    batch.u[1, 0] = np.nan
    with pytest.raises(sinew.ArgumentError, match="robot 1: .*'motor'"):
        batch.step()
    with pytest.raises(sinew.ArgumentError, match="at most"):
        batch.step(dt=1.0)


def test_ctrl_c_ends_a_long_call(arm_text):
    import os
    import signal
    import threading

    batch = sinew.Batch(sinew.Model(text=arm_text), 4, threads=2)
    batch.start(5e-3)
    with pytest.raises(KeyboardInterrupt):
        threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
        batch.step(count=10**9)
    batch.step()
    assert not batch.failed.any()


def test_ctrl_c_ends_a_change_of_parameters(arm_text):
    import os
    import signal
    import time

    batch = sinew.Batch(sinew.Model(text=arm_text), 8, threads=2)

    def change(robot, values):
        time.sleep(0.2)  # until all changes are given to the threads
        if robot is batch.robots[0]:
            os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.2)
        type(robot)._change(robot, values)

    for robot in batch.robots:
        robot._change = lambda values, robot=robot: change(robot, values)
    with pytest.raises(KeyboardInterrupt):
        batch.parameters["E"] = 2e6
    E = batch.parameters["E"]
    assert E[0] == 2e6 and E[-1] == 1e6  # those that were under way have changed
    batch.start(5e-3)
    batch.step()


def test_a_batch_belongs_to_one_thread(arm_text):
    import threading

    batch = sinew.Batch(sinew.Model(text=arm_text), 2)
    batch.start(5e-3)
    with batch._exclusive:
        seen = []

        def other():
            try:
                batch.robots[0].probe("tip")
            except sinew.Error as failure:
                seen.append(str(failure))

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert "the batch is in use by another thread" in seen[0]


ROD = """
sinew: 1
materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000, damping: 10 ms}}
robot:
  arm: {on: world, rod: {length: 0.3 m, section: {circle: {radius: 10 mm}}, material: rubber, strain: kirchhoff legendre 3}}
probes: {tip: {position: arm.tip}}
"""


def test_packs_of_robots_move_as_robots_alone(arm_text):
    model, n = sinew.Model(text=ROD), 13
    q = np.random.default_rng(1).normal(size=(n, 9))
    with sinew.Batch(model, n) as packs, sinew.Batch(model, n, lanes=1) as alone:
        for batch in (packs, alone):
            batch.q[:] = q
            batch.start(5e-3)
            batch.step(count=20)
        assert np.allclose(packs.probe("tip"), alone.probe("tip"), rtol=0, atol=1e-8)
        assert alone.engine() == ("alone", "packs are switched off")
        packs_engine = packs.engine(n - 1)
        assert packs.engine(n - 1)[0] == "alone" or packs.engine(n - 1)[1] == ""
        with pytest.raises(IndexError):
            packs.engine(n)
    stopped = ROD.replace("probes:", "contacts: {hill: {obstacle: {links: arm, shape: height, height: 1 cm*cos(x/0.1 m), "
                          "area: [2 m, 2 m], at: [0, 0, -1 m], stiffness: 1 kPa}}}\nprobes:")
    with sinew.Batch(sinew.Model(text=stopped), 2) as batch:
        batch.start(5e-3)
        assert batch.engine()[0] == "alone" and batch.engine()[1] != ""
    with sinew.Batch(sinew.Model(text=ROD.replace("probes:", "contacts: {floor: {ground: {on: arm, stiffness: 1 kPa}}}\nprobes:")), 2) as batch:
        batch.start(5e-3)
        assert batch.engine() == packs_engine
    with sinew.Batch(model, n, precision="single") as single, sinew.Batch(model, n, lanes=1) as alone:
        for batch in (single, alone):
            batch.q[:] = 0.1*q  # gentle: steps of violent motions are cut elsewhere
            batch.start(5e-3)
            batch.step(count=20)
        assert packs_engine[0] == "alone" or "single precision" in single.engine()[0]
        assert single.q.dtype == np.float64
        assert np.allclose(single.probe("tip"), alone.probe("tip"), rtol=0, atol=1e-6)
    with pytest.raises(sinew.ArgumentError, match="8, 4 or 1"):
        sinew.Batch(model, 2, lanes=3)
    with pytest.raises(sinew.ArgumentError, match="'double' or 'single', not 'half'"):
        sinew.Batch(model, 2, precision="half")
