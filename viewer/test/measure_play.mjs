// SPDX-License-Identifier: MIT
//
// How fast `sinew play` is: node measure_play.mjs SINEW FILE CONTROL VALUE COLUMN MOVE [args..]. Prints frames that reach the page a
// second, share of real time, time of a step, and how long after a slider jumps to VALUE the COLUMN of a probe has moved by MOVE.
// Beside it, what it takes of the processor, which does not depend on who else is at work. The page draws nothing: without a graphics card that would be what is measured.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { launch } from './browser.mjs';
import { served } from './served.mjs';

const [sinew, file, control, value, column, move, ...args] = process.argv.slice(2);
const child = spawn(sinew, ['play', file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
const server = await served(child);
// seconds of the processor so far
const worked = () => {
    const fields = readFileSync(`/proc/${child.pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
};
const browser = await launch();
const tab = await browser.newPage({ viewport: { width: 480, height: 360 } });
await tab.addInitScript(() => {
    const get = HTMLCanvasElement.prototype.getContext;
    HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
        return kind.startsWith('webgl') ? null : get.call(this, kind, ...rest);
    };
});
await tab.goto(server.address);
await tab.waitForFunction(() => window.sinew?.state().ready, undefined, { polling: 50 });
await tab.waitForTimeout(1000);
const before = worked();
const paced = await tab.evaluate(() => new Promise((done) => {
    const begin = performance.now(), { serial, t } = window.sinew.state();
    setTimeout(() => {
        const now = window.sinew.state(), s = (performance.now() - begin) / 1000;
        done({ frames: (now.serial - serial) / s, share: (now.t - t) / s, step: now.step, span: now.t - t });
    }, 5000);
}));
const load = (worked() - before) / paced.span;
const delay = () => tab.evaluate(([name, to, probe, least]) => new Promise((done) => {
    const slider = document.querySelector(`input[aria-label="actuator ${name}"]`);
    const before = window.sinew.column(probe), begin = performance.now();
    slider.value = String(to);
    slider.dispatchEvent(new Event('input'));
    const look = setInterval(() => {
        const ms = performance.now() - begin;
        if (Math.abs(window.sinew.column(probe) - before) < least && ms < 5000) return;
        clearInterval(look);
        done(ms);
    }, 1);
}), [control, Number(value), column, Number(move)]);
const delays = [];
for (let i = 0; i < 5; i++) {
    await tab.evaluate(() => window.sinew.raw('{"do":"reset"}'));
    await tab.waitForTimeout(300);
    delays.push(await delay());
}
delays.sort((a, b) => a - b);
console.log(`${file}: ${paced.frames.toFixed(1)} frames a second, ${paced.share.toFixed(3)} of real time, ${(1e3 * paced.step).toFixed(2)} ms a step, ${load.toFixed(3)} s of the processor a second simulated, slider to ${column}: ${delays.map((d) => d.toFixed(0)).join(', ')} ms`);
await browser.close();
await server.end('SIGINT');
