import { OutputView as OutputViewBase } from '@jupyter-widgets/output';
import type { MimeBundle, Output } from '../../../model/output.js';
import { widgetIdOf } from '../../../model/outputs.js';
import { el } from '../../dom.js';
import { type DrawnOutput, type Form, pictureForms, plainForm, putOutput, stillForm } from '../../outputs/drawn-outputs.js';
import { asText } from '../../outputs/mime-text.js';

/** Texts stand there as they are: nothing in this page lays them out. */
const forms: readonly Form[] = [
  ...pictureForms,
  ['text/markdown', 'This text', plainForm],
  ['text/plain', 'This text', plainForm],
  ['text/latex', 'This formula', plainForm],
];

/** What code has shown within `with out:`. */
export class OutputView extends OutputViewBase {
  readonly #drawn: DrawnOutput[] = [];

  override render(): void {
    super.render();
    this.el.classList.add('output-widget');
    this.listenTo(this.model, 'change:outputs', () => this.#show());
    this.#show();
  }

  #show(): void {
    const outputs = (this.model.get('outputs') ?? []) as readonly Output[];
    for (const { element } of this.#drawn.splice(outputs.length)) element.remove();
    for (const [index, output] of outputs.entries()) {
      if (JSON.stringify(this.#drawn[index]?.output) === JSON.stringify(output)) continue;
      putOutput(this.#drawn, index, output, { list: this.el, rich: ({ data, metadata = {} }) => this.#rich(data, metadata) });
    }
  }

  #rich(bundle: MimeBundle, metadata: MimeBundle): HTMLElement {
    const modelId = widgetIdOf(bundle);
    const element = modelId === undefined ? stillForm(bundle, metadata, forms) : this.#nested(modelId, bundle);
    const notes = element ? [] : [note('This output cannot be shown within a widget.')];
    // What would act in it does not, and it says so.
    if (bundle['application/javascript'] !== undefined || /<script/i.test(asText(bundle['text/html'] ?? '')))
      notes.push(note('Scripts do not run within a widget. Show this output by a cell of its own.'));
    return el('div', {}, element, ...notes);
  }

  #nested(modelId: string, bundle: MimeBundle): HTMLElement {
    const place = el('div', {});
    const manager = this.model.widget_manager;
    const show = async () => {
      const view = await this.create_child_view(await manager.get_model(modelId));
      place.replaceChildren(view.el);
      view.trigger('displayed');
    };
    show().catch(() => place.replaceChildren(plainForm(bundle['text/plain'] ?? '')));
    return place;
  }
}

function note(text: string): HTMLElement {
  return el('div', { class: 'not-loaded' }, text);
}
