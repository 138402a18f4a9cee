// SPDX-License-Identifier: MIT
//
// The page of `sinew view` in a browser: node page.test.mjs SINEW. Exit 77: there is no browser to test with.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { browserOrSkip, scratch } from './needed.mjs';

const sinew = process.argv[2];
const launch = await browserOrSkip();
const folder = scratch('view');

// a clamped rod rolled up by a torque that grows: an arc of curvature C/EI (1 + t), in the plane of x and z
const hostile = `</script><img src=x onerror="window.hacked = 1"><b>&amp;`;
const EI = 100e6 * (Math.PI / 4) * 0.02 ** 4;
const rolled = `
sinew: 1
title: '${hostile}'
gravity: [0, 0, -1e-9]
materials: {rubber: {young: 100 MPa, poisson: 0.5, density: 1 kg/m^3}}
robot:
  arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 20 mm}}, material: rubber, strain: {bend_y: legendre 3}}}
loads:
  roll: {on: arm.tip, torque: [0, -${EI} N*m*(1 + t/(1 s)), 0], frame: body}
study:
  - static: {name: start}
  - static: {name: path, for: 1 s, step: 0.05 s}
probes: {tip: {position: arm.tip}, e: energy}
runs: {long: {}, short: {arm.rod.length: 0.5 m}}
`;
// many frames of little
const pendulum = `
sinew: 1
title: Many frames
gravity: [0, 0, -9.81]
robot:
  bob: {on: world, joint: revolute, axis: y, body: {mass: 1 kg, com: [1 m, 0, 0], inertia: [0, 0, 0]}}
study: [{dynamic: {for: 100 s, step: 1 ms, scheme: rk4}}]
record: {every: 1 ms}
probes: {at: {angle: bob}, p: {position: bob}}
`;

// a straight rod that becomes thicker, with named sites
const changed = `
sinew: 1
title: Changed
gravity: 0
parameters: {r: 10 mm}
materials: {rubber: {young: 1 MPa, poisson: 0.5, density: 1000 kg/m^3}}
robot: {arm: {on: world, rod: {length: 1 m, section: {circle: {radius: r}}, material: rubber, strain: {bend_y: legendre 2}}}}
sites: {elbow: {on: "arm@30%", pose: {xyz: [0, 0, 0.2 m]}}}
study: [{static: {name: thin}}, {change: {r: 60 mm}}, {static: {name: thick}}]
`;

// a cart on one wheel that goes forty times its own length
const cart = `
sinew: 1
title: Far
gravity: 0
robot: {cart: {on: world, joint: planar, body: {box: [0.5 m, 0.3 m, 0.02 m], mass: 1 kg}}}
contacts: {keel: {wheel: {on: cart, axis: y}}}
initial: {cart: {rate: [1, 0, 0]}}
study: [{kinematic: {for: 20 s, step: 0.1 s}}]
record: {every: 0.5 s}
`;

// a robot much wider than high
const long = `sinew: 1
title: Long
materials: {steel: {young: 200 GPa, poisson: 0.3, density: 7800}}
robot: {arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 1 cm}}, material: steel, strain: kirchhoff legendre 2}}}
study: [static:]
`;

function pageOf(name, model) {
    const file = (end) => join(folder, name + end);
    writeFileSync(file('.yaml'), model);
    execFileSync(sinew, ['run', file('.yaml'), '-o', file('.h5')], { stdio: ['ignore', 'ignore', 'inherit'] });
    execFileSync(sinew, ['view', file('.h5'), '-o', file('.html')], { stdio: ['ignore', 'ignore', 'inherit'] });
    return file('.html');
}

const tests = [];
const test = (name, run) => tests.push({ name, run });

const state = (tab) => tab.evaluate(() => window.sinew.state());
const settle = (tab) => tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
// colour of the canvas where points of the world lie
const colours = async (tab, points) => {
    await settle(tab);
    return tab.evaluate((list) => {
        const canvas = document.querySelector('canvas');
        const copy = document.createElement('canvas');
        copy.width = canvas.width;
        copy.height = canvas.height;
        const flat = copy.getContext('2d');
        flat.drawImage(canvas, 0, 0);
        const scale = canvas.width / canvas.clientWidth;
        return list.map((p) => {
            const at = window.sinew.project(...p);
            return Array.from(flat.getImageData(Math.round(at.x * scale), Math.round(at.y * scale), 1, 1).data);
        });
    }, points);
};
// rods in one colour are red; nothing else of this scene is
const isRod = ([r, , b, a]) => a > 200 && r - b > 40;
// the middle line of the arc at time t
const arc = (t, s) => {
    const k = -(1 + t);
    return [Math.sin(k * s) / k, 0, (Math.cos(k * s) - 1) / k];
};
const seek = (tab, t) => tab.locator('input[aria-label=time]').evaluate((e, value) => {
    e.value = String(value);
    e.dispatchEvent(new Event('input'));
}, t);

test('the robot stands where the closed form puts it, at every time scrubbed to', async (tab) => {
    await tab.locator('.show summary').click();
    await tab.locator('.show select').selectOption('plain');
    for (const box of ['forces', 'joints', 'trails']) await tab.locator(`input[data-show=${box}]`).uncheck();
    await tab.locator('.show summary').click();
    await tab.keyboard.press('1');
    for (const k of [1, 11, 21]) {
        await tab.keyboard.press('Home');
        for (let i = 0; i < k; i += 10) await tab.keyboard.press(i + 10 <= k ? 'Shift+ArrowRight' : 'ArrowRight');
        const { t, frame } = await state(tab);
        assert.equal(frame, k);
        const at = [0.15, 0.3, 0.45, 0.6, 0.75, 0.9].map((s) => arc(t, s));
        assert.deepEqual((await colours(tab, at)).map(isRod), at.map(() => true), `on the arc at ${t} s`);
        const R = 1 / (1 + t), out = (R + 0.1) / R; // away from the centre of the arc
        const off = at.map(([x, y, z]) => [out * x, y, R + out * (z - R)]);
        assert.deepEqual((await colours(tab, off)).map(isRod), off.map(() => false), `beside it at ${t} s`);
    }
});

test('the scrubber sets the time that is shown', async (tab) => {
    const end = Number(await tab.locator('input[aria-label=time]').getAttribute('max'));
    await seek(tab, 0.5 * end);
    await settle(tab);
    const { t } = await state(tab);
    assert.ok(Math.abs(t - 0.5) < 0.06, `t = ${t}`);
    assert.equal(await tab.locator('.time b').textContent(), `${t.toFixed(3)} s`);
    assert.match(await tab.locator('input[aria-label=time]').getAttribute('aria-valuetext'), /path$/);
    // names of stages are whole, that of the present one above all
    const names = await tab.locator('.stages span').evaluateAll((list) => list.map((e) => ({ name: e.textContent, seen: e.style.visibility !== 'hidden', whole: e.scrollWidth <= e.clientWidth && e.getBoundingClientRect().right <= e.parentElement.getBoundingClientRect().right + 0.5 })));
    assert.deepEqual(names.filter((n) => n.seen && !n.whole), []);
    assert.ok(names.some((n) => n.seen && n.name === 'path'));
});

test('a robot in a plane is seen along its normal', async (tab) => {
    await tab.keyboard.press('f');
    const [o, x, z] = await tab.evaluate(() => [[0.5, 0, 0.3], [0.6, 0, 0.3], [0.5, 0, 0.4]].map((p) => window.sinew.project(...p)));
    const [u, v] = [x, z].map((p) => [p.x - o.x, p.y - o.y]), across = Math.hypot(...u), up = Math.hypot(...v);
    assert.ok(Math.abs(across / up - 1) < 0.08, `${across} beside ${up}`);
    assert.ok(Math.abs(u[0] * v[0] + u[1] * v[1]) < 0.08 * across * up);
});

test('play moves the robot', async (tab) => {
    await tab.keyboard.press('Home');
    await settle(tab);
    const before = await tab.evaluate(() => window.sinew.node(window.sinew.state().nodes - 1));
    await tab.keyboard.press('Space');
    assert.equal((await state(tab)).playing, true);
    await tab.waitForFunction(() => window.sinew.state().frame > 3);
    await tab.keyboard.press('Space');
    await settle(tab);
    const after = await tab.evaluate(() => window.sinew.node(window.sinew.state().nodes - 1));
    const { t, playing } = await state(tab);
    assert.equal(playing, false);
    const want = arc(t, 1);
    for (let i = 0; i < 3; i++) assert.ok(Math.abs(after[i] - want[i]) < 1e-5, `${after} is not ${want}`);
    assert.ok(Math.hypot(after[0] - before[0], after[2] - before[2]) > 0.05);
});

test('curves have the data', async (tab) => {
    const curves = await tab.evaluate(() => window.sinew.curves());
    assert.deepEqual(curves.find((c) => c.title === 'tip'), { title: 'tip', unit: 'm', curves: 3, points: 22 });
    assert.ok(curves.some((c) => c.title === 'energy' && c.unit === 'J'));
    await tab.keyboard.press('End');
    await settle(tab);
    const [x, , z] = arc(1, 1);
    const chips = await tab.locator('section[aria-label^="tip"] .chip').allTextContents();
    assert.deepEqual([chips[0], chips[2]], [`x${(1000 * x).toPrecision(4)} mm`, `z${(1000 * z).toPrecision(4)} mm`]);
    await tab.locator('section[aria-label^="tip"] canvas').waitFor();
    const drawn = await tab.locator('section[aria-label^="tip"] canvas').evaluate((c) => {
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let n = 0;
        for (let i = 3; i < d.length; i += 4) n += d[i] > 0;
        return n;
    });
    assert.ok(drawn > 300, `${drawn} pixels of curves`);
});

test('the playhead stays with its time when curves are drawn anew', async (tab) => {
    await tab.keyboard.press('End');
    await tab.keyboard.press('t'); // other colours
    await settle(tab);
    const chart = tab.locator('section[aria-label^="tip"] .u-over');
    const [head, over] = [await chart.locator('.playhead').boundingBox(), await chart.boundingBox()];
    assert.ok(Math.abs(head.x - (over.x + over.width)) < 4, `${head.x} of ${over.x} to ${over.x + over.width}`);
    await tab.keyboard.press('t');
});

test('pictures, drawings and films show what the page shows', async (tab) => {
    const look = await browser.newPage(), size = tab.viewportSize();
    await tab.setViewportSize({ width: 720, height: 420 });
    await tab.keyboard.press('1');
    await tab.keyboard.press('End');
    await settle(tab);
    for (let i = 0; i < 5; i++) await tab.keyboard.press('+');
    const view = await tab.locator('.stage > canvas').first().boundingBox();
    const save = async (name) => {
        await tab.locator('.save summary').click();
        const [file] = await Promise.all([tab.waitForEvent('download'), tab.locator('.save button', { hasText: name }).click()]);
        await tab.keyboard.press('Home');
        await tab.locator('.save summary').click();
        return { name: file.suggestedFilename(), bytes: readFileSync(await file.path()) };
    };
    const url = (type, { bytes }) => `data:${type};base64,${bytes.toString('base64')}`;
    // colours of a picture where points of the world lie
    const at = (t, list) => tab.evaluate((points) => points.map((p) => window.sinew.project(...p)), list.map((s) => arc(t, s)));
    const sample = (picture, points) => look.evaluate(async ([source, w, h, list]) => {
        const image = new Image(), flat = new OffscreenCanvas(w, h).getContext('2d');
        image.src = source;
        await image.decode();
        flat.drawImage(image, 0, 0, w, h);
        return { width: image.naturalWidth, pixels: list.map(({ x, y }) => Array.from(flat.getImageData(Math.round(x), Math.round(y), 1, 1).data)) };
    }, [picture, view.width, view.height, points]);
    const inside = [0.2, 0.4, 0.6, 0.8];
    await tab.keyboard.press('End');
    const end = await at(1, inside);
    for (const [name, type, wide] of [['PNG', 'image/png', 3840], ['SVG', 'image/svg+xml', view.width]]) {
        await tab.keyboard.press('End');
        const file = await save(name), { width, pixels } = await sample(url(type, file), end);
        assert.equal(file.name, `script_img_src_x_onerror_window_hacked_1_b_amp.${name.toLowerCase()}`);
        assert.ok(Math.abs(width - wide) < 2, `${width} is not ${wide}`);
        assert.deepEqual(pixels.map(isRod), inside.map(() => true), `${name}: the rod at its end`);
        if (name === 'SVG') assert.equal(await look.evaluate((text) => new DOMParser().parseFromString(text, 'image/svg+xml').querySelectorAll('parsererror, script, image').length, file.bytes.toString()), 0);
    }
    // the first picture of a film is the beginning
    const gif = await save('GIF'), start = await at(0, inside);
    assert.deepEqual((await sample(url('image/gif', gif), start)).pixels.map(isRod), inside.map(() => true), 'GIF: the rod at its beginning');
    const frames = await tab.evaluate(async (bytes) => {
        const reader = new ImageDecoder({ data: Uint8Array.from(bytes), type: 'image/gif' });
        await Promise.all([reader.completed, reader.tracks.ready]);
        const n = reader.tracks.selectedTrack.frameCount;
        for (let i = 0; i < n; i++) (await reader.decode({ frameIndex: i })).image.close();
        return n;
    }, [...gif.bytes]);
    assert.ok(frames > 2, `${frames} pictures`);
    for (const [name, type] of [['WebM', 'video/webm'], ['MP4', 'video/mp4']]) {
        if (!(await tab.locator('.save button', { hasText: name }).count())) continue; // this browser has no encoder
        const [duration, width, t] = await look.evaluate(async (source) => {
            const video = document.createElement('video');
            video.src = source;
            await new Promise((done, fail) => ((video.onloadeddata = done), (video.onerror = () => fail(new Error(video.error.message)))));
            video.currentTime = video.duration;
            await new Promise((done) => (video.onseeked = done));
            return [video.duration, video.videoWidth, video.currentTime];
        }, url(type, await save(name)));
        assert.ok(duration > 0.1 && duration < 3 && width >= 720 && Math.abs(t - duration) < 0.1, `${name}: ${duration} s, ${width} wide, ${t} s`);
    }
    for (let i = 0; i < 5; i++) await tab.keyboard.press('-');
    await look.close();
    await tab.setViewportSize(size);
});

test('keys', async (tab) => {
    await tab.keyboard.press('Home');
    assert.equal((await state(tab)).frame, 0);
    await tab.keyboard.press('ArrowRight');
    await tab.keyboard.press('ArrowRight');
    await tab.keyboard.press('ArrowLeft');
    assert.equal((await state(tab)).frame, 1);
    await tab.keyboard.press('Shift+ArrowRight');
    assert.equal((await state(tab)).frame, 11);
    await tab.keyboard.press('End');
    assert.equal((await state(tab)).frame, (await state(tab)).n - 1);
    const { speed, theme } = await state(tab);
    await tab.keyboard.press('+');
    assert.ok((await state(tab)).speed > speed);
    await tab.keyboard.press('-');
    assert.equal((await state(tab)).speed, speed);
    await tab.keyboard.press('t');
    assert.notEqual((await state(tab)).theme, theme);
    await tab.keyboard.press('t');
    for (const key of ['2', '3', 'f', 'g', 'g']) await tab.keyboard.press(key);
    await tab.keyboard.press('?');
    assert.ok(await tab.locator('dialog').isVisible());
    await tab.keyboard.press('Escape');
    assert.ok(!(await tab.locator('dialog').isVisible()));
});

test('runs are chosen by key and by name', async (tab) => {
    await tab.keyboard.press(']');
    assert.equal((await state(tab)).run, 'short');
    await tab.keyboard.press('End');
    await settle(tab);
    const tip = await tab.evaluate(() => window.sinew.node(window.sinew.state().nodes - 1));
    const want = arc(1, 0.5);
    for (let i = 0; i < 3; i++) assert.ok(Math.abs(tip[i] - want[i]) < 1e-5, `${tip} is not ${want}`);
    await tab.locator('select[aria-label=run]').selectOption('long');
    assert.equal((await state(tab)).run, 'long');
});

test('a section has its strains, moment and stress', async (tab) => {
    await tab.keyboard.press('1');
    await tab.keyboard.press('Home');
    await settle(tab);
    const box = await tab.locator('.stage > canvas').first().boundingBox(), at = await tab.evaluate((p) => window.sinew.project(...p), arc(0, 0.75));
    await tab.mouse.click(box.x + at.x, box.y + at.y);
    await settle(tab);
    const card = tab.locator('section[aria-label=section]');
    const [, percent] = (await card.locator('header output').textContent()).match(/([\d.]+) %/);
    assert.ok(Math.abs(percent - 75) < 1.5, `${percent} %`);
    // curvature C/EI = 1/m: E k r = 100 MPa 20 mm/m on the rim
    for (const [key, k] of [['Home', 1], ['End', 2]]) {
        await tab.keyboard.press(key);
        await settle(tab);
        const rows = await card.locator('tbody tr').allTextContents();
        assert.equal(await card.locator('p').textContent(), `normal stress −${2 * k} MPa to ${2 * k} MPa`);
        assert.equal(rows[1], `bend_y, 1/m−${k}My −${(k * EI).toPrecision(4)} N·m`);
        assert.equal(rows[3], 'stretch1Nx –'); // it cannot stretch
    }
    assert.match(await card.locator('svg').textContent(), /40 mm/);
    await card.locator('input').focus();
    await tab.keyboard.press('End');
    await settle(tab);
    assert.match(await card.locator('header output').textContent(), /100 %/);
    await card.getByLabel('close the section').click();
    assert.ok(!(await card.isVisible()));
});

test('another run is drawn at the same time, overlaid and beside, and its curves too', async (tab) => {
    await tab.keyboard.press('c');
    assert.equal((await state(tab)).other, 'short');
    for (const [key, t] of [['Home', 0], ['End', 1]]) {
        await tab.keyboard.press(key);
        await settle(tab);
        const tip = await tab.evaluate(() => window.sinew.otherNode(window.sinew.state().nodes - 1)), want = arc(t, 0.5);
        for (let i = 0; i < 3; i++) assert.ok(Math.abs(tip[i] - want[i]) < 1e-5, `${tip} is not ${want}`);
    }
    const [x] = arc(1, 0.5);
    assert.equal(await tab.locator('section[aria-label^="tip"] .chip .beside').first().textContent(), `${(1000 * x).toPrecision(4)} mm`);
    await tab.getByText('table', { exact: true }).click();
    await settle(tab);
    const [first] = await tab.locator('table.values tr:has(th[scope=row])').allTextContents(), [mine] = arc(1, 1);
    const mm = (a) => `${Number((1000 * a).toPrecision(4))} mm`.replace('-', '−');
    assert.equal(first, `x${mm(mine)}${mm(x)}${mm(x - mine)}`);
    await tab.getByText('curves', { exact: true }).click();
    const before = await tab.evaluate(() => window.sinew.project(0, 0, 0));
    await tab.keyboard.press('v');
    await settle(tab);
    assert.deepEqual(await tab.locator('.halves span').allTextContents(), ['long', 'short']);
    const after = await tab.evaluate(() => window.sinew.project(0, 0, 0)), { width } = await tab.locator('.stage > canvas').first().boundingBox();
    assert.ok(after.x < width / 2 && before.x !== after.x);
    await tab.keyboard.press('v');
    await tab.keyboard.press('c');
    assert.equal((await state(tab)).other, null);
});

test('a hostile title is inert', async (tab) => {
    assert.equal(await tab.locator('h1').textContent(), hostile);
    assert.equal(await tab.evaluate(() => window.hacked), undefined);
    assert.equal(await tab.locator('img').count(), 0);
    await tab.locator('details.text summary').click();
    assert.ok((await tab.locator('details.text pre').textContent()).includes(hostile));
});

test('nothing is wider than a phone, and controls have names', async (tab) => {
    await tab.setViewportSize({ width: 390, height: 800 });
    await settle(tab);
    assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth <= 390));
    const unnamed = await tab.evaluate(() => [...document.querySelectorAll('button, select, input')].filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label')?.textContent.trim())).map((e) => e.outerHTML));
    assert.deepEqual(unnamed, []);
});

const browser = await launch();
let failed = 0;

async function open(path) {
    const tab = await browser.newPage({ viewport: { width: 900, height: 560 }, colorScheme: 'light', reducedMotion: 'reduce' });
    const faults = [];
    tab.setDefaultTimeout(600000); // only a hang takes longer
    tab.on('console', (m) => m.type() === 'error' && faults.push(m.text()));
    tab.on('pageerror', (e) => faults.push(e.message));
    tab.on('request', (r) => !/^(file|data|blob):/.test(r.url()) && faults.push(`asks for ${r.url()}`));
    await tab.goto(pathToFileURL(path).href);
    await tab.waitForFunction(() => 'sinew' in window || document.querySelector('.problem'));
    return { tab, faults };
}

async function attempt(name, run) {
    const start = Date.now();
    try {
        await run();
        console.log(`ok   ${name} (${((Date.now() - start) / 1000).toFixed(1)} s)`);
    } catch (e) {
        failed++;
        console.log(`FAIL ${name}\n${e.stack}`);
    }
}

const first = await open(pageOf('rolled', rolled));
for (const { name, run } of tests) await attempt(name, () => run(first.tab));
await attempt('no errors and no network', async () => assert.deepEqual(first.faults, []));
await first.tab.close();

await attempt('the first view has a whole long robot, also when the window becomes higher', async () => {
    const { tab } = await open(pageOf('long', long));
    for (const height of [560, 900]) {
        await tab.setViewportSize({ width: 900, height });
        await settle(tab);
        await settle(tab);
        const box = await tab.locator('.stage > canvas').first().boundingBox();
        const places = await tab.evaluate(() => [...Array(window.sinew.state().nodes).keys()].map((i) => window.sinew.project(...window.sinew.node(i))));
        for (const p of places) assert.ok(p.x > 0 && p.x < box.width && p.y > 0 && p.y < box.height, `${p.x}, ${p.y} in ${box.width} x ${box.height}`);
    }
    await tab.close();
});

// the page as a file might make it that somebody bent
const rolledPage = readFileSync(join(folder, 'rolled.html'), 'utf8');
const bent = async (name, change, check) => attempt(name, async () => {
    const path = join(folder, 'bent.html');
    writeFileSync(path, rolledPage.replace(/(id="sinew-data">)(.*?)(<\/script>)/s, (_, a, json, b) => {
        const data = JSON.parse(json);
        change(data.runs[0]);
        return a + JSON.stringify(data).replace(/</g, '\\u003c') + b;
    }));
    const { tab, faults } = await open(path);
    await check(tab, faults);
    await tab.close();
});
const wild = { links: [{ name: 1, first: 1e9, end: -7, rod: { first: 4, count: 1e9 }, body: { size: 'x' } }, { rod: { root: 99, first: 0, count: 3 } }], parent: 'no', loops: 3, measures: [{ points: [[1e7]] }], loads: [{ nodes: [null, 'a'] }], probes: [{ name: '__proto__', units: [] }], sites: [{ a: 1e9, b: 'x', share: 7 }, null], changes: [{ links: 3 }, { stage: 'x', links: [{ rod: {} }] }] };
const wildData = [null, { t: 1 }, { t: [0, null, 'x'], columns: [null, { column: 1e9, value: [1] }, { column: 0, value: ['x', 1] }, { column: 0 }] }];
await bent('a wild scene and wild measurements do no harm', (run) => Object.assign(run, { scene: JSON.stringify(wild), measured: wildData }), async (tab, faults) => {
    await tab.keyboard.press('End');
    await settle(tab);
    assert.deepEqual(faults, []);
});
await bent('a run without scene is drawn as lines', (run) => (run.scene = null), async (tab, faults) => {
    assert.equal((await state(tab)).told, false);
    assert.match(await tab.locator('.note').textContent(), /has no appearance of the robot/);
    assert.deepEqual(faults, []);
});
await bent('arrays of a wrong size are told', (run) => (run.nodes += 1), async (tab) => assert.match(await tab.locator('.problem').textContent(), /damaged: pose/));

await attempt('a change is seen from its stage on, and sites have their names', async () => {
    const { tab, faults } = await open(pageOf('changed', changed));
    await tab.keyboard.press('1');
    await tab.locator('.show summary').click();
    await tab.locator('.show select').selectOption('plain');
    await tab.locator('input[data-show=sites]').check();
    await tab.locator('input[data-show=frames]').check();
    await tab.locator('.show summary').click();
    const off = [[0.5, 0.028, 0.028]]; // from whichever side one looks
    await tab.keyboard.press('Home');
    assert.deepEqual((await colours(tab, off)).map(isRod), [false], 'beside the thin rod');
    await tab.keyboard.press('End');
    assert.deepEqual((await colours(tab, off)).map(isRod), [true], 'on the thick one');
    const at = await tab.evaluate(() => window.sinew.project(0.3, 0, 0.2));
    assert.deepEqual(await tab.locator('.labels span').allTextContents(), ['world', 'arm', 'elbow']);
    const label = tab.locator('.labels span').last();
    const moved = (await label.evaluate((e) => e.style.transform)).match(/[\d.]+/g).map(Number);
    assert.ok(Math.hypot(moved[0] - at.x, moved[1] - at.y) < 0.2, `${moved} is not ${at.x} ${at.y}`);
    assert.deepEqual(faults, []);
    await tab.close();
});

// the measured tip is beside the computed one, and its y was not measured
await attempt('measured points are drawn over the robot and in its curves', async () => {
    const csv = join(folder, 'tip.csv'), [x, , z] = arc(0.5, 1);
    writeFileSync(csv, `t,tip.x,tip.z\n0.5,${x + 0.1},${z}\n0.75,,\n`);
    execFileSync(sinew, ['view', join(folder, 'rolled.h5'), '--data', csv, '-o', join(folder, 'measured.html')], { stdio: ['ignore', 'ignore', 'inherit'] });
    const { tab, faults } = await open(join(folder, 'measured.html'));
    const dark = ([r, g, b, a]) => a > 200 && r + g + b < 120;
    await tab.keyboard.press('1');
    for (const [t, there] of [[0.5, true], [0.75, false]]) {
        await seek(tab, (await tab.locator('input[aria-label=time]').evaluate((e) => Number(e.max))) - 1 + t + 1e-6);
        assert.ok(Math.abs((await state(tab)).t - t) < 1e-9);
        assert.deepEqual((await colours(tab, [[x + 0.1, 0, z]])).map(dark), [there], `at ${t} s`);
    }
    assert.deepEqual(faults, []);
    await tab.close();
});

// one equilibrium, straight but for rounding; gravity is not along the normal of the floor
const still = `
sinew: 1
title: Still
gravity: [0, -1e-9, -1e-9]
materials: {stuff: {young: 1e12 Pa, poisson: 0.5, density: 1 kg/m^3}}
robot: {arm: {on: world, rod: {length: 1 m, section: {circle: {radius: 10 mm}}, material: stuff, strain: {bend_y: legendre 1}}}}
study: [{static: {}}]
probes: {tip: {position: arm.tip}}
`;
await attempt('a run of one equilibrium has a table, and needs no transport', async () => {
    const { tab, faults } = await open(pageOf('still', still));
    assert.deepEqual((await tab.locator('table.values tr:has(th[scope=row])').allTextContents()).slice(0, 3), ['x1 m', 'y0 m', 'z0 m']);
    assert.equal(await tab.locator('.chart').count(), 0);
    assert.ok(!(await tab.locator('input[aria-label=time]').isVisible()));
    // gravity is oblique to the floor: its arrow is drawn in its colour
    const amber = await tab.locator('canvas.triad').evaluate((c) => {
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        let n = 0;
        for (let i = 0; i < d.length; i += 4) n += d[i + 3] > 200 && d[i] === 0xd0 && d[i + 1] === 0x8a;
        return n;
    });
    assert.ok(amber > 20, `${amber} pixels of gravity`);
    assert.deepEqual(faults, []);
    await tab.close();
});

await attempt('a robot that goes far stays in view and lies on the ground', async () => {
    const { tab, faults } = await open(pageOf('far', cart));
    const view = await tab.locator('.stage > canvas').first().boundingBox();
    for (const [key, x] of [['Home', 0], ['End', 20]]) {
        await tab.keyboard.press(key);
        await settle(tab);
        const [middle, front, above] = await tab.evaluate((at) => [[at, 0, 0], [at + 0.25, 0, 0], [at, 0, 0.1]].map((p) => window.sinew.project(...p)), x);
        assert.ok(Math.hypot(middle.x - view.width / 2, middle.y - view.height / 2) < 0.1 * view.width, `${key}: ${middle.x} ${middle.y}`);
        assert.ok(Math.hypot(front.x - middle.x, front.y - middle.y) > 0.08 * view.width, `${key}: too small`);
        assert.ok(above.y < middle.y - 2, `${key}: z is not up`);
    }
    assert.equal(await tab.getByText('follow', { exact: true }).getAttribute('aria-pressed'), 'true');
    assert.deepEqual(faults, []);
    await tab.close();
});

// another robot in another file: a rod of a fifth of the size, elsewhere, with a probe of its own
const small = `
sinew: 1
title: Small
gravity: 0
materials: {rubber: {young: 100 MPa, poisson: 0.5, density: 1 kg/m^3}}
robot:
  stub:
    on: world
    pose: {xyz: [3 m, 0, 0]}
    rod: {length: 0.2 m, section: {circle: {radius: 5 mm}}, material: rubber, strain: {bend_y: legendre 3}}
study:
  - static: {name: path, for: 1 s, step: 0.1 s}
probes: {tip: {position: stub.tip}, half: {position: "stub@50%"}}
`;

await attempt('runs of several files are compared, told apart by their files', async () => {
    pageOf('stub', small);
    const path = join(folder, 'files.html');
    execFileSync(sinew, ['view', ...['stub', 'rolled', 'changed'].map((n) => join(folder, `${n}.h5`)), '-o', path], { stdio: ['ignore', 'ignore', 'inherit'] });
    const { tab, faults } = await open(path);
    // the first two files are seen together, each with its own model
    const { run, other } = await state(tab);
    assert.deepEqual([run, other], ['stub', 'rolled · long']);
    assert.deepEqual(await tab.locator('select[aria-label=run] option').allTextContents(), ['stub', 'rolled · long', 'rolled · short', 'changed']);
    assert.match(await tab.locator('.note').textContent(), /rolled · long is transparent, its curves are dashed/);
    // both lie within the picture
    const view = await tab.locator('.stage > canvas').first().boundingBox();
    for (const p of [[3.2, 0, 0], arc(1, 1)]) {
        const at = await tab.evaluate((x) => window.sinew.project(...x), p);
        assert.ok(at.x > 0 && at.x < view.width && at.y > 0 && at.y < view.height, `${p} is at ${at.x}, ${at.y}`);
    }
    // the other run is shown at the time of this one
    await tab.keyboard.press('End');
    await settle(tab);
    const [x] = arc(1, 1), want = `${(1000 * x).toPrecision(4)} mm`;
    assert.deepEqual([await tab.locator('section[aria-label^="tip"] .chip output').first().textContent(), await tab.locator('section[aria-label^="tip"] .chip .beside').first().textContent()], ['3.2 m', want]);
    // a probe that only one of them has is shown from either side
    assert.ok(await tab.locator('section[aria-label^="half"]').isVisible());
    await tab.keyboard.press('v');
    await settle(tab);
    assert.deepEqual(await tab.locator('.halves span').allTextContents(), ['stub', 'rolled · long']);
    await tab.locator('select[aria-label=run]').selectOption('rolled · short');
    await tab.locator('select[aria-label="compare with"]').selectOption('stub');
    await tab.keyboard.press('End');
    await settle(tab);
    assert.match(await tab.locator('.side').textContent(), /Probes of stub only/);
    const half = tab.locator('section[aria-label^="half"]');
    await half.scrollIntoViewIfNeeded();
    assert.equal(await half.locator('.chip output').first().textContent(), '3.1 m');
    assert.equal(await tab.locator('header.top p').first().textContent().then((t) => t.startsWith('rolled.h5')), true);
    await tab.locator('details.text summary').click();
    assert.ok((await tab.locator('details.text pre').textContent()).includes('roll:'));
    assert.deepEqual(faults, []);
    await tab.close();
});

await attempt('rows of a sweep are chosen in a chart, their robots lie beside each other', async () => {
    // arcs of curvature C/EI: the torque of row i is i + 1 times EI; row 9 fails, since its length is none
    const file = (end) => join(folder, end);
    writeFileSync(file('arc.yaml'), rolled.replace(/study:[^]*probes/, 'study: [static: {}]\nprobes').replace(`${EI} N*m*(1 + t/(1 s))`, 'C').replace('gravity', 'parameters: {C: 1 N*m, l: 1 m}\ngravity').replace('length: 1 m', 'length: l').replace(/runs:.*/, ''));
    const torques = Array.from({ length: 10 }, (_, i) => `${(i + 1) * EI / 2} N*m`);
    writeFileSync(file('arcs.yaml'), `sinew: 1\ntitle: '${hostile}'\nmodel: arc.yaml\nvary: {C: [${torques}], l: [${Array.from({ length: 10 }, (_, i) => (i < 9 ? '1 m' : '-1 m'))}]}\nsample: {method: list}\nkeep: {x: end(tip.x)}\n`);
    execFileSync(sinew, ['sweep', file('arcs.yaml'), '-o', file('arcs.h5')], { stdio: ['ignore', 'ignore', 'inherit'] });
    execFileSync(sinew, ['view', file('arcs.h5'), '-o', file('arcs.html')], { stdio: ['ignore', 'ignore', 'inherit'] });
    const { tab, faults } = await open(file('arcs.html'));
    const sweep = () => tab.evaluate(() => window.sinew.sweep());
    let s = await sweep();
    assert.deepEqual(s.axes.map((a) => a.name), ['C', 'l', 'x']);
    assert.equal(s.chosen.length, 10);
    assert.deepEqual(s.shown, [0, 3, 5, 8]);
    assert.equal(await tab.locator('header.top h1').textContent(), hostile);
    assert.match(await tab.locator('.sweep output').textContent(), /10 rows, 9 with robots · 1 not done/);
    // each tile has the robot of its row
    const tips = async () => {
        await settle(tab);
        for (const { run, tip } of await tab.evaluate(() => window.sinew.tiles())) {
            const k = (Number(run.slice(4)) + 1) / 2;
            [Math.sin(k) / k, 0, (1 - Math.cos(k)) / k].forEach((want, i) => assert.ok(Math.abs(Math.abs(tip[i]) - Math.abs(want)) < 1e-6, `${run}: ${tip}`));
        }
        return (await tab.evaluate(() => window.sinew.tiles())).map((t) => t.run);
    };
    assert.deepEqual(await tips(), ['row 0', 'row 3', 'row 5', 'row 8']);
    assert.deepEqual(await tab.locator('.halves span').allTextContents(), ['row 0', 'row 3', 'row 5', 'row 8']);
    assert.equal(await tab.locator('table.rows tbody tr').count(), 4);
    // the colour scale lies below the robots
    const lower = (b) => b.y + b.height;
    assert.ok(lower(await tab.locator('.halves').boundingBox()) <= (await tab.locator('.legend .scale').boundingBox()).y);
    // a range of the first axis: rows 2 to 4
    const drag = async (axis, from, to) => {
        await tab.mouse.move(axis.x, from);
        await tab.mouse.down();
        await tab.mouse.move(axis.x, (from + to) / 2);
        await tab.mouse.move(axis.x, to);
        await tab.mouse.up();
    };
    await drag(s.axes[0], s.at[2][0] + 4, s.at[4][0] - 4);
    s = await sweep();
    assert.deepEqual([s.chosen, s.shown], [[2, 3, 4], [2, 3, 4]]);
    assert.deepEqual(await tips(), ['row 2', 'row 3', 'row 4']);
    // a click on an axis frees it; a click on a line adds its row, another takes it away
    await tab.mouse.click(s.axes[0].x, s.at[0][0]);
    await tab.mouse.move(5, 5);
    s = await sweep();
    assert.deepEqual(s.chosen.length, 10);
    const near = [0.1 * s.axes[1].x + 0.9 * s.axes[0].x, 0.1 * s.at[7][1] + 0.9 * s.at[7][0]];
    await tab.mouse.click(...near);
    assert.ok((await sweep()).shown.includes(7));
    await tab.mouse.click(...near);
    assert.ok(!(await sweep()).shown.includes(7));
    await tab.locator('.sweep button').click();
    assert.deepEqual((await sweep()).shown, [0, 3, 5, 8]);
    assert.deepEqual(await tab.locator('table.rows th').allTextContents(), ['row', 'C, N·m', 'l, m', 'x, mm']);
    // on a phone the chart follows the robots, and scrolls along its axes
    await tab.setViewportSize({ width: 240, height: 700 });
    await settle(tab);
    const box = async (what) => tab.locator(what).first().boundingBox();
    assert.ok((await box('.sweep')).y < (await box('.side')).y);
    assert.ok((await box('.sweep canvas')).width >= 3 * 88);
    assert.ok((await box('.sweep .axes')).width <= 240);
    await tab.setViewportSize({ width: 1280, height: 800 });
    await tab.keyboard.press('t');
    await settle(tab);
    assert.deepEqual(faults, []);
    await tab.close();
});

await attempt('runs of one each carry their values', async () => {
    const { tab, faults } = await open(pageOf('each', rolled.replace(/runs:.*/, 'runs: {load: {arm.rod.length: {each: [1 m, 0.5 m]}}}')));
    assert.deepEqual(await tab.locator('select[aria-label=run] option').allTextContents(), ['load.1 · arm.rod.length = 1 m', 'load.2 · arm.rod.length = 500 mm']);
    assert.deepEqual(faults, []);
    await tab.close();
});

await attempt('10^5 frames open in 5 s and fill less than 60 MB', async () => {
    const path = pageOf('many', pendulum);
    assert.ok(statSync(path).size < 60e6, `${statSync(path).size} bytes`);
    const start = Date.now();
    const { tab, faults } = await open(path);
    // time of the processor: on a machine that does other things beside, a clock would measure these
    const session = await tab.context().newCDPSession(tab);
    await session.send('Performance.enable');
    const { metrics } = await session.send('Performance.getMetrics');
    const seconds = metrics.find((m) => m.name === 'ProcessTime')?.value ?? (Date.now() - start) / 1000;
    console.log(`     opened in ${seconds.toFixed(2)} s of the processor, ${((Date.now() - start) / 1000).toFixed(1)} s by the clock`);
    assert.ok(seconds < 5, `${seconds} s`);
    assert.match(await tab.locator('.note').textContent(), /of 100\u2009001 frames/);
    assert.deepEqual(faults, []);
    await tab.close();
});

await browser.close();
process.exitCode = failed ? 1 : 0;
