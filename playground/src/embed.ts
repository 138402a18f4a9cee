// SPDX-License-Identifier: MIT
//
// The playground as a frame in another page: small editor, robot, run button. It runs when it comes into view.
import { make } from '../../viewer/src/dom';
import { FIRST, fragment, fragmentModel, Status, Theme } from './page';
import { Session } from './session';
import { modelFragment } from './share';

const given = fragment();
const theme = new Theme(given.get('theme'));
const status = new Status();
const editorBox = make('section', { class: 'editor', 'aria-label': 'model' });
const sliderBox = make('section', { class: 'knobs hidden', 'aria-label': 'parameters' });
const viewBox = make('section', { class: 'view', 'aria-label': 'robot' });
const session = new Session(editorBox, sliderBox, viewBox, {
    state: (state, words) => status.tell(state, words),
    progress: (fraction) => status.progress(fraction),
    runs: () => undefined,
    expects: () => undefined,
    edited: () => undefined,
});
status.attach(session);
theme.attach(session);

const open = make('a', { href: 'index.html', target: '_blank', rel: 'noopener', title: 'open in the playground', onpointerdown: () => void link(), onfocus: () => void link() }, 'open');
async function link(): Promise<void> {
    open.setAttribute('href', `index.html#${await modelFragment(session.model)}`);
}

document.getElementById('app')!.append(make('div', { class: 'playground embed', 'data-show': given.get('show') ?? 'both' },
    make('main', { class: 'left' }, editorBox, sliderBox, status.bar, make('footer', {}, status.button, status.words, open)), viewBox));

async function begin(): Promise<void> {
    const model = (await fragmentModel(given)) ?? { text: FIRST, files: {} };
    session.auto = session.story = false;
    session.open(model, given.get('run') ?? '');
    status.tell('idle', 'ready');
    if (given.get('auto') === 'off') return;
    // frames below the fold cost nothing until the reader comes to them
    const seen = new IntersectionObserver((all) => {
        if (!all.some((e) => e.isIntersecting)) return;
        seen.disconnect();
        session.auto = true;
        session.start();
    });
    seen.observe(document.body);
}
void begin();

(window as unknown as { playground: unknown }).playground = { session, status };
