// SPDX-License-Identifier: MIT
//
// A run on the stage: its frames, and a robot for each state of the model.
import type { Theme } from './colour';
import type { Run } from './data';
import { Robot, type Shown } from './robot';
import { readScenes, type Scene } from './scene';

type Most = Robot['most'];

export class Actor {
    readonly told: boolean; // the file has a scene
    readonly scene: Scene; // at the start
    robot: Robot;
    private readonly eras: { stage: number; robot: Robot }[];

    constructor(readonly run: Run) {
        const { eras, told } = readScenes(run.head);
        const era = (k: number) => eras.reduce((a, e) => (e.stage <= run.stage[k] ? e : a));
        this.told = told;
        this.scene = eras[0].scene;
        this.eras = eras.map((e) => ({ stage: e.stage, robot: new Robot(run, e.scene, 0, (k) => era(k) === e) }));
        this.robot = this.eras[0].robot;
        this.scaleBy(this.most);
    }

    // largest values over all states of the model
    get most(): Most {
        const most = { ...this.eras[0].robot.most };
        for (const { robot } of this.eras) for (const q of Object.keys(most) as (keyof Most)[]) most[q] = Math.max(most[q], robot.most[q]);
        return most;
    }

    // one scale for all robots
    scaleBy(most: Most): void {
        for (const { robot } of this.eras) Object.assign(robot.most, most);
    }

    // Mark a section of a rod; null: none.
    cut(at: Robot['cutAt']): void {
        for (const { robot } of this.eras) robot.cutAt = at;
    }

    // Pose the robot whose scene is valid in frame k: between k and k + 1, or a mode shape at the amplitude `swing`.
    pose(k: number, share: number, swing: number, shown: Shown, theme: Theme): Robot {
        const { robot } = this.eras.reduce((a, e) => (e.stage <= this.run.stage[k] ? e : a)), rest = this.restOf(k);
        if (robot !== this.robot) robot.dress(theme);
        this.robot = robot;
        if (rest >= 0) robot.update(k, swing, shown, theme, rest);
        else robot.update(k, share, shown, theme);
        return robot;
    }

    // configuration to which a mode shape belongs: the last frame of its stage; -1: the frame is no mode shape
    restOf(k: number): number {
        const { run } = this;
        if (!(run.mode(k) > 0)) return -1;
        let last = k;
        while (last + 1 < run.n && run.stage[last + 1] === run.stage[k]) last++;
        return run.mode(last) > 0 ? -1 : last;
    }

    // Frame at time t, and the fraction of the way to the next one.
    when(t: number): { k: number; share: number } {
        const { run } = this;
        let low = 0, high = run.n - 1;
        while (low < high) {
            const mid = (low + high + 1) >> 1;
            if (run.t[mid] <= t) low = mid;
            else high = mid - 1;
        }
        const step = low + 1 < run.n && run.stage[low + 1] === run.stage[low] ? run.t[low + 1] - run.t[low] : 0;
        return { k: low, share: step > 0 ? Math.min(Math.max((t - run.t[low]) / step, 0), 1) : 0 };
    }

    dispose(): void {
        for (const { robot } of this.eras) robot.dispose();
    }
}
