import type { EditorView, KeyBinding } from '@codemirror/view';
import type { NotebookKeys } from './cells/editor.js';
import type { Commands } from './commands.js';
import { showHelp } from './frame/dialogs.js';
import type { TakeKey } from './gone-text.js';
import type { HeldKey } from './held-keys.js';

/** Two presses of one key count as one command within this time. */
const doublePressMs = 700;

type Command = (commands: Commands) => unknown;

/** By their names as CodeMirror has them; `Mod` is Ctrl, or Command. Twice the same: pressed twice. */
const keyCommands: { readonly [name: string]: Command } = {
  'Shift-Enter': (notebook) => notebook.runAndAdvance(),
  'Mod-Enter': (notebook) => notebook.runHere(),
  'Alt-Enter': (notebook) => notebook.runAndInsert(),
  'Mod-s': (notebook) => notebook.save(),
  'Mod-f': (notebook) => notebook.find(),
  'Mod-a': (notebook) => notebook.selectAll(),
  'Mod-Shift-ArrowUp': (notebook) => notebook.move(-1),
  'Mod-Shift-ArrowDown': (notebook) => notebook.move(1),
  'Mod-Shift--': (notebook) => notebook.split(),
  'Mod-Shift-_': (notebook) => notebook.split(),
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
  'Shift-ArrowUp': (notebook) => notebook.extend(-1),
  'Shift-ArrowDown': (notebook) => notebook.extend(1),
  'Shift-k': (notebook) => notebook.extend(-1),
  'Shift-j': (notebook) => notebook.extend(1),
  'Shift-m': (notebook) => notebook.merge(),
  'Shift-v': (notebook) => notebook.paste('above'),
  'Shift-l': (notebook) => notebook.toggleLineNumbers('all'),
  'd d': (notebook) => notebook.remove(),
  'i i': (notebook) => notebook.interrupt(),
  '0 0': (notebook) => notebook.restart(),
};
const keys: ReadonlyMap<string, Command> = new Map(Object.entries(keyCommands));

/** Those that mean the same in an editor. */
const inEditors = ['Shift-Enter', 'Mod-Enter', 'Ctrl-Enter', 'Alt-Enter', 'Mod-s', 'Mod-f', 'Ctrl-Shift--', 'Ctrl-Shift-_'];

/** Keys that work in an editor. */
export function editorKeys(commands: () => Commands): NotebookKeys {
  const atEdge = (by: -1 | 1) => (view: EditorView) => {
    if (!isAtEdge(view, by)) return false;
    commands().stepEditing(by);
    return true;
  };
  const shared = inEditors.map((key): KeyBinding => {
    const run = () => {
      keys.get(key.replace('Ctrl-', 'Mod-'))?.(commands());
      return true;
    };
    return { key, preventDefault: true, run };
  });
  const first = [
    ...shared,
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
  return main.empty && state.doc.lineAt(main.head).number === (by === -1 ? 1 : state.doc.lines);
}

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
  const modifiers = [isControl ? 'Mod-' : '', shiftKey ? 'Shift-' : '', altKey ? 'Alt-' : ''].filter((each) => each !== '');
  // Of several, Enter has the first, and with Ctrl and Shift none has a third.
  if (key === 'Enter') return keys.get(`${modifiers[0] ?? ''}Enter`);
  if (isControl || altKey) return keys.get(`${modifiers.slice(0, 2).join('')}${name}`);
  if (repeat && /^[a-z?]$/.test(name) && !repeatable.has(name)) return undefined;
  const shifted = shiftKey ? keys.get(`Shift-${name}`) : undefined;
  if (shifted) return shifted;
  const double = keys.get(`${name} ${name}`);
  if (double) return isDouble ? double : undefined;
  return keys.get(name);
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
