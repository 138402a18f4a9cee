# Workspace of a planar parallel robot: two elastic legs on motors carry a joint (RFRFR). Poses, stability and boundary.
import numpy as np

import sinew

leg = {"rod": {"length": "1 m", "section": {"circle": {"radius": "3 mm"}}, "material": "steel",
               "strain": {"bend_z": "legendre 5"}}, "joint": "revolute"}  # fmt: skip
robot = sinew.Robot.from_dict({
    "gravity": 0,
    "materials": {"steel": {"young": "200 GPa", "poisson": 0.3, "density": 7800}},
    "robot": {"left": {"on": "world", **leg},
              "right": {"on": "world", "pose": {"xyz": [0.4, 0, 0]}, **leg}},
    "loops": {"hand": {"join": ["left.tip", "right.tip"], "as": "revolute"}},
    "actuators": {"motor(1)": {"joint": "left", "position": "120 deg"},
                  "motor(2)": {"joint": "right", "position": "60 deg"}},
    "probes": {"hand": {"position": "left.tip"}},
})  # fmt: skip

ends = tuple(np.radians([40, 140]))
m = robot.workspace({"motor(1)": ends, "motor(2)": ends}, ["hand.x", "hand.y"], cells=20, refine=1)

inside = m.of("inside", "limit")
x, y = m.y[inside].T
print(f"{inside.sum()} poses; least stability {m.stability[inside].min():.3f}")
print(f"the hand reaches x from {x.min():.2f} to {x.max():.2f} m, y from {y.min():.2f} to {y.max():.2f} m")
print(f"points of the boundary: {m.of('fold').sum()} folds, {m.of('rank').sum()} losses of rank")
# stability over both motors, on the nodes of the first cells
nodes = (m.level == 0) & (m.of("inside", "limit", "lost"))
for row in np.sort(np.unique(m.u[nodes, 0]))[::2]:
    line = m.stability[nodes & (m.u[:, 0] == row)]
    print("".join(" .:-=+*#%@"[int(np.clip(9 * s, 0, 9))] if np.isfinite(s) else "x" for s in line))
