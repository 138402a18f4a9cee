// SPDX-License-Identifier: MIT
//
// Looks at a built site in a browser: node look.mjs FOLDER [PICTURES]. Pages in light, dark and on a phone fetch nothing from a
// network, raise no fault, have the colours asked for and are not wider than the screen; the search finds something. With a second
// folder their pictures are written there. Exit 77: there is no browser.
import { mkdirSync, readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

let found, launch;
try {
    ({ found, launch } = await import('../viewer/test/browser.mjs'));
} catch (e) {
    console.error(`not looked at: the packages of the viewer's tests are not there (${e.code ?? e.message})`);
    process.exit(77);
}
if (!found) {
    console.error('not looked at: there is no Chromium');
    process.exit(77);
}

const [folder, pictures] = process.argv.slice(2);
if (pictures) mkdirSync(pictures, { recursive: true });
const pages = ['index', 'start', 'tutorials/tendons', 'language/rods', 'c/robot', 'python-reference', 'validation'];
const screens = { light: { width: 1280, height: 900, scheme: 'light' }, dark: { width: 1280, height: 900, scheme: 'dark' }, phone: { width: 390, height: 844, scheme: 'light' } };
const faults = [];
const browser = await launch();

async function open(address, screen) {
    const tab = await browser.newPage({ viewport: { width: screen.width, height: screen.height }, colorScheme: screen.scheme });
    tab.on('request', (r) => /^(file|data|blob):/.test(r.url()) || faults.push(`${address} fetches ${r.url()}`));
    tab.on('pageerror', (e) => faults.push(`${address}: ${e.message}`));
    await tab.goto(`${pathToFileURL(folder).href}/${address}`);
    return tab;
}

for (const [name, screen] of Object.entries(screens)) {
    for (const page of pages) {
        const tab = await open(`${page}.html`, screen);
        const seen = await tab.evaluate(() => ({
            wide: document.documentElement.scrollWidth - window.innerWidth,
            back: getComputedStyle(document.body).backgroundColor.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0) / 3,
        }));
        if (seen.wide > 1) faults.push(`${page} on ${name} is ${seen.wide} pixels wider than the screen`);
        if (seen.back > 128 !== (screen.scheme === 'light')) faults.push(`${page} is not ${name}`);
        if (pictures) await tab.screenshot({ path: `${pictures}/${page.replaceAll('/', '_')}_${name}.png` });
        await tab.close();
    }
}
const tab = await open('search.html?q=tendon', screens.light);
await tab.waitForSelector('#search-results li', { timeout: 20000 }).catch(() => faults.push('the search finds nothing'));
// a robot of the gallery, whose script is shared with the other pages
const gallery = readdirSync(folder, { recursive: true }).map(String).find((p) => /^gallery\/(?!index)[^/]*\.html$/.test(p));
if (gallery) {
    const robot = await open(gallery, screens.light);
    await robot.waitForFunction(() => window.sinew?.state().n > 0, null, { timeout: 60000 }).catch(() => faults.push(`${gallery} shows no robot`));
    if (pictures) await robot.screenshot({ path: `${pictures}/gallery.png` });
}
await browser.close();
for (const fault of faults) console.error(fault);
process.exit(faults.length ? 1 : 0);
