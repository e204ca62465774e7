import { button, el } from '../dom.js';
import { cannotShow } from './cannot-show.js';
import { followTrust, outputsTrusted, trustOutputs } from './host-requests.js';

/** A widget: its text, and a line that says how it comes to life; or, in a notebook that is trusted, the widget itself. */
export function widgetOutput(modelId: string, textForm: () => HTMLElement): HTMLElement {
  const holder = el('div', { class: 'widget-output' });
  followTrust(holder, () => {
    if (!outputsTrusted()) return holder.replaceChildren(textForm(), trustLine());
    // Until it is known what the kernel has, and wherever nothing lives, as in an export.
    holder.replaceChildren(textForm());
    import('./live-widgets.js').then(
      ({ showWidget }) => showWidget(holder, modelId, textForm),
      (error: unknown) => holder.append(cannotShow('This widget', error)),
    );
  });
  return holder;
}

function trustLine(): HTMLElement {
  const ask = button(
    { class: 'quiet', title: 'Widgets run apart from this window and without network.', onclick: () => trustOutputs(true) },
    'Trust this notebook',
  );
  return el(
    'div',
    { class: 'removed left-out' },
    'This is the text of an interactive widget. ',
    ask,
    ' to use it here, apart from this window and without network.',
  );
}
