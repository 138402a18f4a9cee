# SPDX-License-Identifier: MIT
"""Exported files opened by the programs they are meant for, without a window, where these are installed."""
import json
import math
import os
import shutil
import subprocess

import harness
from harness import Case

# a couple at the tip bends the rod to a quarter of a circle at t = 1 s; a box stands on its tip
QUARTER = """\
sinew: 1
gravity: 0
materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000 kg/m^3}}
robot:
  arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 20 mm}}, material: rubber, strain: {bend_z: legendre 1}}}
  hand: {on: arm.tip, body: {box: [20 mm, 30 mm, 40 mm], mass: 1 g}}
loads: {couple: {on: arm.tip, torque: [0, 0, "1 MPa*pi*(20 mm)^4/4*pi/2/(1 m)*t/(1 s)"], frame: body}}
study: [{static: {for: 1 s, step: 0.1 s}}]
"""
TIP = (2 / math.pi, 2 / math.pi, 0)

IN_BLENDER = """\
import bpy, json, sys
bpy.ops.wm.read_factory_settings(use_empty=True)
bpy.ops.import_scene.gltf(filepath="m.glb")
scene = bpy.context.scene
end = max(f.co[0] for a in bpy.data.actions for c in a.fcurves for f in c.keyframe_points)
scene.frame_set(int(end), subframe=end - int(end))
hand = next(o for o in bpy.data.objects if o.type == "MESH" and o.name.startswith("hand"))
where = [list(o.matrix_world.translation) for o in bpy.data.objects if o.name.startswith("hand")]
json.dump({"fps": scene.render.fps, "end": end, "hand": where, "meshes": sum(o.type == "MESH" for o in bpy.data.objects)}, open("seen.json", "w"))
"""
IN_PARAVIEW = """\
import json
from paraview import servermanager
from paraview.simple import OpenDataFile
robot = OpenDataFile("m.pvd")
times = list(robot.TimestepValues)
robot.UpdatePipeline(times[-1])
data = servermanager.Fetch(robot)
def leaves(b):
    if hasattr(b, "GetNumberOfBlocks"):
        return [leaf for i in range(b.GetNumberOfBlocks()) for leaf in leaves(b.GetBlock(i))]
    return [b] if b else []


lines = next(b for b in leaves(data) if b.GetNumberOfLines())
last = lines.GetPoint(lines.GetNumberOfPoints() - 1)
names = [lines.GetPointData().GetArrayName(i) for i in range(lines.GetPointData().GetNumberOfArrays())]
json.dump({"times": times, "tip": last, "names": names}, open("seen.json", "w"))
"""

IN_USD = """\
import json
from pxr import Usd, UsdGeom
stage = Usd.Stage.Open("m.usda")
end = stage.GetEndTimeCode()
hand = UsdGeom.Xformable(stage.GetPrimAtPath("/robot/hand")).ComputeLocalToWorldTransform(end)
arm = UsdGeom.BasisCurves(stage.GetPrimAtPath("/robot/arm"))
last = arm.GetPointsAttr().Get(end)[-1]
json.dump({"span": (end - stage.GetStartTimeCode()) / stage.GetTimeCodesPerSecond(), "up": str(UsdGeom.GetStageUpAxis(stage)),
           "hand": list(hand.ExtractTranslation()), "tip": [float(x) for x in last]}, open("seen.json", "w"))
"""


class OtherPrograms(Case):
    def seen(self, program, command, script, output):
        path = shutil.which(program)
        if not path:
            self.skipTest(f"{program} is not installed")
        self.write("m.yaml", QUARTER)
        self.succeeds("run", "m.yaml")
        self.succeeds("export", "m.h5", "-o", output)
        self.write("look.py", script)
        done = subprocess.run([path, *command, str(self.folder / "look.py")], cwd=self.folder, capture_output=True, text=True,
                              timeout=300, env={**os.environ, "PWD": str(self.folder)})
        seen = self.folder / "seen.json"
        if not seen.exists() and "No module named" in done.stdout + done.stderr:
            self.skipTest(f"{program} lacks a module of Python")
        self.assertTrue(seen.exists(), done.stdout + done.stderr)
        self.assertNotIn("mismatch", done.stdout + done.stderr)
        return json.loads(seen.read_text())

    def test_blender_moves_the_robot_of_a_glb(self):
        seen = self.seen("blender", ["-b", "--python"], IN_BLENDER, "m.glb")
        self.assertAlmostEqual(seen["end"] / seen["fps"], 1, delta=1e-3)
        self.assertEqual(seen["meshes"], 2)
        # y is up in glTF and z in Blender, which turns it back; without gravity a motion in the xy plane stands upright
        near = min(math.dist(p, (TIP[0], 0, TIP[1])) for p in seen["hand"])
        self.assertLess(near, 1e-5, seen)

    def test_paraview_reads_the_series_of_a_pvd(self):
        seen = self.seen("pvpython", [], IN_PARAVIEW, "m.pvd")
        self.assertAlmostEqual(seen["times"][-1] - seen["times"][0], 1, delta=1e-3)
        self.assertLess(math.dist(seen["tip"], TIP), 1e-5, seen)
        self.assertIn("radius", seen["names"])

    def test_usd_reads_the_curves_and_bodies_of_a_usda(self):
        seen = self.seen("python3", [], IN_USD, "m.usda")  # left out where Python has no module pxr
        self.assertAlmostEqual(seen["span"], 1, delta=1e-3)
        self.assertEqual(seen["up"], "Y")  # a motion in the xy plane
        self.assertLess(math.dist(seen["tip"], TIP), 1e-5, seen)
        self.assertLess(math.dist(seen["hand"], TIP), 1e-5, seen)


if __name__ == "__main__":
    harness.main()
