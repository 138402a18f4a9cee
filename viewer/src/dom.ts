// SPDX-License-Identifier: MIT
//
// Creation of elements: texts become text nodes, never markup.

type Child = Node | string | null | undefined;
type Attributes = Record<string, string | number | boolean | ((e: Event) => void) | undefined>;

export function make<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
    const e = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
        if (typeof value === 'function') e.addEventListener(key.slice(2), value);
        else if (value === true) e.setAttribute(key, '');
        else if (value !== false && value !== undefined) e.setAttribute(key, String(value));
    }
    for (const c of children) if (c !== null && c !== undefined) e.append(c);
    return e;
}

const shapes: Record<string, string> = {
    play: 'M8 5.5v13l10.5-6.5z',
    pause: 'M7 5.5h3.4v13H7zM13.6 5.5H17v13h-3.4z',
    step: 'M6 5.5v13l8.5-6.5zM15.4 5.5H18v13h-2.6z',
    reset: 'M12 5a7 7 0 1 1-6.6 4.7l1.9.7A5 5 0 1 0 12 7v3L7.5 6 12 2z',
    record: 'M12 6.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11z',
    stop: 'M7 7h10v10H7z',
    sun: 'M12 7.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM12 2v2.6M12 19.4V22M2 12h2.6M19.4 12H22M4.9 4.9l1.9 1.9M17.2 17.2l1.9 1.9M4.9 19.1l1.9-1.9M17.2 6.8l1.9-1.9',
    moon: 'M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10z',
};

export function icon(name: string): SVGElement {
    const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
    svg.setAttribute('viewBox', '0 0 24 24');
    svg.setAttribute('aria-hidden', 'true');
    svg.classList.add('icon', name);
    const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    path.setAttribute('d', shapes[name]);
    svg.append(path);
    return svg;
}
