# SPDX-License-Identifier: MIT
"""Controllers linked to a live simulation: lock step against a Runge-Kutta integration, the clock, refusals, the ROS 2 node."""

import importlib.util
import math
import pathlib
import subprocess
import sys
import types

import pytest

import sinew

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PENDULUM = """\
sinew: 1
parameters: {m: 1 kg}
robot: {bob: {on: world, joint: revolute, axis: y, body: {mass: m, com: [1 m, 0, 0], inertia: [0, 0, 0]}}}
actuators:
  motor: {joint: bob, effort: 0 N*m}
probes: {a: {angle: bob}, p: {position: bob}}
live: {motor: [-20 N*m, 20 N*m], m: [0.5 kg, 2 kg]}
study: [{dynamic: {for: 1 s, step: 1 ms}}]
"""
DRIVEN = PENDULUM.replace("effort: 0 N*m", "position: 0").replace("[-20 N*m, 20 N*m]", "[-1, 1]")


@pytest.fixture
def play():
    done = subprocess.run([sinew.command_path(), "play", "/nonexistent.yaml"], capture_output=True, text=True)
    if "was built without" in done.stderr:
        pytest.skip("the command was built without libwebsockets or Node: no live simulation")
    with sinew.Play(text=PENDULUM, paused=True) as play:
        yield play


def late(jumps, span, mass=1.0, h=1e-3):
    """Bound of the angle that a jump of the torque costs which acts within a step, not at its beginning: h/2 of it."""
    return h / 2 * jumps / mass * span


def swing(torque, samples, period, mass=1.0, fine=20):
    """Angles of a pendulum, horizontal at first, whose torque is held for a period each: m a'' = m g cos a + torque."""
    a = v = 0.0
    out = []
    for k in range(samples):
        tau = torque(k * period, a)
        h = period / fine
        for _ in range(fine):
            def rate(x):
                return 9.81 * math.cos(x) + tau / mass
            k1 = (v, rate(a))
            k2 = (v + h / 2 * k1[1], rate(a + h / 2 * k1[0]))
            k3 = (v + h / 2 * k2[1], rate(a + h / 2 * k2[0]))
            k4 = (v + h * k3[1], rate(a + h * k3[0]))
            a += h / 6 * (k1[0] + 2 * k2[0] + 2 * k3[0] + k4[0])
            v += h / 6 * (k1[1] + 2 * k2[1] + 2 * k3[1] + k4[1])
        out.append(a)
    return out


def test_lock_step_is_the_motion_of_a_sampled_controller(play):
    """A torque that came one period late would miss by 1e-2."""
    def torque(t, a):
        return -6 * a + 2 * math.sin(5 * t)
    want = swing(torque, 60, 0.01)
    with play.link() as link:
        assert link.step == 1e-3 and "a" in link.probes and link.inputs["motor"] == (-20, 20)
        a = held = 0.0
        jumps = []
        for k in range(60):
            jumps.append(abs(torque(k * 0.01, a) - held))
            held = torque(k * 0.01, a)
            link.apply(motor=held)
            sample = link.advance("10 ms")
            a = sample.probes["a"]
            slack = 2e-5 + sum(late(jump, (k + 1 - i) * 0.01) for i, jump in enumerate(jumps))
            assert sample.t == pytest.approx((k + 1) * 0.01, abs=1e-9)
            assert a == pytest.approx(want[k], abs=slack)
        assert slack < 2e-3
        assert sample.inputs["motor"] == held


def test_a_parameter_and_a_new_beginning(play):
    with play.link() as link:
        link.apply(m=2.0, motor=5.0)
        first = link.advance(0.3).probes["a"]
        assert first == pytest.approx(swing(lambda t, a: 5.0, 30, 0.01, mass=2.0)[-1], abs=late(5.0, 0.3, mass=2.0) + 2e-5)
        link.reset()
        again = link.advance(0.3).probes["a"]
        assert again == pytest.approx(swing(lambda t, a: 0.0, 30, 0.01)[-1], abs=2e-5)


def test_samples_come_at_their_rate_of_simulated_time(play):
    with play.link() as link:
        link.watch(20)
        link.read()
        times = [link.read().t for _ in range(5)]
        for t in times:
            assert abs(t * 20 - round(t * 20)) < 20 * 0.035  # a frame's time of 1/60 s, twice on a busy machine
        assert times == sorted(times) and times[-1] > times[0]


def test_mistakes_are_told(play):
    with play.link() as link:
        with pytest.raises(KeyError, match="no input 'moto'; the inputs are motor, m"):
            link.apply(moto=1)
        with pytest.raises(sinew.Error, match="0 to 10 s at once"):
            link.advance(11)
        assert link.advance(0.001).t == pytest.approx(0.001)
    with pytest.raises(ValueError, match="no address of a live simulation"):
        sinew.Link("http://example.org/")
    with pytest.raises((sinew.Error, OSError)):
        sinew.Link(play.address[:-3] + "00/")


def test_given_motions_are_set_and_do_not_jump(play):
    with sinew.Play(text=DRIVEN, paused=True) as driven, driven.link() as link:
        with pytest.raises(sinew.Error, match="given motion, which cannot jump"):
            link.apply(motor=0.5)
            link.advance(0.001)
        link.set(motor=0.5)
        assert link.advance(0.5).probes["a"] == pytest.approx(0.5, abs=1e-4)


def test_the_node_of_ros_2_publishes_joints_and_takes_efforts(play, monkeypatch):
    """The node of examples/ros2 with a stand-in for the client library of ROS 2, which is not in Debian."""
    published, subscribed, timers = [], {}, []

    class Node:
        def __init__(self, name):
            self.name, self.value = name, {}

        def declare_parameter(self, name, default):
            self.value.setdefault(name, default)

        def get_parameter(self, name):
            given = {"address": play.address, "period": 0.01, "lock_step": True}
            return types.SimpleNamespace(value=given.get(name, self.value[name]))

        def create_publisher(self, kind, topic, depth):
            return types.SimpleNamespace(publish=lambda m: published.append((topic, m)))

        def create_subscription(self, kind, topic, call, depth):
            subscribed[topic] = call

        def create_timer(self, period, call):
            timers.append((period, call))

        def get_logger(self):
            return types.SimpleNamespace(info=lambda text: None)

    def message(**fields):
        return type("Message", (), {"__init__": lambda self: self.__dict__.update({k: v() for k, v in fields.items()})})

    def stamped():
        return types.SimpleNamespace(stamp=types.SimpleNamespace(sec=0, nanosec=0))

    modules = {
        "rclpy": {"init": lambda **_: None, "spin": lambda node: None, "shutdown": lambda: None}, "rclpy.node": {"Node": Node},
        "sensor_msgs": {}, "sensor_msgs.msg": {"JointState": message(header=stamped, name=list, position=list, effort=list)},
    }  # fmt: skip
    for name, content in modules.items():
        module = types.ModuleType(name)
        module.__dict__.update(content)
        monkeypatch.setitem(sys.modules, name, module)
    spec = importlib.util.spec_from_file_location("sinew_node", SOURCE / "examples" / "ros2" / "sinew_node.py")
    node = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(node)
    made = node.SinewNode()
    (period, tick), = timers
    assert period == 0.01
    command = modules["sensor_msgs.msg"]["JointState"]()
    command.name, command.effort = ["motor"], [-9.81]
    subscribed["sinew/command"](command)
    for _ in range(10):
        tick()
    topic, last = published[-1]
    assert topic == "sinew/state" and last.header.stamp.nanosec == 100_000_000
    angle = last.position[last.name.index("a")]
    assert angle == pytest.approx(swing(lambda t, a: -9.81, 10, 0.01)[-1], abs=late(9.81, 0.1))
    made.close()
