import type { Output } from '../../kernel/kernel.js';
import { button, el } from '../dom.js';
import { followTrust, outputsTrusted, requestOfHost } from './host-requests.js';
import { type OutputScripts, pagesBefore } from './output-scripts.js';
import { sandboxedFrame } from './sandboxed-frame.js';

/** An output in which something would act: without it, and a line that says so; or, in a notebook that is trusted, apart from everything. */
export function scriptedOutput(output: Output, scripts: OutputScripts, withoutScripts: () => HTMLElement | undefined): HTMLElement {
  const holder = el('div', { class: 'scripted-output' });
  followTrust(holder, () => {
    const parts = outputsTrusted() && scripts.hasScript ? running(output, scripts) : [withoutScripts(), removedLine(scripts)];
    holder.replaceChildren(...parts.filter((part) => part !== undefined));
  });
  return holder;
}

function running(output: Output, { page, isLibrary }: OutputScripts): HTMLElement[] {
  const stop = button({ class: 'quiet', onclick: () => trust(false) }, 'Do not trust it any more');
  if (isLibrary) return [el('div', { class: 'removed' }, 'This output brings scripts that outputs below it use. ')];
  return [
    sandboxedFrame({ pages: () => [...pagesBefore(output), page], label: 'Output with scripts' }),
    el('div', { class: 'removed running' }, 'Scripts of this notebook run apart from it, and without network. ', stop),
  ];
}

function removedLine({ hasScript, isLibrary }: OutputScripts): HTMLElement {
  if (!hasScript)
    return el('div', { class: 'removed' }, 'A page within this output was removed (iframe). Pages from elsewhere are not loaded.');
  const ask = button(
    { class: 'quiet', title: 'Its scripts run apart from this window and without network.', onclick: () => trust(true) },
    'Trust this notebook',
  );
  const what = isLibrary ? 'A script that other outputs use was removed. ' : 'A script was removed from this output. ';
  return el('div', { class: 'removed' }, what, ask, ' to let scripts in its outputs run, apart from this window and without network.');
}

function trust(trusted: boolean): void {
  requestOfHost({ do: 'trustOutputs', trusted }).catch(() => {
    // Without a connection nothing changes, and the window says that there is none.
  });
}
