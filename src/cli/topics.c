// SPDX-License-Identifier: MIT
//
// Table of subjects by the words of the field, for `sinew help language WORD`.
#include "cli/topics.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#define LANGUAGE(page) "docs/language/" page ".md"

static const snw_topic topics[] = {
    {"gravity, weight, downward direction",
     "'gravity: [0, 0, -9.81]' of the file is the acceleration in the world; 'gravity: 0' is none",
     LANGUAGE("loads")},
    {"inverse kinematics, ik, inverse statics, reach a point, target pose",
     "'sinew solve model.yaml' finds the actuation for a desired probe, with limits",
     LANGUAGE("inverse")},
    {"inverse dynamics, trajectory tracking, feedforward, stable inversion",
     "'sinew track' finds inputs whose outputs follow a motion; 'position' of an actuator gives a "
     "coordinate, and 'effort' of a probe the torque it takes",
     LANGUAGE("inverse")},
    {"forward kinematics, pose, frame, tip position, end effector",
     "probes 'position', 'rotation' and 'pose' of any site, e.g. arm.tip or arm@50%",
     LANGUAGE("probes")},
    {"jacobian, manipulability, dexterity",
     "snw_robot_jacobian and robot.jacobian(); 'sinew workspace' maps dexterity", "docs/python.md"},
    {"workspace, reachable set, reachability, map",
     "'sinew workspace' covers the ranges of up to three inputs with equilibria and their boundary",
     LANGUAGE("workspaces")},
    {"concentric tubes, ctr, tubes in tubes, telescoping needle",
     "'tubes:' of a link: pre-curved tubes without clearance, turned and slid at their bases",
     LANGUAGE("tubes")},
    {"catheter, endoscope, needle in a tube, clearance",
     "contact 'rods: {between: wire, inside: pipe}', or an obstacle touched from inside",
     LANGUAGE("contact")},
    {"tendon, cable driven, wire, bowden cable, pulley, disc, tension",
     "'tendon: {along: arm, at: [0, 8 mm, 0]}' of an actuator, with 'effort' or 'shortening'",
     LANGUAGE("tendons")},
    {"chamber, pneumatic, fluidic, pressure, soft actuator, bellows",
     "'chamber: {along: finger, at: [0, 0, 4 mm], area: 60 mm^2}' of an actuator, with 'pressure', "
     "'volume' or 'gas'",
     LANGUAGE("tendons")},
    {"muscle, mckibben, artificial muscle", "'mckibben:' of an actuator, with a given pressure",
     LANGUAGE("tendons")},
    {"motor, servo, torque, joint drive, prescribed joint motion",
     "'joint: hinge' of an actuator, with 'effort' (a torque) or 'position' (a given motion)",
     LANGUAGE("actuators")},
    {"joint, hinge, revolute, prismatic, ball, universal, free floating base",
     "'joint:' of a link; 'sinew help language joints' lists all", LANGUAGE("robot")},
    {"joint limit, end stop", "'limits:' of a joint, held by its 'stop:'", LANGUAGE("robot")},
    {"spring, damper, bushing, elastic cable",
     "'springs:' of the file, between any two sites; 'stiffness' and 'damping' of a joint",
     LANGUAGE("springs")},
    {"parallel robot, closed chain, loop closure, platform, stewart gough, delta, 3-rfr, rfr",
     "'loops:' of the file: two sites joined by a joint", LANGUAGE("loops")},
    {"constraint, lagrange multiplier, reaction force",
     "loops, drives and wheels are constraints; the probe 'reaction' has their wrench",
     LANGUAGE("loops")},
    {"clamp, boundary condition, fixed end",
     "'on: world' without a joint clamps a root; a loop with 'as: fixed' clamps a tip",
     LANGUAGE("robot")},
    {"rod, beam, cosserat, kirchhoff, euler bernoulli, timoshenko, backbone",
     "'rod:' of a link; 'strain: kirchhoff legendre 6' bends and twists, 'cosserat' also stretches "
     "and shears",
     LANGUAGE("rods")},
    {"constant curvature, pcc, piecewise constant strain",
     "'strain: {bend_y: legendre 1, bend_z: legendre 1}' is one constant curvature; several rods "
     "in "
     "a row, or the basis 'constant' on elements, are piecewise",
     LANGUAGE("rods")},
    {"strain, curvature, twist, torsion, shear, stretch, shape function, basis",
     "'strain:' of a rod and its bases, 'sinew help language bases'; probe 'strain'; functions of "
     "your own: 'bend_z: [1, exp(-x/L), {table: modes.csv}]'",
     LANGUAGE("rods")},
    {"model reduction, reduced order, rom, pod, proper orthogonal decomposition, svd, snapshot, "
     "basis from data",
     "'sinew reduce run.h5 --functions 4 -o modes.csv' finds strain functions in results",
     LANGUAGE("rods")},
    {"material, young, poisson, modulus, density, stiffness, viscosity, damping",
     "'materials:' of the file; 'stiffness' and 'damping' of a section", LANGUAGE("rods")},
    {"rubber, hyperelastic, neo-hookean, mooney-rivlin, ogden, viscoelastic, creep, prony, maxwell",
     "'neo_hookean', 'mooney_rivlin', 'ogden' and 'relaxation' of a material; 'energy' and "
     "'stress' "
     "of a section",
     LANGUAGE("rods")},
    {"thermal, heat, temperature, bimetal, layer, laminate, piezo, unimorph, dielectric elastomer",
     "'stiffness' of a section couples bending and stretch of layers, and the actuator 'stress' is "
     "their heat or voltage; examples/materials/bimetal.yaml, bending_layer.yaml",
     LANGUAGE("rods")},
    {"shape memory, sma, nitinol, martensite, hysteresis of a material",
     "the fraction of martensite is one of the 'states:' of the file; "
     "examples/materials/sma_wire.yaml",
     LANGUAGE("feedback")},
    {"section, radius, taper, tapered, hollow, bore",
     "'section:' of a rod; its sizes may be laws of x, the arc length", LANGUAGE("rods")},
    {"pre-curved, rest shape, rest strain, initial curvature",
     "'rest:' of a rod: strains without stress, laws of x and t", LANGUAGE("rods")},
    {"growing, extending, extensible, variable length, feeding, vine robot",
     "'feed: needle' of an actuator slides a rod through its root, 'grow: vine' adds length at the "
     "tip",
     LANGUAGE("actuators")},
    {"load, force, follower load, moment, distributed load, wrench",
     "'loads:' of the file, in axes of the world or of the body, at a site or along a rod",
     LANGUAGE("loads")},
    {"payload, mass, tip mass, body, inertia", "'body:' of a link, also on the tip of a rod",
     LANGUAGE("robot")},
    {"contact, collision, obstacle, ground, floor, table top, desk, wall, penetration",
     "'contacts:' of the file: 'ground', 'obstacle', 'rods'", LANGUAGE("contact")},
    {"self-contact, knot, plectoneme, coil", "contact 'rods:' between a rod and itself",
     LANGUAGE("contact")},
    {"friction, coulomb, stick, slip",
     "'friction' of a contact, of a tendon and of a loop a rod slides through; 'hard: true' sticks "
     "without creep",
     LANGUAGE("contact")},
    {"impact, restitution, collision law, bounce",
     "'restitution' of a contact; 'hard: true' with the scheme 'moreau' has impacts as instants",
     LANGUAGE("contact")},
    {"grasp, gripper, fingers",
     "fingers and the grasped body are links, joined by a contact; examples/contact has three",
     LANGUAGE("contact")},
    {"wheel, rolling, nonholonomic, ring, anchor, skate",
     "'wheel', 'ring' and 'anchor' of a contact forbid velocities", LANGUAGE("locomotion")},
    {"locomotion, snake, crawling, gait, undulation, inchworm",
     "the step 'kinematic': motion from prescribed shapes and contacts, then the required forces",
     LANGUAGE("locomotion")},
    {"swimming, eel, fish, underwater, water, drag, added mass, buoyancy, fluid, air, current",
     "'fluid:' of the file", LANGUAGE("fluid")},
    {"magnetic, magnet, magnetised, hard-magnetic, dipole, coil, field, force field, potential",
     "'fields:' of the file, and 'magnetic_moment' of links", LANGUAGE("fields")},
    {"state, ode, filter, lag, pneumatic circuit, valve, flow, supply, actuator dynamics",
     "'states:' of the file: numbers with a rate that reads probes and states",
     LANGUAGE("feedback")},
    {"speed, mean velocity, cost of transport, efficiency",
     "the probe 'transport' has speed, way and cost; 'sinew show OUT.h5 --is mean --over 5..6 "
     "--probe go.speed' takes the mean over a cycle",
     LANGUAGE("probes")},
    {"static, statics, equilibrium, quasi-static, load stepping", "the step 'static'",
     LANGUAGE("study")},
    {"stability, buckling, bifurcation, fold, snap-through, limit point, continuation",
     "static steps tell whether an equilibrium is stable; the step 'path' follows equilibria "
     "through folds and branch points",
     LANGUAGE("path")},
    {"dynamics, motion, time integration, simulation, newmark, implicit, step size, scheme",
     "the step 'dynamic'; 'sinew help language schemes' lists the time schemes",
     LANGUAGE("motion")},
    {"energy conservation, momentum, symplectic, variational",
     "'scheme: conserving', and 'gauss4' for small errors; the probe 'energy' has the account",
     LANGUAGE("motion")},
    {"modes, natural frequency, eigenvalue, vibration, damping ratio, flutter", "the step 'modes'",
     LANGUAGE("modes")},
    {"control, controller, pid, feedback, event, sensor",
     "laws of actuators and loads may read probes, with integral(), sampled() and conditions",
     LANGUAGE("feedback")},
    {"linear model, state space, transfer, lqr, linearise, linearize, poles",
     "'sinew linearize' writes A, B, C, D; sinew.control has regulators and filters",
     LANGUAGE("linear")},
    {"predictive control, mpc, ilqr, optimal control, kalman, estimation, observer",
     "sinew.control in Python; 'sinew estimate' finds loads and shape from measurements",
     "docs/python.md"},
    {"gradient, derivative, sensitivity, adjoint, differentiable",
     "'sinew gradient', snw_gradient_create and sinew.Gradient", LANGUAGE("optimize")},
    {"optimisation, optimization, design, co-design, trajectory optimisation, minimise",
     "'sinew optimize' with the block 'optimize' of the file", LANGUAGE("optimize")},
    {"identification, identify, calibration, fit, measurement, csv, parameter estimation, camera, "
     "markers",
     "'sinew fit model.yaml measured.csv --find material.young'", LANGUAGE("fit")},
    {"sweep, parameter study, variants, monte carlo, batch",
     "'runs:' of the file with 'each'; robots in batches from C and Python", LANGUAGE("runs")},
    {"parameter, variable, constant, expression, function, unit, table, csv",
     "'parameters:' of the file; values are expressions with units", LANGUAGE("values")},
    {"probe, sensor reading, output, measured quantity, record",
     "'probes:' of the file; 'sinew help language quantities' lists all", LANGUAGE("probes")},
    {"stress, internal force, internal moment, bending moment",
     "the probe 'wrench' at a section of a rod", LANGUAGE("probes")},
    {"video, animation, picture, figure, plot, blender, paraview, gltf, usd",
     "'sinew view', 'sinew plot' and 'sinew export'", "docs/commands/README.md"},
    {"live, interactive, slider, real time, joystick", "'sinew play model.yaml --open'",
     LANGUAGE("live")},
    {"shooting, boundary value problem, bvp, till",
     "'engine: shooting' of a static or dynamic step", LANGUAGE("shooting")},
    {"accuracy, error, convergence, mesh, nodes, refinement, tolerance",
     "runs estimate their errors and warn; 'sinew run --converge' refines and compares",
     "docs/commands/run.md"},
    {"initial state, initial condition, starting shape, release",
     "'initial:' of the file; steps begin where the last one ended", LANGUAGE("initial")},
    {"matlab, python, numpy, c api, library",
     "docs/python.md and docs/c-api.md; 'sinew show --csv' and HDF5 files for other programs",
     "docs/python.md"},
    {"schema, editor, completion, vs code", "'sinew schema' writes a JSON schema of model files",
     "docs/commands/README.md"},
};

const snw_topic *snw_topics(int *n) {
    *n = (int)(sizeof topics / sizeof *topics);
    return topics;
}

static bool begins_with(const char *text, const char *query, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (tolower((unsigned char)text[i]) != tolower((unsigned char)query[i])) return false;
    }
    return true;
}

bool snw_text_has(const char *text, const char *query) {
    const size_t n = strlen(query);
    for (const char *at = text; *at; at++) {
        const bool start = at == text || !isalnum((unsigned char)at[-1]);
        if (start && begins_with(at, query, n)) return true;
    }
    return false;
}
