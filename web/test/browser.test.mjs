// SPDX-License-Identifier: MIT
//
// The engine in a Web Worker of headless Chromium: check, run, verify, export, live simulation, cancel, bad input.
//
// usage: node web/test/browser.test.mjs FOLDER
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join } from 'node:path';
import { browserOrSkip } from '../../viewer/test/needed.mjs';

const [, , folder] = process.argv;
if (!existsSync(join(folder, 'sinew.wasm'))) {
    console.log('skipped: there is no sinew.wasm; make wasm builds it');
    process.exit(77);
}
const launch = await browserOrSkip();
const types = { '.js': 'text/javascript', '.wasm': 'application/wasm', '.html': 'text/html' };
const server = createServer((request, answer) => {
    const name = request.url === '/' ? 'index.html' : request.url.slice(1);
    if (name === 'index.html') answer.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>engine</title>');
    else if (/^[\w.]+$/.test(name) && existsSync(join(folder, name))) answer.writeHead(200, { 'Content-Type': types[extname(name)] ?? 'text/plain' }).end(readFileSync(join(folder, name)));
    else answer.writeHead(404).end();
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));

const arm = `sinew: 1
title: Arm
materials:
  rubber: {young: 1 MPa, poisson: 0.5, density: 1000 kg/m^3}
robot:
  arm:
    on: world
    rod: {length: 30 cm, section: {circle: {radius: 10 mm}}, material: rubber, strain: kirchhoff legendre 3}
study:
  - static:
  - dynamic: {for: 0.2 s, step: 5 ms}
probes:
  tip: {position: arm.tip}
expect:
  - {probe: tip.x, at: end, below: 0.3}
`;

const browser = await launch();
try {
    const page = await browser.newPage();
    const faults = [];
    page.on('pageerror', (e) => faults.push(e.message));
    await page.goto(`http://127.0.0.1:${server.address().port}/`);
    const seen = await page.evaluate(async (model) => {
        const { createEngine } = await import('/engine.js');
        const engine = createEngine(), out = {};
        out.version = await engine.version();
        out.check = await engine.check(model);
        out.wrong = await engine.check(model.replace('length: 30 cm', 'lenght: 30 cm'));
        out.torn = await engine.check('a: [1, {b: "');
        const run = await engine.run(model, { set: { 'rubber.young': '2 MPa' } });
        out.run = { ok: run.ok, text: run.text, series: run.series, ids: Object.keys(run.page), head: JSON.parse(run.page['sinew-data']) };
        out.verify = await engine.verify(model);
        out.glb = (await engine.exportFile('glb')).slice(0, 4).join();
        out.svg = new TextDecoder().decode(await engine.exportFile('svg')).slice(0, 5);
        out.help = (await engine.command(['help'])).output.slice(0, 200);
        // a live simulation
        out.live = await new Promise((done, fail) => {
            const seen = { hello: null, state: null, frames: 0 };
            let live = null;
            const onMessage = (m) => {
                if (typeof m !== 'string') seen.frames++;
                else seen[JSON.parse(m).type] = JSON.parse(m);
                if (seen.frames === 5) {
                    live?.close();
                    done(seen);
                }
            };
            engine.live(model, { onMessage }).then((l) => (live = l), fail);
        });
        // a long run is ended, and the engine works on
        const long = engine.run(model.replace('for: 0.2 s', 'for: 2000 s')).then(() => 'ended', (e) => e.message);
        await new Promise((done) => setTimeout(done, 500));
        engine.cancel();
        out.cancelled = await long;
        out.again = (await engine.check(model)).ok;
        return out;
    }, arm);
    assert.match(seen.version, /^sinew \d/);
    assert.equal(seen.check.ok, true, seen.check.text);
    assert.match(seen.check.text, /degrees? of freedom/);
    assert.equal(seen.wrong.ok, false);
    assert.match(seen.wrong.problems[0].message, /did you mean 'length'/);
    assert.deepEqual([seen.wrong.problems[0].line, seen.wrong.problems[0].column, seen.wrong.problems[0].endColumn], [8, 11, 17]);
    assert.equal(seen.torn.ok, false);
    assert.equal(seen.run.ok, true, seen.run.text);
    assert.ok(seen.run.ids.includes('sinew-0-pose'));
    assert.equal(seen.run.head.runs[0].state, 'finished');
    assert.match(seen.run.series, /^t,tip\.x,tip\.y,tip\.z\n/);
    assert.equal(seen.verify.ok, true, seen.verify.text);
    assert.deepEqual([seen.verify.rows.length, seen.verify.rows[0].pass], [1, true]);
    assert.equal(seen.glb, [0x67, 0x6c, 0x54, 0x46].join());
    assert.match(seen.svg, /^<\?xml|^<svg/);
    assert.equal(seen.live.hello.type, 'hello');
    assert.equal(seen.live.state.type, 'state');
    assert.equal(seen.cancelled, 'cancelled');
    assert.equal(seen.again, true);
    assert.deepEqual(faults, []);
    console.log('check, run, verify, export, live, cancel: as expected');
} finally {
    await browser.close();
    server.close();
}
