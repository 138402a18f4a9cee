// SPDX-License-Identifier: MIT
//
// The path at a position of a model that is being typed: node position.test.mjs
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const { build } = createRequire(new URL('../../viewer/package.json', import.meta.url))('esbuild');
const load = async (name) => {
    const done = await build({ entryPoints: [fileURLToPath(new URL(`../src/${name}.ts`, import.meta.url))], bundle: true, write: false, format: 'esm', logLevel: 'error' });
    return import(`data:text/javascript;base64,${Buffer.from(done.outputFiles[0].text).toString('base64')}`);
};
const { scan, names } = await load('position');
const { Keys } = await load('schema');
const { actuators, parameters } = await load('parameters');

// the bar in the text is the position
const at = (text) => {
    const pos = text.indexOf('|');
    const { here } = scan(text.replace('|', ''), pos);
    return [here.path.join('.'), here.key ? 'key' : 'value', text.slice(here.from, pos)];
};

const block = 'sinew: 1\nrobot:\n  arm:\n    on: world\n    rod:\n      length: 1 m\n';

for (const [what, text, wanted] of [
    ['the first key', 'si|', ['', 'key', 'si']],
    ['a key at the top', `${block}stu|`, ['', 'key', 'stu']],
    ['a key of a map by indentation', `${block}      sec|`, ['robot.arm.rod', 'key', 'sec']],
    ['a key one level out', `${block}    bo|`, ['robot.arm', 'key', 'bo']],
    ['a new link', `${block}  |`, ['robot', 'key', '']],
    ['a blank line, indented', `${block}    |`, ['robot.arm', 'key', '']],
    ['a value', `${block}    joint: re|`, ['robot.arm.joint', 'value', 're']],
    ['a value not begun', `${block}    joint: |`, ['robot.arm.joint', 'value', '']],
    ['a key in braces', `${block}      section: {circle: {ra|`, ['robot.arm.rod.section.circle', 'key', 'ra']],
    ['a second key in braces', `${block}    body: {mass: 1 kg, in|`, ['robot.arm.body', 'key', 'in']],
    ['a value in braces', `${block}    body: {mass: 1 k|`, ['robot.arm.body.mass', 'value', '1 k']],
    ['behind closed braces', `${block}    body: {mass: 1 kg}\n  two: {on: ar|`, ['robot.two.on', 'value', 'ar']],
    ['braces over lines', 'robot:\n  arm: {on: world,\n        rod: {len|', ['robot.arm.rod', 'key', 'len']],
    ['a list of steps', 'study:\n  - dynamic: {for: 1 s, sch|', ['study.0.dynamic', 'key', 'sch']],
    ['the second step', 'study:\n  - static: {}\n  - dyn|', ['study.1', 'key', 'dyn']],
    ['a step in block style', 'study:\n- static:\n    to|', ['study.0.static', 'key', 'to']],
    ['a list without indentation', 'study:\n- static: {}\n- dynamic:\n    step: |', ['study.1.dynamic.step', 'value', '']],
    ['steps in brackets', 'study: [static: {}, dynamic: {ad|', ['study.1.dynamic', 'key', 'ad']],
    ['an element of a list', 'loops:\n  close: {join: [arm.tip, ha|', ['loops.close.join.1', 'value', 'ha']],
    ['quotes and comments', 'title: "a: {b" # {c\nrobot: {"leg(k=1..6)": {on|', ['robot.leg(k=1..6)', 'key', 'on']],
    ['a block text', 'about: |\n  rod: {\n  more\nro^'.replace('|', '>').replace('^', '|'), ['', 'key', 'ro']],
    ['a key behind a text of two lines', 'expect:\n  - source: "a,\n      b: c"\n    val|', ['expect.0', 'key', 'val']],
    ['a key behind such a text in braces', 'expect:\n  - {source: "a,\n      b: {c", val|', ['expect.0', 'key', 'val']],
    ['an expectation', 'expect:\n  - probe: tip\n    val|', ['expect.0', 'key', 'val']],
]) test(`the path is right at ${what}`, () => assert.deepEqual(at(text), wanted));

test('every key of every example is one of the schema at its path', () => {
    const keys = new Keys(JSON.parse(readFileSync(new URL('../../editors/vscode/sinew.schema.json', import.meta.url), 'utf8')));
    const free = (path) => ['parameters', 'runs', 'live'].includes(path[0]) || path.includes('change') || path.some((p) => /^(x-|<<)/.test(p));
    const top = fileURLToPath(new URL('../../examples/', import.meta.url));
    let n = 0;
    for (const folder of readdirSync(top)) {
        for (const name of readdirSync(top + folder).filter((f) => f.endsWith('.yaml'))) {
            const text = readFileSync(`${top}${folder}/${name}`, 'utf8'), { entries } = scan(text);
            const first = new Set(entries.filter((e) => e.path.length === 1).map((e) => e.path[0]));
            assert.deepEqual([...first].sort(), [...new Set(Array.from(text.matchAll(/^([a-z_-]+):/gm), (m) => m[1]))].sort(), `${folder}/${name}`);
            for (const e of entries) {
                const where = `${folder}/${name}: ${e.path.join('.')}`, last = e.path[e.path.length - 1];
                assert.equal(text.slice(e.from, e.to).replace(/^(["'])(.*)\1$/, '$2'), last, where);
                const known = keys.at(e.path).length > 0 || free(e.path) || keys.at(e.path.slice(0, -1)).some((s) => [s.type].flat().includes('object') && !s.properties);
                assert.ok(known, where);
                n++;
            }
        }
    }
    assert.ok(n > 5000, `${n} keys`);
});

test('names of a model are found by their kind', () => {
    const { entries } = scan('materials: {rubber: {young: 1}}\nparameters: {a: 1 mm, f(x): x}\nrobot:\n  leg(k=1..6): {on: world, rod: {length: a}}\n  plate: {on: world}\nprobes: {e: energy}\nstudy: [static: {name: rest}, modes: {}]\n');
    const known = names(entries);
    assert.deepEqual(known.site, ['world', 'leg(k).tip', 'leg(k).root', 'leg(k)@50%', 'plate']);
    assert.deepEqual([known.material, known.rod, known.probe, known.step], [['rubber'], ['leg(k)'], ['e'], ['rest', 'static', 'modes']]);
});

test('sliders are for constant numbers, over the range of live', () => {
    const text = 'parameters:\n  a: 12 mm # c\n  b: -3e-2\n  c: 2*a\n  d: [1, 2]\n  e: "4"\n  f: 0 N\n  g: 5 N\nlive: {g: [1 N, 9 N], a: [1 cm, 2 cm]}\n';
    const found = parameters(text, scan(text).entries, new Map());
    assert.deepEqual(found.map((p) => [p.name, p.value, p.unit, p.low, p.high, text.slice(p.from, p.to)]), [
        ['a', 12, 'mm', 0, 30, '12'], ['b', -0.03, '', -0.06, 0, '-3e-2'], ['f', 0, 'N', -1, 1, '0'], ['g', 5, 'N', 1, 9, '5'],
    ]);
});

test('actuators under live have sliders that replace their law', () => {
    const text = 'actuators:\n  cable: {tendon: {along: arm}, effort: 2 N*ramp(t, 0 s, 1 s)}\n  hub: {joint: hub, position: [0, 0]}\nlive: {cable: [0 N, 5 N], hub: [0, 1]}\n';
    const found = actuators(text, scan(text).entries, new Map([['cable.effort', '3 N']]));
    assert.deepEqual(found.map((p) => [p.name, p.path, p.value, p.unit, p.low, p.high]), [['cable', 'cable.effort', 3, 'N', 0, 5]]);
});
