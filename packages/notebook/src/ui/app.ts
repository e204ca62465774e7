import { CellTools, createInserter, followGaps, switchWithLink } from './cells/cell-tools.js';
import { NotebookView } from './cells/notebook-view.js';
import { type Commands, createCommands } from './commands.js';
import { el } from './dom.js';
import { createActivityHint } from './frame/activity-hint.js';
import { Announcer } from './frame/announcer.js';
import { Banners } from './frame/banners.js';
import { createBar } from './frame/bar.js';
import { ChangesDrawer } from './frame/changes-drawer.js';
import { followKernelChoice } from './frame/kernel-picker.js';
import { announceEvents } from './frame/news.js';
import { startStatusBanners } from './frame/status-banners.js';
import { editorKeys, listenToKeys } from './keys.js';
import { HostConnection } from './link/connection.js';
import { nameOf } from './names.js';
import { AgentTrail } from './state/agent-trail.js';
import { Drafts } from './state/drafts.js';
import { bringBackDrafts, keepDrafts } from './state/saved-drafts.js';
import { Selection } from './state/selection.js';
import { Store } from './state/store.js';

/** Joins the parts of the window; the only file that knows them all. */
export function startApp(root: HTMLElement, url: string): void {
  const connection = new HostConnection({ url, onMessage: (message) => store.receive(message), onState: (state) => store.setLink(state) });
  const store = new Store(() => connection.open());
  const drafts = new Drafts({
    document: () => store.document,
    update: (cellId, source, expectedRev) => connection.request({ do: 'update', cellId, source, expectedRev }),
  });
  // Before the view: what it shows of a changed cell is what the drafts make of it.
  followStore(store, drafts);
  const trail = new AgentTrail(store);
  const selection = new Selection();
  const announcer = new Announcer();
  const banners = new Banners();
  const complain = (text: string) => banners.set('complaint', { kind: 'error', text, closes: true });
  const view: NotebookView = new NotebookView({
    store,
    trail,
    host: {
      drafts,
      selection,
      keys: editorKeys(() => commands),
      run: (cellId) => void commands.run(cellId),
      stop: () => commands.stop(),
    },
  });
  const commands: Commands = createCommands({ store, drafts, selection, view, connection, complain });
  const drawer = new ChangesDrawer(store, commands);
  const bar = createBar(store, commands, () => drawer.toggle());
  const changesButton = bar.querySelector<HTMLButtonElement>('.changes-button');
  drawer.onToggle((isOpen) => {
    changesButton?.setAttribute('aria-expanded', String(isOpen));
    document.body.classList.toggle('with-drawer', isOpen);
    if (!isOpen) changesButton?.focus();
  });
  const hint = createActivityHint(store, trail, commands);
  followKernelChoice(store, banners, commands);
  startStatusBanners({ store, banners, commands, connection, drafts });
  drafts.on((event) => {
    if (event.type === 'refused') complain(event.message);
    if (event.type !== 'orphan') return;
    const put = () => {
      banners.set('orphan', undefined);
      void commands.insert(store.cells.length, 'code', 'edit', { source: event.text });
    };
    const text = `${event.by ? nameOf(event.by) : 'Somebody'} deleted the cell in which you were typing.`;
    banners.set('orphan', { kind: 'warning', text, actions: [{ text: 'Put my text into a new cell', act: put }], closes: true });
  });
  showTools(view, selection, commands, store);
  followPointer(view, selection);
  announceEvents(store, announcer);
  listenToKeys(commands);
  keepDrafts(drafts, () => connection.isOpen);
  const inserter = createInserter((type) => commands.insertBefore(undefined, type));
  switchWithLink(inserter, store);
  const foot = el('div', { class: 'foot' }, inserter);
  const main = el('main', { 'aria-label': 'Notebook' }, view.element, foot);
  root.replaceChildren(
    el('div', { class: 'top' }, bar, banners.element),
    el('div', { class: 'middle' }, main, drawer.element),
    hint,
    announcer.element,
  );
  connection.open();
}

function followStore(store: Store, drafts: Drafts): void {
  let isFirst = true;
  store.on((event) => {
    if (event.type === 'reset') {
      drafts.rebase();
      if (isFirst) bringBackDrafts(drafts);
      isFirst = false;
    } else if (event.type === 'cell') {
      const { before, after, change } = event;
      if (before?.cell.rev !== after?.cell.rev) drafts.changed(before?.cell, after?.cell, change.by);
    }
  });
}

/** The selected cell carries the tools. */
function showTools(view: NotebookView, selection: Selection, commands: Commands, store: Store): void {
  const tools = new CellTools(commands);
  const show = () => {
    const selected = view.find(selection.cellId);
    tools.showIn(selected?.element, selected?.cell);
  };
  selection.on(show);
  store.follow(['cell', 'reset'], show);
  switchWithLink(followGaps(view.element, commands.insertBefore), store);
}

/** A click selects; where it lands in an editor, the editor takes the keyboard and says so itself. */
function followPointer(view: NotebookView, selection: Selection): void {
  view.element.addEventListener('pointerdown', ({ target }) => {
    if (!(target instanceof Element) || target.closest('.cm-editor, .inserter')) return;
    const cell = target.closest<HTMLElement>('.cell');
    if (!cell || selection.cellId === cell.dataset.cellId) return;
    selection.set(cell.dataset.cellId, 'command');
  });
}
