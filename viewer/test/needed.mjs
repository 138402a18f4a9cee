// SPDX-License-Identifier: MIT
//
// What tests of pages need: a browser, or they end with 77, skipped; and a folder of their own.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export async function browserOrSkip() {
    let browser;
    try {
        browser = await import('./browser.mjs');
    } catch (e) {
        console.log(`skipped: the packages of the viewer's tests are not there (${e.code ?? e.message}); 'make test' fetches them`);
        process.exit(77);
    }
    if (!browser.found) {
        console.log('skipped: no Chromium; tools/setup.sh test installs it');
        process.exit(77);
    }
    return browser.launch;
}

// gone when the test ends
export function scratch(name) {
    const folder = mkdtempSync(join(tmpdir(), `sinew-${name}-`));
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
    return folder;
}
