# A soft forearm on a rigid robot: gravity compensation by inverse dynamics, then a motion along a planned path.
import pathlib

import numpy as np

import sinew

model = pathlib.Path(__file__).resolve().parent.parent / "hybrid" / "soft_arm.yaml"
# the dampers of the servos are part of the model, so that the steps are implicit in them
arm = sinew.Robot(model, set={"motor(1).effort": "0 N*m", "motor(2).effort": "0 N*m", "turn.position": 0,
                              "upper.damping": "2 N*m*s", "forearm.damping": "0.3 N*m*s"})  # fmt: skip
upper, elbow = arm.coordinates["upper.angle"], arm.coordinates["forearm.angle"]
rigid = [arm.coordinates.info(n).v.start for n in ("upper.angle", "forearm.angle")]


def plan(t):
    """Angles of shoulder and elbow (rad) and their rates: a smooth path of two seconds."""
    s = np.clip(t / 2.0, 0, 1)
    blend, rate = s**3 * (10 - 15 * s + 6 * s * s), 30 * s**2 * (1 - s) ** 2 / 2.0
    start, end = np.array([0.5, -0.5]), np.array([1.2, -1.4])
    return start + blend * (end - start), rate * (end - start)


arm.q[upper], arm.q[elbow] = plan(0)[0]
sim = arm.simulate(step=5e-3)
stiffness, damping, error = np.array([20.0, 5.0]), np.array([2.0, 0.3]), []
for k in range(500):
    goal, speed = plan(arm.t)
    # torques of the two motors that hold the arm at rest in its present shape
    hold = arm.inverse_dynamics(v=np.zeros(arm.nv), a=np.zeros(arm.nv))[rigid]
    present = np.array([sim.controls["motor(1)"], sim.controls["motor(2)"]])
    angle = arm.q[[upper, elbow]]
    torque = present + hold + stiffness * (goal - angle) + damping * speed
    sim.controls["motor(1)"], sim.controls["motor(2)"] = torque
    sim.step()
    error.append(np.abs(goal - angle).max())
print(f"angles follow the path within {np.degrees(max(error)):.2f} deg, at the end {np.degrees(error[-1]):.3f} deg")
print("the hand is at", np.round(arm.probe("hand"), 4), "m")
