# SPDX-License-Identifier: MIT
import gc
import pathlib
import threading

import numpy as np
import pytest

import sinew


def test_the_state_is_a_view(arm):
    arm.q[0] = 0.25
    assert arm.q[0] == 0.25
    assert arm.probe("angle") == pytest.approx(0.25)
    arm.v = np.ones(arm.nv)
    assert np.all(arm.v == 1)


def test_a_view_outlives_its_robot(arm_text):
    q = sinew.Robot(text=arm_text).q
    gc.collect()
    q[0] = 1.0
    assert q[0] == 1.0


def hat(w):
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def moved(robot, direction, h):
    """Pose of the palm after a small motion along a direction of v."""
    q = robot.q.copy()
    robot.move(h * direction)
    out = robot.pose("palm")
    robot.q[:] = q
    return out


@pytest.mark.parametrize("frame", ["body", "world"])
def test_jacobian_is_the_derivative_of_the_pose(posed, frame):
    J = posed.jacobian("palm", frame=frame)
    T, h = posed.pose("palm"), 1e-3
    for k in range(posed.nv):
        e = np.eye(posed.nv)[k]
        # central differences of fourth order
        d = (8 * (moved(posed, e, h) - moved(posed, e, -h)) - (moved(posed, e, 2 * h) - moved(posed, e, -2 * h))) / (12 * h)
        if frame == "body":
            B = np.linalg.inv(T) @ d
            twist = np.array([B[2, 1], B[0, 2], B[1, 0], *B[:3, 3]])
        else:
            W = d[:3, :3] @ T[:3, :3].T
            twist = np.array([W[2, 1], W[0, 2], W[1, 0], *d[:3, 3]])
        assert np.allclose(J[:, k], twist, atol=1e-9)


def test_twist_and_acceleration_follow_from_the_jacobian(posed):
    J, dJ = posed.jacobian("arm", 0.17), posed.jacobian_rate("arm", 0.17)
    assert np.allclose(posed.twist("arm", 0.17), J @ posed.v, atol=1e-12)
    assert np.allclose(posed.acceleration("arm", 0.17), J @ posed.a + dJ @ posed.v, atol=1e-10)


def test_inverse_dynamics_is_mass_times_acceleration_and_bias(posed):
    tau = posed.inverse_dynamics()
    assert np.allclose(tau, posed.mass() @ posed.a + posed.bias(), rtol=1e-12, atol=1e-12)
    a = posed.forward_dynamics(tau)
    assert np.allclose(a, posed.a, rtol=1e-8, atol=1e-8)
    assert np.allclose(posed.mass_solve(tau - posed.bias()), posed.a, rtol=1e-8, atol=1e-8)


def test_a_given_state_leaves_the_robot_alone(posed):
    q, v, a = posed.q.copy(), posed.v.copy(), posed.a.copy()
    posed.inverse_dynamics(np.zeros(posed.nv), v=np.zeros(posed.nv))
    posed.forward_dynamics()
    posed.mass(q=q)
    posed.tangent(v=np.zeros(posed.nv))
    assert np.array_equal(posed.q, q) and np.array_equal(posed.v, v) and np.array_equal(posed.a, a)


def test_tangent_is_the_derivative_of_inverse_dynamics(posed):
    K, C, M = posed.tangent()
    assert np.allclose(M, posed.mass(), rtol=1e-12, atol=1e-14)
    q, h = posed.q.copy(), 1e-4
    for k in (0, 3, 9, posed.nv - 4):  # coordinates that are vectors
        def residual(s):
            posed.move(s * np.eye(posed.nv)[k])
            r = posed.inverse_dynamics()
            posed.q[:] = q
            return r

        d = (8 * (residual(h) - residual(-h)) - (residual(2 * h) - residual(-2 * h))) / (12 * h)
        assert np.allclose(K[:, k], d, atol=1e-6 * np.abs(K).max())


def test_energies_of_links_sum_to_the_energy(posed):
    e, parts = posed.energy(), sum(posed.link_energies().values())
    assert np.allclose(parts, [e.kinetic, e.elastic, e.gravity], rtol=1e-12)
    assert e.kinetic == pytest.approx(0.5 * posed.v @ posed.mass() @ posed.v, rel=1e-12)


def test_equilibrium_balances_forces(arm):
    arm.controls["motor"] = 0.3
    arm.equilibrium()
    assert np.abs(arm.inverse_dynamics()).max() < 1e-6
    assert arm.stability > 0


def test_loops_are_kept_by_forward_dynamics(four_bar):
    sim = four_bar.simulate(1e-3)
    sim.step(count=20)
    a = four_bar.forward_dynamics()
    C, violation = four_bar.constraint_jacobian()
    assert np.abs(violation).max() < 1e-9
    assert np.abs(C @ four_bar.v).max() < 1e-6
    # M a + bias = C' lambda
    forces = four_bar.mass() @ a + four_bar.bias()
    null = np.linalg.svd(C)[2][np.linalg.matrix_rank(C):]
    assert np.abs(null @ forces).max() < 1e-8


def test_the_conserving_scheme_conserves():
    bob = sinew.Robot.from_dict({"gravity": [0, 0, -9.81], "robot": {
        "bob": {"on": "world", "joint": "revolute", "axis": "y",
                "body": {"mass": 1, "box": [0.1, 0.1, 0.1], "com": [1, 0, 0]}}}})  # fmt: skip
    before = bob.energy().total
    sim = bob.simulate(1e-2, "conserving")
    sim.step(count=100)
    assert bob.t == pytest.approx(1.0) and bob.energy().kinetic > 1
    assert bob.energy().total == pytest.approx(before, abs=1e-9)


def test_saved_states_give_the_same_bits(arm):
    arm.q[0] = 0.5
    sim = arm.simulate(2e-3)
    sim.step(count=10)
    state = sim.save()
    sim.step(count=10)
    end = arm.q.copy()
    sim.restore(state)
    sim.step(count=10)
    assert np.array_equal(arm.q, end)
    with pytest.raises(sinew.ArgumentError):
        sim.restore(state[:-1])


def test_a_copy_continues_with_the_same_bits(arm):
    arm.q[0] = 0.5
    sim = arm.simulate(2e-3)
    sim.step(count=10)
    twin = arm.copy()
    sim.step(count=5)
    lib, err = sinew._lib, sinew._ffi.new("snw_error *")
    for _ in range(5):
        assert lib.snw_robot_step(twin._r, 2e-3, err) == 0
    assert np.array_equal(arm.q, twin.q)


def test_controls_are_set_by_name_and_by_functions(arm):
    sim = arm.simulate(2e-3)
    sim.controls["cord(1)"] = 0.5
    assert sim.controls["cord(1)"] == 0.5
    seen = []
    sim.controls["motor"] = lambda robot: seen.append(robot.t) or 0.1
    sim.step(count=3)
    assert seen == pytest.approx([0, 2e-3, 4e-3])
    assert sim.controls["motor"] == pytest.approx(0.1)
    del sim.controls["motor"]
    sim.step()
    assert len(seen) == 3
    with pytest.raises(sinew.ArgumentError, match="needs 1 number"):
        sim.controls["cord(1)"] = [1, 2]


def test_bad_numbers_raise_and_change_nothing(arm):
    q = arm.q.copy()
    with pytest.raises(sinew.ArgumentError):
        arm.move(np.full(arm.nv, np.nan))
    with pytest.raises(sinew.ArgumentError):
        arm.pose("nowhere")
    with pytest.raises(sinew.ArgumentError):
        arm.pose("arm", x=7.0)
    with pytest.raises(sinew.ArgumentError):
        arm.inverse_dynamics(np.zeros(3))
    with pytest.raises(sinew.ArgumentError):
        arm.jacobian("palm", frame="moon")
    assert np.array_equal(arm.q, q)


def test_one_robot_in_two_threads_raises_and_two_are_fine(arm_text):
    robots = [sinew.Robot(text=arm_text) for _ in range(2)]
    ends = [None, None]

    def work(i):
        sim = robots[i].simulate(1e-3)
        sim.step(count=50)
        ends[i] = robots[i].q.copy()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert np.array_equal(ends[0], ends[1])

    with robots[0]._exclusive:  # as if another thread were inside
        with pytest.raises(sinew.Error, match="another thread"):
            robots[0].pose("palm")


def test_modes_are_those_of_a_thin_beam():
    beam = sinew.Robot.from_dict({
        "gravity": 0,
        "materials": {"steel": {"young": 200e9, "poisson": 0.3, "density": 7800}},
        "robot": {"beam": {"on": "world", "rod": {"length": 1.0, "section": {"circle": {"radius": 1e-3}},
                                                  "material": "steel", "strain": {"bend_z": "legendre 8"}}}},
    })  # fmt: skip
    f, damping, shapes = beam.modes(3)
    assert np.all(damping == 0)
    exact = np.array([1.8751040687, 4.6940911330, 7.8547574382]) ** 2 * np.sqrt(200e9 / 7800) * 1e-3 / 2 / (2 * np.pi)
    assert np.allclose(f, exact, rtol=1e-4)
    assert np.allclose(shapes.T @ beam.mass() @ shapes, np.eye(3), atol=1e-9)


def test_modes_of_a_closed_loop_keep_it_closed(four_bar):
    four_bar.simulate(1e-3)  # closes the loop
    f, _, shapes = four_bar.modes()
    C, _ = four_bar.constraint_jacobian()
    assert len(f) == 1 and np.abs(C @ shapes).max() < 1e-9
    with pytest.raises(ValueError):
        four_bar.modes(-1)


def test_modes_are_those_of_a_modes_step():
    examples = pathlib.Path(__file__).resolve().parents[2] / "examples"
    arm = sinew.Robot(examples / "hybrid" / "soft_arm.yaml", run="locked")
    f = arm.modes(4).frequency
    # closed form of the example: a clamped beam with a mass at its end, rotary inertia included
    assert np.allclose(f, [1.659395003, 1.659395003, 15.69882648, 15.69882648], rtol=1e-7)


def test_inputs_are_an_array(arm):
    sim = arm.simulate(2e-3)
    assert np.isnan(arm.u).all() and arm.u.size == 3
    twin = arm.copy()
    other = twin.simulate(2e-3)
    arm.u[arm.actuators["motor"].numbers] = 0.2
    arm.u[1] = 0.5
    other.controls["motor"] = 0.2
    other.controls["cord(1)"] = 0.5
    sim.step(count=5)
    for _ in range(5):
        other.step()
    assert np.array_equal(arm.q, twin.q)
    assert arm.controls["cord(1)"] == 0.5 and twin.u[1] == 0.5
    del arm.controls["cord(1)"]
    assert np.isnan(arm.u[1])
    arm.u[0] = np.nan  # no wish for the law of the file, but a fault of a controller
    with pytest.raises(sinew.ArgumentError, match="'motor' is not a number"):
        sim.step()
    sim.step()
    assert arm.u[0] == 0.2
    arm.u = [0.1, 0.0, 0.0]
    arm.parameters["E"] = 2e6
    assert list(arm.u) == [0.1, 0.0, 0.0]
    with pytest.raises(sinew.ArgumentError, match="negative"):
        sim.step(count=-1)


def test_python_has_the_bits_of_c(arm):
    """Steps, controls and laws of the classes against the calls of the C library."""
    from sinew._core import ffi, lib

    model, err, out = arm.model, ffi.new("snw_error *"), ffi.new("snw_robot **")
    assert lib.snw_robot_from_model(model._m, out, err) == 0
    r = out[0]
    assert lib.snw_robot_start(r, ffi.new("snw_robot_steps *", lib.snw_robot_steps_defaults(2e-3)), err) == 0
    for k in range(20):
        assert lib.snw_robot_set_effort(r, 0, ffi.new("double *", 0.01 * k), err) == 0
        assert lib.snw_robot_set_effort(r, 2, ffi.new("double *", lib.snw_robot_time(r)), err) == 0
        assert lib.snw_robot_step(r, 2e-3, err) == 0
    sim = arm.simulate(2e-3)
    sim.controls["cord(2)"] = lambda robot: robot.t
    for k in range(20):
        sim.controls["motor"] = 0.01 * k
        sim.step()
    assert np.array_equal(arm.q, ffi.unpack(lib.snw_robot_q(r), arm.nq))
    pose = ffi.new("double[16]")
    place = ffi.new("snw_place *")
    assert lib.snw_robot_find_place(r, b"arm.tip", place) == 0 and lib.snw_robot_pose(r, place[0], pose) == 0
    assert np.array_equal(arm.pose("arm.tip").T.ravel(), list(pose))
    lib.snw_robot_close(r)


def test_tubes_slide_by_hand():
    """A tube that a program slides and turns is where shooting in the strong form finds it (examples/tubes)."""
    r = sinew.Robot(pathlib.Path(__file__).parents[2] / "examples" / "tubes" / "inserted_tubes.yaml")
    r.equilibrium(0)
    start = r.probe("tip")
    r.set_translation("inner", -0.08)
    r.controls["inner_rotation"] = 1.2
    r.equilibrium(0)
    np.testing.assert_allclose(r.probe("tip"), [0.1803211204, 0.0301416777, -0.0863085615], atol=2e-9)
    with pytest.raises(sinew.Error, match="meet"):
        r.set_translation("inner", -0.005)
    r.set_translation("inner")
    r.controls["inner_rotation"] = 0
    r.equilibrium(0)
    np.testing.assert_allclose(r.probe("tip"), start, atol=1e-12)


def test_fields_are_read_and_scaled():
    text = """
sinew: 1
gravity: 0
materials: {silicone: {young: 1 MPa, poisson: 0.5, density: 1800}}
robot:
  finger:
    on: world
    rod: {length: 30 mm, section: {circle: {radius: 1 mm}}, material: silicone, strain: {bend_z: legendre 1}}
    magnetic_moment: [0.2 A*m, 0 A*m, 0 A*m]
fields: {coils: {magnetic: [0 T, 1 mT, 0 T]}}
"""
    r = sinew.Robot(text=text)
    np.testing.assert_allclose(r.field("coils", [0.1, 0.2, 0.3]), [0, 1e-3, 0])
    r.set_field("coils", -3)
    assert r.field_factor("coils") == -3
    np.testing.assert_allclose(r.field("coils", [0, 0, 0]), [0, -3e-3, 0])
    # small bending: the curvature is the mean of m B (L - x)/EI
    r.set_field("coils", 1e-3)
    r.equilibrium(0)
    bending = 1e6 * np.pi * 1e-12 / 4
    assert r.q[0] == pytest.approx(0.2 * 1e-6 * 0.03 / 2 / bending, rel=1e-5)
    with pytest.raises(sinew.Error, match="no field 'coil'"):
        r.set_field("coil", 1)


def test_limits_of_motors_hold_for_controls():
    text = """
sinew: 1
gravity: 0
robot: {base-link: {on: world, joint: revolute, body: {mass: 1, inertia: [0.5, 0.5, 0.5]}}}
actuators: {base/turn: {joint: base-link, effort: 0 N*m, effort_limit: 1 N*m, rate_limit: 0.1 rad/s}}
study: [dynamic: {for: 1 s, step: 5 ms}]
"""
    robot = sinew.Robot(text=text)
    assert robot.controls.limits("base/turn") == ()
    robot.controls["base/turn"] = 5.0
    steps = robot.simulate(0.005)
    steps.step()
    assert robot.controls["base/turn"] == 1 and robot.u[0] == 1
    assert robot.controls.limits("base/turn") == ("effort",)
    steps.step(count=20)
    assert robot.v[0] == pytest.approx(0.21, abs=1e-9)
    assert robot.controls.limits("base/turn") == ("effort", "rate")


def test_hard_stops_are_saved_with_the_motion():
    text = """
sinew: 1
robot:
  slider: {on: world, joint: prismatic, limits: [-0.1, free], stop: {hard: true, restitution: 0.4}, body: {mass: 3, inertia: [1, 1, 1]}}
  arm: {on: world, joint: revolute, axis: y, limits: [-1, 0.3], stop: {hard: true, restitution: 0.6}, body: {mass: 1, com: [0.2, 0, 0], inertia: [0.1, 0.1, 0.1]}}
study: [dynamic: {for: 1 s, step: 2 ms}]
"""
    robot = sinew.Robot(text=text)
    steps = robot.simulate(0.002, scheme="moreau")
    steps.step(count=150)
    saved = steps.save()
    steps.step(count=150)
    q, v = robot.q.copy(), robot.v.copy()
    assert q[0] == pytest.approx(-0.1, abs=1e-10) and q[1] < 0.3
    steps.restore(saved)
    steps.step(count=150)
    assert (robot.q == q).all() and (robot.v == v).all()
