# SPDX-License-Identifier: MIT
"""Every joint with all its options, bodies and trees, compared with closed forms."""
import harness

HEAD = "sinew: 1\ngravity: 0\n"
UNIT = "body: {mass: 2 kg, inertia: [0.1, 0.2, 0.3]}"
MOVE = "study: [dynamic: {for: 1 s, scheme: adaptive, tolerance: 1e-10}]\n"
# m q'' + d q' + k (q - rest) = 0 from q0 with v0, at 1 s: by coordinate (m, k, d, rest, q0, v0) its position
SWING = "rest + exp(-d/(2*m))*((q0 - rest)*cos(w) + (v0 + d/(2*m)*(q0 - rest))/w*sin(w))"


def swing(m, k, d, rest, q0, v0):
    text = SWING
    for name, value in (("q0", q0), ("v0", v0), ("rest", rest)):
        text = text.replace(name, f"({value})")
    return text.replace("*cos(w)", f"*cos({w(m, k, d)})").replace("/w*sin(w)", f"/{w(m, k, d)}*sin({w(m, k, d)})") \
        .replace("-d/(2*m)", f"-{d}/(2*{m})").replace("+ d/(2*m)", f"+ {d}/(2*{m})")


def w(m, k, d):
    return f"sqrt({k}/{m} - ({d}/(2*{m}))^2)"


# joint, axis, inertia seen by each coordinate, keys of values by coordinate
JOINTS = (
    ("revolute", "axis: x", ["0.1"]),
    ("revolute", "axis: [0, 2, 0]", ["0.2"]),
    ("prismatic", "axis: -z", ["2"]),
    ("cylindrical", "axis: y", ["0.2", "2"]),
    ("planar", "axis: z", ["2", "2", "0.3"]),
    ("screw", "axis: z, pitch: 0.5*pi", ["(0.3 + 2*0.25^2)"]),
    ("pin_slot", "axes: [y, x]", ["2", "0.2"]),
)
NAMES = {"cylindrical": [".angle", ".slide"], "planar": [".x", ".y", ".angle"], "pin_slot": [".slide", ".angle"]}


class Joints(harness.Case):
    def verify(self, text):
        self.write("robot.yaml", text)
        return self.succeeds("verify", "robot.yaml")

    def test_springs_damping_and_rest_of_each_coordinate(self):
        for joint, axis, masses in JOINTS:
            n = len(masses)
            k, d, rest, q0, v0 = ([f"{base + 0.1 * i:g}" for i in range(n)] for base in (3, 0.2, 0.15, 0.3, -0.4))
            lists = {"stiffness": k, "damping": d, "rest": rest}
            keys = ", ".join(f"{key}: [{', '.join(v)}]" for key, v in lists.items())
            names = NAMES.get(joint, [""])
            expect = "".join(f'  - {{probe: q{name}, at: 1 s, value: "{swing(*values)}", within: 1e-8, source: oscillator}}\n'
                             for name, *values in zip(names, masses, k, d, rest, q0, v0))
            # slides of a planar joint are those of a body that rotates about its centre of mass
            self.verify(HEAD + f"robot: {{a: {{on: world, joint: {joint}, {axis}, {keys}, {UNIT}}}}}\n"
                        f"initial: {{a: {{position: [{', '.join(q0)}], rate: [{', '.join(v0)}]}}}}\n" + MOVE +
                        f"probes: {{q: {{value: a}}}}\nexpect:\n{expect}")

    def test_universal_and_spherical_joints_swing_about_one_axis(self):
        for joint, position, rest in (("universal", "[0.3, 0]", "[0.15, 0]"),
                                      ("spherical", "{axis: z, angle: 0.3}", "{axis: z, angle: 0.15}")):
            probe = "q.first" if joint == "universal" else "q.rz"
            rate = "[-0.4, 0]" if joint == "universal" else "[0, 0, -0.4]"
            self.verify(HEAD + f"robot: {{a: {{on: world, joint: {joint}, stiffness: 3, damping: 0.2, rest: {rest}, {UNIT}}}}}\n"
                        f"initial: {{a: {{position: {position}, rate: {rate}}}}}\n" + MOVE + "probes: {q: {value: a}}\nexpect:\n"
                        f'  - {{probe: {probe}, at: 1 s, value: "{swing("0.3", "3", "0.2", "0.15", "0.3", "-0.4")}", '
                        "within: 1e-8, source: oscillator}\n")

    def test_dry_friction_brakes_every_coordinate(self):
        # far above the creep velocity friction is full: q = v0 t - mu t^2/(2 m), with creep/v of the second order
        for joint, axis, masses in JOINTS:
            n = len(masses)
            lists = ["0.1"] * n
            names = NAMES.get(joint, [""])
            expect = "".join(f'  - {{probe: q{name}, at: 1 s, value: "5 - 0.1/(2*{m})", within: 1e-6, source: constant braking}}\n'
                             for name, m in zip(names, masses))
            self.verify(HEAD + f"robot: {{a: {{on: world, joint: {joint}, {axis}, friction: [{', '.join(lists)}], "
                        f"creep: [{', '.join(['1e-4'] * n)}], {UNIT}}}}}\n"
                        f"initial: {{a: {{rate: [{', '.join(['5'] * n)}]}}}}\n" + MOVE +
                        f"probes: {{q: {{value: a}}}}\nexpect:\n{expect}")

    def test_a_screw_falls_as_its_turning_lets_it(self):
        # (J + m p^2) q'' = -m g p, p the pitch per radian; a left-handed screw turns in the opposite direction
        for sign in ("", "-"):
            self.verify("sinew: 1\nrobot: {nut: {on: world, joint: screw, pitch: " + sign + "0.2 m, body: {mass: 3, inertia: [1, 1, 0.01]}}}\n"
                        + MOVE + "probes: {z: {position: nut}, q: {value: nut}}\nparameters: {p: " + sign + "0.1/pi}\nexpect:\n"
                        '  - {probe: q, at: 1 s, value: "-0.5*3*9.81*p/(0.01 + 3*p^2)", relative: 1e-8, source: one degree of freedom}\n'
                        '  - {probe: z.z, at: 1 s, value: "-0.5*3*9.81*p^2/(0.01 + 3*p^2)", relative: 1e-8, source: the same}\n')

    def test_a_pin_slot_slides_in_the_parent_and_turns_behind(self):
        # the slot stays in the world while the pin turns: the body's centre, 0.1 m from the pin, is at slide + 0.1 cos
        self.verify(HEAD + f"robot: {{a: {{on: world, joint: pin_slot, axes: [z, y], {UNIT}}}}}\n"
                    "sites: {s: {on: a, pose: {xyz: [0, 0.1, 0]}}}\n"
                    "actuators: {m: {joint: a, position: [0.3 m/s*t, 2 rad/s*t]}}\nstudy: [dynamic: {for: 1 s, step: 10 ms}]\n"
                    "probes: {s: {position: s}, v: {velocity: s}, q: {value: m}, v2: {rate: a}}\nexpect:\n"
                    '  - {probe: s, at: 1 s, value: [-0.1*sin(2), 0.3 + 0.1*cos(2), 0], within: 1e-12, source: geometry}\n'
                    '  - {probe: v, at: 1 s, value: [-0.2*cos(2), 0.3 - 0.2*sin(2), 0], within: 1e-9, source: its rate}\n'
                    '  - {probe: q, at: 1 s, value: [0.3, 2], within: 1e-12, source: the actuator}\n'
                    '  - {probe: v2.slide, at: 1 s, value: 0.3, within: 1e-9, source: the same}\n')

    def test_axes_are_for_joints_with_two(self):
        self.write("robot.yaml", HEAD + "robot: {a: {on: world, joint: revolute, axes: [x, y]}}\n")
        self.assertIn("'axes' are those of a universal or pin_slot joint; a revolute joint has one axis",
                      self.fails(2, "check", "robot.yaml").err)
        self.write("robot.yaml", HEAD + "robot: {a: {on: world, joint: pin_slot, axes: [x, [1, 1, 0]]}}\n")
        self.assertIn("the 'axes' of a pin_slot joint are at a right angle, these are at 45 degrees",
                      self.fails(2, "check", "robot.yaml").err)

    def test_a_screw_needs_its_pitch(self):
        for text, words in (("robot: {a: {on: world, joint: screw}}", "a screw needs its 'pitch'"),
                            ("robot: {a: {on: world, joint: revolute, pitch: 1 mm}}", "'pitch' is that of a screw"),
                            ("robot: {a: {on: world}}\nloops: {l: {join: [world, a], as: screw}}", "a screw needs its 'pitch'"),
                            ("robot: {a: {on: world}}\nloops: {l: {join: [world, a], as: screw, pitch: 0}}", "'as: revolute'")):
            self.write("robot.yaml", HEAD + text + "\n")
            self.assertIn(words, self.fails(2, "check", "robot.yaml").err)

    def test_a_coordinate_that_moves_no_mass_at_an_instant_is_named_by_the_run(self):
        # a point mass above a universal joint: it has inertia about the first axis in all configurations but this one
        self.write("robot.yaml", HEAD + f"robot:\n  a: {{on: world, joint: revolute, axis: x, {UNIT}}}\n"
                   "  u: {on: a, joint: universal, body: {mass: 1, com: [0, 0, 1]}}\nstudy: [dynamic: {for: 1 s, step: 10 ms}]\n")
        self.succeeds("check", "robot.yaml")
        self.assertIn("a coordinate of 'u' moves no mass here", self.fails(1, "run", "robot.yaml").err)

    def test_statics_names_joints_that_nothing_holds_and_no_others(self):
        free = f"robot: {{p: {{on: world, joint: free, {UNIT}}}}}\nprobes: {{at: {{position: p}}}}\nstudy: [static:]\n"
        push = "loads: {f: {on: p, force: [0, 1 N, 0]}}\n"
        rail = "loops: {rail: {join: [world, p], as: prismatic, axis: y}}\n"
        # the restoring force is 3.85 N at most
        weak = "loads: {f: {on: p, force: [0, 5 N, 0]}, back: {on: p, force: [0, -10*at.y + 10*at.y^3, 0]}}\n"
        slide = f"robot: {{p: {{on: world, joint: prismatic, axis: y, {UNIT}}}}}\nstudy: [static:]\n"
        for text, words in ((free + push, "nothing holds the free joint of 'p'"),
                            (free + push + rail, "nothing holds the free joint of 'p'"),
                            (slide + push, "nothing holds the joint of 'p'"),
                            (free + rail + weak, "the tangent is singular at 0 of the load")):
            self.write("robot.yaml", HEAD + text)
            err = self.fails(1, "run", "robot.yaml", "-q").err
            self.assertIn(words, err)
            self.assertEqual("nothing holds" in err, "nothing holds" in words, err)

    def test_an_unstable_equilibrium_is_said_to_be_one_unless_the_file_looks(self):
        pole = "sinew: 1\nrobot: {a: {on: world, joint: revolute, axis: y, body: {mass: 1, com: [0, 0, 1], inertia: [1, 1, 1]}}}\n"
        stay = "static: {branch: follow}"
        for text, unstable in ((f"study: [{stay}]\n", True), (f"initial: {{a: 10 deg}}\nstudy: [{stay}]\n", False),
                               (f"study: [{stay}]\nprobes: {{s: stability}}\n", False), (f"study: [{stay}, modes:]\n", False)):
            self.write("robot.yaml", pole + text)
            self.assertEqual("the equilibrium at t = 0 s is unstable" in self.succeeds("run", "robot.yaml", "-q").err, unstable, text)

    def test_a_pole_on_its_foot_falls_and_says_so(self):
        self.write("robot.yaml", "sinew: 1\nrobot: {a: {on: world, joint: revolute, axis: y, body: {mass: 1, com: [0, 0, 1], inertia: [1, 1, 1]}}}\n"
                   "study: [static:]\nprobes: {at: {position: com}, s: stability}\nsites: {com: {on: a, pose: {xyz: [0, 0, 1]}}}\n")
        err = self.succeeds("run", "robot.yaml", "-q").err
        self.assertIn("the equilibrium on this branch is unstable", err)
        self.assertIn("'branch: follow' keeps it", err)
        rows = self.succeeds("show", "robot.h5", "--probe", "at.z,s", "--csv").out.split()
        t, z, s = (float(x) for x in rows[-1].split(","))
        self.assertAlmostEqual(z, -1, 9)
        self.assertGreater(s, 0)

    def test_limits_warn_with_joint_time_and_value(self):
        for joint, extra, initial, words in (
                ("revolute", "limits: [-1, 0.505]", "{rate: 1}", "joint 'a' is outside of its limits at t = 0.51 s: angle 0.51 rad, not in [-1, 0.505]"),
                ("prismatic", "limits: [-1 m, 0.505 m]", "{rate: 1}", "at t = 0.51 s: slide 0.51 m"),
                ("cylindrical", "limits: [[-9, 9], [-1, 20.5 cm]]", "{rate: [1, 1]}", "at t = 0.21 s: slide 0.21 m, not in [-1, 0.205]"),
                ("universal", "limits: [[-9, 9], [-0.3, 0.305]]", "{rate: [0, 1]}", "second 0.31 rad"),
                ("planar", "limits: [[-9, 9], [-9, 9], [-1, 0.705]]", "{rate: [1, 1, 1]}", "angle 0.71 rad"),
                ("screw", "pitch: 1 mm, limits: [-1, 0.505]", "{rate: 1}", "angle 0.51 rad"),
                ("pin_slot", "limits: [[-1, 0.405], [-9, 9]]", "{rate: [1, 1]}", "slide 0.41 m, not in [-1, 0.405]")):
            self.write("robot.yaml", HEAD + f"robot: {{a: {{on: world, joint: {joint}, {extra}, {UNIT}}}}}\ninitial: {{a: {initial}}}\n"
                       "study: [dynamic: {for: 1 s, step: 10 ms}]\n")
            err = self.succeeds("run", "robot.yaml", "-q").err
            self.assertEqual(err.count("outside of its limits"), 1, err)
            self.assertIn(words, err)
        self.write("robot.yaml", HEAD + f"robot: {{a: {{on: world, joint: revolute, limits: [-1, 0.5], stiffness: 1, rest: 0.6, {UNIT}}}}}\nstudy: [static:]\n")
        self.assertIn("joint 'a' is outside of its limits at t = 0 s: angle 0.6 rad", self.succeeds("run", "robot.yaml", "-q").err)

    def test_a_rod_is_a_link_like_the_others(self):
        # on a joint with a spring, with children along it and at its tip: the reaction at the root equals the total
        # weight
        self.verify("sinew: 1\nmaterials: {steel: {young: 200 GPa, poisson: 0.3, density: 8000}}\nrobot:\n"
                    "  hub: {on: world, joint: revolute, axis: y, stiffness: 1e3 N*m, body: {mass: 1}}\n"
                    "  beam: {on: hub, rod: {length: 1 m, section: {circle: {radius: 1 cm}}, material: steel, strain: kirchhoff legendre 3}}\n"
                    "  bead(k=1..3): {on: beam@(k/4*L), joint: spherical, body: {mass: 0.1, com: [0, 0, -0.1]}}\n"
                    "  tip: {on: beam.tip, joint: revolute, axis: x, body: {mass: 0.5, com: [0, 0, -0.1]}}\n"
                    "study: [static:]\nprobes: {r: {reaction: hub}, t: {effort: hub}}\nexpect:\n"
                    '  - {probe: r.fz, at: end, value: "9.81*(1 + 0.3 + 0.5 + 8000*pi*1e-4)", relative: 1e-9, source: the weight of all}\n'
                    '  - {probe: t, at: end, value: "-9.81*(0.1*1.5 + 0.5*1 + 8000*pi*1e-4*0.5)", relative: 1e-3, source: levers at a small sag}\n')

    def test_bodies_by_shape_and_density(self):
        shapes = (("box: [2, 3, 4], density: 10", "10*24", "10*24*(2^2 + 3^2)/12"),
                  ("cylinder: {radius: 0.5, length: 2, axis: z}, density: 10", "10*pi*0.25*2", "10*pi*0.25*2*0.25/2"),
                  ("cylinder: {radius: 0.5, length: 2, axis: x}, mass: 7", "7", "7*(3*0.25 + 4)/12"),
                  ("sphere: {radius: 0.5}, density: 10", "10*4/3*pi*0.125", "10*4/3*pi*0.125*0.4*0.25"),
                  ("mass: 3, inertia: [[2, 0.1, 0], [0.1, 2, 0], [0, 0, 2.5]]", "3", "2.5"))
        for body, mass, inertia in shapes:
            # a torque of 1 about z from rest turns it by 1/(2 J) in a second; a force of 1 moves it by 1/(2 m)
            self.verify(HEAD + f"robot: {{a: {{on: world, joint: planar, body: {{{body}}}}}}}\n"
                        "loads: {push: {on: a, force: [1, 0, 0], torque: [0, 0, 1]}}\n" + MOVE + "probes: {q: {value: a}}\nexpect:\n"
                        f'  - {{probe: q.x, at: 1 s, value: "1/(2*{mass})", relative: 1e-8, source: Newton}}\n'
                        f'  - {{probe: q.angle, at: 1 s, value: "1/(2*{inertia})", relative: 1e-8, source: Euler}}\n')

    def test_any_depth_any_number_of_children_several_roots(self):
        # n hinges in a row held straight, each with the torque of the weight beyond; two such roots, and one with many
        # children
        self.verify("sinew: 1\ngravity: [0, 0, -10]\nparameters: {n: 30}\nrobot:\n"
                    "  one(1): {on: world, joint: revolute, axis: y, stiffness: 1e9, body: {mass: 1, com: [0.1, 0, 0]}}\n"
                    "  one(k=2..n): {on: one(k-1), pose: {xyz: [0.2, 0, 0]}, joint: revolute, axis: y, stiffness: 1e9, body: {mass: 1, com: [0.1, 0, 0]}}\n"
                    "  two: {on: world, pose: {xyz: [0, 1, 0]}, joint: prismatic, axis: z, stiffness: 1e4}\n"
                    "  child(k=1..n): {on: two, joint: revolute, axis: x, body: {mass: 1, com: [0, 0, -0.01*k]}}\n"
                    "study: [static:]\nprobes: {e: {effort: one(1)}, m: {effort: one(16)}, z: {value: two}}\nexpect:\n"
                    '  - {probe: e, at: end, value: "-10*30*3", relative: 1e-5, source: thirty masses on a lever of half of 6 m}\n'
                    '  - {probe: m, at: end, value: "-10*15*1.5", relative: 1e-5, source: fifteen beyond}\n'
                    '  - {probe: z, at: end, value: "-30*10/1e4", relative: 1e-9, source: thirty hang on a spring}\n')

    def test_measured_strains_and_coordinates(self):
        # a bar turned by tables of 0.2 t^2 (1.5 - t): a cubic, which the spline reproduces except near its ends. The
        # same motion in three formulations: a driven joint, a rod whose bending is prescribed as a field, and its one
        # coordinate driven.
        rows = "".join(f"{k / 20}, {0.2 * (k / 20) ** 2 * (1.5 - k / 20)!r}\n" for k in range(21))
        self.write("bend.csv", "time, q\n" + rows)
        table = '"table(\\"bend.csv\\", \\"q\\")'
        rod = "rod: {length: 1 m, section: {stiffness: {bend_z: 0.5 N*m^2}, inertia: {stretch: 2, shear_y: 2, shear_z: 2}}, strain: {bend_z: STRAIN}, nodes: 12, magnus: 6}"
        want = "0.2*0.25*1", "0.2*(3*0.5 - 3*0.25)", "0.2*(3 - 6*0.5)"  # q, q', q'' at t = 0.5
        common = ("study: [dynamic: {for: 0.5 s, scheme: adaptive, tolerance: 1e-9}]\n")
        self.verify(HEAD + "robot: {a: {on: world, joint: revolute, body: {mass: 1, inertia: [1, 1, 0.4]}}}\n"
                    f"actuators: {{m: {{joint: a, position: {table}\"}}}}\n" + common +
                    "probes: {q: {value: m}, v: {rate: m}, f: {effort: m}, p: {power: m}}\nexpect:\n"
                    f'  - {{probe: q, at: 0.5 s, value: "{want[0]}", within: 1e-7, source: the cubic}}\n'
                    f'  - {{probe: v, at: 0.5 s, value: "{want[1]}", within: 1e-6, source: its slope}}\n'
                    f'  - {{probe: f, at: 0.5 s, value: "0.4*{want[2]}", within: 1e-4, source: inertia times what it bends}}\n'
                    f'  - {{probe: p, at: 0.5 s, value: "0.4*{want[2]}*{want[1]}", within: 1e-4, source: effort times rate}}\n')
        # as a field, and as a coordinate: the same shape needs the same effort; it follows from the wrench at the root
        self.verify(HEAD + "robot:\n  field: {on: world, " + rod.replace("STRAIN", table + ' * 1 1/m"') + "}\n"
                    "  drive: {on: world, pose: {xyz: [0, 3 m, 0]}, " + rod.replace("STRAIN", "legendre 1") + "}\n"
                    f"actuators: {{m: {{rod: drive, position: [{table} * 1 1/m\"]}}}}\n" + common +
                    "probes: {a: {position: field.tip}, b: {position: drive.tip}, v: {velocity: field.tip}, f: {effort: m}, s: {strain: field@30%},"
                    " w: {reaction: field}, u: {reaction: drive}}\nexpect:\n"
                    f'  - {{probe: s.bend_z, at: 0.5 s, value: "{want[0]}", within: 1e-7, source: the cubic}}\n'
                    f'  - {{probe: a.x, at: 0.5 s, value: "sin({want[0]})/({want[0]})", within: 1e-7, source: an arc}}\n'
                    f'  - {{probe: v.vx, at: 0.5 s, value: "({want[1]})*(cos({want[0]})/({want[0]}) - sin({want[0]})/({want[0]})^2)", within: 1e-6, source: its rate}}\n')
        both = self.succeeds("run", "robot.yaml", "--json").json["runs"][0]["last"]
        for field, drive in (("a.x", "b.x"), ("w.mz", "u.mz"), ("w.fx", "u.fx"), ("w.fy", "u.fy")):
            self.assertAlmostEqual(both[field], both[drive], 7, field)
        self.assertAlmostEqual(both["a.y"], both["b.y"] - 3, 7)
        self.assertGreater(abs(both["f@0"]), 1e-3)

    def test_a_ball_spring_beyond_half_a_turn_is_reported(self):
        ball = HEAD + "robot: {a: {on: world, joint: spherical, stiffness: 2 N*m, body: {mass: 1 kg, inertia: [2, 2, 2]}}}\nprobes: {q: {value: a}}\n"
        motion = "study: [dynamic: {for: 1 s, step: 1 ms}]\n"
        drive = "actuators: {m: {joint: a, position: {axis: y, angle: LAW}}}\n"
        # x" = -x from 3 rad at 2 rad/s: 3 cos t + 2 sin t is pi at 0.0757 s
        for text, words in (
            ("initial: {a: {position: {axis: x, angle: 3 rad}, rate: [2, 0, 0]}}\n" + motion, "by t = 0.076 s.*by 12.6 N"),
            (drive.replace("LAW", "t*2 rad/s") + "study: [static: {for: 2 s, step: 0.25 s}]\n", "by t = 1.75 s"),
            (drive.replace("LAW", "1 rad + t*2 rad/s") + "study: [kinematic: {for: 2 s, step: 0.25 s}]\n", "by t = 1.25 s"),
        ):
            self.write("turn.yaml", ball + text)
            self.assertRegex(self.succeeds("run", "turn.yaml").err, f"^turn.yaml: warning: run 'main': the spring of joint 'a' is more than half a turn.*{words}[^\n]*\n$")
        # through its rest position at any speed, and up to just below half a turn, it gives no warning
        for text in ("initial: {a: {rate: [3.1, 0, 0]}}\nstudy: [dynamic: {for: 7 s, step: 10 ms}]\n",
                     "initial: {a: {position: {axis: x, angle: 3.1 rad}}}\nstudy: [dynamic: {for: 4 s, step: 50 ms}]\n"):
            self.write("turn.yaml", ball + text)
            self.assertEqual(self.succeeds("run", "turn.yaml").err, "")


if __name__ == "__main__":
    harness.main()
