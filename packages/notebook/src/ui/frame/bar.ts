import type { KernelState } from '../../kernel/kernel.js';
import { describeLayer } from '../../kernel/layers.js';
import type { FileState } from '../../viewer/protocol.js';
import { el, hiddenText, setText } from '../dom.js';
import { icon } from '../icons.js';
import type { Store } from '../state/store.js';
import { visible } from '../visible.js';
import { agentChips } from './agent-chips.js';
import { createCodeTools } from './code-tools.js';

export interface BarOptions {
  store: Store;
  save: () => void;
  runAll: () => void;
  interrupt: () => void;
  restart: () => void;
  disconnect: (agentId: string) => void;
  setReadOnly: (readOnly: boolean) => void;
  setToolAccess: (isAllowed: boolean) => void;
  toggleChanges: () => void;
  toggleTheme: () => void;
  help: () => void;
}

const fileTexts: { readonly [kind in FileState['kind']]: string } = {
  saved: 'Saved',
  saving: 'Saving…',
  unsaved: 'Unsaved changes',
  none: 'Not in a file',
  conflict: 'Changed elsewhere',
  failed: 'Not saved',
};

const kernelTexts: { readonly [state in KernelState]: string } = { starting: 'Starting', idle: 'Idle', busy: 'Busy', dead: 'Dead' };

/** The bar at the top: the file, the kernel, who is here. */
export function createBar(options: BarOptions): HTMLElement {
  const { store } = options;
  const title = el('h1', { class: 'title' });
  const saved = el('button', { type: 'button', class: 'save-state bare', title: 'Save now (Ctrl+S)', onclick: options.save });
  const kernelName = el('span', { class: 'kernel-name' });
  const kernelState = el('span', {});
  const kernelLayers = el('span', { class: 'visually-hidden' });
  const kernelText = el('span', { class: 'kernel-text' }, kernelName, kernelState, kernelLayers);
  const kernel = el('div', { class: 'kernel', role: 'group', 'aria-label': 'Kernel' }, el('span', { class: 'dot' }), kernelText);
  const interrupt = el(
    'button',
    { type: 'button', class: 'bare', title: 'Interrupt (I I)', onclick: options.interrupt },
    icon('stop'),
    hiddenText('Interrupt kernel'),
  );
  const restart = el(
    'button',
    { type: 'button', class: 'bare', title: 'Restart (0 0)', onclick: options.restart },
    icon('restart'),
    hiddenText('Restart kernel'),
  );
  const runAll = el(
    'button',
    { type: 'button', class: 'bare', title: 'Run all cells', onclick: options.runAll },
    icon('run'),
    hiddenText('Run all cells'),
  );
  kernel.append(runAll, interrupt, restart);
  const agents = el('div', { class: 'agents', role: 'group', 'aria-label': 'Agents' });
  const readOnly = el(
    'button',
    {
      type: 'button',
      class: 'switch',
      role: 'switch',
      title: 'When on, agents may look but change and run nothing',
      onclick: () => options.setReadOnly(!store.isReadOnly),
    },
    el('span', { class: 'knob' }),
    el('span', { class: 'label' }, 'Read-only'),
    hiddenText('for agents'),
  );
  const changes = el('button', { type: 'button', class: 'changes-button', 'aria-expanded': 'false', onclick: options.toggleChanges });
  const theme = el(
    'button',
    { type: 'button', class: 'bare', title: 'Light or dark', onclick: options.toggleTheme },
    icon('sun'),
    hiddenText('Light or dark theme'),
  );
  const help = el(
    'button',
    { type: 'button', class: 'bare help-button', title: 'Keyboard help (?)', onclick: options.help },
    '?',
    hiddenText(' Keyboard help'),
  );

  const showFile = () => {
    setText(saved, fileTexts[store.file.kind]);
    saved.dataset.state = store.file.kind;
  };
  const showKernel = () => {
    const { name, version, state, layers = [] } = store.kernel;
    setText(kernelName, `${[name, version].filter(Boolean).join(' ') || 'Kernel'} · `);
    setText(kernelState, store.link.kind === 'open' ? kernelTexts[state] : store.link.kind === 'ended' ? 'Closed' : 'Not connected');
    kernelText.title = layers.map(describeLayer).join('\n');
    setText(kernelLayers, layers.length > 0 ? `. Layers: ${layers.map(describeLayer).join('; ')}` : '');
    kernel.dataset.state = store.link.kind === 'open' ? state : 'unknown';
    // Interrupting what does not run has no meaning.
    interrupt.disabled = store.offReason !== undefined || (state !== 'busy' && !store.running);
  };
  const titles = new Map([runAll, interrupt, restart, saved, readOnly].map((button) => [button, button.title]));
  const showLink = () => {
    const { offReason } = store;
    for (const [button, title] of titles) {
      button.disabled = offReason !== undefined;
      button.title = offReason ?? title;
    }
    showKernel();
    showAgents();
  };
  const showAgents = () => agents.replaceChildren(...agentChips(options));
  const showReadOnly = () => readOnly.setAttribute('aria-checked', String(store.isReadOnly));
  const showChanges = () => {
    const count = store.journal.filter(({ undone }) => !undone).length;
    changes.replaceChildren('Changes', ...(count > 0 ? [' ', el('span', { class: 'number' }, String(count))] : []));
  };
  const showAll = () => {
    setText(title, visible(store.title) || 'Notebook');
    document.title = `${visible(store.title) || 'Notebook'} – Notebridge`;
    for (const show of [showFile, showLink, showReadOnly, showChanges]) show();
  };
  store.on(({ type }) => {
    if (type === 'reset') showAll();
    else if (type === 'file') showFile();
    else if (type === 'link') showLink();
    else if (type === 'kernel' || type === 'run' || type === 'finished') showKernel();
    else if (type === 'agents') showAgents();
    else if (type === 'readOnly') showReadOnly();
    else if (type === 'journal') showChanges();
  });
  showAll();
  return el(
    'header',
    { class: 'bar' },
    el('div', { class: 'file' }, title, saved),
    kernel,
    createCodeTools(options),
    agents,
    el('div', { class: 'tools' }, readOnly, changes, theme, help),
  );
}
