import type { JsonObject } from '@notebridge/protocol/json';
import type { Output } from './output.js';

export type CellType = 'code' | 'markdown' | 'raw';

/** A cell as a notebook file has it. Texts are single strings; nothing in it is ever changed in place. */
export interface CellContent {
  readonly id: string;
  readonly type: CellType;
  readonly source: string;
  readonly metadata: JsonObject;
  /** Of text cells only. */
  readonly attachments?: JsonObject;
  /** Empty for text cells. */
  readonly outputs: readonly Output[];
  /** Null for text cells, and for code that has not run. */
  readonly executionCount: number | null;
  /** Keys of a later minor version of nbformat, which we do not know. */
  readonly extra?: JsonObject;
}

/** A whole notebook, without the life of a document. */
export interface Notebook {
  readonly metadata: JsonObject;
  /** The minor version of nbformat 4 that the file has. Before 5, files have no ids. */
  readonly minor: number;
  readonly cells: readonly CellContent[];
  readonly extra?: JsonObject;
}

/** Who changes something. */
export interface Actor {
  readonly kind: 'person' | 'agent';
  /** As people shall read it: "Ann", "Claude Code". */
  readonly name: string;
}

/** A cell of a live document. */
export interface Cell extends CellContent {
  /** The person or agent that last changed the cell's source, type, metadata or place; absent for a cell that is as the file had it. */
  readonly changedBy?: Actor;
}

export const emptyNotebook: Notebook = { metadata: {}, minor: 5, cells: [] };
