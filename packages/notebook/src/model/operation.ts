import type { JsonObject } from '@notebridge/protocol/json';
import type { Actor, Cell, CellContent, CellType } from './cell.js';
import type { Output } from './output.js';
import { editOutputs, type OutputEdit } from './output-log.js';

/** What happens to a document, complete in itself: a replica that applies it needs to know nothing else. Plain JSON. */
export type Operation =
  | { type: 'insert'; index: number; cell: CellContent }
  | { type: 'update'; id: string; source: string }
  /** `index` is where the cell stands afterwards. */
  | { type: 'move'; id: string; index: number }
  | { type: 'delete'; id: string }
  | { type: 'setType'; id: string; cellType: CellType }
  /** Without an id: the notebook's own. */
  | { type: 'setMetadata'; id?: string; metadata: JsonObject }
  /** The whole cell as it was, put where it was; it may or may not be there. */
  | { type: 'restore'; index: number; cell: CellContent }
  | { type: 'setOutputs'; id: string; outputs: readonly Output[]; executionCount: number | null }
  | { type: 'setExecutionCount'; id: string; executionCount: number | null }
  | { type: 'editOutputs'; id: string; edit: OutputEdit };

/** One step in the life of a document. */
export interface Change {
  /** Grows by 1 with each change. */
  readonly version: number;
  readonly by: Actor;
  readonly op: Operation;
}

/** A document's data at one moment. Plain JSON. */
export interface DocumentState {
  readonly version: number;
  readonly minor: number;
  readonly metadata: JsonObject;
  readonly extra?: JsonObject;
  readonly cells: readonly Cell[];
}

/** The cell that an operation is about; undefined for one about the notebook. */
export function cellIdOf(op: Operation): string | undefined {
  return op.type === 'insert' || op.type === 'restore' ? op.cell.id : op.id;
}

/** Changes what people and agents write: all but what a run does. */
export type ContentOperation = Exclude<Operation, { type: 'setOutputs' | 'setExecutionCount' | 'editOutputs' }>;

export function isContentOperation(op: Operation): op is ContentOperation {
  return op.type !== 'setOutputs' && op.type !== 'setExecutionCount' && op.type !== 'editOutputs';
}

/** The state after a change. `at` is where its cell stands, or -1. Pure, so that document and replica cannot differ. */
export function applyChange(state: DocumentState, change: Change, at: number): DocumentState {
  const { version, op } = change;
  if (op.type === 'setMetadata' && op.id === undefined) return { ...state, version, metadata: op.metadata };
  return { ...state, version, cells: applyToCells(state.cells, change, at) };
}

function applyToCells(cells: readonly Cell[], { by, op }: Change, at: number): readonly Cell[] {
  const stamp = { changedBy: by };
  if (op.type === 'insert') return cells.toSpliced(op.index, 0, { ...op.cell, ...stamp });
  const cell = cells[at];
  switch (op.type) {
    case 'restore':
      return (cell ? cells.toSpliced(at, 1) : cells).toSpliced(op.index, 0, { ...op.cell, ...stamp });
    case 'delete':
      return cells.toSpliced(at, 1);
    case 'move':
      return cell ? cells.toSpliced(at, 1).toSpliced(op.index, 0, { ...cell, ...stamp }) : cells;
    default:
      return cell ? cells.with(at, { ...applyToCell(cell, op), ...(isContentOperation(op) ? stamp : {}) }) : cells;
  }
}

type CellOperation = Exclude<Operation, { type: 'insert' | 'restore' | 'delete' | 'move' }>;

function applyToCell(cell: Cell, op: CellOperation): Cell {
  if (op.type === 'setType') return toType(cell, op.cellType);
  if (op.type === 'editOutputs') return { ...cell, outputs: editOutputs(cell.outputs, op.edit) };
  // The others name what they set as a cell does.
  const { type: _type, id: _id, ...members } = op;
  return { ...cell, ...members };
}

/** A text cell has no outputs, and a code cell no attachments. */
function toType(cell: Cell, type: CellType): Cell {
  if (type !== 'code') return { ...cell, type, outputs: [], executionCount: null };
  const { attachments: _, ...rest } = cell;
  return { ...rest, type };
}
