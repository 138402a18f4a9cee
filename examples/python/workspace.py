# Workspace of a planar parallel robot: two elastic legs on motors carry a joint (RFRFR). Reachable points and stability.
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

angles = np.radians(np.linspace(40, 140, 26))
points, stability = np.full((26, 26, 2), np.nan), np.full((26, 26), np.nan)
for i, a in enumerate(angles):
    # back and forth, so that each equilibrium starts from a neighbour
    for j in range(26) if i % 2 == 0 else range(25, -1, -1):
        robot.controls["motor(1)"], robot.controls["motor(2)"] = a, angles[j]
        try:
            robot.equilibrium()
        except sinew.NotConverged:
            continue
        points[i, j], stability[i, j] = robot.probe("hand")[:2], robot.stability

found = np.isfinite(stability)
print(f"{found.sum()} of {found.size} poses; stable {np.sum(stability > 0)}; least stability {np.nanmin(stability):.3f}")
print(f"the hand reaches x from {np.nanmin(points[..., 0]):.2f} to {np.nanmax(points[..., 0]):.2f} m, "
      f"y from {np.nanmin(points[..., 1]):.2f} to {np.nanmax(points[..., 1]):.2f} m")  # fmt: skip
for j in range(0, 26, 3):
    print("".join(" .:-=+*#%@"[int(np.clip(9 * s, 0, 9))] if np.isfinite(s) else "x" for s in stability[j]))
