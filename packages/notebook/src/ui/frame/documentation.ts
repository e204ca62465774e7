import type { EditorView } from '@codemirror/view';
import type { Inspected } from '../../viewer/protocol.js';
import { el } from '../dom.js';
import { richOutput } from '../outputs/rich-output.js';
import { shownText } from '../outputs/text-output.js';

/** Asks the kernel; undefined if it cannot be asked. */
export type AskDocumentation = (code: string, position: number, detail: 0 | 1) => Promise<Inspected | undefined>;

/**
 * What the kernel knows of the name at the cursor, in a box beside it. Shift-Tab shows it, and once more shows all that there is (the source
 * of a function) and leads into it, where the arrow keys scroll; Escape, typing, or a click elsewhere closes it.
 */
export class Documentation {
  readonly element = el('div', { class: 'documentation', role: 'dialog', 'aria-label': 'Documentation', tabindex: 0, hidden: true });
  readonly #ask: AskDocumentation;
  #of: { editor: EditorView; code: string; position: number } | undefined;
  #asked = 0;

  constructor(ask: AskDocumentation) {
    this.#ask = ask;
    document.addEventListener('keydown', (event) => this.#onKey(event), { capture: true });
    document.addEventListener('pointerdown', ({ target }) => target instanceof Node && !this.element.contains(target) && this.close());
    // What scrolls away from under it takes it along.
    document.addEventListener('scroll', ({ target }) => target === document && this.close(), { capture: true, passive: true });
    addEventListener('resize', () => this.close());
  }

  /** The key in an editor. False where it means something else: a selection, or the beginning of a line. */
  press(editor: EditorView): boolean {
    const { state } = editor;
    const { main } = state.selection;
    const line = state.doc.lineAt(main.head);
    if (!main.empty || line.text.slice(0, main.head - line.from).trim() === '') return false;
    if (this.element.hidden || this.#of?.editor !== editor) void this.show(editor);
    else {
      this.element.focus();
      void this.show(editor, 1);
    }
    return true;
  }

  /** `detail`: 1 for all that the kernel knows. What is shown already stays if it knows no more. */
  async show(editor: EditorView, detail: 0 | 1 = 0): Promise<void> {
    const code = editor.state.doc.toString();
    const position = editor.state.selection.main.head;
    const asked = ++this.#asked;
    const found = await this.#ask(code, position, detail);
    // Something else was asked, or typed, in the meantime.
    if (asked !== this.#asked || editor.state.doc.toString() !== code || found === undefined) return;
    if (detail === 1 && found === null) return;
    this.#of = { editor, code, position };
    this.element.replaceChildren(found ? draw(found) : el('p', { class: 'nothing' }, 'The kernel knows nothing of what is at the cursor.'));
    this.#place(editor, position);
  }

  close(): void {
    this.#asked++;
    if (this.element.hidden) return;
    const hadFocus = this.element.contains(document.activeElement);
    this.element.hidden = true;
    if (hadFocus) this.#of?.editor.focus();
    this.#of = undefined;
  }

  #onKey(event: KeyboardEvent): void {
    if (this.element.hidden || event.key === 'Shift' || event.isComposing) return;
    const isInside = this.element.contains(document.activeElement);
    if (event.key === 'Escape') {
      event.preventDefault();
      event.stopImmediatePropagation();
      this.close();
    } else if (!isInside && !(event.key === 'Tab' && event.shiftKey)) this.close();
    else if (isInside && event.key === 'Tab') {
      event.preventDefault();
      this.close();
    }
  }

  #place(editor: EditorView, position: number): void {
    const at = editor.coordsAtPos(position);
    if (!at) return;
    this.element.hidden = false;
    this.element.scrollTop = 0;
    const { width, height } = this.element.getBoundingClientRect();
    const left = Math.max(8, Math.min(at.left, innerWidth - width - 8));
    const isBelow = at.bottom + height + 8 <= innerHeight || at.top - height < 8;
    const top = isBelow ? Math.min(at.bottom + 4, Math.max(8, innerHeight - height - 8)) : at.top - height - 4;
    this.element.style.left = `${left}px`;
    this.element.style.top = `${top}px`;
  }
}

/** Plain text, with the colours of a terminal, is what kernels write with most care. */
function draw(found: NonNullable<Inspected>): HTMLElement {
  const plain = found['text/plain'];
  if (typeof plain !== 'string') return richOutput({ output_type: 'display_data', data: found, metadata: {} });
  return shownText('documentation-text', plain);
}
