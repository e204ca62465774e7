import { el } from '../dom.js';
import { cannotShow } from './cannot-show.js';
import { expectLate } from './late-parts.js';

/** A widget of a kernel that has it, or its text and what it needs to live. What a kernel has was made by a run of this session. */
export function widgetOutput(modelId: string, textForm: () => HTMLElement): HTMLElement {
  // The text stands until it is known what the kernel has, and wherever nothing lives, as in an export.
  const holder = el('div', { class: 'widget-output' }, textForm());
  expectLate(
    import('./live-widgets.js').then(
      ({ showWidget }) => showWidget(holder, modelId, textForm),
      (error: unknown) => holder.append(cannotShow('This widget', error)),
    ),
  );
  return holder;
}
