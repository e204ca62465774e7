import { button } from './dom.js';

/** Line drawings on a grid of 16, in the colour of the text around them. */
export const iconPaths = {
  run: 'M5 3.2v9.6l7.5-4.8z',
  stop: 'M4.5 4.5h7v7h-7z',
  up: 'M8 13V3.5M4 7l4-4 4 4',
  down: 'M8 3v9.5M4 9l4 4 4-4',
  remove: 'M3 4.5h10M6.5 4.5v-1.5h3v1.5M4.5 4.5l.6 8.5h5.8l.6-8.5',
  add: 'M8 3v10M3 8h10',
  restart: 'M12.8 8a4.8 4.8 0 1 1-1.6-3.6M12.9 2.2v2.6h-2.6',
  clear: 'M3.5 12.5h9M4 9l5-5.5 3.5 3.2-4.3 4.6H6z',
  sun: 'M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.2v1.6M8 13.2v1.6M1.2 8h1.6M13.2 8h1.6M3.2 3.2l1.1 1.1M11.7 11.7l1.1 1.1M12.8 3.2l-1.1 1.1M4.3 11.7l-1.1 1.1',
  writes: 'M3 13l.7-2.9 7-7 2.2 2.2-7 7z',
  looks: 'M1.5 8s2.4-4.2 6.5-4.2S14.5 8 14.5 8 12.1 12.2 8 12.2 1.5 8 1.5 8zM8 6.3a1.7 1.7 0 1 0 0 3.4 1.7 1.7 0 0 0 0-3.4z',
  close: 'M4 4l8 8M12 4l-8 8',
  more: 'M3.5 8h.01M8 8h.01M12.5 8h.01',
  undo: 'M3 6.5h6.2a3.3 3.3 0 0 1 0 6.6H6M3 6.5l3-3M3 6.5l3 3',
  tools: 'M10.8 2.6a3.2 3.2 0 0 0-3.5 4.3L2.8 11.4l1.8 1.8 4.5-4.5a3.2 3.2 0 0 0 4.3-3.5l-1.9 1.9-1.8-.5-.5-1.8z',
} as const;

export type IconName = keyof typeof iconPaths;

export function icon(name: IconName): SVGSVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const attributes = { viewBox: '0 0 16 16', width: '16', height: '16', 'aria-hidden': 'true', class: `icon icon-${name}` };
  for (const [key, value] of Object.entries(attributes)) svg.setAttribute(key, value);
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  path.setAttribute('d', iconPaths[name]);
  svg.append(path);
  return svg;
}

/** A button that is a drawing alone. `label`: what it does; `title`: the same with its key. */
export function iconButton(name: IconName, label: string, onclick: () => unknown, title = label): HTMLButtonElement {
  return button({ class: 'bare', title, 'aria-label': label, onclick: () => void onclick() }, icon(name));
}
