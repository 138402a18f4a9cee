// SPDX-License-Identifier: MIT
//
// Pictures of a live simulation, to be looked at: node shoot_play.mjs OUT.png SINEW FILE [width height light|dark seconds args..]
import { spawn } from 'node:child_process';
import { launch } from './browser.mjs';
import { served } from './served.mjs';

const [out, sinew, file, width = '1360', height = '820', theme = 'light', seconds = '2', ...args] = process.argv.slice(2);
const server = await served(spawn(sinew, ['play', file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] }));
const browser = await launch();
const tab = await browser.newPage({ viewport: { width: Number(width), height: Number(height) }, colorScheme: theme });
tab.on('console', (m) => console.log(m.type(), m.text()));
tab.on('pageerror', (e) => console.log('error', e.message));
await tab.goto(server.address);
await tab.waitForFunction(() => window.sinew?.state().ready);
const before = await tab.evaluate(() => window.sinew.state().serial);
await tab.waitForTimeout(1000 * Number(seconds));
const { serial, rate, speed, step } = await tab.evaluate(() => window.sinew.state());
console.log(`${((serial - before) / Number(seconds)).toFixed(1)} frames a second sent; ${rate.came.toFixed(1)} came, ${rate.drawn.toFixed(1)} drawn; ${speed.toFixed(3)} of real time; ${(1e3 * step).toFixed(2)} ms a step`);
await tab.screenshot({ path: out });
await browser.close();
await server.end('SIGINT');
