import type { JournalEntry } from '../../model/journal.js';
import type { Commands } from '../commands.js';
import { button, el, hiddenText } from '../dom.js';
import { icon } from '../icons.js';
import { nameOf, verbs } from '../names.js';
import { diffLines } from '../state/merge-lines.js';
import type { Store } from '../state/store.js';
import { visibleNodes } from '../visible.js';

/** More are asked for with a button: the newest are the ones that matter. */
const pageSize = 50;
const maxDiffLines = 40;
/** Characters of one line. */
const maxLine = 2000;

/** The journal of what agents changed, newest first, each with an undo. Drawn only while it is open. */
export class ChangesDrawer {
  readonly element: HTMLElement;
  readonly #store: Store;
  readonly #commands: Commands;
  readonly #list = el('ol', { class: 'changes' });
  readonly #close = button({ class: 'bare', onclick: () => this.toggle(false) }, icon('close'), hiddenText('Close changes'));
  #count = pageSize;
  #onToggle: (isOpen: boolean) => void = () => {};

  constructor(store: Store, commands: Commands) {
    this.#store = store;
    this.#commands = commands;
    const head = el('div', { class: 'drawer-head' }, el('h2', {}, 'Changes by agents'), this.#close);
    this.element = el('aside', { class: 'drawer', id: 'changes', 'aria-label': 'Changes by agents', hidden: true }, head, this.#list);
    this.element.addEventListener('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      this.toggle(false);
    });
    store.follow(['journal', 'reset', 'link'], () => this.element.hidden || this.#draw());
  }

  onToggle(listener: (isOpen: boolean) => void): void {
    this.#onToggle = listener;
  }

  toggle(isOpen = this.element.hidden !== false): void {
    this.element.hidden = !isOpen;
    this.#count = pageSize;
    if (isOpen) {
      this.#draw();
      this.#close.focus();
    }
    this.#onToggle(isOpen);
  }

  #draw(): void {
    const newest = this.#store.journal.toReversed();
    const items = newest.slice(0, this.#count).map((entry) => this.#item(entry));
    if (newest.length === 0)
      items.push(el('li', { class: 'empty' }, 'Nothing yet. What an agent changes is listed here, and can be taken back.'));
    if (newest.length > this.#count)
      items.push(el('li', {}, button({ class: 'quiet', onclick: () => this.#more() }, 'Show older changes')));
    this.#list.replaceChildren(...items);
  }

  #more(): void {
    this.#count += pageSize;
    this.#draw();
  }

  #item(entry: JournalEntry): HTMLLIElement {
    const { id, by, action, cellId, undone, changedBy } = entry;
    const index = this.#store.indexOf(cellId);
    const place = index === -1 ? 'a cell' : `cell ${index + 1}`;
    const isOpen = !undone && !changedBy;
    const { offReason } = this.#store;
    const undoButton = button(
      {
        class: 'undo',
        'aria-label': `Undo: ${nameOf(by)} ${verbs[action]} ${place}`,
        title: offReason,
        disabled: offReason !== undefined,
        onclick: () => void this.#commands.ask({ do: 'undo', entryId: id }),
      },
      icon('undo'),
      'Undo',
    );
    const name = index === -1 ? el('span', {}, place) : button({ class: 'link', onclick: () => this.#commands.show(cellId) }, place);
    const state = undone ? 'Undone' : changedBy ? `${nameOf(changedBy)} changed it since` : '';
    return el(
      'li',
      { class: undone ? 'change undone' : 'change' },
      el(
        'div',
        { class: 'change-head' },
        el('span', {}, el('strong', {}, nameOf(by)), ` ${verbs[action]} `, name),
        isOpen ? undoButton : el('span', { class: 'change-state' }, state),
      ),
      difference(entry),
    );
  }
}

/** The lines that went and came. */
function difference({ before, after, action }: JournalEntry): HTMLElement | undefined {
  if (action === 'move' || action === 'setType' || action === 'setMetadata') return undefined;
  const [from, to] = [before?.cell.source ?? '', after?.cell.source ?? ''];
  const old = from.split('\n');
  const lines = diffLines(from, to).flatMap(({ start, end, lines: added }) => [
    ...old.slice(start, end).map((line) => ['gone', line] as const),
    ...added.map((line) => ['come', line] as const),
  ]);
  const seen = lines.filter(([, line], at) => line !== '' || (at > 0 && at < lines.length - 1));
  if (seen.length === 0) return undefined;
  const body = el('pre', { class: 'difference', tabindex: 0, role: 'group', 'aria-label': 'Difference' });
  for (const [kind, line] of seen.slice(0, maxDiffLines))
    body.append(el(kind === 'gone' ? 'del' : 'ins', {}, ...visibleNodes((line || ' ').slice(0, maxLine))));
  if (seen.length > maxDiffLines) body.append(`… ${seen.length - maxDiffLines} more lines`);
  return body;
}
