import { BridgeError } from '@notebridge/protocol/core/errors';
import { isJsonObject } from '@notebridge/protocol/json';
import type { McpClient } from '@notebridge/protocol/rpc/mcp-client';
import type { PeerRequestOptions } from '@notebridge/protocol/rpc/peer';
import { toSource } from '../reads/read-before-write.js';
import { toAnswerValue } from './change-call.js';

/** Where a cell stands, and between which others. */
export interface CellPlace {
  readonly index: number;
  readonly previousId: string | undefined;
  readonly nextId: string | undefined;
}

/** A cell as `get_cells` shows it, without its outputs. */
export interface LocatedCell extends CellPlace {
  readonly id: string;
  /** `code`, or whatever the page calls its text cells. */
  readonly type: string;
  readonly source: string;
  /** Undefined where the page does not say. */
  readonly language: string | undefined;
}

/** Ends each request: how long it may take, and who may cancel it. */
export type ReadLimits = Pick<PeerRequestOptions, 'timeoutMs' | 'cancellation'>;

/** How far from where it was a cell is looked for, before the whole notebook is read. */
const windowRadius = 4;
const maxRemembered = 10_000;

/**
 * Reads cells of one page through its `get_cells`, as little as it can. Rejects as the client does, and with `bad_message` if the
 * page does not show cells as Colab does.
 */
export class CellReader {
  readonly #client: McpClient;
  /** Where cells were seen last: only a hint, since a person moves them without notice. */
  readonly #seenAt = new Map<string, number>();

  constructor(client: McpClient) {
    this.#client = client;
  }

  async readAll(limits: ReadLimits): Promise<LocatedCell[]> {
    const cells = await this.#read({}, limits);
    if (cells === undefined) throw new BridgeError('bad_message', '"get_cells" of the page did not answer with cells as Colab does.');
    this.#seenAt.clear();
    for (const { id, index } of cells.slice(0, maxRemembered)) this.#seenAt.set(id, index);
    return cells;
  }

  /** One cell; undefined if it is not there. */
  async find(cellId: string, limits: ReadLimits): Promise<LocatedCell | undefined> {
    return (await this.#findNear(cellId, limits)) ?? (await this.readAll(limits)).find(({ id }) => id === cellId);
  }

  /** Notes where a cell has been put. */
  noteAt(cellId: string, index: number): void {
    if (this.#seenAt.size < maxRemembered || this.#seenAt.has(cellId)) this.#seenAt.set(cellId, index);
  }

  async #findNear(cellId: string, limits: ReadLimits): Promise<LocatedCell | undefined> {
    const index = this.#seenAt.get(cellId);
    if (index === undefined) return undefined;
    const start = Math.max(0, index - windowRadius);
    const cells = await this.#read({ cellIndexStart: start, cellIndexEnd: index + windowRadius }, limits);
    const cell = cells?.find(({ id }) => id === cellId);
    // What stands above the first one of the window is not known.
    return cell === undefined || (cell.index === start && start > 0) ? undefined : cell;
  }

  async #read(range: { cellIndexStart?: number; cellIndexEnd?: number }, limits: ReadLimits): Promise<LocatedCell[] | undefined> {
    const answer = toAnswerValue(await this.#client.callTool('get_cells', { ...range, includeOutputs: false }, limits));
    const { cellIndexStart = 0, cellIndexEnd = Number.POSITIVE_INFINITY } = range;
    // A page that gives more than it was asked for does not know ranges: then no index would be right.
    if (!Array.isArray(answer?.cells) || answer.cells.length > cellIndexEnd - cellIndexStart + 1) return undefined;
    return toPlacedCells(answer.cells, cellIndexStart);
  }
}

function toPlacedCells(cells: unknown[], start: number): LocatedCell[] | undefined {
  const placed: LocatedCell[] = [];
  for (const [offset, cell] of cells.entries()) {
    const source = isJsonObject(cell) ? toSource(cell.source) : undefined;
    if (!isJsonObject(cell) || typeof cell.id !== 'string' || typeof cell.cell_type !== 'string' || source === undefined) return undefined;
    placed.push({
      id: cell.id,
      type: cell.cell_type,
      source,
      language: typeof cell.language === 'string' ? cell.language : undefined,
      index: start + offset,
      previousId: idOf(cells[offset - 1]),
      nextId: idOf(cells[offset + 1]),
    });
  }
  return placed;
}

function idOf(cell: unknown): string | undefined {
  return isJsonObject(cell) && typeof cell.id === 'string' ? cell.id : undefined;
}
