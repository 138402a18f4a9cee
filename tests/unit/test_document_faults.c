// SPDX-License-Identifier: MIT
//
// A faulty model file gives one error, with the location of the fault and a remedy.
#include "described.h"

#define RUBBER "materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000}}\n"
#define HINGE                                                                                      \
    HEAD "robot: {a: {on: world, joint: revolute}, b: {on: a, joint: spherical}, "                 \
         "c: {on: b, joint: planar}}\n"
#define ARM                                                                                        \
    HEAD RUBBER "robot:\n"                                                                         \
                "  arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 1 mm}}, "        \
                "material: rubber, strain: kirchhoff legendre 3}}\n"
#define TENDON ARM "actuators: {cord: {tendon: {along: arm}, effort: 1 N}}\n"
#define TIP    ARM "probes: {tip: {position: arm.tip}, e: energy, N: {wrench: arm, along: 3}}\n"
#define BODY   ARM "  hand: {on: arm, body: {mass: 1}}\n"
#define CHAIN                                                                                      \
    HEAD                                                                                           \
        "parameters: {n: 2, m: 1, p: 1, b: 1}\n"                                                   \
        "robot: {a(1): {on: world}, a(k=2..n): {on: a(k-1), joint: free, body: {mass: b*1 kg}}}\n" \
        "loads: {f(k=1..m): {on: a(1), force: [b*1 N, 0, 0]}}\n"                                   \
        "probes: {x(k=1..p): {position: a(1)}}\n"
// two concentric tubes; keys of the inner and of the outer one, and of their link
#define TUBES(inner, outer, link)                                                                  \
    HEAD "robot: {cannula: {on: world, tubes: {inmost: {bending: 1, torsion: 1, curved: 0.3, "     \
         "curvature: 2, " inner "}, around: {bending: 2, torsion: 2, curved: 0.2, " outer          \
         "}}, " link "}}\n"
#define PATH TIP "study: [static: {for: 2 s, step: 0.1 s}]\n"

// A document with a $ before the location of its fault, and a part of the message.
typedef struct bad_case {
    const char *text, *fragment;
} bad_case;

static const bad_case bad[] = {
    // expressions that a ',' cuts off inside of {} and []
    {HEAD "robot: {a: {on: world, joint: revolute, stiffness: $max(1, 2)}}\n", "needs quotes"},
    {HEAD "parameters: {a: $max(1, 2), b: min(1, 2)}\nrobot: {a: {on: world}}\n", "needs quotes"},
    {HEAD "robot: {a: {on: world, pose: {xyz: [0, $max(1 m, 2 m), 0]}}}\n", "\"max(1 m, ..)\""},
    // concentric tubes
    {TUBES("radius: 2 mm, inner: 1 mm", "radius: $3 mm, inner: 1.9 mm", ""),
     "tube 'inmost', 4 mm wide, does not fit into 'around' with a bore of 3.8 mm"},
    {TUBES("radius: 2 mm, inner: $2 mm", "", ""), "'inner' of tube 'inmost' must be below"},
    {TUBES("radius: 2 mm, $diameter: 4 mm, inner: 1 mm", "", ""), "one of 'radius' and 'diameter'"},
    {HEAD "robot: {cannula: {on: world, tubes: {$inmost: {radius: 2 mm, bending: 1, torsion: 1, "
          "curved: 1}}}}\n",
     "tube 'inmost' needs 'inner' beside 'radius'"},
    {HEAD "robot: {cannula: {on: world, tubes: {inmost: {bending: 1, torsion: 1, curved: 0.3, "
          "translation: -0.2}, $around: {bending: 2, torsion: 2, curved: 0.2}}}}\n",
     "tube 'around' ends 0.2 m beyond the exit, farther than the innermost tube 'inmost'"},
    {TUBES("translation: $0.1", "", ""), "the base of tube 'inmost' is 0.1 m beyond the exit"},
    {TUBES("", "translation: $-0.2", ""), "tube 'around' is retracted behind the exit"},
    {TUBES("translation: -1 mm*t/(1 s)", "", "degree: $6"), "'degree'"},
    {TUBES("", "", "$joint: revolute"), "a link with 'tubes' has no 'joint'"},
    {HEAD "robot: {a: {on: world, $degree: 3}}\n", "'degree' of a link is for 'tubes'"},
    {HEAD "robot: {cannula: {on: world, tubes: $1}}\n", "'tubes' lists tubes by name"},
    {HEAD "robot: {cannula: {on: world, tubes: {$inmost: {bending: 1, curved: 1}}}}\n",
     "tube 'inmost' has no torsional stiffness: give 'torsion'"},
    {HEAD "robot: {cannula: {on: world, tubes: {$inmost: {bending: 1, torsion: 1}}}}\n",
     "tube 'inmost' has no length"},
    {"sinew: 1\nrobot: {cannula: {on: world, tubes: {$inmost: {bending: 1, torsion: 1, curved: "
     "1}}}}\n",
     "tube 'inmost' has weight or moves"},
    {HEAD "robot: {cannula: {on: world, tubes: {$inmost: {bending: 1, torsion: 1, curved: 1, "
          "rotation: 1}}}}\nactuators: {turn: {joint: inmost, position: 2}}\n",
     "tube 'inmost' has a 'rotation', and actuator 'turn' turns it, too"},
    {HEAD "robot: {cannula: {on: world, tubes: {inmost: {bending: 1, torsion: 1, curved: 1}}}}\n"
          "probes: {p: {tube: $cannula}}\n",
     "link 'cannula' is no tube of 'tubes'"},
    // units that look like parameters
    {HEAD "parameters: {A: 2 cm^2, p: 3 Pa*A}\nrobot: {a: {on: world, joint: prismatic, stiffness: "
          "$p/(1 m)}}\n",
     "'A' is a unit there, not the parameter"},
    {HEAD "parameters: {m: 2 kg}\nrobot: {a: {on: world, joint: prismatic, body: {mass: 1}}}\n"
          "loads: {f: {on: a, force: [0, 0, $9.81 m/s^2*m]}}\n",
     "'m' is a unit there, not the parameter"},
    // entries without effect
    {ARM "actuators: {c: {tendon: {along: arm}, effort: $-1 N}}\n", "cannot push"},
    {ARM "actuators: {c: {stress: ${along: arm, shear_y: 1, stretch: 1}}}\n",
     "rod 'arm' has none of the strains"},
    // words of other programs
    {ARM "actuators: {c: {tendon: {along: arm}, $tension: 1}}\n", "did you mean 'effort'?"},
    {ARM "actuators: {c: {$muscle: {along: arm}}}\n", "did you mean 'stress'?"},
    {HEAD "robot: {a: {on: $wrld}}\n", "did you mean 'world'?"},
    // retired words
    {HINGE "study: [kinematic: {for: 1 s, step: 0.1 s, reactions: {least: $torque}}]\n",
     "unknown least 'torque'"},
    {HINGE "study: [dynamic: {for: 1 s, step: 0.1 s, $reactions: {least: efforts}}]\n",
     "is for kinematic steps"},
    {HINGE "probes: {A: {connection: $link}}\n", "is of a site and an actuator"},
    {HINGE "probes: {A: {curvature: $[link, m]}}\n", "is of a site and two actuators"},
    {HINGE "study: [kinematic: {for: 1 s, step: 0.1 s, $torques: projective}]\n",
     "'torques' is retired: efforts follow from the reactions"},
    {HINGE "study: [dynamic: {for: 1 s, step: 0.1 s, $reactions: {form: balanced}}]\n",
     "'form' is for kinematic steps"},
    {ARM "study: [static: {engine: shooting, shooting: {$replica: on}}]\n",
     "'replica' is retired: the march of Till 2019 is part of the tests"},
    {HEAD
     "parameters: {k: 2 N*m}\nrobot: {b($k=1..2): {on: world, joint: revolute, stiffness: k}}\n",
     "index 'k' has the name of a parameter, line 3"},
    {ARM "loads: {f: {on: arm, force: [$(1 kg)/(1 kg), 0, 0]}}\n", "a bare one would be SI"},
    {TIP "actuators: {c: {tendon: {along: arm}, shortening: $tip.x}}\n",
     "only t may vary; probes are for forces"},
    // the file
    {"$robot: {a: {on: world}}\n", "sinew: 1"},
    {"sinew: $2\nrobot: {a: {on: world}}\n", "version"},
    {"$sinew: 1\n", "no robot"},
    {HEAD "robot: $[a]\n", "a map of names"},
    {HEAD "$robots: {}\n", "unknown key 'robots' (did you mean 'robot'?)"},
    {HEAD "robot: {a: {on: world}}\nloops: {$o: {as: fixed}}\n", "needs 'join'"},
    {HEAD "robot: {a: {on: world}}\nloops: {$o: {join: [world, a]}}\n", "needs 'as'"},
    {HEAD "robot: {a: {on: world}}\nloops: {o: {join: $[a], as: fixed}}\n", "list of 2"},
    {HEAD "robot: {a: {on: world}}\nloops: {o: {join: [world, $b], as: fixed}}\n", "'b'"},
    {HEAD "robot: {a: {on: world}}\nloops: {o: {join: [world, a], as: $hinge}}\n", "revolute"},
    {BODY "contacts: {$c: {}}\n", "needs one of ground, obstacle, rods, wheel, ring and anchor"},
    {BODY "contacts: {$c: {wheel: {on: hand}, anchor: {on: hand}}}\n", "needs one of"},
    {BODY "contacts: {c: {$wheel: {axis: y}}}\n", "needs 'on'"},
    {BODY "contacts: {c: {$ring: {}}}\n", "needs one of 'on'"},
    {BODY "contacts: {$c: {anchor: {on: world}}}\n", "is on the world, which is at rest"},
    {BODY "contacts: {c: {wheel: {on: hand, radius: $-1}}}\n", "radius"},
    {BODY "contacts: {c: {wheel: {on: hand, $radios: 1}}}\n", "did you mean 'radius'?"},
    {BODY "study: [$kinematic: {step: 1 ms}]\n", "needs 'for'"},
    {BODY "study: [$kinematic: {for: 1 s}]\n", "needs 'step' or 'tolerance'"},
    {BODY "study: [kinematic: {for: 1 s, step: 1 ms, reactions: {$force: 1}}]\n",
     "unknown key 'force'"},
    {BODY "contacts: {c: {$obstacle: {links: arm, stiffness: 1}}}\n", "needs 'shape'"},
    {BODY "contacts: {c: {obstacle: {links: arm, shape: $disc, stiffness: 1}}}\n", "disc"},
    {BODY "contacts: {c: {obstacle: {links: arm, $shape: sphere, stiffness: 1}}}\n",
     "needs 'radius'"},
    {BODY "contacts: {c: {obstacle: {links: arm, shape: sphere, radius: 1, $length: 1, stiffness: "
          "1}}}\n",
     "has no 'length'"},
    {BODY "contacts: {c: {obstacle: {$links: hand, on: hand, shape: plane, stiffness: 1}}}\n",
     "cannot touch it"},
    {BODY "contacts: {c: {obstacle: {links: arm, shape: plane, stiffness: 1, restitution: {ratio: "
          "$2, speed: 1}}}}\n",
     "above 0 and at most 1"},
    {BODY "contacts: {c: {$ground: {stiffness: 1}}}\n", "needs 'on'"},
    {BODY "contacts: {$c: {ground: {on: arm}}}\n", "needs 'stiffness'"},
    {BODY "contacts: {c: {ground: {on: arm, stiffness: $1 N/m}}}\n", "N/m"},
    {BODY "contacts: {c: {ground: {on: [arm, hand], $stiffness: 1}}}\n", "make two of 'c'"},
    {BODY "contacts: {c: {ground: {on: arm, stiffness: 1, friction: $-1}}}\n", "not be negative"},
    {BODY "contacts: {c: {ground: {on: arm, stiffness: 1, $friction: {along: 1}}}}\n",
     "'along' and 'across'"},
    {BODY "contacts: {c: {ground: {on: arm, stiffness: 1, creep: $0}}}\n", "positive"},
    {BODY "contacts: {c: {ground: {on: arm, stiffness: 1, normal: $[0, 0, 0]}}}\n",
     "has no direction"},
    {BODY "contacts: {c: {ground: {on: hand, stiffness: 1, points: $1}}}\n", "list of points"},
    {BODY "contacts: {c: {ground: {on: arm, stiffness: 1}}}\n"
          "probes: {F: {reaction: c, $in: body}}\n",
     "always in the world"},
    {BODY "fluid: {$w: {density: 1}}\n", "needs 'on:'"},
    {BODY "fluid: {$w: {on: arm, density: 1}}\n", "has no effect"},
    {BODY "fluid: {w: {on: [arm, $arm], density: 1, added: auto}}\n", "twice"},
    {BODY "fluid: {w: {on: $amr, density: 1, added: auto}}\n", "did you mean 'arm'"},
    {BODY "fluid: {w: {on: arm, density: $0, added: auto}}\n", "positive"},
    {BODY "fluid: {w: {on: arm, $added: auto}}\n", "needs the 'density'"},
    {BODY "fluid: {w: {on: arm, drag: {linear: 1}, $buoyancy: on}}\n", "needs the 'density'"},
    {BODY "fluid: {w: {on: arm, drag: {$normal: 1}}}\n", "needs the 'density'"},
    {BODY "fluid: {w: {on: arm, $drag: {}}}\n", "needs normal, tangent"},
    {BODY "fluid: {w: {on: arm, drag: {square: $[1, 2]}}}\n", "list of three, got 2"},
    {BODY "fluid: {w: {on: arm, drag: {square: $1 kg/m}}}\n", "kg/m"},
    {BODY "fluid: {w: {on: hand, drag: {linear: [1, 2, 3, $1 kg, 1, 1]}}}\n", "kg"},
    {BODY "fluid: {w: {on: [arm, hand], drag: {$linear: 1}}}\n", "make two of"},
    {BODY "fluid: {w: {on: hand, added: [1, 2, 3, $-4, 5, 6]}}\n", "must not be negative"},
    {BODY "fluid: {$arm: {on: arm, density: 1}}\n", "given twice: this fluid and the link"},
    {"sinew: 1\ntitle: $[a]\nrobot: {a: {on: world}}\n", "'title' is a single value, found a list"},
    {"sinew: 1\ngravity: $9.81\nrobot: {a: {on: world}}\n", "[0, 0, -9.81]"},
    {"sinew: 1\ngravity: $[0, 1]\nrobot: {a: {on: world}}\n", "a list of 3, found 2"},
    {"sinew: 1\ngravity: [0, 0, $9 N]\nrobot: {a: {on: world}}\n", "acceleration"},
    // names
    {HEAD "parameters: {a: 1}\nrobot: {$a: {on: world}}\n", "parameter"},
    {HEAD "robot: {$a+b: {on: world}}\n", "not a name"},
    {HEAD "robot: {$world: {on: world}}\n", "'world'"},
    {HEAD "robot: {$gravity: {on: world}}\n", "'gravity'"},
    {HEAD "robot: {a: {on: world}}\nsites: {$a: {on: world}}\n", "'a' is"},
    {ARM "study: [static: {name: $arm}]\n", "'arm' is"},
    {ARM "study: [static: {name: $a b}]\n", "not a name"},
    // materials
    {HEAD "materials: {m: {young: 1, poisson: 0.5, $shear: 1}}\nrobot: {a: {on: world}}\n",
     "both poisson and shear"},
    {HEAD "materials: {m: {young: 1, poisson: $0.6}}\nrobot: {a: {on: world}}\n",
     "above -1 and up to 0.5, got 0.6"},
    {HEAD "materials: {m: {young: 1, poisson: $-1}}\nrobot: {a: {on: world}}\n", "got -1"},
    {HEAD "materials: {m: {young: $0}}\nrobot: {a: {on: world}}\n", "'young' must be positive"},
    {HEAD "materials: {m: {density: $-1}}\nrobot: {a: {on: world}}\n", "not be negative"},
    {HEAD "materials: {m: {young: $1 mm}}\nrobot: {a: {on: world}}\n", "pressure"},
    {ARM "contacts: {c: {$table: {on: arm, stiffness: 1}}}\n", "did you mean 'ground'"},
    {ARM "loops: {l: {join: [world, arm.tip], $joint: revolute}}\n", "did you mean 'as'"},
    {HEAD "materials: {m: {$yuong: 1}}\nrobot: {a: {on: world}}\n", "did you mean 'young'"},
    {HEAD "materials: {m: {young: $[1]}}\nrobot: {a: {on: world}}\n", "found a list"},
    {HEAD "materials: {m: {young: 1*$t}}\nrobot: {a: {on: world}}\n", "t"},
    // links
    {HEAD "robot: {$a: {body: {mass: 1}}}\n", "needs a parent, e.g. 'on: world'"},
    {HEAD "robot: {arm: {on: world}, b: {on: $arn}}\n", "no link 'arn' (did you mean 'arm'?)"},
    {HEAD "robot: {arm: {on: world}, b: {on: $arm.tip}}\n", "link 'arm' has no rod"},
    {HEAD "robot: {a: {on: world, joint: $revolut}}\n", "did you mean 'revolute'"},
    {HEAD "robot: {a: {on: world, joint: $hinge}}\n",
     "it is one of fixed, revolute, prismatic, cylindrical, universal, spherical, planar, free"},
    {HEAD "robot: {a: {on: world, joint: $fred}}\n", "did you mean 'free'"},
    {HEAD "robot: {a: {on: world, joint: free, $axis: z}}\n", "the joint of link 'a' is free"},
    {HEAD "robot: {a: {on: world, $stiffness: 1}}\n", "is fixed, give e.g. 'joint: revolute'"},
    {HEAD "robot: {a: {on: world, joint: revolute, axis: $w}}\n", "'axis' is x, y, z or a vector"},
    {HEAD "robot: {a: {on: world, joint: revolute, axis: $[0, 0, 0]}}\n", "no direction"},
    {HEAD "robot: {a: {on: world, joint: spherical, $axis: x}}\n", "has no 'axis'"},
    {HEAD "robot: {a: {on: world, joint: revolute, $axes: [x, y]}}\n", "has one axis"},
    {HEAD "robot: {a: {on: world, joint: universal, axis: x, $axes: [x, y]}}\n", "not both"},
    {HEAD "robot: {a: {on: world, joint: universal, axes: $[x, [1, 1, 0]]}}\n", "at 45 degrees"},
    {HEAD "robot: {a: {on: world, joint: universal, axes: $[x]}}\n", "a list of 2"},
    {HEAD "robot: {a: {on: world, joint: revolute, stiffness: $2 N/m}}\n", "torque"},
    {HEAD "robot: {a: {on: world, joint: prismatic, stiffness: $2 N*m}}\n", "N*m"},
    {HEAD "robot: {a: {on: world, joint: prismatic, damping: $-1}}\n", "must not be negative"},
    {HEAD "robot: {a: {on: world, joint: planar, stiffness: $2}}\n", "a list of 3"},
    {HEAD "robot: {a: {on: world, joint: cylindrical, friction: [1, $2 N*m]}}\n", "force"},
    {HEAD "robot: {a: {on: world, joint: spherical, friction: $[1, 2, 3]}}\n", "about every axis"},
    {HEAD "robot: {a: {on: world, joint: spherical, stiffness: [1, 2, $-3]}}\n",
     "must not be negative"},
    {HEAD "robot: {a: {on: world, joint: free, stiffness: $[1, 2, 3]}}\n", "6"},
    {HEAD "robot: {a: {on: world, joint: free, $rest: {xyz: [1, 0, 0]}}}\n", "give 'stiffness'"},
    {HEAD "robot: {$left+arm: {on: world}}\n", "e.g. 'left_arm'"},
    {HEAD "robot: {$a+b*c: {on: world}}\n", "e.g. 'a_b_c'"},
    {HEAD "robot: {a: {on: world, body: {mass: 1, inertia: $[1, 1, 3]}}}\n",
     "the nearest that a body can have is [1.5, 1.5, 3]"},
    {HEAD "robot: {a: {on: world, body: {mass: 1, $inertia_axes: {rpy: [0, 0, 1]}}}}\n",
     "give it too"},
    {HEAD "robot: {a: {on: world, body: {mass: 1, visual: $[]}}}\n", "is a list of solids"},
    {HEAD "robot: {a: {on: world}, b: {on: world, joint: free, body: {mass: 1}}}\n"
          "springs: {s: {bushing: [a, b], stiffness: $[[1, 2, 0, 0, 0, 0], [2, 1, 0, 0, 0, 0], "
          "[0, 0, 1, 0, 0, 0], [0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 0], [0, 0, 0, 0, 0, 1]]}}\n",
     "negative in any direction"},
    {HEAD "robot: {a: {on: world, joint: revolute, friction: 1, creep: $0}}\n", "positive"},
    {HEAD "robot: {a: {on: world, joint: revolute, limits: $[1, -1]}}\n", "[low, high]"},
    {HEAD "robot: {a: {on: world, joint: revolute, limits: $2}}\n", "a list of 2"},
    {HEAD "robot: {a: {on: world, joint: spherical, limits: $[0, 1]}}\n", "is one angle"},
    {HEAD "robot: {a: {on: world, joint: revolute, body: {mass: 1}}}\n"
          "springs: {$s: {spring: [world, a], stiffness: 1}}\n",
     "needs 'rest'"},
    {HEAD "robot: {a: {on: world, joint: revolute, body: {mass: 1}}}\n"
          "springs: {s: {cable: [world, a], rest: 1, stiffness: 1, $force: 1 N}}\n",
     "takes no 'force'"},
    {HEAD "robot: {a: {on: world, joint: revolute, body: {mass: 1}}}\n"
          "springs: {$s: {damper: [world, a]}}\n",
     "needs 'damping'"},
    {HEAD "robot: {a: {on: world, joint: revolute, body: {mass: 1}}}\n"
          "springs: {s: {bushing: [world, a], stiffness: $3}}\n",
     "is a list of 6"},
    {HEAD "robot: {a: {on: world, joint: revolute, body: {mass: 1}}}\n"
          "springs: {s: {spring: [world, $b], rest: 1, stiffness: 1}}\n",
     "no link 'b'"},
    {HEAD "robot: {a: {on: world, joint: revolute, body: {mass: 1}}}\n"
          "contacts: {g: {ground: {on: a, stiffness: 1, points: [[0, 0, 0]]}, $motion: {xyz: [t, "
          "0, 0]}}}\n",
     "is at rest"},
    {HEAD "robot: {a: {on: world, joint: revolute, body: {mass: 1}}}\n"
          "contacts: {g: {wheel: {on: a, lateral: 1}, $carrier: a}}\n",
     "must be at rest"},
    {HEAD "robot: {a: {on: world, joint: revolute, $stop: {stiffness: 1}, body: {mass: 1}}}\n",
     "needs 'limits'"},
    {HEAD
     "robot: {a: {on: world, joint: revolute, limits: [0, 1], stop: {stiffness: 1, restitution: "
     "{ratio: $2, speed: 1}}, body: {mass: 1}}}\n",
     "above 0 and at most 1"},
    {HEAD "robot: {a: {on: world, joint: spherical, rest: $1}}\n", "a pose is a map"},
    {HEAD "robot: {a: {on: world, when: $t + 1 s}}\n", "a condition is wanted"},
    {HEAD "robot: {$a: {on: b}, b: {on: a}}\n", "a on b on a"},
    {HEAD "robot: {$a: {on: a}}\n", "a on a"},
    {HEAD "robot: {a: {$on: }}\n", "'on' has no value"},
    {HEAD "robot: {a: $world}\n", "a link is a map"},
    {HEAD "robot: {b: {on: world}, $a: {on: s}}\nsites: {s: {on: a}}\n", "a on a"},
    {HEAD "robot: {a: {on: s}}\nsites: {$s: {on: r}, r: {on: s}}\n", "on itself"},
    {HEAD "robot: {a: {on: world}}\nsites: {$s: {pose: {}}}\n", "needs 'on:'"},
    {HEAD "robot: {a: {on: world}}\nsites: {s: {on: a, pose: ${xyz: [t, 0, 0]}}}\n", "constant"},
    // poses
    {HEAD "robot: {a: {on: world, pose: {xyz: $[1, 2]}}}\n", "a list of 3, found 2"},
    {HEAD "robot: {a: {on: world, pose: {xyz: [$1 kg, 2, 3]}}}\n", "mass"},
    {HEAD "robot: {a: {on: world, pose: ${rpy: [0, 0, 0], x: z}}}\n",
     "rotation of a pose in one way"},
    {HEAD "robot: {a: {on: world, pose: {$axis: z}}}\n", "'axis' needs 'angle'"},
    {HEAD "robot: {a: {on: world, pose: {quat: $[1, 1, 0, 0]}}}\n", "length 1"},
    {HEAD "robot: {a: {on: world, pose: {x: z, $y: z}}}\n", "right angle"},
    {HEAD "robot: {a: {on: world, pose: {$x: -x}}}\n", "turned by 180 degrees"},
    {HEAD "robot: {a: {on: world, pose: {x: x, y: y, $z: -z}}}\n", "right-handed"},
    {HEAD "robot: {a: {on: world, pose: {x: $up}}}\n", "x, y, z or a vector"},
    {HEAD "robot: {a: {on: world, pose: {axis: $[0, 0, 0], angle: 1}}}\n", "no direction"},
    // bodies
    {HEAD "robot: {a: {on: world, body: ${com: [0, 0, 0]}}}\n", "needs its mass"},
    {HEAD "robot: {a: {on: world, body: {mass: $1 m}}}\n", "length"},
    {HEAD "robot: {a: {on: world, body: {mass: $-1}}}\n", "not be negative"},
    {HEAD "robot: {a: {on: world, body: {mass: $t}}}\n", "constant in this version"},
    {HEAD "robot: {a: {on: world, body: {mass: 1, inertia: $[1, 2]}}}\n", "a list of 3"},
    {HEAD "robot: {a: {on: world, body: {mass: 1, inertia: $[1, -2, 1]}}}\n", "negative"},
    {HEAD "robot: {a: {on: world, body: {mass: 1, inertia: $[1, 1, 5]}}}\n", "1, 1 and 5 kg m^2"},
    {HEAD "robot: {a: {on: world, body: {mass: 1, inertia: $[0, 0, 1]}}}\n", "0, 0 and 1 kg m^2"},
    {HEAD "robot: {a: {on: world, body: {box: [1, 1, 1], mass: 1, inertia: $[2.001, 1, 1]}}}\n",
     "1, 1 and 2.001 kg m^2"},
    // eigenvalues 1, 1 and 5 about other axes: 1 + 4 n n' with n = (1, 2, 2)/3
    {HEAD "robot: {a: {on: world, body: {mass: 1, inertia: $[[13/9, 8/9, 8/9], [8/9, 25/9, 16/9], "
          "[8/9, 16/9, 25/9]]}}}\n",
     "1, 1 and 5 kg m^2"},
    {HEAD "robot: {a: {on: world, body: {mass: 1, inertia: $[[1, 2, 0], [2, 1, 0], [0, 0, 3]]}}}\n",
     "negative about any axis"},
    {HEAD "robot: {a: {on: world, body: {mass: 1, inertia: $[[1, 1, 0], [0, 1, 0], [0, 0, 1]]}}}\n",
     "symmetric"},
    {HEAD "robot: {a: {on: world, body: ${box: [1, 1, 1]}}}\n", "its mass or its density"},
    {HEAD "robot: {a: {on: world, body: {box: [1, $0, 1], mass: 1}}}\n", "positive"},
    {HEAD "robot: {a: {on: world, body: ${mass: 1, box: [1, 1, 1], sphere: {radius: 1}}}}\n",
     "one shape"},
    {HEAD "robot: {a: {on: world, body: {mass: 1, $density: 1}}}\n", "give the mass"},
    {HEAD "robot: {a: {on: world, body: {mass: 1, cylinder: ${radius: 1}}}}\n", "length"},
    // rods
    {HEAD "robot: {a: {on: world, $rod: {strain: rigid}}}\n", "needs a length"},
    {HEAD "robot: {a: {on: world, rod: {$lenght: 1}}}\n", "did you mean 'length'"},
    {HEAD "robot: {a: {on: world, rod: {length: $-1 m}}}\n", "'length' must be positive, got -1"},
    {HEAD "robot: {a: {on: world, rod: {length: $1 kg}}}\n", "mass"},
    {HEAD "robot: {a: {on: world, rod: {length: $1 m + 1 mm/s*t}}}\n",
     "must be a constant in this version, this depends on t"},
    {HEAD "robot: {a: {on: world, $rod: {length: 1}}}\n", "needs its strain"},
    {HEAD "robot: {a: {on: world, $rod: {length: 1, strain: {bend_y: legendre 1}}}}\n",
     "needs a section"},
    {ROD("$section: {circle: {radius: 1}}, strain: {bend_y: legendre 1}"), "no material"},
    {ROD("material: $stel, strain: rigid") "materials: {steel: {}}\n",
     "no material 'stel' (did you mean 'steel'?)"},
    {ROD("material: $iron, strain: rigid"), "no material 'iron'; there is"},
    {ROD("material: $sted, strain: rigid") "sites: {steel: {on: arm}}\n", "no material 'sted'"},
    {ROD("material: $arm, strain: rigid"), "'arm' is a link, not a material"},
    {ROD("material: m, section: {circle: {radius: 1}}, strain: {twist: legendre 1}") "materials: "
                                                                                     "{$m: {young: "
                                                                                     "1}}\n",
     "needs poisson or shear"},
    {ROD("material: m, section: {circle: {radius: 1}}, strain: {bend_y: legendre 1}") "materials: "
                                                                                      "{$m: "
                                                                                      "{shear: "
                                                                                      "1}}\n",
     "needs young"},
    {"sinew: 1\nrobot: {a: {on: world, rod: {length: 1, material: m, section: {circle: {radius: "
     "1}},"
     " strain: {bend_y: legendre 1}}}}\nmaterials: {$m: {young: 1}}\n",
     "needs a density"},
    {ROD("strain: rigid, section: {circle: {radius: $0 mm}}"), "'radius' must be positive"},
    {ROD("strain: rigid, section: {circle: ${}}"), "'radius' (radius, or give the diameter)"},
    {ROD("strain: rigid, section: {circle: {radius: 1, $diameter: 2}}"), "not both"},
    {ROD("strain: rigid, section: {tube: {radius: 1 mm, inner: $1 mm}}"),
     "between 0 and the outer radius"},
    {ROD("strain: rigid, section: {tube: ${diameter: 1 mm}}"),
     "'tube' needs 'inner' (inner radius or diameter"},
    {ROD("strain: rigid, section: {elliptic_tube: {y: 3, z: 2, inner: $3}}"),
     "between 0 and the width y"},
    {ROD("strain: rigid, section: {rectangle: ${y: 1}}"), "'z' (full width along local z"},
    {ROD("strain: rigid, section: {stiffness: {twist: 1}, $torsion_constant: polar}"),
     "that of a shape"},
    {ROD("strain: rigid, section: {ellipse: {y: 1, z: 1}, torsion_constant: $-1 m^4}"),
     "must be positive"},
    {ROD("strain: rigid, section: {ellipse: {y: 1, z: 1}, torsion_constant: $1 m^2}"), "m^4"},
    {ROD("strain: rigid, section: {circle: {radius: 1}, $ellipse: {y: 1, z: 1}}"), "one shape"},
    {ROD("strain: rigid, section: {$area: 1}"), "'area' needs 'moments'"},
    {ROD("strain: rigid, section: {area: 1, moments: [1 m^4, $1 mm^2, 1]}"), "m^4"},
    {ROD("strain: rigid, section: {circle: {radius: 1 mm*$t}}"), "t"},
    {ROD("strain: rigid, section: {stiffness: $[1, 2, 3]}"), "a list of 6, found 3"},
    {ROD("strain: rigid, section: {stiffness: $7}"), "0, six numbers or by component"},
    {ROD("strain: rigid, section: {stiffness: {bend_z: $1 N}}"), "force"},
    {ROD("strain: rigid, section: {inertia: {stretch: $1 kg*m}}"), "kg"},
    {ROD("strain: rigid, section: {stiffness: {$bend_x: 1}}"), "unknown key 'bend_x'"},
    {ROD("strain: rigid, section: {stiffness: $[-1, 1, 1, 1, 1, 1]}"), "of twist must not be"},
    {ROD("strain: rigid, rest: {bend_y: $1 m}"), "m"},
    {ROD("strain: rigid, nodes: $0"), "from 1 to 10000, got 0"},
    {ROD("strain: rigid, nodes: $10001"), "from 1 to 10000"},
    {ROD("strain: rigid, nodes: $2.5"), "whole number"},
    {ROD("strain: rigid, nodes: $t"), "constant in this version"},
    {ROD("strain: rigid, magnus: $3"), "2, 4 or 6"},
    {ROD("strain: rigid, integrator: $rk5"), "there is no integrator 'rk5'"},
    {ROD("strain: rigid, integrator: $spectral 5"), "spectral 2, 3, 4"},
    {ROD("strain: rigid, integrator: $spectral 3x"), "there is no integrator"},
    {ROD("strain: rigid, magnus: 4, $integrator: rk4"), "give one"},
    // strains
    {ROD("strain: {bend_y: $legendr 3}"), "unknown basis 'legendr' (did you mean 'legendre'?)"},
    {ROD("strain: {bend_y: $legendre}"), "needs a number of functions"},
    {ROD("strain: {bend_y: legendre $401}"), "from 1 to 400, got 401"},
    {ROD("strain: {bend_y: legendre $0}"), "from 1 to 400, got 0"},
    {ROD("strain: {bend_y: cubic $3}"), "piecewise"},
    {ROD("strain: {bend_y: $3 m}"), "length"},
    {ROD("strain: {stretch: 2*$y}"), "'y'"},
    {ROD("strain: $legendre 3"), "names no strains"},
    {ROD("strain: $kirchof legendre 3"), "did you mean 'kirchhoff'"},
    {ROD("strain: cosserat $legndre 3"), "unknown basis 'legndre' (did you mean 'legendre'?)"},
    {ROD("strain: kirchhoff$"), "needs a basis"},
    {ROD("strain: rigid $legendre 3"), "no basis"},
    {ROD("strain: ${}"), "names no component"},
    {ROD("strain: cosserat cubic, elements: $200001"), "from 1 to 200000"},
    {ROD("strain: cosserat cubic, elements: $100000"), "make 300001 functions"},
    {ROD("strain: cosserat legendre 3, $elements: 4"), "piecewise"},
    {ROD("strain: cosserat cubic, elements: 4, $breaks: [1]"), "not both"},
    {ROD("strain: cosserat cubic, breaks: [1, $1]"), "must increase"},
    {ROD("strain: cosserat cubic, breaks: [0, $3 m]"), "outside of the rod"},
    // stations
    {ARM "sites: {s: {on: arm@$1.2 m}}\n", "from 0 to 1 m"},
    {ARM "sites: {s: {on: arm@$101%}}\n", "station 1.01 m is outside"},
    {ARM "sites: {s: {on: arm@$1 kg}}\n", "mass"},
    {ARM "sites: {s: {on: arm@$(t)}}\n", "constant in this version, this depends on t"},
    {ARM "sites: {s: {on: $arm.top}}\n", "'arm.root', 'arm.tip'"},
    {ARM "sites: {s: {on: arm@$}}\n", "needs a station"},
    {ARM "sites: {s: {on: world}, r: {on: $s.tip}}\n", "named site"},
    // loads and actuators
    {ARM "loads: {$p: {force: [1, 0, 0]}}\n", "needs 'on: a site' or 'along: a rod'"},
    {ARM "loads: {$p: {on: arm, along: arm, force: [1, 0, 0]}}\n", "not both"},
    {ARM "loads: {$p: {on: arm}}\n", "a force or a torque"},
    {ARM "loads: {p: {on: arm, force: [$1 N*m, 0, 0]}}\n", "force"},
    {ARM "loads: {p: {along: arm, force: [$1 N, 0, 0]}}\n", "N"},
    {ARM "loads: {p: {on: arm, force: [1*$x, 0, 0]}}\n", "x"},
    {ARM "loads: {p: {on: arm, force: [1, 0, 0], frame: $bodi}}\n", "did you mean 'body'"},
    {ARM "loads: {p: {on: world, force: [1, 0, 0], $frame: body}}\n", "no body frame"},
    {ARM "loads: {p: {on: arm, $forse: [1, 0, 0]}}\n", "did you mean 'force'"},
    {ARM "loads: {p: {on: arm, force: [1, 0, 0], when: $3 s}}\n", ""},
    {TIP "loads: {p: {on: arm, force: [\"2 - $tip.vx\", 0, 0]}}\n", "has no 'vx', it has x y z"},
    {TIP "loads: {p: {on: arm, force: [\"2 - $tip\", 0, 0]}}\n", "several numbers"},
    {TIP "loads: {p: {on: arm, force: [\"2 - $tpi.x\", 0, 0]}}\n", "did you mean 'tip'"},
    {TIP "loads: {p: {on: arm, force: [1, 0, 0]}}\nsites: {s: {on: arm, pose: {xyz: [$tip.x, 0, "
         "0]}}}\n",
     "only t may vary"},
    {ARM "probes: {$e: energy}\nloads: {p: {on: arm, force: [e.kinetic, 0, 0]}}\n",
     "a law reads probe 'e'"},
    {ARM
     "actuators: {c: {tendon: {along: arm}, effort: \"1 N + 1 N/m*len\"}}\nloads: {p: {on: arm, "
     "force: [T, 0, 0]}}\nprobes: {len: {length: c}, $T: {tension: c}}\n",
     "an effort that is computed with the motion or depends on probes itself"},
    {ARM "probes: {s: stability}\nstudy: [dynamic: {for: 1, step: 1, until: $s < 0}]\n",
     "cannot read probe 's'"},
    {TIP "loads: {p: {along: arm, force: [\"integral($x)\", 0, 0]}}\n", "cannot depend on x or L"},
    {TIP "loads: {p: {on: arm, force: [\"sampled(tip.x, $tip.y)\", 0, 0]}}\n", "period must be"},
    {TIP "loads: {p: {on: arm, force: [\"sampled(tip.x, $3 kg)\", 0, 0]}}\n", "period is wanted"},
    {TIP "loads: {p: {on: arm, force: [1, 0, 0], when: \"once($tip.z)\"}}\n", "condition"},
    {ARM "actuators: {m: {wheels: $[arm], effort: 1}}\n", "'wheels' need revolute joints"},
    {ARM "actuators: {$m: {tendon: {along: arm}}}\n",
     "needs 'effort' (its tension) or 'shortening'"},
    {ARM "actuators: {m: {tendon: {along: arm}, $gas: {moles: 1 mol}}}\n", "for a chamber only"},
    {ARM "actuators: {m: {tendon: {along: arm}, effort: $1 Pa}}\n", "a force (N) is wanted"},
    {ARM "actuators: {m: {tendon: {along: arm}, $rate: 1}}\n", "a tendon has no 'rate'"},
    {ARM "actuators: {m: {tendon: ${at: [0, 0, 0]}, effort: 1 N}}\n", "needs 'along:'"},
    {ARM "actuators: {m: {tendon: {along: $nobody}, effort: 1 N}}\n", "nobody"},
    {ARM "actuators: {m: {tendon: {along: [arm, $arm]}, effort: 1 N}}\n", "lists rod 'arm' twice"},
    {ARM "actuators: {m: {tendon: {along: arm, at: $[1 mm, 0, 0]}, effort: 1 N}}\n",
     "its first number is 0"},
    {ARM "actuators: {m: {tendon: {along: arm, to: $2*L}, effort: 1 N}}\n", "the rod goes from 0"},
    {ARM "actuators: {m: {tendon: ${along: arm, from: L, to: L/2}, effort: 1 N}}\n",
     "before it begins"},
    {ARM "actuators: {m: {tendon: {along: arm, extra: $-1 m}, effort: 1 N}}\n",
     "must not be negative"},
    {ARM "actuators: {m: {tendon: {along: arm, compliance: $0 1/N}, effort: 1 N}}\n", "positive"},
    {ARM "actuators: {m: {tendon: {along: arm, friction: 0.1}, $shortening: 1 cm}}\n",
     "needs a 'compliance'"},
    {ARM "actuators: {m: {tendon: {along: arm}, shortening: 1 cm, when: $t < 1}}\n",
     "of a given length is on or off"},
    {ARM "actuators: {m: {tendon: {along: arm, friction: $-0.1}, effort: 1 N}}\n",
     "must not be negative"},
    {ARM "actuators: {m: {tendon: {along: arm, viscous: $0.1 m}, effort: 1 N}}\n", "s/m"},
    {ARM "actuators: {m: {tendon: {along: arm, creep: $0}, effort: 1 N}}\n", "positive"},
    {ARM "actuators: {m: {tendon: {along: arm, discs: $-1 mm}, effort: 1 N}}\n", "positive"},
    {ARM "actuators: {m: {tendon: {along: arm, $path: [world, arm]}, effort: 1 N}}\n", "not both"},
    {ARM "actuators: {m: {tendon: {path: $[arm]}, effort: 1 N}}\n", "at least two entries"},
    {ARM "actuators: {m: {tendon: {path: [world, arm, $arm]}, effort: 1 N}}\n",
     "lists rod 'arm' twice"},
    {ARM "actuators: {m: {tendon: {path: [world, $amr]}, effort: 1 N}}\n", "did you mean 'arm'"},
    {ARM "actuators: {m: {tendon: {path: [world, arm.tip], $from: 1 mm}, effort: 1 N}}\n",
     "the path has none"},
    {TENDON "probes: {T: {tension: $cord@1 m}}\n", "a part of its path like '@50%'"},
    {TENDON "probes: {T: {tension: $cord@120%}}\n", "from 0 to 100 %"},
    {TENDON "probes: {T: {pull: $cord}}\n", "'cord.root'"},
    {TENDON "probes: {T: {tension: cord, $in: body}}\n", "has no axes"},
    {ARM "probes: {p: {position: arm.tip, $in: body}}\n", "'in: body' is for velocity"},
    {ARM "probes: {p: {rotation: arm.tip, $in: body}}\n", "'in: body' is for velocity"},
    {ARM "probes: {p: {pose: arm.tip, $in: body}}\n", "'in: body' is for velocity"},
    {TENDON "probes: {T: {tension: cord.tip, $along: 3}}\n", "whole rod"},
    {TENDON "probes: {T: {length: $cord.tip}}\n", "cord.tip"},
    {ARM "actuators: {m: {chamber: {along: arm, area: 1 mm^2}, volume: 1 cm^3, when: $t < 1}}\n",
     "is on or off"},
    {ARM "actuators: {m: {chamber: ${along: arm}, effort: 1 Pa}}\n", "needs 'area:'"},
    {ARM "actuators: {m: {chamber: {along: arm, area: 1 mm^2*(1 + $t)}, effort: 1 Pa}}\n",
     "'t' cannot be used here: only x and L may vary"},
    {ARM "actuators: {m: {chamber: {along: arm, area: 1 mm^2*(1 + $b.x/(1 m))}, effort: 1 Pa}}\n"
         "probes: {b: {position: arm.tip}}\n",
     "probe 'b' cannot be used here"},
    {ARM "parameters: {pressure: 3 Pa}\nactuators: {m: {chamber: {along: arm, area: $1 "
         "mm^2*pressure/(1 Pa)}, effort: 1 Pa}}\n",
     "'pressure' in 'area' is that of the chamber, but a parameter has this name"},
    {ARM "actuators: {m: {chamber: {along: arm, area: $1 mm^2*pressure}, effort: 1 Pa}}\n",
     "an area (m^2) is wanted here"},
    {ARM "actuators: {m: {chamber: {along: arm, area: 1 mm^2*(1 + pressure/(1 Pa))}, effort: 1 "
         "Pa*(1 + V/(1 m^3))}}\nprobes: {$V: {volume: m}}\n",
     "use sampled(..) for this one"},
    {ARM "actuators: {m: {chamber: {along: arm, area: 1 mm^2}, effort: 1 Pa, $gas: {moles: 1 "
         "mol}}}\n",
     "gives 'effort' and 'gas'; one follows from the other"},
    {ARM "actuators: {m: {chamber: {along: arm, area: 1 mm^2}, effort: 1 Pa, $pressure: 1 bar}}\n",
     "gives 'effort' and 'pressure'"},
    {ARM "actuators: {m: {tendon: {along: arm}, $pressure: 1 bar}}\n",
     "a tendon has no 'pressure'; use 'effort' (its tension) or 'shortening'"},
    {ARM "actuators: {$m: {mckibben: {along: arm, radius: 1 mm, angle: 20 deg}}}\n",
     "needs 'pressure'"},
    {ARM "actuators: {m: {mckibben: ${along: arm, radius: 1 mm}, pressure: 1 bar}}\n",
     "needs 'angle:', e.g. 25 deg"},
    {ARM "actuators: {m: {mckibben: ${along: arm, angle: 20 deg}, pressure: 1 bar}}\n",
     "needs 'radius:', e.g. 10 mm"},
    {ARM "actuators: {m: {mckibben: {along: arm, radius: 1 mm, angle: $60 deg}, pressure: 1 "
         "bar}}\n",
     "must be less than 54.74 deg"},
    {ARM "actuators: {m: {mckibben: {along: arm, radius: 1 mm, angle: 20 deg}, pressure: $-1 "
         "bar}}\n",
     "cannot push: its pressure must not be negative, got -100000 Pa"},
    {ARM "actuators: {m: {mckibben: {along: arm, radius: 1 mm, angle: 20 deg}, pressure: $1 "
         "N}}\n",
     "pressure"},
    {ARM "actuators: {$m: {chamber: {along: arm, area: 1 mm^2}}}\n",
     "needs 'pressure', 'effort' (its pressure), 'volume' or 'gas'"},
    {ARM "actuators: {$m: {when: on}}\n",
     "'joint: link', 'rod: link', 'feed: link', 'grow: link', 'wheels: [links]', 'tendon: {along: "
     "..}'"},
    {ARM "actuators: {m: {chamber: {along: arm, area: 1 mm^2}, gas: ${ambient: 1 Pa}}}\n",
     "needs 'moles:'"},
    {ARM "actuators: {$m: {when: on}}\n", "drives nothing"},
    {ARM "actuators: {m: {stress: ${bend_y: 1}}}\n", "needs 'along:'"},
    {ARM "actuators: {m: {stress: {along: $arn, bend_y: 1}}}\n", "did you mean 'arm'"},
    {ARM "actuators: {m: {stress: {along: arm, bend_y: $1 N}}}\n", "force"},
    {HINGE "actuators: {m: {joint: a, $rod: a, effort: 1}}\n", "drives one element"},
    {HINGE "actuators: {$m: {joint: a}}\n", "needs 'effort', 'position', 'rate' or 'hold'"},
    {HINGE "actuators: {m: {joint: a, effort: 1, $position: 1}}\n", "one follows from the other"},
    {HINGE "actuators: {m: {joint: $d, effort: 1}}\n", "no link 'd'"},
    {HINGE "actuators: {m: {joint: a, effort: $1 N}}\n", "force"},
    {HINGE "actuators: {m: {joint: a, position: $1 m}}\n", "length"},
    {HINGE "actuators: {m: {joint: c, position: [1 m, 2 m, $3 m]}}\n", "length"},
    {HINGE "actuators: {m: {joint: c, position: $1 m}}\n", "list of 3"},
    {HINGE "actuators: {m: {joint: c, position: $[free, free, free]}}\n",
     "all coordinates are free"},
    {HINGE "actuators: {m: {joint: a, rate: $2 m}}\n", "a rate"},
    {HINGE "actuators: {m: {joint: b, position: $[1, 2, 3]}}\n", "is a rotation, e.g. '{axis"},
    {HINGE "actuators: {m: {joint: b, position: ${xyz: [t, 0, 0]}}}\n", "has no 'xyz'"},
    {HINGE "actuators: {m: {joint: $b, rate: [1, 2, 3]}}\n", "an 'effort' or a 'position'"},
    {HINGE "probes: {p: {power: $a}}\n", "'a' is a link"},
    {HINGE "actuators: {m: {joint: b, effort: [1, 2, $3 N]}}\n", "force"},
    {HINGE "probes: {q: {angle: a}}\nactuators: {m: {joint: a, position: $q}}\n",
     "only t may vary"},
    {ARM "actuators: {m: {joint: $arm, effort: 1}}\n", "is fixed and has no motor"},
    {ARM "actuators: {m: {rod: arm, position: $[1, 2]}}\n", "list of 9"},
    {ARM "actuators: {m: {stress: {along: arm, bend_y: 1}, $effort: 1}}\n", "by component"},
    {ARM "actuators: {m: {stress: {along: arm, bend_y: 1}}}\nprobes: {e: {effort: $m}}\n",
     "is an active stress and has no 'effort'"},
    {HEAD "robot: {steel: {on: world}, b: {on: $steal}}\nmaterials: {steam: {}}\n",
     "did you mean 'steel'"},
    // initial state
    {ARM "initial: {$leg: {strain: 0}}\n", "no link 'leg'"},
    {ARM "initial: {arm: $30 deg}\n", "no joint with coordinates"},
    {ARM "initial: {arm: {$pose: {}}}\n", "is not free"},
    {ARM "initial: {arm: {$position: 1}}\n", "is fixed and has no 'position'"},
    {HINGE "initial: {a: $1 m}\n", "m"},
    {HINGE "initial: {a: {rate: $1 m/s}}\n", "m/s"},
    {HINGE "initial: {a: {$pose: {}}}\n", "is not free"},
    {HINGE "initial: {b: $30 deg}\n", "a rotation"},
    {HINGE "initial: {b: {rate: $1}}\n", "a list of 3"},
    {HINGE "initial: {c: $[1, 2]}\n", "a list of 3"},
    {ARM "initial: {arm: {strain: ${stretch: 0.1}}}\n", "does not change"},
    // probes
    {ARM "probes: {p: {position: $arn.tip}}\n", "did you mean 'arm'"},
    {ARM "probes: {p: {$postion: arm.tip}}\n", "did you mean 'position'"},
    {ARM "probes: {p: {position: arm, $velocity: arm}}\n", "one quantity"},
    {ARM "probes: {p: {effort: $arm}}\n", "is fixed and has no 'effort'"},
    {ARM "probes: {p: {tension: $arm}}\n", "arm"},
    {ARM "actuators: {m: {tendon: {along: arm}, effort: 1 N}}\nprobes: {p: {volume: $m}}\n",
     "is not a chamber"},
    {ARM "actuators: {m: {tendon: {along: arm}, effort: 1 N}}\nprobes: {p: {angle: $m}}\n",
     "use 'length' or 'tension'"},
    {HEAD "robot: {a: {on: world, joint: free}}\nprobes: {p: {value: $a}}\n", "use pose and twist"},
    {HINGE "probes: {p: {angle: $b}}\n", "is spherical; use 'value'"},
    {HINGE "probes: {p: {rate: a, $in: body}}\n", "own axes"},
    {HINGE
     "probes: {p: {value: c}}\nstudy: [static: ]\nexpect: [{probe: $p.slide, at: end, below: 1}]\n",
     "angle"},
    {ARM "probes: {p: $position}\n", "'position' needs an object"},
    {ARM "probes: {p: $energi}\n", "did you mean 'energy'"},
    {ARM "probes: {p: $energy.work}\n", "'p.work'"},
    {ARM "probes: {p: {$energy: arm}}\n", "whole robot"},
    {ARM "probes: {p: {strain: $world}}\n", "rod's station"},
    {ARM "probes: {p: {wrench: arm.tip, $along: 3}}\n", "whole rod"},
    {ARM "probes: {p: {wrench: arm, along: $1}}\n", "from 2 to"},
    {ARM "probes: {p: {wrench: arm, $in: world}}\n", "section's frame"},
    {HEAD "robot: {a: {on: world, joint: free}}\nprobes: {p: {reaction: $a}}\n",
     "has a free joint"},
    {HEAD "parameters: {p: 1}\nrobot: {a: {on: world}}\nprobes: {$p: energy}\n", "parameter"},
    // study
    {ARM "study: ${static: {}}\n", "a list of steps"},
    {ARM "study: [linearize: {input: $pump}]\n", "'pump' is no input"},
    {ARM "study: [linearize: {$rho: 0.5}]\n", "'rho' is of the discrete model of a time step"},
    {ARM "study: [linearize: {step: 1 ms, $alpha: 0}]\n",
     "scheme 'generalized-alpha' has no 'alpha'"},
    {ARM "study: [$inverse]\n", "an inverse step needs 'target'"},
    {ARM "study: [modes: {count: $0}]\n", "'count' must be from 1"},
    {ARM "study: [modes: {count: $1.5}]\n", "'count'"},
    {ARM "study: [modes: {$step: 1 s}]\n", "unknown key 'step'"},
    {ARM "study: [modes: {from: $modes}]\n", "there is no step of the study 'modes'"},
    {ARM "study: [$statics]\n", "did you mean 'static'"},
    {ARM "study:\n  - static:\n    $name: a\n", "indent it under 'static:'"},
    {ARM "study: [static: {$for: 1 s}]\n", "'for' needs 'step'"},
    {ARM "study: [static: {for: $-1 s, step: 1 s}]\n", "'for' must be positive"},
    {ARM "study: [static: {for: 1 s, step: $2 s}]\n", "not be longer"},
    {ARM "study: [static: {for: 1 s, step: $1 ns}]\n", "too many"},
    {ARM "study: [static: {for: $1 m, step: 1 s}]\n", "length"},
    {ARM "study: [static: {from: $rest}]\n", "no step of the study 'rest'"},
    {ARM "study: [static: {name: a, from: $b}, static: {name: b}]\n", "earlier step"},
    {ARM "study: [static: {tolerance: $2}]\n", "below 1"},
    {ARM "study: [static: {march: ${step: 1 s}}]\n", "needs 'for'"},
    {ARM "study: [static: {march: {for: 1 s, step: $3 s}}]\n", "not be longer"},
    {ARM "study: [static: {$scheme: rk4}]\n", "unknown key 'scheme'"},
    {ARM "study: [static: {engine: $aiming}]\n", "aiming"},
    {ARM "study: [static: {$shooting: {points: 9}}]\n", "add 'engine: shooting'"},
    {ARM "study: [static: {engine: shooting, shooting: {points: $3}}]\n", "points"},
    {ARM "study: [static: {engine: shooting, shooting: {$point: 3}}]\n", "unknown key 'point'"},
    {ARM "study: [static: {engine: shooting, shooting: {$error: 1e-6}}]\n", "dormand-prince"},
    {ARM "study: [static: {engine: shooting, $march: 1 s}]\n", "has no 'march'"},
    // motion
    {ARM "study: [$dynamic]\n", "a dynamic step needs 'for'"},
    {HEAD "materials: {m: {young: 1 MPa, poisson: 0.5}}\nrobot: {a: {on: world}}\n"
          "study: [$dynamic: {step: 1 ms}]\n",
     "a dynamic step needs 'for'"},
    {ARM "study: [$dynamic: {for: 1 s}]\n", "needs 'step', e.g. 'step: 5 ms', or 'adapt: on'"},
    {ARM "study: [$dynamic: {for: 1 s, scheme: rk4}]\n", "scheme 'rk4' needs 'step'"},
    {ARM "study: [dynamic: {for: $0 s, step: 1 ms}]\n", "'for' must be positive"},
    {ARM "study: [dynamic: {for: 1 s, step: $2 s}]\n", "not be longer"},
    {ARM "study: [dynamic: {for: 1 s, step: $1 ns}]\n", "too many"},
    {ARM "study: [dynamic: {for: 1 s, step: $1 mm}]\n", "length"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, scheme: $hth}]\n", "did you mean 'hht'"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, scheme: $verlet}]\n",
     "bdf-alpha, conserving, moreau, gauss4, gauss6, gauss8, radau3, radau5, rk4, adaptive"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, rho: $1.1}]\n", "from 0 to 1, got 1.1"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, scheme: hht, rho: $0.4}]\n",
     "from 0.5 to 1, got 0.4"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, scheme: wbz, rho: $-0.1}]\n", "got -0.1"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, scheme: newmark, $rho: 1}]\n",
     "scheme 'newmark' has no 'rho', generalized-alpha, hht and wbz have"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, scheme: gauss6, $start: rest}]\n",
     "scheme 'gauss6' has no 'start', its steps use no accelerations of earlier steps"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, scheme: radau5, $start: rest}]\n",
     "scheme 'radau5' has no 'start', its steps use no accelerations of earlier steps"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, scheme: radau5, $rho: 0.5}]\n",
     "scheme 'radau5' has no 'rho', generalized-alpha, hht and wbz have it"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, scheme: radau3, $shorten: on}]\n",
     "scheme 'radau3' has no 'shorten', its steps are fixed"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, scheme: radau3, $loop_velocities: scheme}]\n",
     "scheme 'radau3' has no 'loop_velocities'"},
    {ARM "study: [$dynamic: {for: 1 s, scheme: radau5}]\n",
     "scheme 'radau5' needs 'step', e.g. 'step: 5 ms', or 'adapt: on'"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, engine: shooting, scheme: $radau5}]\n",
     "the shooting engine has no scheme 'radau5'"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, $alpha: -0.2}]\n", "bdf-alpha has"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, scheme: bdf-alpha, alpha: $0.2}]\n",
     "from -0.5 to 0, got 0.2"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, tolerance: $1}]\n", "below 1"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, scheme: rk4, $tolerance: 1e-3}]\n",
     "has no 'tolerance'"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, scheme: rk4, $adapt: on}]\n", "use 'adaptive'"},
    {ARM "study: [dynamic: {for: 1 s, scheme: stiff, $adapt: on}]\n",
     "always controls its step size"},
    {ARM "study: [dynamic: {for: 1 s, scheme: conserving, $adapt: on}]\n", "its steps are equal"},
    {ARM "study: [$dynamic: {for: 1 s, scheme: conserving}]\n", "needs 'step', e.g. 'step: 5 ms'"},
    {ARM "study: [dynamic: {for: 1 s, adapt: $yes}]\n", "one of off, on"},
    {ARM "study: [dynamic: {for: 1 s, scheme: adaptive, $base: se3}]\n",
     "implicit schemes have it"},
    {ARM "study: [dynamic: {for: 1 s, scheme: stiff, $start: rest}]\n", "implicit schemes have it"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, base: $so3}]\n", "'se3'"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, start: $still}]\n", "consistent, rest"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, $march: 1 s}]\n", "unknown key 'march'"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, engine: shooting, scheme: $rk4}]\n",
     "the shooting engine has no scheme 'rk4'"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, engine: shooting, $adapt: on}]\n", "no 'adapt'"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, scheme: $bdf3}]\n", "'engine: shooting'"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, until: $on}]\n", "must depend on t"},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, until: $t}]\n", ""},
    {ARM "study: [dynamic: {for: 1 s, step: 1 ms, from: $fall}, static: {name: fall}]\n",
     "earlier step"},
    {ARM "study: [dynamic: {name: $arm, for: 1 s, step: 1 ms}]\n", "'arm' is"},
    {HEAD "materials: {$m: {young: 1}}\nrobot: {a: {on: world, rod: {length: 1, material: m, "
          "section: {circle: {radius: 1}}, strain: {bend_y: legendre 1}}}}\n"
          "study: [dynamic: {for: 1 s, step: 1 ms}]\n",
     "needs a density, rod 'a' has weight or moves"},
    // changes; n links of a chain, one of them pushed
    {ARM "study: [$change]\n", "paths and values"},
    {ARM "study: [$change: {}]\n", "paths and values"},
    {ARM "study: [$change: {name: nothing}]\n", "paths and values"},
    {ARM "study: [$change: [arm]]\n", "paths and values"},
    {ARM "study: [change: {$amr: off}]\n", "names no parameter, element, step or key (did you mean "
                                           "'arm'?)"},
    {ARM "study: [change: {arm.pose: {$xzy: [0, 0, 0]}}]\n", "did you mean 'xyz'"},
    {ARM "study: [change: {$arm.poes: {}}]\n", "did you mean 'pose'"},
    {ARM "study: [change: {arm.pose: {xyz: $[0, 0]}}]\n", "a list of 3, found 2"},
    {ARM "study: [static: {name: a}, change: {$a.tolerance: 1e-3}]\n", "'a' is a step"},
    {ARM "study: [static, change: {$static.tolerance: 1e-3}]\n", "'static' is a step"},
    {ARM "study: [change: {$study: []}]\n", "'study' is a key of the file"},
    {TIP "study: [change: {$probes.tip.position: arm.root}]\n", "an element or gravity"},
    {ARM "study: [change: {$record.every: 1 s}]\n", "an element or gravity"},
    {ARM "study: [change: {$initial: {}}]\n", "an element or gravity"},
    {ARM "study: [change: {$loads: {}}]\n", "an element or gravity"},
    {ARM "study: [change: {$parameters.C: 1}]\n", "cannot be overridden"},
    {ARM "study: [change: {$gravity: off}]\n", "cannot be switched off"},
    {ARM "study: [static, $change: {arm.rod.strain: kirchhoff legendre 4}]\n",
     "'change' changes the strains or strain functions of rod 'arm': coordinates are fixed during "
     "a study"},
    {ARM "study: [$change: {arm.rod.strain: {bend_y: legendre 3}}]\n",
     "the strains or strain functions of rod 'arm'"},
    {ARM "study: [$change: {arm.rod.strain: kirchhoff chebyshev 3}]\n",
     "the strains or strain functions of rod"},
    {ARM "study: [$change: {arm.joint: free}]\n", "the joint of link 'arm'"},
    {ARM "study: [$change: {arm.rod: off}]\n", "a rod in link 'arm'"},
    {ARM "study: [$change: {arm.rod.nodes: 40}]\n", "the nodes of rod 'arm'"},
    {ARM "study: [$change: {arm.rod.magnus: 2}]\n", "the integrator of rod 'arm'"},
    {ARM "study: [static, change: {name: stiffer, rubber.young: 2 MPa}, $change: {name: bad, "
         "rubber.young: 1 MPa, arm.joint: free}]\n",
     "'bad' changes the joint"},
    {CHAIN "study: [$change: {n: 3}]\n", "changes the links"},
    {CHAIN "study: [$change: {m: 3}]\n", "changes which loads there are"},
    {CHAIN "study: [$change: {p: 3}]\n", "changes which probes there are"},
    {CHAIN "study: [$change: {a(2).on: world}]\n", "the parent of link 'a(2)'"},
    {CHAIN "study: [change: {b: 2 *$}]\n", ""},
    {HEAD
     "parameters: {r: 1 mm}\nrobot: {arm: {on: world, rod: {length: 1, strain: rigid, section: "
     "{circle: {radius: $r}, inertia: 0}}}}\nstudy: [change: {r: -1 mm}]\n",
     "'radius' must be positive, got -0.001 (after the change in line 5)"},
    {HEAD RUBBER
     "robot: {arm: {on: world, rod: {length: 1, strain: kirchhoff cubic, breaks: [0.2], "
     "material: rubber, section: {circle: {radius: 1 mm}}}}}\n"
     "study: [$change: {arm.rod.length: 2 m}]\n",
     "the strains or strain functions of rod 'arm'"},
    {TIP "study: [static, change: {arm.pose: {xyz: [1, 0, 0]}}]\n"
         "expect: [{probe: tip.x, after: $change, value: 1, within: 1}]\n",
     "'change' is a change and computes nothing"},
    // record
    {TIP "record: {every: $0 s}\n", "positive"},
    {TIP "record: {only: [$tap]}\n", "no probe 'tap' (did you mean 'tip'?)"},
    {TIP "record: {only: [tip, $tip]}\n", "twice"},
    // expectations
    {PATH "expect: ${probe: tip}\n", "is a list"},
    {PATH "expect: [${value: 1}]\n", "'probe' is missing"},
    {PATH "expect: [{probe: $tup.x, at: end, value: 1, within: 1}]\n", "did you mean 'tip'"},
    {PATH "expect: [{probe: $tip.q, at: end, value: 1, within: 1}]\n",
     "has no 'q'; position has x y z"},
    {PATH "expect: [{probe: tip.x, run: $mian, at: end, value: 1, within: 1}]\n",
     "did you mean 'main'"},
    {PATH "expect: [{probe: tip.x, after: $rest, value: 1, within: 1}]\n", "no step of the study"},
    {PATH "expect: [{probe: tip.x, after: $arm, value: 1, within: 1}]\n", "'arm' is a link"},
    {PATH "expect: [${probe: tip.x, value: 1, within: 1}]\n", "the time is missing"},
    {PATH "expect: [{probe: tip.x, at: end, $over: all, is: min, value: 1, within: 1}]\n",
     "give one of them"},
    {PATH "expect: [{probe: tip.x, $over: all, value: 1, within: 1}]\n", "needs 'is'"},
    {PATH "expect: [{probe: tip.x, over: all, is: $mode, value: 1, within: 1}]\n", "is"},
    {PATH "expect: [{probe: tip.x, at: end, $is: min, value: 1, within: 1}]\n", "add 'over'"},
    {PATH "expect: [{probe: tip.x, over: $[1 s, 0 s], is: min, value: 1, within: 1}]\n", "earlier"},
    {PATH "expect: [{probe: tip.x, over: all, is: period, value: $1 mm, within: 1 ms}]\n", "time"},
    {PATH "expect: [${probe: tip.x, at: end, value: 1}]\n", "within or relative"},
    {PATH "expect: [{probe: tip.x, at: end, value: 1, within: 1, $relative: 1}]\n", "one of them"},
    {PATH "expect: [${probe: tip.x, at: end, within: 1}]\n", "needs 'value', which is missing"},
    {PATH "expect: [{probe: tip.x, at: end, $value: 1, below: 2}]\n", "replaces 'value'"},
    {PATH "expect: [{probe: tip.x, at: end, value: 1, within: $-1}]\n", "not be negative"},
    {PATH "expect: [{probe: tip.x, at: end, value: 0, $relative: 1}]\n", "use 'within'"},
    {PATH "expect: [{probe: tip.x, at: end, value: $1 kg, within: 1}]\n", "mass"},
    {PATH "expect: [{probe: tip.x, at: end, value: 1 mm, within: $1 kg}]\n", "mass"},
    {PATH "expect: [{probe: tip, at: end, value: $[1, 2], within: 1}]\n", "needs 3 values"},
    {PATH "expect: [{probe: tip, at: end, value: $1, within: 1}]\n", "needs 3 values"},
    {PATH "expect: [{probe: tip, rows: [[0, 1, 2, 3], $[1, 1, 2]], within: 1}]\n",
     "needs 3 values after the time"},
    {PATH "expect: [{probe: tip.x, rows: $[], within: 1}]\n", "list of rows"},
    {PATH "expect: [{probe: tip.x, at: $2.5 s, value: 1, within: 1}]\n", "from 0 s to 2 s"},
    {PATH "expect: [{probe: tip.x, rows: [[1, 1], [$3, 1]], within: 1}]\n", "from 0 s to 2 s"},
    {TIP "study: [static, dynamic: {for: 1 s, step: 1 ms}, change: {arm: off}, dynamic: {for: 2 s, "
         "step: 1 ms}]\nexpect: [{probe: tip.x, at: $3.1 s, value: 1, within: 1}]\n",
     "from 0 s to 3 s"},
    {TIP "study: [dynamic: {for: 1 s, step: 1 ms}]\n"
         "expect: [{probe: tip.x, over: [0 s, $2 s], is: period, value: 1 s, within: 1}]\n",
     "from 0 s to 1 s"},
    {TIP "expect: [{probe: tip.x, at: $0 s, value: 1, within: 1}]\n", "no study"},
    {PATH "expect: [{probe: $N, at: end, value: [1, 2, 3, 4, 5, 6], within: 1}]\n",
     "stations 0 to 2"},
    {PATH "expect: [{probe: $N@3.mx, at: end, value: 1, within: 1}]\n", "stations 0 to 2"},
    {PATH "expect: [{probe: $tip@1.x, at: end, value: 1, within: 1}]\n", "no stations"},
    {PATH "record: {only: tip}\nexpect: [{probe: $e.work, at: end, value: 1, within: 1}]\n",
     "not recorded"},
};

// The text without its mark; the location of the mark.
static void take_mark(const char *marked, char *text, size_t size, int *line, int *column) {
    size_t n = 0;
    bool found = false;
    *line = *column = 1;
    for (; *marked; marked++) {
        if (*marked == '$') {
            found = true;
            continue;
        }
        assert_true(n + 1 < size);
        text[n++] = *marked;
        if (found) continue;
        *column = *marked == '\n' ? 1 : *column + 1;
        *line += *marked == '\n';
    }
    text[n] = '\0';
    assert_true(found);
}

static void faults_are_named_at_their_place(void **state) {
    (void)state;
    int missed = 0;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[2048];
        int line, column;
        take_mark(bad[i].text, text, sizeof text, &line, &column);
        snw_document *doc;
        snw_desc *desc;
        snw_error err;
        const snw_status s = describe(text, &doc, &desc, &err);
        const bool right = s == SNW_E_PARSE && strcmp(err.file, "m.yaml") == 0 &&
                           err.line == line && err.column == column &&
                           strstr(err.text, bad[i].fragment);
        if (!right) {
            print_error("%s  wanted %d:%d: ..%s..\n  got %s:%d:%d: %s\n", bad[i].text, line, column,
                        bad[i].fragment, err.file, err.line, err.column,
                        s == SNW_OK ? "no complaint" : err.text);
            missed++;
        }
        release(doc, desc);
    }
    assert_int_equal(missed, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_are_named_at_their_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
