import type { CallContext } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import type { Provider } from '@notebridge/protocol/core/provider';
import { RequestContext } from '@notebridge/protocol/core/request-context';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { toAnswerValue } from '../changes/change-call.js';
import { type CellOutput, toOutputs } from './page-run.js';

/** How long the page may take to show a cell. Milliseconds. */
const readTimeoutMs = 5000;
const maxRemembered = 10_000;

/** In whose name cells are read. */
type Reader = Pick<CallContext, 'callId' | 'caller'>;

/** Reads the outputs of single cells through the `get_cells` of a page. */
export class PageCells {
  readonly #page: Provider;
  /** Where cells were seen last: only a hint, since a person moves them without notice. */
  readonly #seenAt = new Map<string, number>();

  constructor(page: Provider) {
    this.#page = page;
  }

  /** What the cell shows now; undefined if it is not there, or the page does not say in time. Never rejects. */
  async outputsOf(cellId: string, reader: Reader): Promise<readonly CellOutput[] | undefined> {
    try {
      const seenAt = this.#seenAt.get(cellId);
      const cell = seenAt === undefined ? undefined : await this.#readAt(seenAt, cellId, reader);
      return toOutputs((cell ?? (await this.#look(cellId, reader)))?.outputs);
    } catch {
      return undefined;
    }
  }

  async #look(cellId: string, reader: Reader): Promise<JsonObject | undefined> {
    const index = (await this.#read({ includeOutputs: false }, reader)).findIndex(({ id }) => id === cellId);
    if (index < 0) return undefined;
    if (this.#seenAt.size >= maxRemembered) this.#seenAt.clear();
    this.#seenAt.set(cellId, index);
    return this.#readAt(index, cellId, reader);
  }

  async #readAt(index: number, cellId: string, reader: Reader): Promise<JsonObject | undefined> {
    const cells = await this.#read({ cellIndexStart: index, cellIndexEnd: index, includeOutputs: true }, reader);
    return cells.find(({ id }) => id === cellId);
  }

  async #read(args: JsonObject, { callId, caller }: Reader): Promise<JsonObject[]> {
    const message = { name: 'get_cells', arguments: args };
    const cancellation = new Cancellation();
    const timer = setTimeout(() => cancellation.cancel('The page did not show its cells in time.'), readTimeoutMs);
    try {
      const request = { type: 'request', method: 'tools/call', message, callId, caller, cancellation, notify: () => {} } as const;
      const cells = toAnswerValue(await this.#page.request('tools/call', message, new RequestContext(request)))?.cells;
      return Array.isArray(cells) ? cells.filter(isJsonObject) : [];
    } finally {
      clearTimeout(timer);
    }
  }
}
