import type { KernelState } from '../../kernel/kernel.js';
import { describeLayer } from '../../kernel/layers.js';
import type { FileState } from '../../viewer/protocol.js';
import type { Commands } from '../commands.js';
import { button, el, hiddenText, setText, switchButton } from '../dom.js';
import { iconButton } from '../icons.js';
import type { Drafts } from '../state/drafts.js';
import type { Store } from '../state/store.js';
import { visible } from '../visible.js';
import { agentChips } from './agent-chips.js';
import { createCodeTools } from './code-tools.js';
import { showHelp } from './dialogs.js';
import { createKernelPicker, kernelLabel } from './kernel-picker.js';
import { type MenuItem, menuButton } from './menu.js';
import { switchWithLink } from './switch-with-link.js';
import { toggleTheme } from './theme.js';

type SavedState = FileState['kind'] | 'unsent' | 'ended';

const savedTexts: { readonly [state in SavedState]: string } = {
  saved: 'Saved',
  saving: 'Saving…',
  unsaved: 'Unsaved changes',
  none: 'Not in a file',
  conflict: 'Changed elsewhere',
  failed: 'Not saved',
  unsent: 'Not saved',
  ended: 'Ended before it was saved',
};

/** Never `saved` while there is text that is not in the file. */
function savedState({ file: { kind }, link }: Store, drafts: Drafts): SavedState {
  const isThere = link.kind === 'open';
  if (!drafts.isEmpty && kind !== 'none') return isThere && (kind === 'saved' || kind === 'saving') ? 'unsaved' : isThere ? kind : 'unsent';
  // What the host could not put into the file before it ended stands in a file beside it.
  if (link.kind === 'ended' && (kind === 'unsaved' || kind === 'saving')) return 'ended';
  return !isThere && kind === 'saving' ? 'unsaved' : kind;
}

const kernelTexts: { readonly [state in KernelState]: string } = { starting: 'Starting', idle: 'Idle', busy: 'Busy', dead: 'Dead' };

export interface BarParts {
  drafts: Drafts;
  toggleChanges: () => void;
  /** What can be done with the whole notebook. */
  menu: () => readonly MenuItem[];
}

/** The bar at the top: the file, the kernel, who is here. */
export function createBar(store: Store, commands: Commands, { drafts, toggleChanges, menu }: BarParts): HTMLElement {
  const title = el('h1', { class: 'title' });
  const saved = button({ class: 'save-state bare', title: 'Save now (Ctrl+S)', onclick: () => void commands.save() });
  const kernelName = el('span', { class: 'kernel-name' });
  const kernelState = el('span', {});
  const kernelLayers = el('span', { class: 'visually-hidden' });
  const kernelText = el('span', { class: 'kernel-text' }, kernelName, kernelState, kernelLayers);
  const interrupt = iconButton('stop', 'Interrupt kernel', commands.interrupt, 'Interrupt (I I)');
  const restart = iconButton('restart', 'Restart kernel', commands.restart, 'Restart (0 0)');
  const runAll = iconButton('run', 'Run all cells', () => commands.runAll());
  const picker = createKernelPicker(store, commands, kernelText);
  const kernelGroup = { class: 'kernel', role: 'group', 'aria-label': 'Kernel' };
  const kernel = el('div', kernelGroup, el('span', { class: 'dot' }), picker, runAll, interrupt, restart);
  const agents = el('div', { class: 'agents', role: 'group', 'aria-label': 'Agents' });
  const setReadOnly = () => void commands.ask({ do: 'setReadOnly', readOnly: !store.isReadOnly });
  const readOnly = switchButton(
    { title: 'When on, agents may look but change and run nothing', onclick: setReadOnly },
    el('span', { class: 'label' }, 'Read-only'),
    hiddenText('for agents'),
  );
  const changes = button({ class: 'changes-button', 'aria-expanded': 'false', onclick: toggleChanges });
  const theme = iconButton('sun', 'Light or dark theme', toggleTheme, 'Light or dark');
  const help = button({ class: 'bare help-button', title: 'Keyboard help (?)', onclick: showHelp }, '?', hiddenText(' Keyboard help'));
  const more = menuButton('Notebook menu', menu);
  more.classList.add('menu-button');

  store.follow(['reset'], () => {
    setText(title, visible(store.title) || 'Notebook');
    document.title = `${visible(store.title) || 'Notebook'} – Notebridge`;
  });
  const showSaved = () => {
    const state = savedState(store, drafts);
    const text = savedTexts[state];
    // Its first word is enough where there is no room, and it comes and goes while a cell runs.
    saved.replaceChildren(...(state === 'unsaved' ? ['Unsaved', el('span', { class: 'wide' }, ' changes')] : [text]));
    saved.dataset.state = state;
  };
  store.follow(['reset', 'file', 'link'], showSaved);
  drafts.on(({ type }) => type === 'pending' && showSaved());
  switchWithLink([runAll, interrupt, restart, saved, readOnly], store);
  // After the link: interrupting what does not run has no meaning.
  store.follow(['reset', 'link', 'kernel', 'choice', 'run', 'finished'], () => {
    const { state, layers = [] } = store.kernel;
    setText(kernelName, `${kernelLabel(store)} · `);
    setText(kernelState, store.link.kind === 'open' ? kernelTexts[state] : store.link.kind === 'ended' ? 'Closed' : 'Not connected');
    kernelText.title = layers.map(describeLayer).join('\n');
    setText(kernelLayers, layers.length > 0 ? `. Layers: ${layers.map(describeLayer).join('; ')}` : '');
    kernel.dataset.state = store.link.kind === 'open' ? state : 'unknown';
    interrupt.disabled = store.offReason !== undefined || (state !== 'busy' && !store.running);
  });
  store.follow(['reset', 'link', 'agents', 'lease'], () => agents.replaceChildren(...agentChips(store, commands)));
  store.follow(['reset', 'readOnly'], () => readOnly.setAttribute('aria-checked', String(store.isReadOnly)));
  store.follow(['reset', 'journal'], () => {
    const count = store.journal.filter(({ undone }) => !undone).length;
    changes.replaceChildren('Changes', ...(count > 0 ? [' ', el('span', { class: 'number' }, String(count))] : []));
  });
  return el(
    'header',
    { class: 'bar' },
    el('div', { class: 'file' }, title, saved),
    kernel,
    createCodeTools(store, commands),
    agents,
    el('div', { class: 'tools' }, readOnly, changes, theme, help, more),
  );
}
