import type { Output } from '../../model/output.js';
import { button, el } from '../dom.js';
import { missingLibraries } from './chart-libraries.js';
import { showPage } from './chart-output.js';
import { followTrust, mayRun, notebookTrusted, trustOutputs } from './host-requests.js';
import type { OutputScripts } from './output-scripts.js';

/** An output in which something would act: without it, and a line that says so; or, where it has come from a run of this session or the notebook is trusted, apart from everything. */
export function scriptedOutput(output: Output, scripts: OutputScripts, withoutScripts: () => HTMLElement | undefined): HTMLElement {
  const holder = el('div', { class: 'scripted-output' });
  followTrust(holder, output, () => {
    const parts = mayRun(output) && scripts.hasScript ? running(output, scripts) : [withoutScripts(), removedLine(scripts)];
    holder.replaceChildren(...parts.filter((part) => part !== undefined));
  });
  return holder;
}

function running(output: Output, { page, isLibrary }: OutputScripts): HTMLElement[] {
  if (isLibrary) {
    const line = el('div', { class: 'removed' }, 'This output brings scripts that outputs below it use. ');
    queueMicrotask(() => hideWaiting(line, page));
    return [line];
  }
  const place = el('div', {});
  showPage(place, output);
  return [place, ...linesBelow(page)];
}

/** What is known to be missing in the page, and how trust in the notebook ends. */
function linesBelow(page: string): HTMLElement[] {
  const stop = button({ class: 'quiet', onclick: () => trustOutputs(false) }, 'Do not trust it any more');
  const tiles = 'The tiles of this map come from the network, which outputs do not have: its shapes stand on blank ground.';
  const missing = missingLibraries(page).map((address) => address.replace(/^.*\/(?=.)/, ''));
  const scripts = `Not loaded, since outputs have no network: ${missing.slice(0, 5).join(', ')}. What needs it is missing.`;
  const lines = [...(/\bL\.tileLayer\(/.test(page) ? [tiles] : []), ...(missing.length > 0 ? [scripts] : [])];
  return [
    ...(lines.length > 0 ? [el('div', { class: 'removed' }, lines.join(' '))] : []),
    ...(notebookTrusted()
      ? [el('div', { class: 'removed running' }, 'Scripts of this notebook run apart from it, and without network. ', stop)]
      : []),
  ];
}

function removedLine({ hasScript, isLibrary }: OutputScripts): HTMLElement {
  if (!hasScript)
    return el('div', { class: 'removed' }, 'A page within this output was removed (iframe). Pages from elsewhere are not loaded.');
  const ask = button(
    { class: 'quiet', title: 'Its scripts run apart from this window and without network.', onclick: () => trustOutputs(true) },
    'Trust this notebook',
  );
  const what = isLibrary ? 'A script that other outputs use was removed. ' : 'A script was removed from this output. ';
  return el('div', { class: 'removed' }, what, ask, ' to let scripts in its outputs run, apart from this window and without network.');
}

/** The output above it waits for a word of the script, which runs in the pages of others. */
function hideWaiting(line: HTMLElement, page: string): void {
  const above = line.closest('.output')?.previousElementSibling;
  const waiting = above?.querySelector('.html-output > *')?.shadowRoot?.querySelector('[id]')?.id ?? '';
  if (above instanceof HTMLElement && waiting.length >= 8 && page.includes(waiting)) above.hidden = true;
}
