// SPDX-License-Identifier: MIT
//
// What `sinew export` writes as glTF, before the validator of Khronos: node gltf.test.mjs SINEW. Exit 77: it is not there.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratch } from './needed.mjs';

const sinew = process.argv[2];
let validator;
try {
    validator = (await import('gltf-validator')).default;
} catch (e) {
    console.log(`skipped: the packages of the viewer's tests are not there (${e.code ?? e.message}); 'make test' fetches them`);
    process.exit(77);
}
const folder = scratch('gltf');

const rubber = 'materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000 kg/m^3}}';
const circle = 'section: {circle: {radius: 10 mm*(1 - x/L)}}, material: rubber';
const robots = {
    // of everything: a rod that ends in a point, bodies of all shapes, rails, tendons, a chamber, ground, what comes and goes
    many: `
sinew: 1
title: "</script> \\"quoted\\" \\\\ \\u00e9"
gravity: [0, 0, -9.81]
${rubber}
robot:
  arm: {on: world, rod: {length: 0.3 m, ${circle}, strain: {bend_y: legendre 2, bend_z: legendre 2}}}
  flat: {on: world, pose: {xyz: [0, 0.2, 0]}, rod: {length: 0.3 m, section: {rectangle: {y: 20 mm, z: 5 mm}}, material: rubber, strain: {bend_y: legendre 2}}}
  cart: {on: world, joint: prismatic, axis: x, body: {box: [0.1, 0.1, 0.05], mass: 1 kg}}
  ball: {on: cart, pose: {xyz: [0, 0, 0.1]}, joint: spherical, body: {sphere: {radius: 20 mm}, mass: 100 g, com: [0, 0, 0.1]}}
  drum: {on: cart, pose: {xyz: [0.1, 0, 0]}, body: {cylinder: {radius: 20 mm, length: 50 mm}, mass: 10 g}}
  late: {on: cart, pose: {xyz: [0, 0.3, 0]}, body: {mass: 10 g}, when: t > 50 ms}
  bough: {on: cart, pose: {xyz: [0, -0.3, 0]}, rod: {length: 0.1 m, section: {circle: {radius: 5 mm}}, material: rubber, strain: {bend_y: legendre 2}}, when: t > 50 ms}
actuators:
  cord: {tendon: {along: arm, at: [0, 0, 3 mm], to: 0.2 m}, effort: 1 mN}
  bag: {chamber: {along: flat, at: [0, 0, 0], area: 20 mm^2}, effort: 100 Pa}
contacts: {floor: {ground: {on: ball, normal: z, at: [0, 0, -0.5], stiffness: 100}}}
study: [{static: {}}, {dynamic: {for: 100 ms, step: 5 ms}}]
`,
    // two frames, and nothing moves
    still: `
sinew: 1
title: ''
gravity: 0
${rubber}
robot: {arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 10 mm}}, material: rubber, strain: {bend_y: legendre 1}}}}
study: [{static: {name: one}}, {static: {name: again}}]
`,
};

let failed = 0;
for (const [name, model] of Object.entries(robots)) {
    const file = (end) => join(folder, name + end);
    writeFileSync(file('.yaml'), model);
    execFileSync(sinew, ['run', file('.yaml'), '-o', file('.h5')], { stdio: ['ignore', 'ignore', 'inherit'] });
    for (const end of ['.glb', '.gltf']) {
        try {
            execFileSync(sinew, ['export', file('.h5'), '-o', file(end)], { stdio: ['ignore', 'ignore', 'inherit'] });
            const report = await validator.validateBytes(new Uint8Array(readFileSync(file(end))));
            assert.deepEqual(report.issues.messages, []);
            assert.equal(report.info.animationCount, name === 'still' ? 0 : 1);
            console.log(`ok   ${name}${end}: ${report.info.totalTriangleCount} triangles, ${report.info.drawCallCount} meshes`);
        } catch (e) {
            failed++;
            console.log(`FAIL ${name}${end}\n${e.stack}`);
        }
    }
}
process.exitCode = failed ? 1 : 0;
