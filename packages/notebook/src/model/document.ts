import type { JsonObject } from '@notebridge/protocol/json';
import { revOf } from '@notebridge/protocol/runs/cell-rev';
import { nearest } from '@notebridge/protocol/util/did-you-mean';
import { keepLatest } from '@notebridge/protocol/util/keep-latest';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { type Actor, type Cell, type CellContent, type CellType, emptyNotebook, type Notebook } from './cell.js';
import { createCellId } from './cell-ids.js';
import { NotebookError } from './errors.js';
import { toWellFormed } from './json.js';
import { defaultNotebookLimits } from './nbformat.js';
import { applyChange, type Change, cellIdOf, type DocumentState, type Operation } from './operation.js';
import type { DisplayDataOutput, ExecuteResultOutput, Output } from './output.js';
import type { OutputLimits } from './output-budget.js';
import { OutputLog } from './output-log.js';
import { fromKernel } from './outputs.js';

export interface DocumentLimits extends OutputLimits {
  /** Default 10,000. */
  maxCells?: number;
  /** Characters of one cell's source. Default 10,000,000. */
  maxSourceLength?: number;
}

export interface EditOptions {
  by: Actor;
  /** Refuses with `stale_cell` if the cell has another revision (`revOf`) by now. */
  expectedRev?: number | undefined;
}

/** A cell and its place. */
export interface PlacedCell {
  readonly cell: Cell;
  readonly index: number;
  /** The cell above it; absent for the first. */
  readonly previousId?: string;
}

/** What listeners receive: the change, and the cell before and after it, where there is one. */
export interface DocumentEvent {
  readonly change: Change;
  readonly before?: PlacedCell;
  readonly after?: PlacedCell;
}

/** What a new cell may bring along. What comes from outside has been checked before. */
export type NewCell = Partial<Omit<CellContent, 'type' | 'source'>> & { type: CellType; source: string };

const maxRememberedDeletions = 1000;

/** The live notebook: the one place where it changes. Its data is immutable; every change makes a new state and one event. */
export class NotebookDocument {
  readonly #limits: DocumentLimits;
  readonly #listeners = new Listeners<DocumentEvent>();
  readonly #logs = new Map<string, OutputLog>();
  /** Who deleted which cell: for error texts, and so that no id is used twice. */
  readonly #deleted = new Map<string, Actor>();
  readonly #places = new CellPlaces();
  #state: DocumentState;

  constructor(state: DocumentState, limits: DocumentLimits = {}) {
    this.#state = state;
    this.#limits = limits;
  }

  get version(): number {
    return this.#state.version;
  }

  get metadata(): JsonObject {
    return this.#state.metadata;
  }

  get cells(): readonly Cell[] {
    return this.#state.cells;
  }

  /** The whole data, as plain JSON, from which `createReplica` makes an equal document. */
  snapshot(): DocumentState {
    return this.#state;
  }

  /** For `printNotebook`. */
  toNotebook(): Notebook {
    const { metadata, minor, extra, cells } = this.#state;
    return { metadata, minor, cells, ...(extra ? { extra } : {}) };
  }

  /** Called after each change, with the change in place. Returns the unsubscribe function. */
  onChange(listener: (event: DocumentEvent) => void): () => void {
    return this.#listeners.add(listener);
  }

  find(id: string): Cell | undefined {
    return this.#place(id)?.cell;
  }

  /** Throws `unknown_cell`, naming ids that are near. */
  get(id: string): PlacedCell {
    const placed = this.#place(id);
    if (!placed) throw this.#unknownCell(id);
    return placed;
  }

  /** An index beyond the end appends. */
  insert(index: number, { type, source: given, ...more }: NewCell, { by }: EditOptions): Cell {
    const maxCells = this.#limits.maxCells ?? defaultNotebookLimits.maxCells;
    if (this.cells.length >= maxCells) throw new NotebookError('too_large', `The notebook has ${maxCells} cells, which is the limit.`);
    const source = this.#checkedSource(given);
    const isFree = more.id !== undefined && !this.find(more.id);
    const id =
      isFree && more.id ? more.id : createCellId((candidate) => this.#deleted.has(candidate) || this.find(candidate) !== undefined);
    const cell: CellContent = { metadata: {}, outputs: [], executionCount: null, ...more, id, type, source };
    this.#perform({ type: 'insert', index: Math.min(index, this.cells.length), cell }, by);
    return this.get(id).cell;
  }

  /** Throws `unknown_cell`, or `stale_cell` if the cell has another revision by now. */
  assertCurrent(id: string, options: EditOptions): void {
    this.#checked(id, options);
  }

  update(id: string, newSource: string, options: EditOptions): void {
    const { cell } = this.#checked(id, options);
    const source = this.#checkedSource(newSource);
    if (source !== cell.source) this.#perform({ type: 'update', id, source }, options.by);
  }

  /** `index` is where the cell stands afterwards; beyond the end means last. */
  move(id: string, index: number, { by }: EditOptions): void {
    const target = Math.min(index, this.cells.length - 1);
    if (target !== this.get(id).index) this.#perform({ type: 'move', id, index: target }, by);
  }

  delete(id: string, options: EditOptions): void {
    this.#checked(id, options);
    this.#perform({ type: 'delete', id }, options.by);
  }

  /** A code cell that becomes text loses its outputs, a text cell that becomes code its attachments. */
  setType(id: string, cellType: CellType, options: EditOptions): void {
    const { cell } = this.#checked(id, options);
    if (cellType !== cell.type) this.#perform({ type: 'setType', id, cellType }, options.by);
  }

  /** Without an id: the notebook's own. Keys that stay should come from the metadata as it is, so that they keep their order. */
  setMetadata(id: string | undefined, metadata: JsonObject, options: EditOptions): void {
    if (id !== undefined) this.#checked(id, options);
    this.#perform({ type: 'setMetadata', ...(id === undefined ? {} : { id }), metadata }, options.by);
  }

  /** Replaces all outputs, without the limits that a run has. */
  setOutputs(id: string, outputs: readonly Output[], options: EditOptions & { executionCount?: number | null }): void {
    const { cell } = this.#codeCell(id);
    const { executionCount = cell.executionCount } = options;
    this.#perform({ type: 'setOutputs', id, outputs: outputs.map(fromKernel), executionCount }, options.by);
  }

  setExecutionCount(id: string, executionCount: number | null, { by }: EditOptions): void {
    if (this.#codeCell(id).cell.executionCount !== executionCount) this.#perform({ type: 'setExecutionCount', id, executionCount }, by);
  }

  /** Adds what a kernel sent, as Jupyter shows it and within the limits. */
  appendOutput(id: string, output: Output, { by }: EditOptions): void {
    this.#editOutputs(id, by, (log) => log.append(fromKernel(output)));
  }

  /** A display that a kernel shows anew. It keeps its kind: a result stays one. */
  replaceOutput(id: string, index: number, output: Output, { by }: EditOptions): void {
    const before = this.#codeCell(id).cell.outputs[index];
    const next = fromKernel(output);
    if (!before || !('data' in before) || !('data' in next)) return;
    const kept = { ...before, data: next.data, metadata: next.metadata } as DisplayDataOutput | ExecuteResultOutput;
    this.#editOutputs(id, by, (log) => log.replace(index, before, kept));
  }

  /** At the end of a run: if something was left out, its note gets the totals. */
  finishOutputs(id: string, { by }: EditOptions): void {
    this.#editOutputs(id, by, (log) => log.finish());
  }

  /** Removes outputs and execution count. */
  clear(id: string, { by }: EditOptions): void {
    const { cell } = this.#codeCell(id);
    if (cell.outputs.length === 0 && cell.executionCount === null) this.#logs.delete(id);
    else this.#perform({ type: 'setOutputs', id, outputs: [], executionCount: null }, by);
  }

  /** Puts a cell back as it was, and where it was; for undo. */
  restore({ cell, index }: Pick<PlacedCell, 'cell' | 'index'>, { by }: EditOptions): void {
    const { changedBy: _by, ...content } = cell;
    const last = this.cells.length - (this.find(cell.id) ? 1 : 0);
    this.#perform({ type: 'restore', index: Math.min(index, last), cell: content }, by);
  }

  /** For a replica: takes over a change of its original. Throws `out_of_step` for one that does not follow the last. */
  apply(change: Change): void {
    if (change.version !== this.version + 1) {
      throw new NotebookError('out_of_step', `Change ${change.version} does not follow version ${this.version} of the notebook.`);
    }
    this.#apply(change);
  }

  #perform(op: Operation, by: Actor): void {
    this.#apply({ version: this.version + 1, by: { kind: by.kind, name: by.name }, op });
  }

  #apply(change: Change): void {
    const id = cellIdOf(change.op);
    const before = id === undefined ? undefined : this.#place(id);
    this.#state = applyChange(this.#state, change, before?.index ?? -1);
    this.#places.keep(change.op);
    const after = id === undefined ? undefined : this.#place(id);
    if (id !== undefined) this.#keepBooks(id, change, after !== undefined);
    this.#listeners.emit({ change, ...(before ? { before } : {}), ...(after ? { after } : {}) });
  }

  #keepBooks(id: string, { op, by }: Change, exists: boolean): void {
    if (op.type === 'setOutputs' || op.type === 'setType' || op.type === 'restore' || !exists) this.#logs.delete(id);
    if (exists) this.#deleted.delete(id);
    else keepLatest(this.#deleted, [id, by], maxRememberedDeletions);
  }

  #editOutputs(id: string, by: Actor, edit: (log: OutputLog) => ReturnType<OutputLog['append']>): void {
    const { cell } = this.#codeCell(id);
    const log = this.#logs.get(id) ?? new OutputLog(cell.outputs, this.#limits);
    this.#logs.set(id, log);
    for (const step of edit(log)) this.#perform({ type: 'editOutputs', id, edit: step }, by);
  }

  #place(id: string): PlacedCell | undefined {
    const index = this.#places.indexOf(this.cells, id);
    const cell = this.cells[index];
    const previous = this.cells[index - 1];
    return cell && { cell, index, ...(previous ? { previousId: previous.id } : {}) };
  }

  #codeCell(id: string): PlacedCell {
    const placed = this.get(id);
    if (placed.cell.type !== 'code')
      throw new NotebookError('not_code_cell', `The cell "${id}" is a ${placed.cell.type} cell; only code cells have outputs.`);
    return placed;
  }

  #checked(id: string, { expectedRev }: EditOptions): PlacedCell {
    const placed = this.get(id);
    if (expectedRev !== undefined && expectedRev !== revOf(placed.cell)) throw staleCell(placed, expectedRev);
    return placed;
  }

  #checkedSource(source: string): string {
    const { maxSourceLength = 10_000_000 } = this.#limits;
    if (source.length <= maxSourceLength) return toWellFormed(source);
    throw new NotebookError('too_large', `The source has ${source.length} characters; a cell may have ${maxSourceLength}.`);
  }

  #unknownCell(id: string): NotebookError {
    const ids = this.cells.map((cell) => cell.id);
    const near = nearest(id, ids, 5);
    const deletedBy = this.#deleted.get(id);
    const what = deletedBy
      ? `The cell ${JSON.stringify(id)} was deleted by ${deletedBy.name}.`
      : `No cell has the id ${JSON.stringify(id.slice(0, 100))}.`;
    const hint = near.length > 0 ? ` Nearest: ${near.map((other) => `"${other}" (index ${ids.indexOf(other)})`).join(', ')}.` : '';
    const count = ids.length === 0 ? ' The notebook has no cells.' : ` get_cells lists all ${ids.length}.`;
    return new NotebookError('unknown_cell', what + hint + count, { data: { cellId: id, near, ...(deletedBy ? { deletedBy } : {}) } });
  }
}

/** A live document of a notebook. Changes begin at version 1. */
export function createDocument(notebook: Notebook = emptyNotebook, limits: DocumentLimits = {}): NotebookDocument {
  const { metadata, minor, extra, cells } = notebook;
  const state = { version: 1, minor, metadata, cells, ...(extra ? { extra } : {}) };
  return new NotebookDocument(state, limits);
}

/** A document that follows another by its changes (`apply`), from a snapshot that may have travelled as JSON. */
export function createReplica(snapshot: DocumentState, limits: DocumentLimits = {}): NotebookDocument {
  return new NotebookDocument(snapshot, limits);
}

/** Where a cell comes that is put back: behind the one that stood above it; the old index if that one is gone. */
export function placeAmong(cells: readonly Cell[], { cell, index, previousId }: PlacedCell): number {
  const previous = cells.filter(({ id }) => id !== cell.id).findIndex(({ id }) => id === previousId);
  return previous === -1 ? index : previous + 1;
}

function staleCell({ cell, index }: PlacedCell, expectedRev: number): NotebookError {
  const who = cell.changedBy ? `${cell.changedBy.kind === 'person' ? '' : 'the agent '}${cell.changedBy.name}` : 'the file';
  const currentRev = revOf(cell);
  const message = `The cell "${cell.id}" has changed since revision ${expectedRev}: revision ${currentRev} is by ${who}. Look at the current source, then decide again.`;
  const data = {
    cellId: cell.id,
    expectedRev,
    currentRev,
    currentType: cell.type,
    currentSource: cell.source,
    currentIndex: index,
    changedBy: cell.changedBy,
  };
  return new NotebookError('stale_cell', message, { data });
}

/**
 * Finds cells by their ids. It knows where each was seen last, and looks from there outwards: a cell that comes, goes or moves shifts
 * those behind it by one, and going through all of them with each change would make every change of a large notebook slow.
 */
class CellPlaces {
  #lastSeen: Map<string, number> | undefined;

  /** -1 if it is not among them. `cells` are those after the last change that was passed to `keep`. */
  indexOf(cells: readonly Cell[], id: string): number {
    this.#lastSeen ??= new Map(cells.map((cell, index) => [cell.id, index]));
    const seenAt = this.#lastSeen.get(id);
    if (seenAt === undefined) return -1;
    const index = findNear(cells, id, seenAt);
    if (index !== seenAt && index !== -1) this.#lastSeen.set(id, index);
    return index;
  }

  /** Must be called with every change. */
  keep(op: Operation): void {
    if (op.type === 'insert' || op.type === 'restore') this.#lastSeen?.set(op.cell.id, op.index);
    else if (op.type === 'move') this.#lastSeen?.set(op.id, op.index);
    else if (op.type === 'delete') this.#lastSeen?.delete(op.id);
  }
}

function findNear(cells: readonly Cell[], id: string, start: number): number {
  for (let [below, above] = [start, start + 1]; below >= 0 || above < cells.length; below--, above++) {
    if (cells[below]?.id === id) return below;
    if (cells[above]?.id === id) return above;
  }
  return -1;
}
