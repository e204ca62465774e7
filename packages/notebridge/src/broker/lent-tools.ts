import type { NotebookTools } from '@notebridge/notebook/host';
import type { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { JsonObject } from '@notebridge/protocol/json';
import type { Peer } from '@notebridge/protocol/rpc/peer';
import { toCodeAsker } from './code-questions-link.js';

/** The other end of `SuppliedTools`: an agent's process answers the calls of the notebook's code, by its own hub and guard. */
export class LentTools {
  readonly #tools: NotebookTools;
  #stopListening: (() => void)[] = [];

  constructor(tools: NotebookTools) {
    this.#tools = tools;
  }

  async request(method: string, params: JsonObject, { peer, call }: { peer: Peer; call: Cancellation }): Promise<JsonObject> {
    switch (method) {
      case 'code/start':
        this.#start(peer);
        return {};
      case 'code/call':
        return this.#call(params, { peer, call });
      case 'code/allow':
        await this.#tools.setAllowed(params.allowed === true);
        return {};
      default:
        throw new BridgeError('unknown_method', `An agent's process does not answer "${method}".`);
    }
  }

  /** The notebook's process has ended, or let us go. */
  forget(): void {
    for (const stop of this.#stopListening.splice(0)) stop();
  }

  #start(peer: Peer): void {
    this.forget();
    const tools = this.#tools;
    const sendPackage = (): void => {
      const next = tools.package;
      peer.notify('code/package', { package: next.state === 'there' ? { ...next, files: [...next.files] } : { ...next } });
    };
    const sendAccess = (): void => peer.notify('code/access', { access: tools.access as unknown as JsonObject | null });
    this.#stopListening = [tools.onPackage(sendPackage), tools.onAccess(sendAccess)];
    sendAccess();
    if (tools.package.state !== 'coming') sendPackage();
    tools.start();
  }

  async #call(
    { server, tool, body, hears, asks, _meta }: JsonObject,
    { peer, call }: { peer: Peer; call: Cancellation },
  ): Promise<JsonObject> {
    const progressToken = (_meta as JsonObject | undefined)?.progressToken;
    let said = 0;
    const onEvent = (message: string): void => peer.notify('notifications/progress', { progressToken, progress: ++said, message });
    const text = await this.#tools.call(
      { server: String(server), tool: String(tool), body: String(body) },
      { signal: call.signal, onEvent: hears === true ? onEvent : undefined, asker: toCodeAsker(peer, asks) },
    );
    return { text };
  }
}
