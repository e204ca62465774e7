import type { Output } from '../../kernel/kernel.js';
import { button, el } from '../dom.js';
import type { ShowMessage } from '../sandboxed/show-pages.js';
import { cannotShow } from './cannot-show.js';
import { followTrust, outputsTrusted, trustOutputs } from './host-requests.js';
import { type OutputScripts, pagesBefore } from './output-scripts.js';
import type { SandboxedFrameOptions } from './sandboxed-frame.js';

/** An output in which something would act: without it, and a line that says so; or, in a notebook that is trusted, apart from everything. */
export function scriptedOutput(output: Output, scripts: OutputScripts, withoutScripts: () => HTMLElement | undefined): HTMLElement {
  const holder = el('div', { class: 'scripted-output' });
  followTrust(holder, () => {
    const parts = outputsTrusted() && scripts.hasScript ? running(output, scripts) : [withoutScripts(), removedLine(scripts)];
    holder.replaceChildren(...parts.filter((part) => part !== undefined));
  });
  return holder;
}

function running(output: Output, { page: html, isLibrary }: OutputScripts): HTMLElement[] {
  const stop = button({ class: 'quiet', onclick: () => trustOutputs(false) }, 'Do not trust it any more');
  if (isLibrary) return [el('div', { class: 'removed' }, 'This output brings scripts that outputs below it use. ')];
  const place = el('div', {});
  const page: SandboxedFrameOptions = {
    page: 'sandboxed.html',
    label: 'Output with scripts',
    onReady: (frame) => frame.post({ type: 'show', html: [...pagesBefore(output), html] } satisfies ShowMessage),
  };
  import('./sandboxed-frame.js').then(
    ({ sandboxedFrame }) => place.replaceWith(sandboxedFrame(page)),
    (error: unknown) => place.replaceWith(cannotShow('This output', error)),
  );
  return [place, el('div', { class: 'removed running' }, 'Scripts of this notebook run apart from it, and without network. ', stop)];
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
