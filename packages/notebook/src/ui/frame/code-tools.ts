import type { ToolAccess } from '../../viewer/protocol.js';
import type { Commands } from '../commands.js';
import { button, el, setAttribute, setText, switchButton } from '../dom.js';
import { icon } from '../icons.js';
import type { Store } from '../state/store.js';
import { openPanel } from './dialogs.js';

/** What code in this notebook may call, in the bar; pressed, it says more, and takes the right away. Hidden where there is nothing. */
export function createCodeTools(store: Store, commands: Commands): HTMLElement {
  const label = el('span', { class: 'reach-label' });
  const names = el('span', { class: 'reach-names' });
  // In place of both where there is little room.
  const short = el('span', { class: 'reach-short' });
  const opens = { 'aria-haspopup': 'dialog', onclick: () => showCodeTools(store, commands) };
  const opener = button({ class: 'reach', ...opens }, icon('tools'), label, names, short);
  store.follow(['tools', 'reset'], () => {
    const { tools } = store;
    opener.hidden = tools === null;
    if (tools === null) return;
    const list = tools.servers.map(({ name }) => name).join(', ');
    opener.dataset.allowed = String(tools.allowed);
    opener.title = tools.allowed
      ? `Python here may call: ${list} (grant ${tools.grant})`
      : 'Python here may call no tools: you have taken that away';
    setAttribute(opener, 'aria-label', tools.allowed ? `Tools: ${list}` : 'Tools: off');
    setText(short, tools.allowed ? String(tools.servers.length) : 'off');
    setText(label, tools.allowed ? 'Tools: ' : 'Tools: off');
    setText(names, tools.allowed ? list : '');
  });
  return opener;
}

/** The whole of it, as long as the dialog is open. */
function showCodeTools(store: Store, commands: Commands): void {
  const state = el('p', { class: 'reach-state' });
  const list = el('ul', { class: 'reach-list' });
  const setAllowed = () => void commands.ask({ do: 'setToolAccess', allowed: store.tools?.allowed !== true });
  const toggle = switchButton({ onclick: setAllowed }, el('span', {}, 'Python here may call tools'));
  const dialog = openPanel({ name: 'reach-dialog', title: 'Tools for Python', onClose: () => forget() }, list, state, toggle);
  const forget = store.follow(['tools', 'reset'], () => {
    const { tools } = store;
    if (tools === null) return dialog.close();
    list.replaceChildren(...tools.servers.map((server) => item(server)));
    state.replaceChildren(...describe(tools));
    toggle.setAttribute('aria-checked', String(tools.allowed));
  });
}

function item({ name, tools }: ToolAccess['servers'][number]): HTMLElement {
  const count = tools === undefined ? '…' : `${tools} ${tools === 1 ? 'tool' : 'tools'}`;
  return el('li', {}, el('span', { class: 'reach-server' }, name), el('span', { class: 'reach-count' }, count));
}

function describe({ allowed, grant }: ToolAccess): (Node | string)[] {
  const id = el('code', {}, grant);
  if (!allowed) return ['The grant ', id, ' was taken away: calls are refused. A new one is issued when you switch it on.'];
  return ['Calls are made with the grant ', id, ', which ends with this notebook. The audit records each under it.'];
}
