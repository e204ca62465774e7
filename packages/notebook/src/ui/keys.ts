import type { EditorView, KeyBinding } from '@codemirror/view';
import type { NotebookKeys } from './cells/editor.js';
import type { Commands } from './commands.js';
import { showHelp } from './frame/dialogs.js';
import type { TakeKey } from './gone-text.js';
import type { HeldKey } from './held-keys.js';

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
    key('Mod-f', (notebook) => notebook.find()),
    key('Ctrl-Shift--', (notebook) => notebook.split()),
    key('Ctrl-Shift-_', (notebook) => notebook.split()),
    { key: 'Shift-Tab', run: (view: EditorView) => commands().document(view) },
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
  z: (notebook) => notebook.undoStep(),
  l: (notebook) => notebook.toggleLineNumbers('cell'),
  '?': () => showHelp(),
};

const shifted: { readonly [key: string]: Command } = {
  ArrowUp: (notebook) => notebook.extend(-1),
  ArrowDown: (notebook) => notebook.extend(1),
  k: (notebook) => notebook.extend(-1),
  j: (notebook) => notebook.extend(1),
  m: (notebook) => notebook.merge(),
  v: (notebook) => notebook.paste('above'),
  l: (notebook) => notebook.toggleLineNumbers('all'),
};

const double: { readonly [key: string]: Command } = {
  d: (notebook) => notebook.remove(),
  i: (notebook) => notebook.interrupt(),
  '0': (notebook) => notebook.restart(),
};

/** With Ctrl, or Command. */
const controlled: { readonly [key: string]: Command } = {
  s: (notebook) => notebook.save(),
  f: (notebook) => notebook.find(),
  a: (notebook) => notebook.selectAll(),
};

/** Those that make sense again and again while a key is held down. */
const repeatable = new Set(['j', 'k']);

/** Listens to the keys of command mode, wherever in the page the keyboard is but in texts and dialogs. Returns what presses one. */
export function listenToKeys(commands: Commands, takeGone: TakeKey): (key: HeldKey) => void {
  let last = { key: '', atMs: 0 };
  const press = (event: HeldKey, atMs: number, repeat: boolean): boolean => {
    const isDouble = last.key === event.key && atMs - last.atMs < doublePressMs && !repeat;
    last = isDouble ? { key: '', atMs: 0 } : { key: event.key, atMs };
    const command = commandOf(event, isDouble, repeat);
    command?.(commands);
    return command !== undefined;
  };
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || belongsToOthers(event)) return;
    if (takeGone(event) || press(event, event.timeStamp, event.repeat)) event.preventDefault();
  });
  return (key) => {
    if (!document.activeElement?.closest('.cm-content')) return void press(key, performance.now(), false);
    if (key.key === 'Escape') return commands.leave();
    const isControl = key.ctrlKey || key.metaKey || key.altKey;
    // In a text, this one is about the text.
    if (isControl && key.key.toLowerCase() === 'a') return;
    if (isControl || (key.key === 'Enter' && key.shiftKey)) return void press(key, performance.now(), false);
    if (key.key === 'Enter' || key.key.length === 1) commands.type(key.key === 'Enter' ? '\n' : key.key);
  };
}

function commandOf({ key, shiftKey, altKey, ctrlKey, metaKey }: HeldKey, isDouble: boolean, repeat: boolean): Command | undefined {
  const isControl = ctrlKey || metaKey;
  // A letter typed with Caps Lock is meant as the letter; "?" needs Shift on most keyboards.
  const name = key.length === 1 ? key.toLowerCase() : key;
  if (key === 'Enter' && isControl) return (notebook) => notebook.runHere();
  if (key === 'Enter' && shiftKey) return (notebook) => notebook.runAndAdvance();
  if (key === 'Enter' && altKey) return (notebook) => notebook.runAndInsert();
  if (isControl && shiftKey && key === 'ArrowUp') return (notebook) => notebook.move(-1);
  if (isControl && shiftKey && key === 'ArrowDown') return (notebook) => notebook.move(1);
  if (isControl && shiftKey && (key === '-' || key === '_')) return (notebook) => notebook.split();
  if (isControl) return shiftKey || altKey ? undefined : own(controlled, name);
  if (altKey) return undefined;
  if (repeat && /^[a-z?]$/.test(name) && !repeatable.has(name)) return undefined;
  if (shiftKey && Object.hasOwn(shifted, name)) return shifted[name];
  if (Object.hasOwn(double, name)) return isDouble ? double[name] : undefined;
  return own(single, name);
}

function own(commands: { readonly [key: string]: Command }, name: string): Command | undefined {
  return Object.hasOwn(commands, name) ? commands[name] : undefined;
}

/** Texts and dialogs have keys of their own; so has a button or link for Enter. */
function belongsToOthers({ target, key, ctrlKey, metaKey, shiftKey, altKey }: KeyboardEvent): boolean {
  if (document.querySelector('dialog[open]')) return true;
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) return true;
  const isControl = target.closest('button, a, summary') !== null;
  if (target.closest('.drawer, .bar, .menu, .find-bar, .documentation') && /^Arrow/.test(key)) return true;
  // With another key, Enter runs, wherever the last click was.
  return isControl && (key === 'Enter' || key === ' ') && !(ctrlKey || metaKey || shiftKey || altKey);
}
