import { codeOf } from '@notebridge/protocol/core/errors';
import type { Tool } from '@notebridge/protocol/core/mcp';
import type { McpClient } from '@notebridge/protocol/rpc/mcp-client';
import { CellReader, type ReadLimits } from './cell-reader.js';
import { emptyOffer, listOffer, type PageOffer } from './page-offer.js';

/** One connection of a page, as undo sees it: a page that connects anew is another one. */
export class JournalledPage {
  /** Identifies the connection. */
  readonly connection: number;
  readonly client: McpClient;
  readonly cells: CellReader;
  readonly #profileTools: readonly Tool[];
  #offer: PageOffer | undefined;
  #offersChanged = 0;

  constructor(connection: number, client: McpClient, profileTools: readonly Tool[]) {
    this.connection = connection;
    this.client = client;
    this.cells = new CellReader(client);
    this.#profileTools = profileTools;
  }

  /** What the page was found to offer; undefined before it was asked. */
  get knownOffer(): PageOffer | undefined {
    return this.#offer;
  }

  /** Asks the page once what it offers. One that cannot say is not asked again: then it offers nothing for us. */
  async getOffer(limits: ReadLimits): Promise<PageOffer> {
    if (this.#offer !== undefined) return this.#offer;
    const asked = this.#offersChanged;
    try {
      const offer = await listOffer(this.client, this.#profileTools, limits);
      if (asked === this.#offersChanged) this.#offer = offer;
      return offer;
    } catch (error) {
      if (codeOf(error) !== 'cancelled' && asked === this.#offersChanged) this.#offer = emptyOffer;
      throw error;
    }
  }

  /** The page has said that its tools changed. */
  forgetOffer(): void {
    this.#offersChanged++;
    this.#offer = undefined;
  }
}
