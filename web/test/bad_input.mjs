// SPDX-License-Identifier: MIT
//
// Bad input in Node: spoilt models, huge ones, files that are not there. The engine answers with problems, does not break down,
// and its memory stays bounded.
//
// usage: node web/test/bad_input.mjs FOLDER [COUNT]
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const [, , folder, count = '150'] = process.argv;
if (!existsSync(join(folder, 'sinew.wasm'))) {
    console.log('skipped: there is no sinew.wasm; make wasm builds it');
    process.exit(77);
}
const { createLocalEngine } = await import(pathToFileURL(resolve(folder, 'local.mjs')).href);
const engine = await createLocalEngine(readFileSync(join(folder, 'sinew.wasm')));
const models = ['rods/boyer1_moment', 'hybrid/four_bar', 'contact/bowl', 'tendon/mckibben'].map((m) => readFileSync(join(root, 'examples', `${m}.yaml`), 'utf8'));

// a generator of small numbers, the same in every run
let seed = 12345;
const draw = (below) => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return Math.floor((seed / 2 ** 32) * below);
};
const marks = '{}[],:&*!|>\'"-?#~ \n\t%@a10e-9'.split('');

function spoil(text) {
    for (let n = 1 + draw(4); n > 0; n--) {
        const at = draw(text.length), mark = marks[draw(marks.length)];
        text = draw(3) ? text.slice(0, at) + mark + text.slice(at + draw(2)) : text.slice(0, at) + text.slice(at + 1 + draw(40));
    }
    return text;
}

let refused = 0;
for (let i = 0; i < Number(count); i++) {
    const text = spoil(models[i % models.length]), checked = engine.check(text);
    assert.equal(checked.ok, !checked.problems.some((p) => p.severity === 'error'), checked.text);
    if (!checked.ok) refused++;
}
assert.ok(refused > 0);

const model = models[0], column = readFileSync(join(root, 'examples/paths/column.yaml'), 'utf8');
const first = (text, files) => engine.check(text, { files }).problems.find((p) => p.severity === 'error')?.message ?? '';
assert.match(first(''), /empty/);
assert.match(first('['.repeat(100000)), /nested too deep|not closed/);
assert.match(first(`a: ${'x'.repeat(20000000)}`), /too large/);
assert.match(first(column.replace('nodes: 24', 'nodes: 100000000')), /nodes|memory/);
assert.match(first('sinew: 1\ninclude: nowhere.yaml\n'), /nowhere\.yaml/);
assert.match(first('\u0000\ud800'), /./);
assert.throws(() => engine.check(model, { files: { '../../etc/passwd': 'x' } }), /not a name for a file/);
assert.throws(() => engine.exportFile('glb'), /none in memory/);
assert.match(engine.command(['run', 'nothing.yaml']).messages, /nothing\.yaml/);
assert.match(engine.command(['optimize', 'm.yaml'], { 'm.yaml': model }).messages, /./);
assert.equal(engine.command(['nonsense']).exit, 2);

// a failed run leaves the engine as it was; repeated runs do not grow it without bound
const before = engine.memory();
for (let i = 0; i < 10; i++) assert.equal(engine.run(models[1]).ok, true);
assert.ok(engine.memory() < before + 64 * 2 ** 20, `${before} bytes became ${engine.memory()}`);
console.log(`${count} spoilt models, ${refused} refused, none breaks the engine; ${(engine.memory() / 2 ** 20).toFixed(0)} MiB`);
