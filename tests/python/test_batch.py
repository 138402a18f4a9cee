# SPDX-License-Identifier: MIT
import numpy as np
import pytest

import sinew


def test_robots_of_a_batch_move_as_they_do_alone(arm_text):
    model = sinew.Model(text=arm_text)
    n = 7
    start, torque = np.linspace(-0.5, 0.5, n), np.linspace(0, 0.2, n)
    with sinew.Batch(model, n) as batch:
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
    with sinew.Batch(sinew.Model(text=arm_text), 3) as batch:
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
        assert not batch.failed.any()


def test_a_batch_must_be_started(arm_text):
    with pytest.raises(sinew.ArgumentError, match="at least one"):
        sinew.Batch(sinew.Model(text=arm_text), 0)
    with sinew.Batch(sinew.Model(text=arm_text), 2) as batch, pytest.raises(sinew.ArgumentError, match="start"):
        batch.step()
