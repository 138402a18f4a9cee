# SPDX-License-Identifier: MIT
"""A node of ROS 2 that simulates a robot with soft parts: efforts in, probes out.

    sinew play arm.yaml                       # prints the address
    python3 sinew_node.py --ros-args -p address:=http://127.0.0.1:PORT/SECRET/ -p period:=0.01 -p lock_step:=true

Topics, both sensor_msgs/JointState:
    sinew/command  names of actuators and their efforts (N m, N, Pa), held until the next command
    sinew/state    components of probes by name in `position`, inputs in `effort`; the stamp is the simulated time
With lock_step each period of the node's timer advances the simulation by as much; without it the simulation follows the clock.
"""

import rclpy
from rclpy.node import Node
from sensor_msgs.msg import JointState

import sinew


class SinewNode(Node):
    def __init__(self):
        super().__init__("sinew")
        self.declare_parameter("address", "")
        self.declare_parameter("period", 0.01)
        self.declare_parameter("lock_step", False)
        self.period = self.get_parameter("period").value
        self.lock_step = self.get_parameter("lock_step").value
        self.link = sinew.Link(self.get_parameter("address").value)
        if not self.lock_step:
            self.link.watch(min(1 / self.period, 60))
        self.publisher = self.create_publisher(JointState, "sinew/state", 10)
        self.create_subscription(JointState, "sinew/command", self.command, 10)
        self.create_timer(self.period, self.tick)
        self.get_logger().info(f"inputs: {', '.join(self.link.inputs)}; probes: {', '.join(self.link.probes)}")

    def command(self, message):
        self.link.apply(dict(zip(message.name, message.effort)))

    def tick(self):
        sample = self.link.advance(self.period) if self.lock_step else self.link.read()
        state = JointState()
        nanoseconds = round(sample.t * 1e9)
        state.header.stamp.sec, state.header.stamp.nanosec = divmod(nanoseconds, 10**9)
        state.name = [*sample.probes, *sample.inputs]
        state.position = [*sample.probes.values()] + [0.0] * len(sample.inputs)
        state.effort = [0.0] * len(sample.probes) + [*sample.inputs.values()]
        self.publisher.publish(state)

    def close(self):
        self.link.close()


def main():
    rclpy.init()
    node = SinewNode()
    try:
        rclpy.spin(node)
    finally:
        node.close()
        rclpy.shutdown()


if __name__ == "__main__":
    main()
