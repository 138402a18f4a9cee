// SPDX-License-Identifier: MIT
//
// Menu of what can be saved, with the progress of films.
import { make } from './dom';
import { download, saveDrawing, saveGif, savePicture, saveVideo, videos, type Film, type Format, type Subject } from './save';

export interface Source {
    subject(): Subject | null; // null: there is no stage
    moves(): boolean; // the run has more than one frame
    film(): Film; // endless: until it is stopped
}

export class SaveMenu {
    readonly element: HTMLDetailsElement;
    private readonly list = make('div');
    private readonly state = make('output', { class: 'saving hidden', role: 'status' });
    private readonly stopButton = make('button', { class: 'hidden', type: 'button', onclick: () => (this.going = false) }, 'stop');
    private formats: Format[] | null = null; // of videos, once they are known
    private going = false; // a film is being made

    constructor(private readonly source: Source, private readonly live: boolean) {
        this.element = make('details', { class: 'menu save', ontoggle: () => void this.offer() }, make('summary', {}, 'save'), make('div', {}, this.list, this.state, this.stopButton));
    }

    private async offer(): Promise<void> {
        if (!this.element.open || this.going) return;
        this.formats ??= await videos();
        const item = (label: string, title: string, act: () => void) => make('button', { type: 'button', title, onclick: act }, label);
        const moves = this.source.moves(), films = this.live ? [] : [item('animation, GIF', 'the whole run at the speed of the page', () => this.film('gif'))];
        this.list.replaceChildren(
            item('picture, PNG', '3840 pixels wide (p)', () => this.picture()),
            item('drawing, SVG', 'the robot as vectors', () => this.drawing()),
            ...(moves ? [...films, ...this.formats.map((f) => item(`video, ${f.name}`, this.live ? 'until it is stopped' : 'the whole run at the speed of the page', () => this.film(f.ending, f)))] : []));
    }

    private tell(words: string): void {
        this.state.classList.toggle('hidden', !words);
        this.state.textContent = words;
    }

    picture(): void {
        const subject = this.source.subject();
        if (subject && !this.going) void this.attempt(async () => download(await savePicture(subject), `${subject.name}.png`));
    }

    private drawing(): void {
        const subject = this.source.subject();
        if (subject && !this.going) void this.attempt(async () => download(saveDrawing(subject), `${subject.name}.svg`));
    }

    private film(ending: string, format?: Format): void {
        const subject = this.source.subject();
        if (!subject || this.going) return;
        this.going = true;
        this.stopButton.classList.remove('hidden');
        const going = () => this.going, film = this.source.film(), start = performance.now();
        const told = (share: number) => this.tell(this.live ? `${((performance.now() - start) / 1000).toFixed(0)} s` : `${Math.round(100 * share)} %`);
        void this.attempt(async () => {
            const blob = format ? await saveVideo(subject, film, format, going, told) : await saveGif(subject, film, going, told);
            if (blob) download(blob, `${subject.name}.${ending}`);
        });
    }

    private async attempt(act: () => Promise<void>): Promise<void> {
        try {
            await act();
            this.tell('');
        } catch (e) {
            this.tell(e instanceof Error ? e.message : String(e));
        }
        this.going = false;
        this.stopButton.classList.add('hidden');
    }
}
