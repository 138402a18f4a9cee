// SPDX-License-Identifier: MIT
//
// Headless Chromium that draws WebGL without a graphics card.
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const places = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

// Where the browser is; undefined when there is none.
export const found = places.find((p) => p && existsSync(p));

export function launch() {
    return chromium.launch({
        executablePath: found,
        args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist', '--disable-dev-shm-usage'],
    });
}
