import type { EditorView } from '@codemirror/view';
import type { Inspected } from '../../viewer/protocol.js';
import { el } from '../dom.js';
import { richOutput } from '../outputs/rich-output.js';
import { shownText } from '../outputs/text-output.js';
import { placeBeside } from './place-beside.js';

/** Asks the kernel; undefined if it cannot be asked. */
export type AskDocumentation = (code: string, position: number, detail: 0 | 1) => Promise<Inspected | undefined>;

/** A box beside the cursor with what the kernel knows of the name there. */
export interface Documentation {
  readonly element: HTMLElement;
  /** The key in an editor. False where it means something else: a selection, or the beginning of a line. */
  press(editor: EditorView): boolean;
  /** `detail`: 1 for all that the kernel knows. What is shown already stays if it knows no more. */
  show(editor: EditorView, detail?: 0 | 1): Promise<void>;
}

/**
 * Shift-Tab shows the box, and once more shows all that there is (the source of a function) and leads into it, where the arrow keys scroll; Escape,
 * typing, or a click elsewhere closes it.
 */
export function createDocumentation(ask: AskDocumentation): Documentation {
  const element = el('div', { class: 'documentation', role: 'dialog', 'aria-label': 'Documentation', tabindex: 0, hidden: true });
  let shownFor: EditorView | undefined;
  let asked = 0;

  const press = (editor: EditorView): boolean => {
    const { state } = editor;
    const { main } = state.selection;
    const line = state.doc.lineAt(main.head);
    if (!main.empty || line.text.slice(0, main.head - line.from).trim() === '') return false;
    if (element.hidden || shownFor !== editor) void show(editor);
    else {
      element.focus();
      void show(editor, 1);
    }
    return true;
  };
  const show = async (editor: EditorView, detail: 0 | 1 = 0): Promise<void> => {
    const code = editor.state.doc.toString();
    const position = editor.state.selection.main.head;
    const question = ++asked;
    const found = await ask(code, position, detail);
    // Something else was asked, or typed, in the meantime.
    if (question !== asked || editor.state.doc.toString() !== code || found === undefined) return;
    if (detail === 1 && found === null) return;
    shownFor = editor;
    element.replaceChildren(found ? draw(found) : el('p', { class: 'nothing' }, 'The kernel knows nothing of what is at the cursor.'));
    const at = editor.coordsAtPos(position);
    if (!at) return;
    element.hidden = false;
    element.scrollTop = 0;
    placeBeside(element, { left: at.left, top: at.top, bottom: at.bottom });
  };
  const close = (): void => {
    asked++;
    if (element.hidden) return;
    const hadFocus = element.contains(document.activeElement);
    element.hidden = true;
    if (hadFocus) shownFor?.focus();
    shownFor = undefined;
  };
  const onKey = (event: KeyboardEvent): void => {
    if (element.hidden || event.key === 'Shift' || event.isComposing) return;
    const isInside = element.contains(document.activeElement);
    if (event.key === 'Escape') {
      event.preventDefault();
      event.stopImmediatePropagation();
      close();
    } else if (!isInside && !(event.key === 'Tab' && event.shiftKey)) close();
    else if (isInside && event.key === 'Tab') {
      event.preventDefault();
      close();
    }
  };
  document.addEventListener('keydown', onKey, { capture: true });
  document.addEventListener('pointerdown', ({ target }) => target instanceof Node && !element.contains(target) && close());
  // What scrolls away from under it takes it along.
  document.addEventListener('scroll', ({ target }) => target === document && close(), { capture: true, passive: true });
  addEventListener('resize', close);
  return { element, press, show };
}

/** Plain text, with the colours of a terminal, is what kernels write with most care. */
function draw(found: NonNullable<Inspected>): HTMLElement {
  const plain = found['text/plain'];
  if (typeof plain !== 'string') return richOutput({ output_type: 'display_data', data: found, metadata: {} });
  return shownText('documentation-text', plain);
}
