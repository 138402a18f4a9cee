// SPDX-License-Identifier: MIT
//
// The playground in headless Chromium: node playground.test.mjs SINEW [ENGINE [PICTURES]]
//
// ENGINE is the folder of `make wasm`; where it is absent the native command is behind the same interface, and nothing is
// opened as a file. PICTURES: a folder for pictures to look at.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { browserOrSkip, scratch } from '../../viewer/test/needed.mjs';
import { serve } from './served.mjs';

const [sinew, wasm, pictures] = process.argv.slice(2);
const native = !wasm || !existsSync(path.join(wasm, 'sinew.wasm'));
const here = path.dirname(fileURLToPath(import.meta.url));
if (!existsSync(path.join(here, '../node_modules/@codemirror'))) {
    console.log("skipped: the packages of the playground are not there; 'make test' fetches them");
    process.exit(77);
}
const launch = await browserOrSkip();
const out = path.join(scratch('playground'), 'site');
execFileSync(process.execPath, [path.join(here, '../build.mjs'), path.resolve(sinew), native ? '-' : path.resolve(wasm), out], { stdio: 'inherit' });
writeFileSync(path.join(out, 'outer.html'), '<!doctype html><link rel="icon" href="data:,"><title>a page around a frame</title>');
const { address, close } = await serve(out, native ? path.resolve(sinew) : null);
const browser = await launch();
test.after(async () => {
    await browser.close();
    close();
});
if (pictures) mkdirSync(pictures, { recursive: true });

const faults = [];

// A page of its own at an address; requests to other hosts and faults of scripts are kept.
async function open(file, options = {}) {
    const context = await browser.newContext({ viewport: { width: 900, height: 560 }, reducedMotion: 'reduce', acceptDownloads: true, ...options });
    const page = await context.newPage();
    page.on('pageerror', (e) => faults.push(`${file}: ${e.message}`));
    page.on('console', (m) => m.type() === 'error' && faults.push(`${file}: ${m.text()}`));
    page.on('request', (r) => !r.url().startsWith(address) && !/^(data|blob|file|about):/.test(r.url()) && faults.push(`request to ${r.url()}`));
    await page.goto(/^file:/.test(file) ? file : `${address}/${file}`);
    return page;
}

const state = (page) => page.evaluate(() => document.documentElement.dataset.state);
const settled = (page, wanted = 'done') => page.waitForFunction((w) => document.documentElement.dataset.state === w, wanted, { timeout: 30000 });
const model = (page) => page.evaluate(() => window.playground.session.editor.text);
const type = async (page, text) => {
    await page.evaluate((t) => window.playground.session.editor.change(0, window.playground.session.editor.text.length, t), text);
};
const tip = (page) => page.evaluate(() => {
    const frame = document.querySelector('.viewer').contentWindow.sinewFrame;
    return { ...frame.state(), x: frame.node(0), last: frame.node(frame.state().nodes - 1) };
});
// the viewer shows a run of n frames
const frames = (page, n) => page.waitForFunction((wanted) => document.querySelector('.viewer').contentWindow.sinewFrame.state()?.n === wanted, n, { timeout: 30000 });
// drawing costs most of the time of these tests
const pause = (page) => page.evaluate(() => {
    const frame = document.querySelector('.viewer').contentWindow.sinewFrame;
    if (frame.state().playing) frame.key(' ');
});
const shoot = async (page, name) => {
    if (!pictures) return;
    await page.waitForTimeout(400);
    await page.screenshot({ path: path.join(pictures, `${name}.png`) });
};
// the caret goes behind a text of the model
const goTo = (page, text) => page.evaluate((t) => {
    const { view } = window.playground.session.editor, at = view.state.doc.toString().indexOf(t) + t.length;
    view.focus();
    view.dispatch({ selection: { anchor: at } });
}, text);
const offered = async (page) => {
    await page.waitForSelector('.cm-tooltip-autocomplete li');
    await page.waitForTimeout(100); // for so long the editor takes Enter for a new line
    return page.$$eval('.cm-tooltip-autocomplete .cm-completionLabel', (list) => list.map((e) => e.textContent));
};

const ROD = `sinew: 1
gravity: 0
parameters: {C: 1 N*m}
materials: {rubber: {young: 100 MPa, poisson: 0.5, density: 1000 kg/m^3}}
robot:
  arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 10 mm}}, material: rubber, strain: {bend_y: legendre 3}}}
loads: {roll: {on: arm.tip, torque: [0, C*t/(1 s), 0], frame: body}}
study:
  - static: {for: 1 s, step: 0.25 s}
probes: {tip: {position: arm.tip}}
`;

let page; // of most tests
let shared; // link to a short model

test('it opens with a robot that moves', async () => {
    page = await open('index.html', { reducedMotion: 'no-preference' });
    await settled(page);
    const first = await tip(page);
    assert.ok(first.n > 100 && first.playing);
    await page.waitForFunction((t) => document.querySelector('.viewer').contentWindow.sinewFrame.state().t > t + 0.2, first.t);
    await pause(page);
    const later = await tip(page);
    assert.ok(Math.hypot(...later.last.map((x, i) => x - first.last[i])) > 0.01, 'the tip has not moved');
    assert.deepEqual(later.x.map((x) => Math.abs(x) < 1e-6), [true, true, true]);
    await shoot(page, 'light');
});

test('a typed model runs, and its numbers are right', async () => {
    await type(page, ROD);
    await frames(page, 5);
    await settled(page);
    await pause(page);
    // rolled by a torque: x = L sin(kL)/(kL), k = C/EI, EI = E pi r^4/4
    const series = await page.evaluate(() => window.playground.session.result.series);
    const rows = series.trim().split('\n').filter((l) => !l.startsWith('#')), names = rows[0].split(','), last = rows[rows.length - 1].split(',');
    const k = 1 / ((1e8 * Math.PI * 1e-8) / 4), x = Number(last[names.findIndex((n) => /tip.*x/.test(n))]);
    assert.ok(Math.abs(x - Math.sin(k) / k) < 1e-9, `${x}, expected ${Math.sin(k) / k}`);
});

test('a fault is underlined at its line, and told', async () => {
    await type(page, ROD.replace('length: 1 m', 'lenght: 1 m'));
    await settled(page, 'failed');
    assert.equal(await page.textContent('.cm-lintRange-error'), 'lenght');
    const line = await page.$eval('.cm-lintRange-error', (e) => e.closest('.cm-line').textContent);
    assert.match(line, /^ {2}arm: /);
    assert.match(await page.textContent('.words'), /line 6: unknown key 'lenght' \(did you mean 'length'\?\)/);
    await shoot(page, 'fault');
    await page.click('.words');
    assert.equal(await page.evaluate(() => {
        const { state: s } = window.playground.session.editor.view;
        return s.sliceDoc(s.selection.main.from, s.selection.main.to);
    }), 'lenght');
    await type(page, ROD);
    await settled(page);
    assert.equal(await page.$('.cm-lintRange-error'), null);
});

test('keys, words and names are offered where they belong', async () => {
    await goTo(page, 'rod: {length: 1 m, ');
    await page.keyboard.type('ma');
    const list = await offered(page);
    assert.equal(list[0], 'magnus');
    assert.ok(!list.includes('material'), 'a key that is there is not offered');
    await page.keyboard.press('Escape');
    await type(page, ROD.replace('probes:', 'actuators:\n  pull: {}\nprobes:'));
    await goTo(page, 'pull: {');
    await page.keyboard.type('ten');
    assert.equal((await offered(page))[0], 'tendon');
    await page.keyboard.press('Enter');
    // a map follows: its braces and its first key
    await page.waitForFunction(() => window.playground.session.editor.text.includes('{tendon: {}'));
    await page.keyboard.type('al');
    assert.equal((await offered(page))[0], 'along');
    await page.keyboard.press('Enter');
    assert.deepEqual(await offered(page), ['arm']);
    await page.keyboard.press('Enter');
    assert.match(await model(page), /pull: \{tendon: \{along: arm/);
    await type(page, ROD.replace('on: world', 'on: world, joint: '));
    await goTo(page, 'joint: ');
    await page.keyboard.type('sph');
    assert.deepEqual(await offered(page), ['spherical']);
    await shoot(page, 'completion');
    await page.keyboard.press('Escape');
    await type(page, ROD);
});

test('help is under the mouse', async () => {
    await page.getByText('torque', { exact: true }).first().hover();
    await page.waitForSelector('.tip');
    assert.match(await page.textContent('.tip'), /^torque.*N m.*torque$/);
    await shoot(page, 'help');
    await page.mouse.move(600, 5);
});

test('a slider changes the text and the result', async () => {
    await settled(page);
    const before = await page.evaluate(() => window.playground.session.result.series);
    await page.$eval('.knob input', (e) => {
        e.value = '1.5';
        e.dispatchEvent(new Event('input', { bubbles: true }));
    });
    assert.match(await model(page), /parameters: \{C: 1\.5 N\*m\}/);
    await page.waitForFunction((b) => window.playground.session.result.series !== b, before);
});

test('a slider of live replaces the law of an actuator, until it is given back', async () => {
    const before = await model(page);
    await type(page, `${ROD.replace('C: 1 N*m', 'C: 0 N*m').replace('strain: {bend_y: legendre 3}', 'strain: {bend_z: legendre 3}')}actuators: {cable: {tendon: {along: arm, at: [0, 8 mm, 0]}, effort: 1 N*t/(1 s)}}\nlive: {cable: [0 N, 5 N]}\n`);
    const bend = async () => {
        await settled(page);
        const rows = (await page.evaluate(() => window.playground.session.result.series)).trim().split('\n');
        return { series: rows.join('\n'), y: Number(rows.at(-1).split(',')[rows[0].split(',').findIndex((n) => /tip.*y/.test(n))]) };
    };
    await settled(page);
    const series = () => page.evaluate(() => window.playground.session.result.series);
    const law = await series();
    await page.$eval('.knob.law input', (e) => {
        e.value = '3';
        e.dispatchEvent(new Event('input', { bubbles: true }));
    });
    const given = await bend();
    // curvature T d/EI, d = 8 mm: y = (1 - cos kL)/k
    const k = (3 * 8e-3) / ((1e8 * Math.PI * 1e-8) / 4);
    assert.ok(Math.abs(given.y - (1 - Math.cos(k)) / k) < 1e-8, `${given.y}`);
    await page.click('.knob.law .plain');
    await settled(page);
    assert.equal(await series(), law);
    await type(page, before);
    await settled(page);
});

test('expected values are compared', async () => {
    await type(page, `${ROD}expect:\n  - {probe: tip.x, at: end, value: 0.7508843574, within: 1e-9, source: closed form}\n  - {probe: tip.x, at: end, value: 0.8, within: 1e-9, source: nonsense}\n`);
    await page.click('text=Verify');
    await page.waitForSelector('dialog[open] tbody tr');
    assert.deepEqual(await page.$$eval('dialog tbody tr', (rows) => rows.map((r) => [r.className, r.lastElementChild.textContent])), [['', 'closed form'], ['missed', 'nonsense']]);
    await shoot(page, 'verify');
    await page.click('dialog button');
    await type(page, ROD);
    await settled(page);
});

test('a link has the model', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.click('text=Share');
    await page.waitForFunction(() => location.hash.startsWith('#m='));
    const link = page.url().slice(address.length + 1);
    shared = link;
    const other = await open(link);
    await settled(other);
    assert.equal(await model(other), await model(page));
    await other.context().close();
    const broken = await open('index.html#m=abc');
    await broken.waitForFunction(() => document.querySelector('.note').textContent.includes('damaged'));
    await broken.context().close();
});

test('examples open with the files they name', async () => {
    await page.focus('.examples');
    await page.waitForFunction(() => document.querySelectorAll('.examples option').length > 100);
    await page.selectOption('.examples', 'contact/terrain');
    await page.waitForFunction(() => Object.keys(window.playground.session.files).length > 0);
    assert.ok((await page.evaluate(() => Object.keys(window.playground.session.files))).includes('terrain.csv'));
    await page.selectOption('.examples', 'start from/arm');
    await page.waitForFunction(() => /^title: A soft arm$/m.test(window.playground.session.editor.text));
    await settled(page);
});

test('model, curves and shapes are downloaded, pictures and videos offered', async () => {
    await type(page, ROD);
    await settled(page);
    const got = async (click) => {
        const [file] = await Promise.all([page.waitForEvent('download', { timeout: 30000 }), click()]);
        return readFileSync(await file.path());
    };
    const get = (label) => got(async () => {
        await page.click('.menu summary');
        await page.click(`.menu button:has-text("${label}")`);
    });
    assert.equal((await get('YAML')).toString(), await model(page));
    assert.match((await get('CSV')).toString(), /tip/);
    assert.equal((await get('glTF')).subarray(0, 4).toString(), 'glTF');
    await page.click('.menu summary');
    await page.click('.menu button:has-text("video")');
    const inner = page.frameLocator('.viewer').locator('.menu.save button');
    await inner.filter({ hasText: 'GIF' }).waitFor();
});

test('a run is cancelled', async () => {
    await type(page, ROD.replace('{for: 1 s, step: 0.25 s}', '{for: 10000 s, step: 0.01 s}'));
    await settled(page, 'running');
    await page.click('.run.busy');
    await settled(page, 'cancelled');
    await type(page, ROD);
    await settled(page);
});

test('a live simulation moves, has a slider, and ends with a run', { skip: native ? 'needs WebAssembly' : false }, async () => {
    await type(page, `sinew: 1
parameters: {push: 0 N}
robot: {cart: {on: world, joint: prismatic, axis: x, body: {mass: 1 kg}}}
loads: {drive: {on: cart, force: [push, 0, 0]}}
live: {push: [0 N, 10 N]}
study: [dynamic: {for: 1 s, step: 10 ms}]
probes: {at: {position: cart}}
`);
    await settled(page);
    await page.click('footer button:has-text("Live")');
    await settled(page, 'live');
    const moving = () => page.evaluate(() => document.querySelector('.viewer').contentWindow.sinewFrame.moving());
    await page.waitForFunction(() => document.querySelector('.viewer').contentWindow.sinewFrame.moving()?.t > 0.2);
    const inner = page.frameLocator('.viewer');
    assert.equal(await inner.locator('.knob input[aria-label*="push"]').count(), 1);
    await shoot(page, 'live');
    const { t } = await moving();
    await page.waitForFunction((before) => document.querySelector('.viewer').contentWindow.sinewFrame.moving()?.t > before + 0.2, t);
    await page.click('.run');
    await settled(page);
    await frames(page, 101);
});

// opened as a file where the engine is in the page
test('dark and phone, as a folder of files', async () => {
    const own = await open(native ? shared : pathToFileURL(path.join(out, 'index.html')).href + shared.slice(shared.indexOf('#')), { viewport: { width: 390, height: 780 }, colorScheme: 'dark', hasTouch: true });
    await settled(own);
    assert.equal((await tip(own)).n, 5);
    assert.equal(await own.evaluate(() => document.documentElement.dataset.theme), 'dark');
    assert.equal(await own.evaluate(() => document.querySelector('.viewer').contentDocument.documentElement.dataset.theme), 'dark');
    assert.ok(await own.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
    await shoot(own, 'phone_model');
    await own.click('.tabs button:has-text("robot")');
    assert.ok(await own.isVisible('.viewer'));
    assert.ok(!(await own.isVisible('.editor')));
    await shoot(own, 'phone_robot');
    await own.context().close();
});

test('a frame in another page waits until it is seen, runs, tells its state, and takes colours', async () => {
    const outer = await open('outer.html');
    await outer.evaluate((src) => {
        window.told = [];
        window.addEventListener('message', (e) => e.data.sinew && window.told.push(e.data.state));
        document.body.innerHTML = `<div style="height: 3000px"></div><iframe src="${src}" style="height: 440px; width: 800px"></iframe>`;
    }, `${address}/embed.html#example=rods/boyer1_moment&theme=dark`);
    await outer.waitForTimeout(400);
    assert.deepEqual(await outer.evaluate(() => window.told), []);
    await outer.evaluate(() => window.scrollTo(0, 3000));
    await outer.waitForFunction(() => window.told.at(-1) === 'done', null, { timeout: 30000 });
    const theme = () => outer.evaluate(() => document.querySelector('iframe').contentDocument.documentElement.dataset.theme);
    assert.equal(await theme(), 'dark');
    await outer.evaluate(() => document.querySelector('iframe').contentWindow.postMessage({ sinew: 'theme', dark: false }, '*'));
    await outer.waitForFunction(() => document.querySelector('iframe').contentDocument.documentElement.dataset.theme === 'light');
    await shoot(outer, 'embed');
    await outer.context().close();
});

test('no script failed, and nothing was asked of other hosts', () => assert.deepEqual(faults, []));
