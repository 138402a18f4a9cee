// SPDX-License-Identifier: MIT
//
// The playground: editor and sliders beside the robot, with examples, links and downloads.
import { make } from '../../viewer/src/dom';
import { number } from '../../viewer/src/format';
import { download } from '../../viewer/src/save';
import { examples, openExample } from './examples';
import { FIRST, fragment, fragmentModel, Status, Theme } from './page';
import { Session } from './session';
import { modelFragment } from './share';

const given = fragment();
const theme = new Theme(given.get('theme'));
const status = new Status();
let name = 'model'; // of downloaded files

const editorBox = make('section', { class: 'editor', 'aria-label': 'model' });
const sliderBox = make('section', { class: 'knobs hidden', 'aria-label': 'parameters' });
const viewBox = make('section', { class: 'view', 'aria-label': 'robot' });
const runBox = make('label', { class: 'hidden' }, 'run');
const runSelect = make('select', { 'aria-label': 'run', onchange: () => session.chooseRun(runSelect.value) });
const note = make('span', { class: 'note', role: 'status' });
runBox.append(runSelect);

const verifyButton = make('button', { type: 'button', class: 'quiet hidden', title: 'compare with the expected values of the file', onclick: () => void verify() }, 'Verify');

const liveButton = make('button', { type: 'button', class: 'quiet', 'aria-pressed': 'false', title: 'simulate in real time: sliders for what live: names, and the mouse pulls at the robot', onclick: () => {
    if (status.state === 'live') session.start();
    else void session.live().then(() => status.state === 'live' && turn('robot'));
} }, 'Live');

const session = new Session(editorBox, sliderBox, viewBox, {
    state: (state, words) => {
        status.tell(state, words);
        liveButton.setAttribute('aria-pressed', String(state === 'live'));
    },
    progress: (fraction) => status.progress(fraction),
    runs: (names, chosen) => {
        runBox.classList.toggle('hidden', names.length === 0);
        runSelect.replaceChildren(...names.map((n) => make('option', { value: n }, n)), make('option', { value: '*' }, 'all runs'));
        runSelect.value = chosen || '*';
    },
    expects: (some) => verifyButton.classList.toggle('hidden', !some),
    edited: () => {
        // the address is that of a model which is no more in the editor
        if (location.hash) history.replaceState(null, '', location.pathname + location.search);
        keepDraft();
    },
});
status.attach(session);
theme.attach(session);

// ---- the text survives a reload

const DRAFT = 'sinew-playground';

function keepDraft(): void {
    try {
        localStorage.setItem(DRAFT, JSON.stringify(session.model));
    } catch {
        // no storage in this browser, or it is full: the draft is lost with the page
    }
}

function draft(): { text: string; files: Record<string, string> } | null {
    try {
        const kept = JSON.parse(localStorage.getItem(DRAFT) ?? 'null') as { text?: unknown; files?: unknown } | null;
        return kept && typeof kept.text === 'string' ? { text: kept.text, files: (kept.files ?? {}) as Record<string, string> } : null;
    } catch {
        return null;
    }
}

// ---- menus

function say(words: string): void {
    note.textContent = words;
    window.setTimeout(() => {
        if (note.textContent === words) note.textContent = '';
    }, 5000);
}

const exampleSelect = make('select', { class: 'examples', 'aria-label': 'examples', onfocus: () => void fillExamples(), onpointerdown: () => void fillExamples(), onchange: () => void chooseExample() }, make('option', { value: '' }, 'Examples'));

async function fillExamples(): Promise<void> {
    if (exampleSelect.options.length > 1) return;
    const list = await examples();
    const groups = new Map<string, HTMLOptGroupElement>();
    if (exampleSelect.options.length > 1) return;
    for (const e of list) {
        const folder = e.path.slice(0, e.path.indexOf('/'));
        let group = groups.get(folder);
        if (!group) {
            group = make('optgroup', { label: folder });
            groups.set(folder, group);
            exampleSelect.append(group);
        }
        group.append(make('option', { value: e.path }, e.title));
    }
}

async function chooseExample(): Promise<void> {
    const path = exampleSelect.value, model = path ? await openExample(path) : null;
    if (!model) return;
    name = path.slice(path.lastIndexOf('/') + 1);
    history.replaceState(null, '', `#example=${path}`);
    exampleSelect.value = '';
    session.open(model);
}

async function share(): Promise<void> {
    const run = session.chosen && session.chosen !== runSelect.options[0]?.value ? `&run=${encodeURIComponent(session.chosen)}` : '';
    history.replaceState(null, '', `#${await modelFragment(session.model)}${run}`);
    try {
        await navigator.clipboard.writeText(location.href);
        say(`link copied, ${location.href.length} characters`);
    } catch {
        say('the link is in the address bar');
    }
}

// a line of the menu
function offer(label: string, act: () => Promise<void> | void): HTMLElement {
    return make('button', { type: 'button', onclick: async () => {
        menu.open = false;
        try {
            await act();
        } catch (e) {
            say(e instanceof Error ? e.message : String(e));
        }
    } }, label);
}

const table = make('table');
const verified = make('dialog', { 'aria-label': 'expected values' }, make('h2', {}, 'Expected values'), make('div', { class: 'scroll' }, table), make('form', { method: 'dialog' }, make('button', {}, 'close')));

async function verify(): Promise<void> {
    const rows = await session.verify();
    if (rows.length === 0) return;
    const cell = (text: string, kind = '') => make('td', { class: kind }, text);
    table.replaceChildren(make('thead', {}, make('tr', {}, ...['', 'value', 'expected', 'computed', 'tolerance', 'source'].map((h) => make('th', { scope: 'col' }, h)))),
        make('tbody', {}, ...rows.map((r) => make('tr', { class: r.pass ? '' : 'missed' }, cell(r.pass ? '✓' : '✗'), cell(r.name), cell(number(r.expected, 6), 'n'), cell(r.reason || number(r.got, 6), 'n'), cell(`${r.how} ${number(r.tolerance, 2)}`, 'n'), cell(r.source, 'source')))));
    verified.showModal();
}

function needsResult(): void {
    if (!session.result?.page) throw new Error('there is no result yet; run the model first');
}

const menu = make('details', { class: 'menu' }, make('summary', {}, 'Download'), make('div', {},
    offer('model, YAML', () => download(new Blob([session.editor.text], { type: 'application/yaml' }), `${name}.yaml`)),
    offer('curves, CSV', () => {
        needsResult();
        download(new Blob([session.result!.series], { type: 'text/csv' }), `${name}.csv`);
    }),
    offer('shapes, glTF', async () => {
        needsResult();
        download(new Blob([(await session.exported('glb')) as BlobPart], { type: 'model/gltf-binary' }), `${name}.glb`);
    }),
    offer('picture, video …', async () => {
        needsResult();
        turn('robot');
        (await session.viewer).save();
    })));
document.addEventListener('click', (e) => {
    if (menu.open && !menu.contains(e.target as Node)) menu.open = false;
});

// ---- layout

const tabs = ['model', 'robot'].map((tab) => make('button', { type: 'button', 'aria-pressed': String(tab === 'model'), onclick: () => turn(tab) }, tab));
function turn(tab: string): void {
    page.dataset.tab = tab;
    for (const t of tabs) t.setAttribute('aria-pressed', String(t.textContent === tab));
}

const auto = make('input', { type: 'checkbox', checked: true, onchange: () => (session.auto = auto.checked) });
const splitter = make('div', { class: 'splitter', role: 'separator', 'aria-label': 'width of the editor', 'aria-orientation': 'vertical', tabindex: '0' });
const page = make('div', { class: 'playground', 'data-tab': 'model' },
    make('header', {}, make('h1', {}, 'Sinew ', make('small', {}, 'playground')), exampleSelect, runBox, note, make('div', { class: 'tabs', role: 'group', 'aria-label': 'part of the page' }, ...tabs),
        make('button', { type: 'button', class: 'quiet', title: 'a link with this model', onclick: () => void share() }, 'Share'), menu, theme.button),
    make('main', { class: 'left' }, editorBox, sliderBox, status.bar,
        make('footer', {}, status.button, make('label', { title: 'run after each change' }, auto, 'auto'), status.words, liveButton, verifyButton)),
    splitter, viewBox);
document.getElementById('app')!.append(page, verified);

function widen(x: number): void {
    page.style.setProperty('--left', `${Math.min(Math.max(x, 240), window.innerWidth - 320)}px`);
}
splitter.addEventListener('pointerdown', (e) => {
    splitter.setPointerCapture(e.pointerId);
    page.classList.add('sizing');
});
splitter.addEventListener('pointermove', (e) => {
    if (splitter.hasPointerCapture(e.pointerId)) widen(e.clientX);
});
splitter.addEventListener('lostpointercapture', () => page.classList.remove('sizing'));
splitter.addEventListener('keydown', (e) => {
    const by = e.key === 'ArrowLeft' ? -24 : e.key === 'ArrowRight' ? 24 : 0;
    if (by) widen(splitter.getBoundingClientRect().left + by);
});

async function begin(): Promise<void> {
    const now = fragment(), wanted = ['m', 'p', 'example'].some((k) => now.has(k));
    const model = await fragmentModel(now);
    if (wanted && !model) say('this link is damaged or names no example');
    const example = now.get('example');
    if (example) name = example.slice(example.lastIndexOf('/') + 1);
    session.open(model ?? (wanted ? null : draft()) ?? { text: FIRST, files: {} }, now.get('run') ?? '');
}
window.addEventListener('hashchange', () => void begin());
void begin();

(window as unknown as { playground: unknown }).playground = { session, status };
