// SPDX-License-Identifier: MIT
//
// Bundles the scripts of the engine by the viewer's esbuild.
//
// usage: node web/build.mjs LOADER.mjs LOADER.wasm OUT_FOLDER
import { copyFileSync, mkdirSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const { build } = createRequire(join(here, '../viewer/package.json'))('esbuild');
const [, , loader, wasm, out] = process.argv;

const common = {
    bundle: true, minify: true, target: 'es2022', legalComments: 'none', logLevel: 'error', charset: 'utf8',
    alias: { 'sinew-loader': loader }, external: ['fs', 'path', 'crypto', 'url', 'module', 'worker_threads', 'perf_hooks'],
    // the loader gets the compiled module, and never looks for it
    define: { 'import.meta.url': '""' },
};
mkdirSync(out, { recursive: true });
copyFileSync(wasm, join(out, 'sinew.wasm'));
await build({ ...common, define: {}, entryPoints: [join(here, 'engine.ts')], format: 'esm', outfile: join(out, 'engine.js') });
await build({ ...common, entryPoints: [join(here, 'worker.ts')], format: 'iife', outfile: join(out, 'worker.js') });
await build({ ...common, define: {}, platform: 'node', entryPoints: [join(here, 'local.ts')], format: 'esm', outfile: join(out, 'local.mjs') });
for (const name of ['sinew.wasm', 'engine.js', 'worker.js', 'local.mjs']) {
    console.log(`${name} ${(statSync(join(out, name)).size / 1024).toFixed(0)} KiB`);
}
