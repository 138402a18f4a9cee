// SPDX-License-Identifier: MIT
//
// Writes the playground as a folder of static files: node build.mjs SINEW ENGINE OUT
//
// SINEW is the command, which writes the schema and the words of the language; ENGINE the folder of `make wasm`, or `-` for
// tests, where an engine behind a web server takes its place (test/served_engine.ts).
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { deflateRawSync } from 'node:zlib';

const here = path.dirname(fileURLToPath(import.meta.url)), root = path.dirname(here);
const [sinew, engine, out] = process.argv.slice(2);
const stub = engine === '-';
// esbuild is one of the viewer's packages
const { build } = createRequire(path.join(root, 'viewer/package.json'))('esbuild');

const settings = {
    bundle: true, minify: true, write: false, format: 'iife', target: ['es2022'], charset: 'utf8', legalComments: 'inline', logLevel: 'warning',
};
const engineHere = { name: 'engine', setup: (b) => b.onResolve({ filter: /web\/engine$/ }, () => ({ path: path.join(here, 'test/served_engine.ts') })) };

const bundle = async (entry, define = {}) => {
    // the engine gets worker and WebAssembly from the page, and never looks for them
    const done = await build({ ...settings, entryPoints: [entry], define: { ...define, 'import.meta.url': '""' }, plugins: stub ? [engineHere] : [] });
    return done.outputFiles[0].text;
};

const ask = (...words) => JSON.parse(execFileSync(sinew, words, { maxBuffer: 1 << 26 }));

// functions and units of the language
const parts = ask('help', 'language', 'functions', 'units', '--json').parts;
const words = (name) => parts.find((p) => p.name === name).rows;
const prefixed = ([unit, more, meaning]) => [unit, ...more.split(' ').filter(Boolean)].map((word) => ({ word, meaning }));
const language = {
    schema: ask('schema'),
    functions: words('functions').map(([word, , meaning]) => ({ word, meaning })),
    units: words('units').flatMap(prefixed),
};
const strip = (value) => JSON.stringify(value, (key, v) => (key === 'markdownDescription' ? undefined : v));

// the viewer as a page; nothing within an element may end it
const viewerScript = (await bundle(path.join(here, 'src/frame.ts'))).replace(/<\/(script)/gi, '<\\/$1');
const viewerStyle = (await bundle(path.join(root, 'viewer/src/style.css'))).replace(/<\/(style)/gi, '<\\/$1');
const frameHtml = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<style>${viewerStyle}.page{grid-template-rows:0 minmax(0,1fr) auto}.page>.top,.record{display:none}</style></head><body><div id="app"></div><script>${viewerScript}</script></body></html>`;

const script = await bundle(path.join(here, 'src/start.ts'), { FRAME_HTML: JSON.stringify(frameHtml), LANGUAGE: strip(language) });
const style = await bundle(path.join(here, 'src/style.css'));

// Examples with the files that they name, which may name others. Those that take minutes are left out.
const examples = { list: [], files: {} };
const top = path.join(root, 'examples');
const needed = (file, seen) => {
    for (const [name] of readFileSync(file, 'utf8').matchAll(/[\w./-]+\.(yaml|csv|stl|obj)\b/g)) {
        const other = path.resolve(path.dirname(file), name);
        if (!other.startsWith(top) || seen.has(other) || !existsSync(other)) continue;
        seen.add(other);
        examples.files[path.relative(top, other)] ??= readFileSync(other, 'utf8');
        if (other.endsWith('.yaml')) needed(other, seen);
    }
    return seen;
};
const add = (folder, group) => {
    for (const name of readdirSync(folder).filter((n) => n.endsWith('.yaml')).sort()) {
        const file = path.join(folder, name), text = readFileSync(file, 'utf8'), seen = needed(file, new Set([file]));
        seen.delete(file);
        const title = /^title:\s*(.*?)\s*$/m.exec(text)?.[1].replace(/^(["'])(.*)\1$/, '$2') ?? name;
        examples.list.push({ path: `${group}/${name.slice(0, -5)}`, title, text, files: [...seen].map((f) => path.relative(folder, f)) });
    }
};
add(path.join(root, 'templates'), 'start from'); // models of `sinew new`
for (const folder of readdirSync(top).sort()) add(path.join(top, folder), folder);

const policy = "default-src 'none'; script-src 'self' file: blob: 'unsafe-inline' 'wasm-unsafe-eval'; style-src 'self' file: 'unsafe-inline'; img-src 'self' data: blob:; media-src blob:; connect-src 'self' data: blob:; worker-src blob:; frame-src 'self'; base-uri 'none'; form-action 'none'";
const files = {
    'playground.js': script,
    'playground.css': style,
    'examples.js': `window.sinewExamples=${JSON.stringify(examples)};`,
};
const page = await readFile(path.join(here, 'page.html'), 'utf8');
for (const name of ['index', 'embed']) files[`${name}.html`] = page.replace('/*policy*/', policy).replace('/*page*/', name);
if (stub) {
    files['engine.js'] = 'window.sinewEngine={worker:"",wasm:"AwA"};'; // no bytes
} else {
    const wasm = deflateRawSync(await readFile(path.join(engine, 'sinew.wasm')), { level: 9 }).toString('base64');
    files['engine.js'] = `window.sinewEngine={worker:${JSON.stringify(await readFile(path.join(engine, 'worker.js'), 'utf8'))},wasm:"${wasm}"};`;
}

await mkdir(out, { recursive: true });
for (const [name, text] of Object.entries(files)) {
    await writeFile(path.join(out, `${name}.part`), text);
    await rename(path.join(out, `${name}.part`), path.join(out, name));
}
