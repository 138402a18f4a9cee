// SPDX-License-Identifier: MIT
//
// `verify` of examples by sinew.wasm in Node, with the tolerances of their `expect:`.
//
// usage: node web/test/examples.mjs FOLDER [--all] [EXAMPLE.yaml ...]
//
// FOLDER has sinew.wasm and local.mjs. Without names: a few examples of each kind; --all: all but those in examples/*/long.
// The exit status is 77 (skipped) when FOLDER was not built.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..'), examples = join(root, 'examples');
const [, , folder, ...rest] = process.argv;
if (!existsSync(join(folder, 'sinew.wasm'))) {
    console.log('skipped: there is no sinew.wasm; make wasm builds it');
    process.exit(77);
}

// statics, dynamics by each engine, explicit and stiff integration, parallel robots, contact, locomotion, modes, include and table
const few = ['rods/boyer1_moment', 'rods/michell_ring', 'shooting/kirchhoff', 'hybrid/four_bar', 'hybrid/double_pendulum', 'parallel/rfrfr_modes',
    'parallel/three_rods', 'contact/bowl', 'contact/hard_press', 'locomotion/mobile_manipulator', 'locomotion/unicycle', 'tendon/mckibben', 'paths/column', 'springs/tensegrity_prism'];

const all = readdirSync(examples).flatMap((family) => (statSync(join(examples, family)).isDirectory() ? readdirSync(join(examples, family)).filter((f) => f.endsWith('.yaml')).map((f) => join(family, f)) : []));
const named = rest.filter((a) => !a.startsWith('--')).map((p) => relative(examples, resolve(p)));
const chosen = named.length ? named : rest.includes('--all') ? all : few.map((f) => `${f}.yaml`);

// the files that the model may name: those of its family, and those of others that stand in it
function beside(path) {
    const family = dirname(path), files = {};
    const add = (at) => {
        for (const name of readdirSync(join(examples, at))) {
            const inner = join(at, name);
            if (statSync(join(examples, inner)).isDirectory()) add(inner);
            else files[inner] = readFileSync(join(examples, inner));
        }
    };
    add(family);
    for (const [named] of readFileSync(join(examples, path), 'utf8').matchAll(/\.\.\/[\w./-]+\.(csv|yaml)/g)) {
        const other = join(family, named);
        if (existsSync(join(examples, other))) files[other] = readFileSync(join(examples, other));
    }
    return files;
}

const { createLocalEngine } = await import(pathToFileURL(resolve(folder, 'local.mjs')).href);
const wasm = readFileSync(join(folder, 'sinew.wasm'));
let missed = 0, values = 0;
if (rest.includes('--all') && wasm.length >= 3e6) {
    console.log(`MISS sinew.wasm has ${wasm.length} bytes, a page must load less than 3 MB`);
    missed++;
}
for (const path of chosen) {
    const engine = await createLocalEngine(wasm); // a new one: memory of an instance grows and never shrinks
    const begin = performance.now();
    let line;
    try {
        // as a command, in the folders of the examples: their includes have relative paths
        const done = engine.command(['verify', path, '--json'], beside(path));
        const reply = JSON.parse(done.output);
        values += reply.values;
        const good = done.exit === 0;
        missed += good ? 0 : 1;
        line = `${good ? 'ok  ' : 'MISS'} ${path}: ${reply.values} values, ${reply.misses} missed`;
        if (!good) line += `\n${done.messages}${JSON.stringify(reply.files.flatMap((f) => f.values ?? []).filter((v) => !v.ok).slice(0, 3))}`;
    } catch (e) {
        missed++;
        line = `MISS ${path}: ${e.message}`;
    }
    console.log(`${line}  ${((performance.now() - begin) / 1000).toFixed(2)} s`);
}
console.log(`${chosen.length} files, ${values} values, ${missed} files missed`);
process.exit(missed ? 1 : 0);
