# SPDX-License-Identifier: MIT
"""Batches on a device, by its program on the host: CI has no graphics processor."""

import ctypes

import numpy as np
import pytest

import sinew


def on_host(text, n):
    try:
        return sinew.Batch(sinew.Model(text=text), n, device="host")
    except sinew.ArgumentError as refusal:
        if "this build" in str(refusal):
            pytest.skip("a build without batches on devices")
        raise


def test_robots_on_a_device_move_as_they_do_alone(arm_text):
    n = 3
    batch = on_host(arm_text, n)
    torque = np.linspace(0, 0.05, n)
    batch.take("motor")
    inputs = np.zeros(batch.u.shape)
    inputs[:, batch.model.actuators["motor"].numbers] = torque[:, None]
    batch.u[:] = inputs
    batch.start("2 ms")
    batch.step(count=20)
    batch.wait()
    assert not batch.failed.any() and batch.errors == {} and batch.t == pytest.approx(0.04)
    tip = batch.points([-1])
    batch.update_points()
    for i in range(n):
        alone = sinew.Robot(batch.model)
        alone.controls["motor"] = torque[i]
        alone.simulate(2e-3).step(count=20)
        assert np.allclose(batch.q.get()[i], alone.q, rtol=0, atol=1e-8)
        assert np.allclose(tip.get()[i], alone.poses()[-1, :3, 3], rtol=0, atol=1e-8)


def test_arrays_of_a_device_are_checked(arm_text):
    batch = on_host(arm_text, 2)
    with pytest.raises(sinew.ArgumentError, match="as a whole"):
        batch.q[0] = 1
    assert not hasattr(batch.q, "__cuda_array_interface__")
    with pytest.raises(sinew.ArgumentError, match="start"):
        batch.step()
    q = batch.q.get()
    q[1] = np.nan
    batch.q[:] = q
    batch.start("2 ms")
    batch.step()
    assert list(batch.failed) == [False, True] and "not finite" in batch.errors[1]
    batch.q[:] = q[0]
    batch.restart(np.array([False, True]))
    batch.step()
    assert not batch.failed.any()


def test_what_a_device_does_not_have_is_refused(arm_text):
    model = sinew.Model(text=arm_text)
    with pytest.raises(sinew.ArgumentError, match="no device 'gpu'"):
        sinew.Batch(model, 2, device="gpu")
    with pytest.raises(sinew.ArgumentError, match="takes no 'threads'"):
        sinew.Batch(model, 2, device="host", threads=2)


def test_a_missing_driver_is_named(arm_text):
    on_host(arm_text, 1)
    try:
        ctypes.CDLL("libcuda.so.1")
        pytest.skip("a machine with a driver")
    except OSError:
        pass
    with pytest.raises(sinew.FileError, match=r"libcuda\.so\.1 cannot be loaded.*NVIDIA driver"):
        sinew.Batch(sinew.Model(text=arm_text), 2, device="cuda")
