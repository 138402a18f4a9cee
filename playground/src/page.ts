// SPDX-License-Identifier: MIT
//
// Common parts of both pages: colours, state line, the model of the fragment.
import { icon, make } from '../../viewer/src/dom';
import { openExample } from './examples';
import type { Session, State } from './session';
import { readModel, type Model } from './share';

export function fragment(): URLSearchParams {
    return new URLSearchParams(location.hash.slice(1));
}

// Model that the fragment has or names; null: none.
export async function fragmentModel(given: URLSearchParams): Promise<Model | null> {
    const example = given.get('example');
    return example ? openExample(example) : readModel(given);
}

export const FIRST = `sinew: 1
title: A soft arm with a weight at its tip
parameters:
  reach: 30 cm
  weight: 20 g
  modulus: 1 MPa
materials:
  silicone: {young: modulus, poisson: 0.5, density: 1070 kg/m^3, damping: 10 ms}
robot:
  arm:
    on: world
    rod: {length: reach, section: {circle: {radius: 10 mm}}, material: silicone, strain: kirchhoff legendre 4}
    body: {mass: weight}
study:
  - dynamic: {for: 2 s, step: 10 ms}
probes:
  tip: {position: arm.tip}
`;

export class Theme {
    dark: boolean;
    readonly button = make('button', { class: 'plain', type: 'button', 'aria-label': 'light or dark', title: 'light or dark', onclick: () => this.set(!this.dark) });
    private session: Session | null = null;

    constructor(given: string | null) {
        const wanted = window.matchMedia('(prefers-color-scheme: dark)');
        this.dark = given ? given === 'dark' : wanted.matches;
        if (!given) wanted.addEventListener('change', () => this.set(wanted.matches));
        window.addEventListener('message', (e) => {
            const said = e.data as { sinew?: string; dark?: boolean } | null;
            if (said?.sinew === 'theme') this.set(said.dark === true);
        });
        this.set(this.dark);
    }

    attach(session: Session): void {
        this.session = session;
        this.set(this.dark);
    }

    set(dark: boolean): void {
        this.dark = dark;
        document.documentElement.dataset.theme = dark ? 'dark' : 'light';
        this.button.replaceChildren(icon(dark ? 'sun' : 'moon'));
        this.session?.theme(dark);
    }
}

// Line with the state of the run, its progress, and a button that runs or cancels.
export class Status {
    readonly words = make('button', { type: 'button', class: 'words', role: 'status', title: 'go to the fault', onclick: () => this.visit() });
    readonly bar = make('div', { class: 'progress', 'aria-hidden': 'true' }, make('i'));
    readonly button = make('button', { type: 'button', class: 'run', title: 'run (ctrl + enter)', onclick: () => this.act() }, 'Run');
    state: State = 'idle';
    private session: Session | null = null;

    attach(session: Session): void {
        this.session = session;
    }

    tell(state: State, words: string): void {
        this.state = state;
        document.documentElement.dataset.state = state;
        this.words.textContent = words;
        this.button.textContent = this.running ? 'Cancel' : 'Run';
        this.button.classList.toggle('busy', this.running);
        if (window.parent !== window && (state === 'running' || state === 'done' || state === 'failed')) window.parent.postMessage({ sinew: 'state', state }, '*');
    }

    progress(fraction: number | null): void {
        this.bar.classList.toggle('on', fraction !== null);
        (this.bar.firstElementChild as HTMLElement).style.width = `${100 * (fraction ?? 0)}%`;
    }

    private get running(): boolean {
        return this.state === 'running' || this.state === 'loading';
    }

    private act(): void {
        if (this.running) this.session?.cancel();
        else this.session?.start();
    }

    private visit(): void {
        if (this.state === 'failed') this.session?.visit();
    }
}
