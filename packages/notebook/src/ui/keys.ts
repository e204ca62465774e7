import type { EditorView, KeyBinding } from '@codemirror/view';
import type { NotebookKeys } from './cells/editor.js';
import type { Commands } from './commands.js';
import { showHelp } from './frame/dialogs.js';

/** Two presses of one key count as one command within this time. */
const doublePressMs = 700;

/** Keys that work in an editor. */
export function editorKeys(commands: () => Commands): NotebookKeys {
  const key = (name: string, act: (commands: Commands) => unknown): KeyBinding => ({
    key: name,
    preventDefault: true,
    run: () => {
      act(commands());
      return true;
    },
  });
  const atEdge = (by: -1 | 1) => (view: EditorView) => {
    if (!isAtEdge(view, by)) return false;
    commands().stepEditing(by);
    return true;
  };
  const first = [
    key('Shift-Enter', (notebook) => notebook.runAndAdvance()),
    key('Mod-Enter', (notebook) => notebook.runHere()),
    key('Ctrl-Enter', (notebook) => notebook.runHere()),
    key('Alt-Enter', (notebook) => notebook.runAndInsert()),
    key('Mod-s', (notebook) => notebook.save()),
    { key: 'ArrowUp', run: atEdge(-1) },
    { key: 'ArrowDown', run: atEdge(1) },
  ];
  const leave = () => {
    commands().leave();
    return true;
  };
  // Escape leaves the editor, but closes a list of completions first.
  return { first, last: [{ key: 'Escape', run: leave }] };
}

function isAtEdge({ state }: EditorView, by: -1 | 1): boolean {
  const { main } = state.selection;
  if (!main.empty) return false;
  return by === -1 ? state.doc.lineAt(main.head).number === 1 : state.doc.lineAt(main.head).number === state.doc.lines;
}

type Command = (commands: Commands) => unknown;

const single: { readonly [key: string]: Command } = {
  Enter: (notebook) => notebook.edit(),
  ArrowUp: (notebook) => notebook.step(-1),
  ArrowDown: (notebook) => notebook.step(1),
  k: (notebook) => notebook.step(-1),
  j: (notebook) => notebook.step(1),
  a: (notebook) => notebook.insertBeside(0),
  b: (notebook) => notebook.insertBeside(1),
  m: (notebook) => notebook.setType('markdown'),
  y: (notebook) => notebook.setType('code'),
  r: (notebook) => notebook.setType('raw'),
  x: (notebook) => notebook.cut(),
  c: (notebook) => notebook.copy(),
  v: (notebook) => notebook.paste(),
  z: (notebook) => notebook.undoDelete(),
  '?': () => showHelp(),
};

const double: { readonly [key: string]: Command } = {
  d: (notebook) => notebook.remove(),
  i: (notebook) => notebook.interrupt(),
  '0': (notebook) => notebook.restart(),
};

/** Listens to the keys of command mode, wherever in the page the keyboard is but in texts and dialogs. */
export function listenToKeys(commands: Commands): void {
  let last = { key: '', atMs: 0 };
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || belongsToOthers(event)) return;
    const isDouble = last.key === event.key && event.timeStamp - last.atMs < doublePressMs && !event.repeat;
    last = isDouble ? { key: '', atMs: 0 } : { key: event.key, atMs: event.timeStamp };
    const command = commandOf(event, isDouble);
    if (!command) return;
    event.preventDefault();
    command(commands);
  });
}

function commandOf(event: KeyboardEvent, isDouble: boolean): Command | undefined {
  const { key, shiftKey, altKey } = event;
  const isControl = event.ctrlKey || event.metaKey;
  if (isControl && key.toLowerCase() === 's') return (notebook) => notebook.save();
  if (key === 'Enter' && isControl) return (notebook) => notebook.runHere();
  if (key === 'Enter' && shiftKey) return (notebook) => notebook.runAndAdvance();
  if (key === 'Enter' && altKey) return (notebook) => notebook.runAndInsert();
  if (isControl && shiftKey && key === 'ArrowUp') return (notebook) => notebook.move(-1);
  if (isControl && shiftKey && key === 'ArrowDown') return (notebook) => notebook.move(1);
  if (isControl || altKey) return undefined;
  // A letter typed with Shift or Caps Lock is meant as the letter; "?" needs Shift on most keyboards.
  const name = key.length === 1 ? key.toLowerCase() : key;
  if (Object.hasOwn(double, name)) return isDouble ? double[name] : undefined;
  return Object.hasOwn(single, name) && !(event.repeat && /^[a-z?]$/.test(name) && name !== 'j' && name !== 'k') ? single[name] : undefined;
}

/** Texts and dialogs have keys of their own; so has a button or link for Enter. */
function belongsToOthers({ target, key }: KeyboardEvent): boolean {
  if (document.querySelector('dialog[open]')) return true;
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return true;
  const isControl = target.closest('button, a, summary') !== null;
  if (target.closest('.drawer, .bar') && /^Arrow/.test(key)) return true;
  return isControl && (key === 'Enter' || key === ' ');
}
