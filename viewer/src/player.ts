// SPDX-License-Identifier: MIT
//
// Playback of a run: present time, playing or paused, speed.
import type { Run } from './data';

export const speeds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

export class Player {
    now = 0; // present playing time of the run
    playing = false;
    speed = 1;
    private last = 0;

    constructor(private run: Run, private readonly changed: () => void) {
        this.speed = Player.fitting(run);
    }

    // Real time for runs of some seconds; other runs take about ten seconds.
    private static fitting(run: Run): number {
        const span = run.n > 0 ? run.clock[run.n - 1] : 0;
        if (!(span > 0) || (span >= 1.5 && span <= 20)) return 1;
        const wanted = span / 8;
        return speeds.reduce((a, b) => (Math.abs(Math.log(b / wanted)) < Math.abs(Math.log(a / wanted)) ? b : a));
    }

    get end(): number {
        return this.run.n > 0 ? this.run.clock[this.run.n - 1] : 0;
    }

    // the kept frame at or before now
    get frame(): number {
        const c = this.run.clock;
        let low = 0, high = this.run.n - 1;
        while (low < high) {
            const mid = (low + high + 1) >> 1;
            if (c[mid] <= this.now + 1e-12 * this.end) low = mid;
            else high = mid - 1;
        }
        return Math.max(low, 0);
    }

    // fraction towards the next frame; 0 before another stage, a shape of a mode or a jump
    get share(): number {
        const k = this.frame, r = this.run;
        if (!this.playing || k + 1 >= r.n || r.stage[k] !== r.stage[k + 1] || r.mode(k) > 0 || r.mode(k + 1) > 0) return 0;
        if (!(r.t[k + 1] > r.t[k])) return 0;
        return Math.min(Math.max((this.now - r.clock[k]) / (r.clock[k + 1] - r.clock[k]), 0), 1);
    }

    // amplitude of a mode, -1 to 1; 1 while paused
    get swing(): number {
        const k = this.frame, r = this.run;
        if (!this.playing || k + 1 >= r.n) return 1;
        return Math.cos((6 * Math.PI * (this.now - r.clock[k])) / (r.clock[k + 1] - r.clock[k]));
    }

    seek(now: number): void {
        this.now = Math.min(Math.max(now, 0), this.end);
        this.changed();
    }

    toFrame(k: number): void {
        this.seek(this.run.clock[Math.min(Math.max(k, 0), this.run.n - 1)] ?? 0);
    }

    step(by: number): void {
        this.playing = false;
        this.toFrame(this.frame + by);
    }

    toggle(): void {
        this.playing = !this.playing;
        if (this.playing && this.now >= this.end) this.now = 0;
        if (!this.playing) this.toFrame(this.frame);
        this.last = 0;
        this.changed();
    }

    faster(by: number): void {
        const i = speeds.findIndex((s) => s >= this.speed * 0.999);
        this.speed = speeds[Math.min(Math.max(i + by, 0), speeds.length - 1)];
        this.changed();
    }

    // called once for each picture, with the time in ms
    tick(ms: number): void {
        if (!this.playing) return;
        const dt = this.last ? Math.min((ms - this.last) / 1000, 0.1) : 0;
        this.last = ms;
        this.now += dt * this.speed;
        if (this.now >= this.end) {
            this.now = this.end;
            this.playing = false;
        }
        this.changed();
    }
}
