// SPDX-License-Identifier: MIT
//
// Pictures of pages: node shoot.mjs LIST.json, a list of {page, picture} with width, height, theme (light, dark), run (its name), share (how far
// into the run, 0 to 1; else its end where it knows no time, and two thirds of it where it does), keys (pressed in turn) and bare (the robot
// alone). Says a line a picture. Exit 77: there is no browser.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

let found, launch;
try {
    ({ found, launch } = await import('./test/browser.mjs'));
} catch (e) {
    console.error(`no pictures: the packages of the viewer's tests are not there (${e.code ?? e.message})`);
    process.exit(77);
}
if (!found) {
    console.error('no pictures: there is no Chromium; tools/setup.sh test installs it');
    process.exit(77);
}

const bare = '.page > *:not(.stage), .stage > *:not(canvas:first-child) { display: none !important } .page { display: block !important } .stage { position: fixed !important; inset: 0; height: auto !important }';
const seek = (tab, share) => tab.locator('input[aria-label=time]').evaluate((e, f) => {
    e.value = String(f * Number(e.max));
    e.dispatchEvent(new Event('input'));
}, share);
const time = (tab) => tab.evaluate(() => window.sinew.state().t);

async function shoot(browser, job) {
    const { width = 1360, height = 820, theme = 'light', keys = [] } = job;
    const tab = await browser.newPage({ viewport: { width, height }, colorScheme: theme });
    const faults = [];
    tab.on('console', (m) => m.type() === 'error' && faults.push(m.text()));
    tab.on('pageerror', (e) => faults.push(e.message));
    await tab.goto(pathToFileURL(job.page).href);
    await tab.waitForFunction(() => 'sinew' in window || document.querySelector('.problem'));
    if (job.run) await tab.locator('select[aria-label=run]').selectOption(job.run);
    await seek(tab, 0);
    const first = await time(tab);
    await seek(tab, 1);
    await seek(tab, job.share ?? ((await time(tab)) > first ? 0.66 : 1));
    if (job.bare) {
        await tab.addStyleTag({ content: bare });
        await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        await tab.keyboard.press('f');
    }
    for (const key of keys) await tab.keyboard.press(key);
    await tab.waitForTimeout(200);
    await tab.screenshot({ path: job.picture });
    await tab.close();
    if (faults.length) throw new Error(faults.join('; '));
}

const browser = await launch();
const jobs = JSON.parse(readFileSync(process.argv[2], 'utf8'));
for (const job of jobs) {
    try {
        await shoot(browser, job);
        console.log(job.picture);
    } catch (e) {
        process.exitCode = 1;
        console.log(`FAILED ${job.picture}: ${e.message}`);
    }
}
await browser.close();
