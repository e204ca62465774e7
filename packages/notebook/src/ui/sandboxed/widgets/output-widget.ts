import { OutputView as OutputViewBase } from '@jupyter-widgets/output';
import type { MimeBundle, Output } from '../../../model/output.js';
import { widgetIdOf } from '../../../model/outputs.js';
import { isJsonMimeType, toText } from '../../../model/text.js';
import { el } from '../../dom.js';
import { cannotShow } from '../../outputs/cannot-show.js';
import { htmlOutput } from '../../outputs/html-output.js';
import { safeImage, svgAddress } from '../../outputs/images.js';
import { asText } from '../../outputs/mime-text.js';
import { TextOutput } from '../../outputs/text-output.js';

/** What code has shown within `with out:`. */
export class OutputView extends OutputViewBase {
  #shown: { output: Output; element: HTMLElement; text?: TextOutput }[] = [];

  override render(): void {
    super.render();
    this.el.classList.add('output-widget');
    this.listenTo(this.model, 'change:outputs', () => this.#show());
    this.#show();
  }

  #show(): void {
    const outputs = (this.model.get('outputs') ?? []) as readonly Output[];
    for (const { element } of this.#shown.splice(outputs.length)) element.remove();
    for (const [index, output] of outputs.entries()) {
      const before = this.#shown[index];
      if (before && JSON.stringify(before.output) === JSON.stringify(output)) continue;
      if (before?.text && output.output_type === 'stream' && before.output.name === output.name) {
        before.output = output;
        before.text.show(toText(output.text));
        continue;
      }
      const shown = { output, ...this.#draw(output) };
      if (before) before.element.replaceWith(shown.element);
      else this.el.append(shown.element);
      this.#shown[index] = shown;
    }
  }

  #draw(output: Output): { element: HTMLElement; text?: TextOutput } {
    switch (output.output_type) {
      case 'stream':
        return text(toText(output.text), `stream-output stream-${output.name === 'stderr' ? 'stderr' : 'stdout'}`);
      case 'error':
        return text(output.traceback.join('\n') || `${output.ename}: ${output.evalue}`, 'error-output');
      default:
        try {
          return { element: withNote(this.#rich(output.data), output.data) };
        } catch (error) {
          return { element: cannotShow('This output', error) };
        }
    }
  }

  #rich(bundle: MimeBundle): HTMLElement {
    const modelId = widgetIdOf(bundle);
    if (modelId !== undefined) return this.#nested(modelId, bundle);
    const html = bundle['text/html'] === undefined ? undefined : htmlOutput(asText(bundle['text/html']));
    if (html) return html;
    if (bundle['image/svg+xml'] !== undefined) return picture(svgAddress(asText(bundle['image/svg+xml'])));
    const type = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'].find((each) => bundle[each] !== undefined);
    if (type !== undefined) return picture(safeImage(`data:${type};base64,${asText(bundle[type]).replace(/\s/g, '')}`) ?? '');
    const plain = bundle['text/markdown'] ?? bundle['text/plain'] ?? bundle['text/latex'];
    if (plain !== undefined) return text(asText(plain), 'plain-output').element;
    const json = Object.keys(bundle).find((each) => isJsonMimeType(each));
    if (json !== undefined) return text(JSON.stringify(bundle[json], null, 2), 'plain-output').element;
    return el('div', { class: 'not-loaded' }, 'This output cannot be shown within a widget.');
  }

  #nested(modelId: string, bundle: MimeBundle): HTMLElement {
    const place = el('div', {});
    const manager = this.model.widget_manager;
    const show = async () => {
      const view = await this.create_child_view(await manager.get_model(modelId));
      place.replaceChildren(view.el);
      view.trigger('displayed');
    };
    show().catch(() => place.replaceChildren(text(asText(bundle['text/plain'] ?? ''), 'plain-output').element));
    return place;
  }
}

function text(value: string, className: string): { element: HTMLElement; text: TextOutput } {
  const shown = new TextOutput(className);
  shown.show(value);
  return { element: shown.element, text: shown };
}

/** What would act in it does not, and it says so. */
function withNote(element: HTMLElement, bundle: MimeBundle): HTMLElement {
  if (bundle['application/javascript'] === undefined && !/<script/i.test(asText(bundle['text/html'] ?? ''))) return element;
  return el(
    'div',
    {},
    element,
    el('div', { class: 'not-loaded' }, 'Scripts do not run within a widget. Show this output by a cell of its own.'),
  );
}

function picture(src: string): HTMLElement {
  return el('img', { class: 'image-output', src, alt: 'Image made by this cell' });
}
