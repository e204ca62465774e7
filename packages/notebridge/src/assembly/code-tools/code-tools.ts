import { loadEmitter } from '@notebridge/bindings';
import { Listeners } from '@notebridge/kit/listeners';
import type { Logger } from '@notebridge/kit/logger';
import { messageOf } from '@notebridge/kit/message-of';
import type { CodeAsker, NotebookTools, ToolAccess, ToolCall, ToolCallOptions, ToolPackage } from '@notebridge/notebook/host';
import { gatherInput } from '../../bindings/input.js';
import { Renewer } from '../../bindings/renewer.js';
import type { Principal } from '../../core/principal.js';
import { type Asker, toAskable } from '../../core/questions.js';
import { onToolsChanged, type ToolServer } from '../../core/tool-server.js';
import { createKernelDoor, type KernelDoor } from '../../doors/kernel/kernel-door.js';
import type { ToolProxyHub } from '../../doors/tool-proxy/tool-proxy-context.js';
import type { DelegateRights } from '../../grants/delegations.js';
import type { GrantStore } from '../../grants/grant-store.js';
import type { ConfigServers } from '../config-servers.js';
import { OwnGrant } from './own-grant.js';
import { createRunnerWatch, RunnerRights } from './runner-rights.js';

export interface CodeToolsOptions {
  hub: ToolProxyHub;
  servers: ConfigServers;
  /** Where the hub's guard looks grants up. Rejects if there can be none: then code calls nothing. */
  openStore: () => Promise<GrantStore>;
  delegate: DelegateRights;
  maxResultBytes: number;
}

/** How long the package waits for a server that was never asked for its tools. It is taken in when it has answered. Milliseconds. */
const timeoutMs = 10_000;
const waitMs = 200;
const retryMs = 60_000;

const nothing = 'no MCP servers are configured. Add some to mcp.json (docs/config.md)';

/**
 * What the built-in notebook's Python may call: the servers of the hub, through its guard, with a grant of the notebook's own. Nothing
 * happens before a kernel starts.
 */
export class CodeTools implements NotebookTools {
  readonly #options: CodeToolsOptions;
  readonly #logger: Logger;
  readonly #door: KernelDoor;
  readonly #renewer: Renewer;
  readonly #packages = new Listeners<ToolPackage>();
  readonly #accesses = new Listeners<ToolAccess | null>();
  readonly #closing = new AbortController();
  #package: ToolPackage = { state: 'coming' };
  #access: ToolAccess | null = null;
  #unsubscribe: (() => void) | undefined;
  readonly #runnerRights: RunnerRights;
  /** An agent has code run: from now on all code here is held to its grant too, until a person takes the right away and gives it anew. */
  readonly middlewares = [createRunnerWatch((runner) => this.#runnerRights.holdTo(runner))];
  #grant: OwnGrant | undefined;

  constructor(options: CodeToolsOptions) {
    const { hub, servers, maxResultBytes } = options;
    this.#options = options;
    this.#logger = hub.logger;
    this.#door = createKernelDoor({ hub, servers, limits: { maxResultBytes } });
    this.#runnerRights = new RunnerRights(options.delegate, (principal) => this.#endSession(principal));
    this.#renewer = new Renewer({ work: () => this.#renew(), onFault: (error) => this.#fail(error), waitMs, retryMs });
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
    if (this.#unsubscribe !== undefined || this.#closing.signal.aborted) return;
    this.#unsubscribe = onToolsChanged(this.#options.servers, () => this.#renewer.ask());
    this.#renewer.ask(0);
  }

  async call(call: ToolCall, { signal, onEvent, asker }: ToolCallOptions): Promise<string> {
    const grant = this.#grant;
    if (grant === undefined) return refusal('denied', 'This notebook has no right to call tools (yet). Try again in a moment.');
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
    return isAllowed ? answer : refusal('denied', takenAway(grant.id));
  }

  async setAllowed(isAllowed: boolean): Promise<void> {
    this.#runnerRights.forget();
    if (isAllowed) await this.#grant?.allow();
    else await this.#grant?.revoke();
    this.#showAccess();
  }

  /** Revokes the right permanently. Closing twice is harmless. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#unsubscribe?.();
    await this.#renewer.close();
    const grant = this.#grant;
    this.#grant = undefined;
    this.#runnerRights.forget();
    // The store may be gone, or its disk full: it ends by itself.
    await grant
      ?.revoke()
      .catch((error: unknown) => this.#logger.warn('The grant of the notebook stays until it expires.', { error: messageOf(error) }));
  }

  async #renew(): Promise<void> {
    const { servers } = this.#options;
    if (reachable(servers).length === 0) return this.#offer({ state: 'none', reason: nothing });
    await this.#issueOnce();
    this.#showAccess();
    const emit = await loadEmitter('python');
    const { input, warnings } = await gatherInput(servers, { hubUrl: undefined, timeoutMs, signal: this.#closing.signal });
    if (this.#closing.signal.aborted) return;
    for (const warning of warnings) this.#logger.warn(warning);
    const { files, contentHash } = await emit(input);
    this.#showAccess();
    this.#offer({ state: 'there', version: contentHash, files });
  }

  async #issueOnce(): Promise<void> {
    if (this.#grant !== undefined) return;
    const { openStore } = this.#options;
    const onEnd = (principal: Principal): void => this.#endSession(principal);
    this.#grant = await OwnGrant.issue({ store: await openStore(), label: 'the built-in notebook', onEnd });
    this.#logger.info('Code in the notebook may call tools.', { grant_id: this.#grant.id });
  }

  /** Nothing is called as this principal any more. */
  #endSession(principal: Principal): void {
    void this.#options.servers.endSession(this.#door.sessionOf(principal));
  }

  /** What there is stays; waits for the first package get the reason. */
  #fail(error: unknown): void {
    this.#logger.error(`The tools for code in the notebook are not up to date. ${messageOf(error)}`);
    if (this.#package.state === 'coming') this.#offer({ state: 'none', reason: messageOf(error) });
  }

  #offer(next: ToolPackage): void {
    const before = this.#package;
    if (before.state === 'there' && next.state === 'there' && before.version === next.version) return;
    this.#package = next;
    if (next.state === 'none') this.#showAccess();
    this.#packages.emit(next);
  }

  #showAccess(): void {
    const all = reachable(this.#options.servers);
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

function reachable(servers: ConfigServers): ToolServer[] {
  return servers.all().filter(({ expose, status }) => expose !== 'none' && status !== 'disabled');
}

function toShown({ name, knownTools }: ToolServer): ToolAccess['servers'][number] {
  return knownTools === undefined ? { name } : { name, tools: knownTools.length };
}

function takenAway(grantId: string): string {
  return `The grant ${grantId}, with which code in this notebook calls tools, was taken away. A person can switch it on again in the notebook's window, under Tools.`;
}

function refusal(code: string, error: string): string {
  return JSON.stringify({ success: false, result: null, error, is_error: false, error_code: code });
}
