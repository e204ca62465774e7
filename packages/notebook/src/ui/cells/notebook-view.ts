import type { Cell } from '../../model/cell.js';
import { el } from '../dom.js';
import { documentBudget } from '../outputs/output-weight.js';
import type { AgentTrail } from '../state/agent-trail.js';
import type { Mode } from '../state/selection.js';
import type { Store, StoreEvent } from '../state/store.js';
import { type CellHost, CellView } from './cell-view.js';

export interface NotebookViewOptions extends CellHost {
  store: Store;
  trail: AgentTrail;
}

/** Cells stay awake up to this many; then those that nobody sees fall asleep. */
const maxAwake = 32;

/** Of one frame, for making editors, and for drawing outputs. */
const wakingMs = 12;
const drawingMs = 25;

/** The column of cells. Cells come, go and move at once; outputs are drawn once per frame, however many changes there were. */
export class NotebookView {
  readonly element = el('div', { class: 'cells' });
  readonly #options: NotebookViewOptions;
  readonly #views = new Map<string, CellView>();
  readonly #awake = new Set<CellView>();
  readonly #visible = new Set<CellView>();
  /** Seen, and to be woken up. */
  readonly #drowsy = new Set<CellView>();
  readonly #dirty = new Set<string>();
  readonly #sight: IntersectionObserver;
  #areNumbersStale = false;
  #haveLineNumbers = false;
  #isFrameAsked = false;

  constructor(options: NotebookViewOptions) {
    this.#options = options;
    this.#sight = new IntersectionObserver((entries) => this.#see(entries), { rootMargin: '400px 0px' });
    const { store, trail, drafts, selection } = options;
    store.on((event) => this.#onEvent(event));
    drafts.on((event) => {
      if (event.type === 'text') this.find(event.cellId)?.showText(event.text);
      if (event.type === 'clash') this.find(event.cellId)?.showClash(event.clash);
    });
    trail.on((cellId) => cellId !== undefined && this.find(cellId)?.showMark(trail.markOf(cellId)));
    selection.on(({ before, now }) => {
      if (before.cellId !== undefined) this.find(before.cellId)?.setSelected(false, 'command');
      if (now.cellId !== undefined) this.find(now.cellId)?.setSelected(true, now.mode);
      this.#showRange();
    });
  }

  find(cellId: string | undefined): CellView | undefined {
    return cellId === undefined ? undefined : this.#views.get(cellId);
  }

  /** Selects a cell and brings the keyboard to it. */
  goTo(cellId: string | undefined, mode: Mode, at?: 'start' | 'end'): void {
    const view = this.find(cellId);
    if (!view) return;
    this.#options.selection.set(cellId, mode);
    if (mode === 'edit') view.edit(at);
    else view.focus();
  }

  /** For what the running code has asked while the keyboard was on its way to another cell. */
  offerQuestion(): void {
    this.find(this.#options.store.running?.cellId)?.offerQuestion();
  }

  /** Of one cell, or of all and those that come. */
  showLineNumbers(cellId: string | undefined, areShown: boolean): void {
    if (cellId !== undefined) return this.find(cellId)?.source.setLineNumbers(areShown);
    this.#haveLineNumbers = areShown;
    for (const view of this.#views.values()) view.source.setLineNumbers(areShown);
  }

  #showRange(): void {
    const { store, selection } = this.#options;
    const cells = selection.among(store.cells);
    const range = new Set(cells.length > 1 ? cells.map(({ id }) => id) : []);
    for (const [id, view] of this.#views) view.setInRange(range.has(id));
  }

  #onEvent(event: StoreEvent): void {
    const { store } = this.#options;
    switch (event.type) {
      case 'reset':
        return this.#reset();
      case 'cell':
        return this.#change(event);
      case 'run':
      case 'finished':
        this.find(event.run.cellId)?.showRun(store.runOf(event.run.cellId), store.durationOf(event.run.cellId));
        return;
      case 'question':
        this.find(event.cellId)?.showQuestion(store.questionOf(event.cellId));
        return;
      case 'link':
        for (const view of this.#views.values()) view.setOff(store.offReason);
        return;
      default:
    }
  }

  #reset(): void {
    const { store, selection } = this.#options;
    const wanted = new Set(store.cells.map(({ id }) => id));
    for (const [id, view] of this.#views) if (!wanted.has(id)) this.#remove(view);
    let next: Element | null = this.element.firstElementChild;
    for (const cell of store.cells) {
      const known = this.#views.get(cell.id);
      if (known) this.#fill(known, cell);
      const view = known ?? this.#create(cell);
      this.#dirty.add(cell.id);
      if (view.element === next) next = next.nextElementSibling;
      else this.element.insertBefore(view.element, next);
    }
    const { cellId } = selection;
    if (cellId === undefined || !wanted.has(cellId)) selection.set(store.cells[0]?.id, 'command');
    this.#renumber();
  }

  #change({ change, before, after }: Extract<StoreEvent, { type: 'cell' }>): void {
    if (!after) {
      if (before) this.#delete(before.cell, before.index);
      return;
    }
    const view = this.#views.get(after.cell.id) ?? this.#create(after.cell);
    if (!before || before.index !== after.index) this.#place(view, after.index);
    if (before?.cell === after.cell) return;
    if (change.op.type === 'editOutputs') view.keep(after.cell);
    else view.show(after.cell);
    if (before?.cell.outputs !== after.cell.outputs) this.#dirty.add(after.cell.id);
    this.#askFrame();
  }

  #delete(cell: Cell, index: number): void {
    const { store, selection } = this.#options;
    const view = this.#views.get(cell.id);
    if (!view) return;
    const hadFocus = view.element.contains(document.activeElement);
    this.#remove(view);
    this.#renumber();
    if (selection.cellId !== cell.id) return;
    const neighbour = store.cells[Math.min(index, store.cells.length - 1)]?.id;
    selection.set(neighbour, 'command');
    if (hadFocus) this.find(neighbour)?.focus();
  }

  #create(cell: Cell): CellView {
    const view = new CellView(cell, this.#options);
    this.#views.set(cell.id, view);
    this.#fill(view, cell);
    view.showClash(this.#options.drafts.clashOf(cell.id));
    if (this.#haveLineNumbers) view.source.setLineNumbers(true);
    this.#sight.observe(view.element);
    return view;
  }

  /** Shows all that is known of a cell but its outputs. */
  #fill(view: CellView, cell: Cell): void {
    const { trail, store } = this.#options;
    view.show(cell);
    view.showMark(trail.markOf(cell.id));
    view.showQuestion(store.questionOf(cell.id));
    view.showRun(store.runOf(cell.id), store.durationOf(cell.id));
    view.setOff(store.offReason);
  }

  /** An element that is moved loses the keyboard: give it back. */
  #place(view: CellView, index: number): void {
    const focused = document.activeElement;
    const hadFocus = view.element.contains(focused);
    const others = [...this.element.children].filter((child) => child !== view.element);
    this.element.insertBefore(view.element, others[index] ?? null);
    if (hadFocus && focused instanceof HTMLElement) focused.focus({ preventScroll: true });
    this.#renumber();
  }

  #remove(view: CellView): void {
    this.#sight.unobserve(view.element);
    this.#awake.delete(view);
    this.#visible.delete(view);
    this.#drowsy.delete(view);
    this.#views.delete(view.cell.id);
    view.element.remove();
  }

  #see(entries: readonly IntersectionObserverEntry[]): void {
    for (const { target, isIntersecting } of entries) {
      const view = this.find((target as HTMLElement).dataset.cellId);
      if (!view) continue;
      if (!isIntersecting) this.#visible.delete(view);
      else {
        this.#visible.add(view);
        this.#drowsy.add(view);
        if (this.#dirty.has(view.cell.id)) this.#askFrame();
      }
    }
    this.#wakeSome();
  }

  /** A few per frame: a jump to another place of a long notebook shows its text at once, and the editors as they come. */
  #wakeSome(): void {
    const endMs = performance.now() + wakingMs;
    for (const view of this.#drowsy) {
      this.#drowsy.delete(view);
      if (!this.#visible.has(view)) continue;
      this.#awake.delete(view);
      this.#awake.add(view);
      view.wake();
      if (performance.now() > endMs) break;
    }
    if (this.#drowsy.size > 0) this.#askFrame();
    else this.#putToSleep();
  }

  #putToSleep(): void {
    for (const view of this.#awake) {
      if (this.#awake.size <= maxAwake) break;
      if (this.#visible.has(view) || view.source.hasFocus) continue;
      this.#awake.delete(view);
      view.sleep();
      if (this.#drawnWeight() > 2 * documentBudget) {
        view.outputs.forget();
        this.#dirty.add(view.cell.id);
      }
    }
  }

  #renumber(): void {
    this.#areNumbersStale = true;
    this.#askFrame();
  }

  #askFrame(): void {
    if (this.#isFrameAsked) return;
    this.#isFrameAsked = true;
    // A page in the background gets no frames, and must not fall behind without end.
    const draw = () => {
      if (this.#isFrameAsked) this.#draw();
    };
    if (document.hidden) setTimeout(draw, 250);
    else requestAnimationFrame(draw);
  }

  #draw(): void {
    this.#isFrameAsked = false;
    const { cells } = this.#options.store;
    if (this.#areNumbersStale) {
      this.#areNumbersStale = false;
      this.#showRange();
      for (const [index, { id }] of cells.entries()) this.find(id)?.setPlace(index, cells.length);
    }
    if (this.#dirty.size > 0) this.#drawOutputs();
    if (this.#drowsy.size > 0) this.#wakeSome();
  }

  /** A few per frame, those that are seen first; of the others as many as a page can hold. */
  #drawOutputs(): void {
    const endMs = performance.now() + drawingMs;
    const views = [...this.#dirty].flatMap((id) => this.#views.get(id) ?? []);
    if (views.length < this.#dirty.size) for (const id of this.#dirty) if (!this.#views.has(id)) this.#dirty.delete(id);
    const seen = views.filter((view) => this.#visible.has(view));
    let left = documentBudget - this.#drawnWeight();
    for (const view of [...seen, ...views.filter((other) => !this.#visible.has(other))]) {
      if (left <= 0 && !this.#visible.has(view)) return;
      const before = view.outputs.weight;
      if (view.showOutputs(endMs)) this.#dirty.delete(view.cell.id);
      left -= view.outputs.weight - before;
      if (performance.now() > endMs) break;
    }
    if (this.#dirty.size > 0) this.#askFrame();
  }

  #drawnWeight(): number {
    let sum = 0;
    for (const view of this.#views.values()) sum += view.outputs.weight;
    return sum;
  }
}
