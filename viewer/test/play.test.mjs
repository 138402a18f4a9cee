// SPDX-License-Identifier: MIT
//
// `sinew play` in a browser: node play.test.mjs SINEW. Exit 77: there is no browser to test with, or the command cannot play.
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { browserOrSkip, scratch } from './needed.mjs';
import { served } from './served.mjs';

const sinew = process.argv[2];
const launch = await browserOrSkip();
const folder = scratch('play');

// a soft arm that hangs down, pulled aside by a tendon, with a force at its tip that is a parameter
const hostile = `</script><img src=x onerror="window.hacked = 1">`;
const arm = `
sinew: 1
title: '${hostile}'
parameters: {F: 0 N}
materials: {silicone: {young: 1 MPa, poisson: 0.5, density: 1070, damping: 60 ms}}
robot:
  arm: {on: world, pose: {x: -z}, rod: {length: 0.3, section: {circle: {radius: 10 mm}}, material: silicone, strain: {bend_y: legendre 4, bend_z: legendre 2, stretch: legendre 1}}}
actuators:
  left: {tendon: {along: arm, at: [0, 0, 7 mm]}, effort: 0 N}
loads: {push: {on: arm.tip, force: [F, 0, 0]}}
probes: {tip: {position: arm.tip}, e: energy}
live: {left: [0 N, 6 N], F: [-0.3 N, 0.3 N]}
study: [static: {}, dynamic: {for: 1 s, step: 5 ms}]
`;
const file = join(folder, 'arm.yaml');
writeFileSync(file, arm);

const start = (...args) => served(spawn(sinew, ['play', file, ...args], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] }));
{
    const trial = spawnSync(sinew, ['play', join(folder, 'none.yaml')], { encoding: 'utf8' });
    if (/was built without/.test(trial.stderr)) {
        console.log(`skipped: ${trial.stderr.trim()}`);
        process.exit(77);
    }
}

const browser = await launch();
let failed = 0;
async function attempt(name, run) {
    const begin = Date.now();
    try {
        await run();
        console.log(`ok   ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
    } catch (e) {
        failed++;
        console.log(`FAIL ${name}\n${e.stack}`);
    }
}

async function open(address, faults = [], draws = true) {
    const tab = await browser.newPage({ viewport: { width: 480, height: 360 }, colorScheme: 'light', reducedMotion: 'reduce' });
    tab.setDefaultTimeout(600000); // only a hang takes longer
    // several windows that draw without a graphics card would keep each other waiting
    if (!draws) {
        await tab.addInitScript(() => {
            const get = HTMLCanvasElement.prototype.getContext;
            HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
                return kind.startsWith('webgl') ? null : get.call(this, kind, ...rest);
            };
        });
    }
    tab.on('console', (m) => m.type() === 'error' && faults.push(m.text()));
    tab.on('pageerror', (e) => faults.push(e.message));
    tab.on('request', (r) => !r.url().startsWith(address) && !/^(data|blob):/.test(r.url()) && faults.push(`asks for ${r.url()}`));
    await tab.goto(address);
    // tabs behind others draw no pictures, and are asked all the same
    await tab.waitForFunction(() => window.sinew?.state().ready, undefined, { polling: 50 });
    return tab;
}

const state = (tab) => tab.evaluate(() => window.sinew.state());
const tip = (tab) => tab.evaluate(() => ['x', 'y', 'z'].map((c) => window.sinew.column(`tip.${c}`)));
const until = (tab, test, arg) => tab.waitForFunction(test, arg, { polling: 20 });
// until two pictures more are drawn, of the state as it is now
const drawn = (tab) => tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)))));
const raw = (tab, data) => tab.evaluate((d) => window.sinew.raw(d), data);
const turn = (tab, name, value) => tab.evaluate(([n, v]) => {
    const e = document.querySelector(`input[aria-label$=" ${n}"]`);
    e.value = String(v);
    e.dispatchEvent(new Event('input'));
    e.dispatchEvent(new Event('change'));
}, [name, value]);

const faults = [];
const server = await start();
const tab = await open(server.address, faults);

// what is promised of time holds where the machine has time for it: where the page gets pictures at their full rate
const unhurried = async () => {
    const { rate, pace } = await state(tab);
    return rate.came > 50 && pace > 0.95;
};

await attempt('frames come, in real time where the machine has time', async () => {
    await tab.waitForFunction(() => window.sinew.state().shown);
    const first = await state(tab);
    await until(tab, (f) => window.sinew.state().serial > f.serial + 60 && window.sinew.state().t > f.t + 0.5, first);
    const { serial, t, pace, step, rate } = await state(tab);
    console.log(`     ${rate.came.toFixed(1)} frames a second came, ${rate.drawn.toFixed(1)} drawn, ${((serial - first.serial) / (t - first.t)).toFixed(1)} a second of the robot's time, ${pace.toFixed(3)} of real time, ${(1e3 * step).toFixed(2)} ms a step`);
    assert.ok(pace > 0 && pace < 1.1, `${pace} of real time`);
    if (await unhurried()) assert.ok((serial - first.serial) / (t - first.t) > 25, 'more than 25 frames a second of the robot\'s time');
});

await attempt('a slider moves the tip, within 200 ms where the machine has time', async () => {
    const delays = [];
    let promised = false;
    for (const value of [3, 0, 4, 0, 5]) {
        await tab.waitForTimeout(300);
        promised = await unhurried();
        delays.push(await tab.evaluate(([to]) => new Promise((done) => {
            const slider = document.querySelector('input[aria-label="actuator left"]');
            const before = window.sinew.column('tip.x'), begin = performance.now();
            slider.value = String(to);
            slider.dispatchEvent(new Event('input'));
            const look = setInterval(() => {
                const given = window.sinew.controls().find((c) => c.name === 'left').now;
                if (Math.abs(given - to) < 2.5 && Math.abs(window.sinew.column('tip.x') - before) > 1e-3) {
                    clearInterval(look);
                    done(performance.now() - begin);
                }
            }, 2);
        }), [value]));
        promised &&= await unhurried();
    }
    delays.sort((a, b) => a - b);
    console.log(`     tip moved by 1 mm after ${delays.map((d) => d.toFixed(0)).join(', ')} ms${promised ? '' : ' on a busy machine'}`);
    if (promised) assert.ok(delays[0] < 200, `${delays} ms`);
    await until(tab, () => Math.abs(window.sinew.controls().find((c) => c.name === 'left').now - 5) < 1e-2);
});

await attempt('a parameter changes the model and the motion goes on', async () => {
    await turn(tab, 'left', 0);
    await until(tab, () => window.sinew.column('tip.x') < 0.02);
    const { t } = await state(tab);
    await turn(tab, 'F', 0.25);
    await until(tab, () => window.sinew.column('tip.x') > 0.05);
    assert.ok((await state(tab)).t > t);
    await tab.locator('button[aria-label="F back to the value of the file"]').evaluate((b) => b.click());
    await until(tab, () => window.sinew.column('tip.x') < 0.03);
});

await attempt('the mouse pulls at the tip', async () => {
    const { t: late } = await state(tab);
    await tab.keyboard.press('r');
    await until(tab, (t0) => window.sinew.state().t < t0 && window.sinew.state().t > 0.1, late); // begun anew
    await drawn(tab);
    const at = await tab.evaluate(() => {
        const p = window.sinew.project(...window.sinew.node(window.sinew.state().nodes - 1));
        const box = document.querySelector('canvas').getBoundingClientRect();
        return { x: p.x + box.left, y: p.y + box.top };
    });
    const before = await tip(tab);
    await tab.mouse.move(at.x, at.y);
    await tab.mouse.down();
    await tab.mouse.move(at.x + 60, at.y - 10, { steps: 4 });
    await until(tab, () => window.sinew.state().pulled >= 0);
    await until(tab, (b) => Math.hypot(...['x', 'y', 'z'].map((c, i) => window.sinew.column(`tip.${c}`) - b[i])) > 0.02, before);
    await tab.mouse.up();
    await until(tab, () => window.sinew.state().pulled < 0);
});

await attempt('pause, single step, reset', async () => {
    await tab.keyboard.press('Space');
    await until(tab, () => window.sinew.state().paused);
    await tab.waitForTimeout(100);
    const { t } = await state(tab);
    await tab.waitForTimeout(200);
    assert.equal((await state(tab)).t, t);
    await tab.keyboard.press('ArrowRight');
    await until(tab, (t0) => window.sinew.state().t > t0, t);
    assert.ok(Math.abs((await state(tab)).t - t - 5e-3) < 1e-9, 'one step is 5 ms');
    await tab.keyboard.press('r');
    await until(tab, () => window.sinew.state().t === 0);
    const [x, , z] = await tip(tab);
    assert.ok(Math.abs(x) < 1e-6 && z < -0.3, 'it hangs down where it began');
});

await attempt('a flood of bad messages changes nothing', async () => {
    const before = await tip(tab);
    await tab.evaluate(() => {
        const bad = ['', '{', '{}', 'null', '[1,2,3]', '{"do":"fly"}', '{"do":"set","control":99,"value":1}', '{"do":"set","control":0,"value":1e999}', '{"do":"set","control":-1,"value":1}',
            '{"do":"pull","node":1e9,"at":[0,0,0],"to":[0,0,0],"strength":1}', '{"do":"pull","node":3,"at":[0,0,0],"to":[0,0],"strength":1}', '{"do":"speed","value":"fast"}', '\u0000\u0001', '"' + 'x'.repeat(400), '{"do":"reset"}'.repeat(3),
            'y'.repeat(5000), 'z'.repeat(300000)];
        for (let i = 0; i < 200; i++) for (const b of bad.slice(0, i % 50 === 0 ? bad.length : bad.length - 1)) window.sinew.raw(b);
        for (let i = 0; i < 200; i++) window.sinew.raw(new Uint8Array([i, 255, 0, 123]).buffer);
    });
    await until(tab, () => document.querySelector('.words').textContent.includes('refused'));
    await tab.waitForTimeout(300);
    assert.deepEqual(await tip(tab), before);
    assert.equal((await state(tab)).t, 0);
    assert.equal((await state(tab)).writer, true);
    await tab.keyboard.press('Space');
    await until(tab, () => window.sinew.state().t > 0.1);
});

await attempt('a second window watches, and takes over', async () => {
    const blind = () => open(server.address, [], false);
    const second = await blind();
    await until(second, () => window.sinew.state().clients === 2);
    assert.equal((await state(second)).writer, false);
    const disabled = (t) => t.evaluate(() => document.querySelector('input[aria-label="actuator left"]').disabled);
    assert.equal(await second.evaluate(() => document.querySelector('.role').textContent), 'watching');
    assert.equal(await disabled(second), true);
    await raw(second, '{"do":"set","control":0,"value":6}');
    await raw(second, '{"do":"reset"}');
    await until(second, () => document.querySelector('.words').textContent.includes('only shows it'));
    await second.waitForTimeout(200);
    assert.ok((await second.evaluate(() => window.sinew.controls()[0].now)) < 1e-9);
    // what the first one does is seen by both
    await turn(tab, 'left', 2);
    await until(second, () => Math.abs(window.sinew.controls()[0].now - 2) < 0.01);
    const third = await blind();
    await second.close();
    await until(tab, () => window.sinew.state().clients === 2);
    assert.equal((await state(tab)).writer, true);
    const heir = await blind();
    await third.close();
    const { t } = await state(heir);
    await tab.close();
    await until(heir, () => window.sinew.state().writer);
    await turn(heir, 'left', 1);
    await until(heir, () => Math.abs(window.sinew.controls()[0].now - 1) < 0.01);
    assert.ok((await state(heir)).t > t);
    await heir.close();
});

await attempt('a hostile title is inert, nothing is wider than a phone, all has names', async () => {
    const phone = await open(server.address, faults);
    await phone.setViewportSize({ width: 390, height: 800 });
    assert.equal(await phone.locator('h1').textContent(), hostile);
    assert.equal(await phone.evaluate(() => window.hacked), undefined);
    await phone.waitForTimeout(100);
    assert.ok(await phone.evaluate(() => document.documentElement.scrollWidth <= 390));
    const unnamed = await phone.evaluate(() => [...document.querySelectorAll('button, select, input')].filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.closest('label')?.textContent.trim())).map((e) => e.outerHTML));
    assert.deepEqual(unnamed, []);
    await phone.close();
});

// ---- who may come in

const { hostname, port, pathname } = new URL(server.address);
const get = (path, headers = {}) => new Promise((done, fail) => {
    const r = request({ host: hostname, port, path, headers }, (answer) => {
        answer.resume();
        answer.on('end', () => done({ status: answer.statusCode, headers: answer.headers }));
    });
    r.on('error', fail);
    r.end();
});
const upgrade = (path, headers) => new Promise((done) => {
    const socket = connect(Number(port), hostname);
    let said = '';
    const lines = { Host: `${hostname}:${port}`, Connection: 'Upgrade', Upgrade: 'websocket', 'Sec-WebSocket-Version': '13', 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==', ...headers };
    socket.on('connect', () => socket.write(`GET ${path} HTTP/1.1\r\n${Object.entries(lines).filter(([, v]) => v).map(([k, v]) => `${k}: ${v}`).join('\r\n')}\r\n\r\n`));
    socket.on('data', (d) => {
        said += d.toString('latin1');
        if (said.includes('\r\n')) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => done(said.startsWith('HTTP/1.1 101')));
    setTimeout(() => socket.destroy(), 60000).unref();
});

await attempt('only the right address, host and origin get in', async () => {
    const here = `http://${hostname}:${port}`, wrong = pathname.replace(/[0-9a-f]/g, (c) => (c === '0' ? '1' : '0'));
    const page = await get(pathname);
    assert.equal(page.status, 200);
    assert.match(page.headers['content-security-policy'], /default-src 'none'/);
    assert.equal(page.headers['referrer-policy'], 'no-referrer');
    for (const path of ['/', wrong, pathname.slice(0, -1), `${pathname}../`, `${pathname}x`, '/favicon.ico', '/../../etc/passwd', `/${'a'.repeat(3000)}`]) assert.notEqual((await get(path).catch(() => ({ status: 0 }))).status, 200, path);
    assert.equal((await get(pathname, { Host: 'evil.example' })).status, 403);
    assert.equal((await get(pathname, { Host: `evil.example:${port}` })).status, 403);
    assert.equal(await upgrade(`${pathname}live`, { Origin: here }), true);
    assert.equal(await upgrade(`${pathname}live`, { Origin: here.replace('127.0.0.1', 'localhost') }), true);
    for (const [path, headers] of [
        [`${pathname}live`, { Origin: 'http://evil.example' }], [`${pathname}live`, { Origin: `https://${hostname}:${port}` }], [`${pathname}live`, { Origin: 'null' }], [`${pathname}live`, {}],
        [`${pathname}live`, { Origin: here, Host: `evil.example:${port}` }], [`${wrong}live`, { Origin: here }], ['/live', { Origin: here }], [pathname, { Origin: here }],
    ]) assert.equal(await upgrade(path, headers), false, `${path} ${JSON.stringify(headers)}`);
    // other addresses of this machine are not listened on
    for (const other of Object.values(networkInterfaces()).flat().filter((a) => a.family === 'IPv4' && !a.internal)) {
        const reached = await new Promise((done) => {
            const s = connect(Number(port), other.address);
            s.on('connect', () => (s.destroy(), done(true)));
            s.on('error', () => done(false));
        });
        assert.equal(reached, false, other.address);
    }
});

await attempt('noise on the wire does no harm', async () => {
    const throwNoise = (bytes) => new Promise((done) => {
        const s = connect(Number(port), hostname, () => s.end(bytes));
        s.on('error', () => done());
        s.on('close', () => done());
        setTimeout(() => (s.destroy(), done()), 200);
    });
    for (let i = 0; i < 8; i++) await throwNoise(Buffer.from(Array.from({ length: 400 }, (_, k) => (k * 7919 * (i + 1)) % 256)));
    assert.equal((await get(pathname)).status, 200);
});

await attempt('a recording is a result file; Ctrl-C closes it', async () => {
    const again = await open(server.address, faults);
    await until(again, () => window.sinew.state().writer);
    await again.keyboard.press('w');
    await until(again, () => window.sinew.state().recording);
    await turn(again, 'left', 4);
    const { t } = await state(again);
    await until(again, (t0) => window.sinew.controls()[0].now > 3 && window.sinew.state().t > t0 + 0.4, t);
    await again.keyboard.press('w');
    await until(again, () => !window.sinew.state().recording);
    const first = join(folder, 'arm.play.h5');
    const shown = JSON.parse(execFileSync(sinew, ['show', first, '--json'], { encoding: 'utf8' }));
    assert.equal(shown.runs[0].state ?? shown.runs[0].status, 'finished');
    const csv = execFileSync(sinew, ['show', first, '--probe', 'tip', '--probe', 'live', '--csv'], { encoding: 'utf8' }).trim().split('\n');
    assert.equal(csv[0], 't,tip.x,tip.y,tip.z,live.left,live.F');
    assert.ok(csv.length > 10, `${csv.length} lines`);
    assert.ok(Number(csv.at(-1).split(',')[4]) > 2, csv.at(-1));
    execFileSync(sinew, ['view', first, '-o', join(folder, 'arm.html')], { encoding: 'utf8' });
    await again.keyboard.press('w');
    await until(again, () => window.sinew.state().recording);
    await again.waitForTimeout(300);
    const { code } = await server.end('SIGINT');
    assert.equal(code, 0);
    const second = JSON.parse(execFileSync(sinew, ['show', join(folder, 'arm.play-2.h5'), '--json'], { encoding: 'utf8' }));
    assert.equal(second.runs[0].state ?? second.runs[0].status, 'finished');
    await until(again, () => window.sinew.state().lost);
    await again.close();
});

await attempt('a killed server is told, and its recording can be read', async () => {
    const mortal = await start('-o', 'kept.h5');
    const watcher = await open(mortal.address, [], false);
    await watcher.keyboard.press('w');
    await until(watcher, () => window.sinew.state().recording);
    const kept = join(folder, 'kept.h5');
    const lines = () => existsSync(kept) ? execFileSync(sinew, ['show', kept, '--probe', 'tip', '--csv'], { encoding: 'utf8' }).trim().split('\n').length : 0;
    while (lines() <= 5) await watcher.waitForTimeout(200);
    await mortal.end('SIGKILL');
    await until(watcher, () => window.sinew.state().lost && /broken|ended/.test(document.querySelector('.problem[role=alert]').textContent));
    assert.equal(await watcher.evaluate(() => document.querySelector('input[aria-label="actuator left"]').disabled), true);
    assert.ok(lines() > 5, `${lines()} lines`);
    await watcher.close();
});

await attempt('a model that is too slow slows the clock, not its steps', async () => {
    const slow = await start('--step', '1e-5');
    const watcher = await open(slow.address, [], false);
    await until(watcher, () => /× real time/.test(document.querySelector('.time small').textContent) && document.querySelector('.time small').classList.contains('warn'));
    const { pace, t } = await state(watcher);
    console.log(`     steps of 10 µs: ${pace.toFixed(3)} of real time`);
    assert.ok(pace < 0.95, `${pace} of real time`);
    assert.ok(Math.abs(t / 1e-5 - Math.round(t / 1e-5)) < 1e-3, `${t} s are not whole steps`);
    await slow.end('SIGINT');
    await watcher.close();
});

await attempt('no errors in the page and no requests elsewhere', async () => assert.deepEqual(faults.filter((f) => !/WebSocket|net::ERR/.test(f)), []));

await browser.close();
process.exitCode = failed ? 1 : 0;
