// SPDX-License-Identifier: MIT
//
// Pictures of pages, to be looked at: node shoot.mjs OUT.png PAGE.html [width height light|dark share-of-the-run]
import { launch } from './browser.mjs';
import { pathToFileURL } from 'node:url';

const [out, page, width = '1360', height = '820', theme = 'light', share = '0.5', keys = ''] = process.argv.slice(2);
const browser = await launch();
const tab = await browser.newPage({ viewport: { width: Number(width), height: Number(height) }, colorScheme: theme });
tab.on('console', (m) => console.log(m.type(), m.text()));
tab.on('pageerror', (e) => console.log('error', e.message));
await tab.goto(pathToFileURL(page).href);
await tab.waitForFunction(() => 'sinew' in window);
await tab.locator('input[type=range]').evaluate((e, f) => {
    e.value = String(f * Number(e.max));
    e.dispatchEvent(new Event('input'));
}, Number(share));
for (const key of keys.split(',').filter(Boolean)) await tab.keyboard.press(key);
await tab.waitForTimeout(400);
await tab.screenshot({ path: out });
await browser.close();
