import type { BindingsInput } from '@notebridge/bindings';
import { isReachable } from '@notebridge/code-mode/bindings/input';
import { refusedAnswer } from '@notebridge/code-mode/execution/nested-calls';
import type { CodeAsker, NotebookTools, ToolAccess, ToolCall, ToolCallOptions } from '@notebridge/notebook/host';
import type { DelegateRights } from '@notebridge/protocol/core/delegate-rights';
import type { Middleware } from '@notebridge/protocol/core/middleware';
import type { Principal } from '@notebridge/protocol/core/principal';
import { type Asker, toAskable } from '@notebridge/protocol/core/questions';
import type { ToolServer } from '@notebridge/protocol/core/tool-server';
import { Listeners } from '@notebridge/protocol/util/listeners';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { createKernelDoor, type KernelDoor } from '../../doors/kernel/kernel-door.js';
import type { ToolProxyHub } from '../../doors/tool-proxy/tool-proxy-context.js';
import type { GrantStore } from '../../grants/grant-store.js';
import type { ConfigServers } from '../config-servers.js';
import { KeptPackage } from './kept-package.js';
import { OwnGrant } from './own-grant.js';
import { RunnerRights } from './runner-rights.js';

export interface CodeToolsOptions {
  hub: ToolProxyHub;
  servers: ConfigServers;
  /** Where the hub's guard looks grants up. Rejects if there can be none: then code calls nothing. */
  openStore: () => Promise<GrantStore>;
  delegate: DelegateRights;
  maxResultBytes: number;
}

const nothing = 'no MCP servers are configured. Add some to mcp.json (docs/config.md)';

/**
 * What the built-in notebook's Python may call: the servers of the hub, through its guard, with a grant of the notebook's own. Nothing
 * happens before a kernel starts.
 */
export class CodeTools extends KeptPackage implements NotebookTools {
  readonly #options: CodeToolsOptions;
  readonly #door: KernelDoor;
  readonly #accesses = new Listeners<ToolAccess | null>();
  #access: ToolAccess | null = null;
  readonly #runnerRights: RunnerRights;
  /** An agent has code run: from now on all code here is held to its grant too, until a person takes the right away and gives it anew. */
  readonly middlewares: readonly Middleware[];
  #grant: OwnGrant | undefined;

  constructor(options: CodeToolsOptions) {
    const { hub, servers, maxResultBytes } = options;
    const inputOf = (gather: () => Promise<BindingsInput>) => this.#inputOf(gather);
    super({ servers, logger: hub.logger, inputOf, nothing, what: 'code in the notebook' });
    this.#options = options;
    this.#door = createKernelDoor({ hub, servers, limits: { maxResultBytes } });
    this.#runnerRights = new RunnerRights(options.delegate, (principal) => this.#endSession(principal));
    this.middlewares = [this.#runnerRights.watch];
    this.onPackage(() => this.#showAccess());
  }

  get access(): ToolAccess | null {
    return this.#access;
  }

  onAccess(listener: (access: ToolAccess | null) => void): () => void {
    return this.#accesses.add(listener);
  }

  async call(call: ToolCall, { signal, onEvent, asker }: ToolCallOptions): Promise<string> {
    const grant = this.#grant;
    if (grant === undefined) return refusedAnswer('denied', 'This notebook has no right to call tools (yet). Try again in a moment.');
    await grant.refresh();
    const { isAllowed } = grant;
    const answer = await this.#door.call(call, {
      principal: this.#runnerRights.of(grant.principal),
      signal,
      onEvent,
      asker: asker && toAsker(asker, call.server),
    });
    this.#showAccess();
    // The guard has refused and recorded it; only we can say what a person has to do.
    return isAllowed ? answer : refusedAnswer('denied', takenAway(grant.id));
  }

  async setAllowed(isAllowed: boolean): Promise<void> {
    this.#runnerRights.forget();
    if (isAllowed) await this.#grant?.allow();
    else await this.#grant?.revoke();
    this.#showAccess();
  }

  /** Revokes the right permanently. Closing twice is harmless. */
  override async close(): Promise<void> {
    await super.close();
    const grant = this.#grant;
    this.#grant = undefined;
    this.#runnerRights.forget();
    // The store may be gone, or its disk full: it ends by itself.
    await grant
      ?.revoke()
      .catch((error: unknown) =>
        this.#options.hub.logger.warn('The grant of the notebook stays until it expires.', { error: messageOf(error) }),
      );
  }

  /** With the first package comes the right to call. */
  async #inputOf(gather: () => Promise<BindingsInput>): Promise<BindingsInput | undefined> {
    if (!this.#options.servers.all().some(isReachable)) return undefined;
    await this.#issueOnce();
    this.#showAccess();
    const input = await gather();
    this.#showAccess();
    return input;
  }

  async #issueOnce(): Promise<void> {
    if (this.#grant !== undefined) return;
    const { openStore } = this.#options;
    const onEnd = (principal: Principal): void => this.#endSession(principal);
    this.#grant = await OwnGrant.issue({ store: await openStore(), onEnd });
    this.#options.hub.logger.info('Code in the notebook may call tools.', { grant_id: this.#grant.id });
  }

  /** Nothing is called as this principal any more. */
  #endSession(principal: Principal): void {
    void this.#options.servers.endSession(this.#door.sessionOf(principal));
  }

  #showAccess(): void {
    const all = this.#options.servers.all().filter(isReachable);
    const grant = this.#grant;
    const access =
      grant === undefined || all.length === 0 ? null : { servers: all.map(toShown), allowed: grant.isAllowed, grant: grant.id };
    if (JSON.stringify(access) === JSON.stringify(this.#access)) return;
    this.#access = access;
    this.#accesses.emit(access);
  }
}

/** Whoever has the cell run, as any other caller is asked. */
function toAsker(asker: CodeAsker, server: string): Asker | undefined {
  const clientCapabilities = toAskable(asker.can);
  if (clientCapabilities === undefined) return undefined;
  const ask: Asker['ask'] = (_, question, { cancellation: { signal }, timeoutMs }) => asker.ask(question, { server, signal, timeoutMs });
  return { clientCapabilities, ask };
}

function toShown({ name, knownTools }: ToolServer): ToolAccess['servers'][number] {
  return knownTools === undefined ? { name } : { name, tools: knownTools.length };
}

function takenAway(grantId: string): string {
  return `The grant ${grantId}, with which code in this notebook calls tools, was taken away. A person can switch it on again in the notebook's window, under Tools.`;
}
