import { h } from 'preact';
import type { Completions } from '../kernel/kernel.js';
import type { Inspected, ViewerAction } from '../viewer/protocol.js';
import { createCellTools, createInserter, followGaps } from './cells/cell-tools.js';
import { NotebookView } from './cells/notebook-view.js';
import { type Commands, createCommands } from './commands.js';
import { el } from './dom.js';
import { createActivityHint } from './frame/activity-hint.js';
import { Banners } from './frame/banners.js';
import { createBar } from './frame/bar.js';
import { ChangesList } from './frame/changes-list.js';
import { createDocumentation } from './frame/documentation.js';
import { createDrawer } from './frame/drawer.js';
import { createEmptyNote } from './frame/empty-note.js';
import { createFindBar } from './frame/find-bar.js';
import { followKernelChoice } from './frame/kernel-picker.js';
import { startLeaseBanners } from './frame/lease-banners.js';
import { createAnnouncer } from './frame/news.js';
import { Outline } from './frame/outline.js';
import { startStatusBanners } from './frame/status-banners.js';
import { keepGoneText } from './gone-text.js';
import { createKeyHolder } from './held-keys.js';
import { editorKeys, listenToKeys } from './keys.js';
import { createAsk } from './link/connection.js';
import { createLink } from './link/create-link.js';
import { keepOwnName } from './names.js';
import { cellMenu, notebookMenu } from './notebook-menu.js';
import { AgentTrail } from './state/agent-trail.js';
import { Drafts } from './state/drafts.js';
import { Finder } from './state/finder.js';
import { bringBackDrafts, keepDrafts } from './state/saved-drafts.js';
import { Selection } from './state/selection.js';
import type { Store } from './state/store.js';

/** Joins the parts of the window; the only file that knows them all. */
export function startApp(root: HTMLElement, key: string): void {
  const { connection, store } = createLink(key);
  const drafts = new Drafts({
    document: () => store.document,
    update: (cellId, source, expectedRev) => connection.request({ do: 'update', cellId, source, expectedRev }),
  });
  // Before the view: what it shows of a changed cell is what the drafts make of it.
  followStore(store, drafts);
  const trail = new AgentTrail(store);
  const selection = new Selection();
  const banners = new Banners((cellId) => commands.show(cellId));
  const complain = (text: string, cellId?: string) => banners.set('complaint', { kind: 'error', text, closes: true, cellId });
  const inform = (text: string | undefined, cellId?: string) =>
    banners.set('news', text === undefined ? undefined : { kind: 'info', text, closes: true, cellId });
  const ask = createAsk(connection, complain);
  /** What a person did not ask for in so many words fails in silence. */
  const askQuietly = async (action: ViewerAction) => connection.request(action).catch(() => undefined);
  const view: NotebookView = new NotebookView({
    store,
    trail,
    drafts,
    selection,
    ask,
    keys: editorKeys(() => commands),
    run: (cellId) => void commands.run(cellId),
    stop: () => commands.stop(),
    complete: async (code, position) => (await askQuietly({ do: 'complete', code, position })) as Completions | undefined,
  });
  const documentation = createDocumentation(
    async (code, position, detail) => (await askQuietly({ do: 'inspect', code, position, detail })) as Inspected | undefined,
  );
  const finder = new Finder({ store, drafts, selection, view, ask });
  const findBar = createFindBar(finder, store, () => commands.show(selection.cellId));
  const commands: Commands = createCommands({
    store,
    drafts,
    selection,
    view,
    holdKeys: createKeyHolder((key) => press(key)),
    documentation,
    openFind: (text) => findBar.open(text),
    ask,
    complain,
    inform,
  });
  const changes = createDrawer(store, {
    id: 'changes',
    title: 'Changes by agents',
    types: ['journal', 'reset', 'link'],
    view: () => h(ChangesList, { store, commands }),
    opener: () => bar.querySelector('.changes-button'),
  });
  const goTo = (cellId: string) => {
    // Where the list lies over the cells, it has done its work.
    if (matchMedia('(max-width: 46rem)').matches) outline.toggle(false);
    commands.show(cellId);
  };
  const outline = createDrawer(store, {
    id: 'outline',
    title: 'Outline',
    types: ['cell', 'reset'],
    view: () => h(Outline, { store, current: selection.cellId, goTo }),
    opener: () => bar.querySelector('.menu-button'),
  });
  const bar: HTMLElement = createBar(store, commands, {
    drafts,
    toggleChanges: () => changes.toggle(),
    menu: () => notebookMenu(store, commands, () => outline.toggle()),
  });
  const hint = createActivityHint(store, trail, commands);
  followKernelChoice(store, banners, commands);
  startLeaseBanners(store, banners, commands);
  startStatusBanners({ store, banners, commands, connection, drafts });
  showTools(view, selection, commands, store);
  followPointer(view, selection);
  const press = listenToKeys(commands, keepGoneText(drafts, selection, store));
  keepDrafts(drafts, store, () => connection.isOpen);
  const inserter = createInserter(store, (type) => commands.insertBefore(undefined, type));
  const foot = el('div', { class: 'foot' }, inserter);
  const main = el('main', { 'aria-label': 'Notebook' }, view.element, createEmptyNote(store), foot);
  const top = el('div', { class: 'top' }, bar, findBar.element, banners.element);
  makeRoom(top, banners.element);
  const middle = el('div', { class: 'middle' }, main, changes.element, outline.element);
  root.replaceChildren(top, middle, hint, documentation.element, createAnnouncer(store));
  connection.open();
}

/** No cell is covered by what stands at the top, how high that may be. */
function makeRoom(top: HTMLElement, banners: HTMLElement): void {
  const { style } = document.documentElement;
  const observer = new ResizeObserver(() => {
    style.setProperty('--bar-height', `${top.offsetHeight}px`);
    style.setProperty('--banners-height', `${banners.offsetHeight}px`);
  });
  for (const element of [top, banners]) observer.observe(element);
}

function followStore(store: Store, drafts: Drafts): void {
  let life: string | undefined;
  store.on((event) => {
    if (event.type === 'reset') {
      keepOwnName(store.you, store.life);
      drafts.rebase(life === undefined || life === store.life);
      if (life === undefined) bringBackDrafts(drafts, store);
      life = store.life;
    } else if (event.type === 'file') {
      if (store.file.kind === 'saved') drafts.saved();
    } else if (event.type === 'cell') {
      const { before, after, change } = event;
      if (before?.cell.source !== after?.cell.source) drafts.changed(before?.cell, after?.cell, change.by);
    }
  });
}

/** The selected cell carries the tools. */
function showTools(view: NotebookView, selection: Selection, commands: Commands, store: Store): void {
  const showIn = createCellTools(commands, () => cellMenu(store, commands));
  const show = () => {
    const selected = view.find(selection.cellId);
    showIn(selected?.element, selected?.cell);
  };
  selection.on(show);
  store.follow(['cell', 'reset'], show);
  followGaps(store, view.element, commands.insertBefore);
}

/** A click selects, with Shift all up to there; where it lands in an editor, the editor takes the keyboard and says so itself. */
function followPointer(view: NotebookView, selection: Selection): void {
  // Before the browser selects text from one cell to the other.
  view.element.addEventListener(
    'mousedown',
    (event) => {
      const cellId = event.target instanceof Element ? event.target.closest<HTMLElement>('.cell')?.dataset.cellId : undefined;
      if (!event.shiftKey || event.button !== 0 || cellId === undefined || cellId === selection.cellId) return;
      event.preventDefault();
      event.stopPropagation();
      selection.extendTo(cellId);
      view.find(cellId)?.focus();
    },
    { capture: true },
  );
  view.element.addEventListener('pointerdown', ({ target, shiftKey }) => {
    if (shiftKey) return;
    if (!(target instanceof Element) || target.closest('.cm-editor, .inserter')) return;
    const cell = target.closest<HTMLElement>('.cell');
    if (!cell || selection.cellId === cell.dataset.cellId) return;
    selection.set(cell.dataset.cellId, 'command');
  });
}
