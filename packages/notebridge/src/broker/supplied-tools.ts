import type { NotebookTools, ToolAccess, ToolCall, ToolCallOptions, ToolPackage } from '@notebridge/notebook/host';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import type { JsonObject } from '@notebridge/protocol/json';
import type { Peer } from '@notebridge/protocol/rpc/peer';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { LinkAskers } from './code-questions-link.js';

/** An agent's process that lends its servers to the code of a notebook. */
export interface ToolSupplier {
  peer: Peer;
  /** Which config its servers are of. */
  key: string;
}

/**
 * What the code of a joined notebook may call: the servers of the agent's process that started the notebook, through that process's guard.
 * They are nobody else's: when it ends, only a process with the same config takes over, and until then a call says so.
 */
export class SuppliedTools implements NotebookTools {
  readonly #key: string;
  readonly #suppliers: ToolSupplier[] = [];
  readonly #packages = new Listeners<ToolPackage>();
  readonly #accesses = new Listeners<ToolAccess | null>();
  #package: ToolPackage = { state: 'coming' };
  #access: ToolAccess | null = null;
  #isStarted = false;
  readonly #askers = new LinkAskers();

  constructor(key: string) {
    this.#key = key;
  }

  get package(): ToolPackage {
    return this.#package;
  }

  get access(): ToolAccess | null {
    return this.#access;
  }

  onPackage(listener: (next: ToolPackage) => void): () => void {
    return this.#packages.add(listener);
  }

  onAccess(listener: (access: ToolAccess | null) => void): () => void {
    return this.#accesses.add(listener);
  }

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    this.#wake();
  }

  async call({ server, tool, body }: ToolCall, { signal, onEvent, asker }: ToolCallOptions): Promise<string> {
    const [supplier] = this.#suppliers;
    if (supplier === undefined) return refusal(nobodyLends);
    const cancellation = new Cancellation();
    const cancel = (): void => cancellation.cancel('the code does not wait any more');
    signal.addEventListener('abort', cancel, { once: true });
    const asked = asker && this.#askers.open(supplier.peer, asker);
    try {
      const { text } = await supplier.peer.request(
        'code/call',
        { server, tool, body, hears: onEvent !== undefined, ...(asked && { asks: asked.asks }) },
        { cancellation, ...(onEvent ? { onProgress: ({ message }) => onEvent(String(message)) } : {}) },
      );
      return String(text);
    } catch (error) {
      if (this.#suppliers[0] === supplier) throw error;
      return refusal(`${nobodyLends} The outcome of this call is unknown; it was not repeated.`);
    } finally {
      signal.removeEventListener('abort', cancel);
      asked?.close();
    }
  }

  /** A server asks in a call that this process makes for the notebook's code. Rejects with `unanswered_question` if the call has ended. */
  ask(peer: Peer, params: JsonObject, asking: Cancellation): Promise<JsonObject> {
    return this.#askers.ask(peer, params, asking);
  }

  async setAllowed(allowed: boolean): Promise<void> {
    const [supplier] = this.#suppliers;
    if (supplier === undefined) throw new Error(nobodyLends);
    await supplier.peer.request('code/allow', { allowed });
  }

  /** A process joined. It supplies the tools if it has the config that the notebook was started with, and nobody before it does. */
  offer(supplier: ToolSupplier): void {
    if (supplier.key !== this.#key) return;
    this.#suppliers.push(supplier);
    if (this.#suppliers.length === 1) this.#wake();
  }

  /** A process has ended. */
  withdraw(peer: Peer): void {
    const at = this.#suppliers.findIndex((supplier) => supplier.peer === peer);
    if (at < 0) return;
    this.#suppliers.splice(at, 1);
    if (at > 0) return;
    if (this.#suppliers.length > 0) return this.#wake();
    this.#showAccess(null);
    // The package stays: what is imported already answers with the reason.
    if (this.#package.state === 'coming') this.#offerPackage({ state: 'none', reason: nobodyLends });
  }

  /** Takes what a supplier tells. Others are not listened to. */
  hear(peer: Peer, method: string, params: JsonObject): void {
    if (this.#suppliers[0]?.peer !== peer) return;
    if (method === 'code/access') this.#showAccess(params.access as unknown as ToolAccess | null);
    if (method !== 'code/package') return;
    const next = params.package as unknown as ToolPackage<[string, string][]>;
    this.#offerPackage(next.state === 'there' ? { ...next, files: new Map(next.files) } : next);
  }

  async close(): Promise<void> {}

  #wake(): void {
    const [supplier] = this.#suppliers;
    // A process that ends is withdrawn.
    if (this.#isStarted) supplier?.peer.request('code/start', {}).catch(() => {});
  }

  #offerPackage(next: ToolPackage): void {
    const before = this.#package;
    if (before.state === 'there' && next.state === 'there' && before.version === next.version) return;
    this.#package = next;
    this.#packages.emit(next);
  }

  #showAccess(access: ToolAccess | null): void {
    this.#access = access;
    this.#accesses.emit(access);
  }
}

const nobodyLends =
  'The MCP servers for code in this notebook are those of the agent that started it, and that agent is not connected. They come back when it, or another one with the same config, joins the notebook.';

function refusal(error: string): string {
  return JSON.stringify({ success: false, result: null, error, is_error: false, error_code: 'not_connected' });
}
