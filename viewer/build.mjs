// SPDX-License-Identifier: MIT
//
// Bundles the page into one HTML file and writes it as a C array: node build.mjs OUT.c
import { readFile, rename, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = fileURLToPath(new URL('.', import.meta.url));
const out = process.argv[2];

const bundle = async (entry) => {
    const done = await build({
        entryPoints: [here + entry],
        bundle: true,
        minify: true,
        write: false,
        format: 'iife',
        target: ['es2020'],
        charset: 'utf8',
        legalComments: 'inline',
        logLevel: 'warning',
    });
    return done.outputFiles[0].text;
};

// nothing within an element may end it
const script = (await bundle('src/main.ts')).replace(/<\/(script)/gi, '<\\/$1');
const style = (await bundle('src/style.css')).replace(/<\/(style)/gi, '<\\/$1');
const html = (await readFile(here + 'page.html', 'utf8'))
    .replace('/*style*/', () => style)
    .replace('/*script*/', () => script);

const bytes = Buffer.from(html, 'utf8');
const rows = [];
for (let i = 0; i < bytes.length; i += 32) rows.push(bytes.subarray(i, i + 32).join(','));
const text = `// SPDX-License-Identifier: MIT
#include "cli/viewer.h"
const unsigned char snw_viewer_page[] = {
${rows.join(',\n')}};
const size_t snw_viewer_size = sizeof snw_viewer_page;
const char snw_viewer_missing[] = "";
`;
await writeFile(out + '.part', text);
await rename(out + '.part', out);
