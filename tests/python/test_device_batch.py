# SPDX-License-Identifier: MIT
"""Batches on a device, by its program on the host: CI has no graphics processor."""

import ctypes
import gc
import os
import pathlib
import weakref

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
        before = alone.poses()[-1, :3, 3]
        alone.move(1e-6 * alone.v)
        rate = (alone.poses()[-1, :3, 3] - before) / 1e-6
        assert np.allclose(batch.point_rates.get()[i], rate, rtol=0, atol=1e-4)


def test_inputs_of_each_step(arm_text):
    n, steps = 2, 5
    one, many = on_host(arm_text, n), on_host(arm_text, n)
    for batch in (one, many):
        batch.take("motor")
        batch.start("2 ms")
    inputs = np.zeros((steps, one.u.shape[1], n))
    inputs[:, one.model.actuators["motor"].numbers] = np.linspace(0, 0.05, steps * n).reshape(steps, 1, n)
    many.step(count=steps, inputs=inputs)
    for k in range(steps):
        one.u[:] = inputs[k].T
        one.step()
    assert np.array_equal(one.q.get(), many.q.get())
    with pytest.raises(sinew.ArgumentError, match="'inputs' has the shape"):
        many.step(count=2, inputs=inputs)


def test_arrays_are_views(arm_text):
    batch = on_host(arm_text, 3)
    q, across = np.asarray(batch.q), np.asarray(batch.q.T)
    assert q.shape == (3, batch.nq) and across.flags.c_contiguous and np.shares_memory(q, across)
    q[:] = np.arange(q.size).reshape(q.shape) / 100
    assert np.array_equal(batch.q.get(), q)
    by_dlpack = np.from_dlpack(batch.q)
    assert np.shares_memory(q, by_dlpack) and np.array_equal(by_dlpack, q) and batch.q.__dlpack_device__() == (1, 0)
    batch.start("2 ms")
    batch.step()
    assert np.array_equal(batch.q.get(), by_dlpack)  # a view sees what the batch writes
    status = np.asarray(batch.status)
    with pytest.raises(ValueError, match="read-only"):
        status[:] = 0
    with pytest.raises(BufferError, match="read only"):
        batch.status.__dlpack__()
    assert "dltensor_versioned" in repr(batch.status.__dlpack__(max_version=(1, 0)))
    with pytest.raises(BufferError, match="not copied"):
        batch.q.__dlpack__(copy=True)
    with pytest.raises(BufferError, match="no streams"):
        batch.q.__dlpack__(stream=1)


def test_views_keep_the_batch_alive(arm_text):
    batch = on_host(arm_text, 3)
    alive = weakref.ref(batch)
    batch.q[:] = 0.25
    views = [np.asarray(batch.q), np.from_dlpack(batch.q)]
    unused = batch.q.__dlpack__()  # a capsule that no consumer takes
    del batch
    gc.collect()
    for view in views:
        assert (view == 0.25).all()
    assert alive() is not None
    del views, view, unused
    gc.collect()
    assert alive() is None


def test_arrays_of_a_device_are_checked(arm_text):
    batch = on_host(arm_text, 2)
    with pytest.raises(sinew.ArgumentError, match="as a whole"):
        batch.q[0] = 1
    with pytest.raises(sinew.ArgumentError, match="has the shape"):
        batch.q[:] = np.zeros((7, 7))
    assert not hasattr(batch.q, "__cuda_array_interface__")
    with pytest.raises(sinew.ArgumentError, match="start"):
        batch.step()
    batch.stream = 0
    assert batch.stream == 0


def test_robots_that_fail_are_started_again(arm_text):
    batch, calm = on_host(arm_text, 3), on_host(arm_text, 3)
    q = batch.q.get()
    q[1] = np.nan
    batch.q[:] = q
    batch.take("motor")
    u = batch.u.get()
    u[2, batch.model.actuators["motor"].numbers] = np.nan
    batch.u[:] = u
    calm.take("motor")
    for one in (batch, calm):
        one.start("2 ms")
        one.step(count=5)
    assert list(batch.failed) == [False, True, True]
    assert "not finite" in batch.errors[1] and "not finite" in batch.errors[2]
    assert np.array_equal(batch.q.get()[0], calm.q.get()[0])  # neighbours do not feel it
    frozen = batch.q.get()[2]
    batch.step(count=2)
    assert np.array_equal(batch.q.get()[2], frozen)
    batch.u[:] = 0
    home = batch.home.get()
    home[2, 0] += 0.125
    batch.home[:] = home
    batch.reset(failed=True)
    assert np.array_equal(batch.q.get()[1:], home[1:, : batch.nq]) and not batch.failed.any()
    assert not np.array_equal(batch.q.get()[0], home[0, : batch.nq])  # it goes on
    batch.reset(np.array([True, False, False]))
    assert np.array_equal(batch.q.get()[0], home[0, : batch.nq])
    batch.q[:] = home[:, : batch.nq]
    batch.restart(np.array([0, 1, 0]))
    batch.step()
    assert not batch.failed.any()


def test_parameters_of_each_robot(arm_text):
    n = 3
    batch = on_host(arm_text, n)
    young, length = np.array([0.8e6, 1e6, 1.3e6]), np.array([0.29, 0.3, 0.31])
    batch.parameters.update({"silicone.young": young, "arm.rod.length": [f"{x:.2f} m" for x in length]})
    assert np.array_equal(batch.parameters["silicone.young"], young) and "silicone.young" in batch.parameters
    assert batch.parameters["arm.rod.length"] == pytest.approx(length)
    batch.start("2 ms")
    batch.step(count=20)
    assert batch.errors == {}
    for i in range(n):
        alone = sinew.Robot(batch.model)
        alone.parameters.update({"silicone.young": young[i], "arm.rod.length": length[i]})
        alone.simulate(2e-3).step(count=20)
        assert np.allclose(batch.q.get()[i], alone.q, rtol=0, atol=1e-8)
    batch.parameters["silicone.young"] = "1 MPa"
    assert list(batch.status.get()[:, 0]) == [1, 1, 1]  # they wait for a start
    with pytest.raises(sinew.ModelError, match="nodes of rod"):
        batch.parameters["arm.rod.nodes"] = 9
    with pytest.raises(sinew.Error, match="robot 0: .*no_such"):
        batch.parameters["no_such.thing"] = 1.0
    with pytest.raises(sinew.ArgumentError, match="3 values, but has 2"):
        batch.parameters["silicone.young"] = [1e6, 2e6]


def test_parameters_of_laws_and_loads(arm_text):
    batch = on_host(arm_text.replace("force: [0, 0, 0 N]", "force: [0, tau*sin(20*t)/(1 m), 0]"), 2)
    strength = ["0.02 N*m", "0.05 N*m"]
    batch.parameters["tau"] = strength
    batch.start("2 ms")
    batch.step(count=15)
    assert batch.errors == {}
    for i in range(2):
        alone = sinew.Robot(batch.model)
        alone.parameters["tau"] = strength[i]
        alone.simulate(2e-3).step(count=15)
        assert np.allclose(batch.q.get()[i], alone.q, rtol=0, atol=1e-8)


def test_probes_of_the_file(arm_text):
    n, steps = 2, 3
    batch, names = on_host(arm_text, n), ["tip"]
    v = batch.v.get()
    v[1] = 0.1
    batch.v[:] = v
    tip = batch.probes(names)
    with pytest.raises(sinew.ArgumentError, match="no probe 'nothing'"):
        batch.probes(["nothing"])
    history = np.zeros((steps, tip.shape[1], n))
    batch.start("2 ms")
    batch.step(count=steps, probes=history)
    batch.update_probes()
    assert np.array_equal(history[-1].T, tip.get())
    for i in range(n):
        alone = sinew.Robot(batch.model)
        alone.v[:] = v[i]
        motion = alone.simulate(2e-3)
        for k in range(steps):
            motion.step()
            assert np.allclose(history[k, :, i], alone.probe("tip"), rtol=0, atol=1e-8)
    with pytest.raises(sinew.ArgumentError, match="'probes' has the shape"):
        batch.step(count=2, probes=history)
    with pytest.raises(sinew.ArgumentError, match="to be written"):
        batch.step(count=steps, probes=history.astype(np.float32))
    assert batch.bytes > 0 and batch.counts["iterations"] > 0 and batch.counts["failed"] == 0


def test_single_precision(arm_text):
    one = on_host(arm_text, 2)
    two = sinew.Batch(one.model, 2, device="host", precision="single")
    assert one.precision == "double" and two.precision == "single"
    for batch in (one, two):
        v = batch.v.get()
        v[1] = 0.1
        batch.v[:] = v
        batch.start("2 ms")
        batch.step(count=20)
        assert not batch.failed.any()
    difference = np.abs(one.q.get() - two.q.get()).max()
    assert 1e-12 < difference < 1e-3 * np.abs(one.q.get()).max()
    with pytest.raises(sinew.ArgumentError, match="'double' or 'single'"):
        sinew.Batch(one.model, 2, device="host", precision="half")


def test_what_a_device_does_not_have_is_refused(arm_text):
    model = sinew.Model(text=arm_text)
    with pytest.raises(sinew.ArgumentError, match="no device 'gpu'"):
        sinew.Batch(model, 2, device="gpu")
    with pytest.raises(sinew.ArgumentError, match="takes no 'threads'"):
        sinew.Batch(model, 2, device="host", threads=2)
    on_host(arm_text, 1)
    with pytest.raises(MemoryError, match=r"2147483647 robots need .* enough for \d+ robots of this model"):
        sinew.Batch(model, 2**31 - 1, device="host")


def test_a_missing_driver_is_named(arm_text):
    on_host(arm_text, 1)
    try:
        ctypes.CDLL("libcuda.so.1")
        pytest.skip("a machine with a driver")
    except OSError:
        pass
    with pytest.raises(sinew.FileError, match=r"libcuda\.so\.1 cannot be loaded.*NVIDIA driver"):
        sinew.Batch(sinew.Model(text=arm_text), 2, device="cuda")


def test_kernels_need_no_processor(arm_text, tmp_path, monkeypatch):
    on_host(arm_text, 1)
    model = sinew.Model(text=arm_text)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("SINEW_NVRTC", str(tmp_path / "libnvrtc.so"))
    with pytest.raises(sinew.FileError, match="libnvrtc"):
        sinew.compile_kernels(model, "sm_90")
    with pytest.raises(sinew.ArgumentError, match="architecture 'hopper'"):
        sinew.compile_kernels(model, "hopper")
    with pytest.raises(sinew.ArgumentError, match="precision"):
        sinew.compile_kernels(model, precision="half")
    with pytest.raises(sinew.ArgumentError, match="kernels"):
        sinew.compile_kernels(model, kernels="slow")


def test_quick_kernels_have_their_option(arm_text, tmp_path, monkeypatch):
    """By a library that writes down the options which NVRTC would get."""
    on_host(arm_text, 1)
    library = pathlib.Path(os.environ.get("SINEW_BUILD", "")) / "libnvrtc_of_tests.so"
    if not library.exists():
        pytest.skip("libnvrtc_of_tests.so is not built")
    model, seen = sinew.Model(text=arm_text), []
    monkeypatch.setenv("SINEW_NVRTC", str(library.resolve()))
    for version, kernels, further in [("13.0", "full", ""), ("13.0", "quick", ""), ("12.8", "quick", ""), ("12.9", "quick", " -x  -lineinfo")]:
        folder = tmp_path / f"{version}{kernels}"
        for name, value in [("NVRTC_VERSION", version), ("XDG_CACHE_HOME", str(folder)), ("SINEW_NVRTC_OPTIONS", further)]:
            monkeypatch.setenv(name, value)
        sinew.compile_kernels(model, "sm_90", kernels=kernels)
        (file,) = (folder / "sinew").iterdir()
        seen.append((file.name, file.read_bytes()[32:].decode().split("\n")))
    full, quick, old, further = (options for _, options in seen)
    assert "-arch=sm_90" in full and quick == [*full[:-1], "--Ofast-compile=min", "-Dinline=__forceinline__", ""] and old == full
    assert further == [*quick[:-1], "-x", "-lineinfo", ""]
    assert seen[0][0] != seen[1][0] and seen[1][0] == seen[2][0] != seen[3][0]  # the text and what was asked for
