import { randomBytes } from 'node:crypto';
import type { JsonObject } from '@notebridge/kit/json';
import type { Cancellation } from '../core/cancellation.js';
import { BridgeError } from '../core/errors.js';
import type { Provider } from '../core/provider.js';
import { RequestContext } from '../core/request-context.js';
import type { Peer } from '../rpc/peer.js';
import type { SuppliedTools } from './supplied-tools.js';

/** How a notebook was opened, as far as those who join it may insist on it. */
export interface NotebookTerms {
  sandbox: string;
  readOnly: boolean;
}

/** An open notebook, as a process that holds it offers it to others. */
export interface JoinTarget {
  /** Runs the notebook's tools. */
  provider: Provider;
  /** With links resolved; undefined for one in memory. */
  file: string | undefined;
  terms: NotebookTerms;
  /** The address of one more window. */
  newWindowUrl(): string;
  /** Rejects if it cannot be saved, or has no file. */
  save(): Promise<void>;
  /** Writes the address of a window into a private file; the path. */
  writeAddress(): Promise<string>;
  /** Shows the agents of one joined process in the windows; an empty list takes them away. */
  showAgents(source: string, agents: readonly { id: string; name: string }[]): void;
  /** How many windows there are, whether code runs or waits, and why what is in it cannot be saved, if it cannot. */
  state(): { windows: number; isRunning: boolean; kernel: string; unsaved: string | undefined };
  tools: SuppliedTools | undefined;
}

interface Member {
  id: string;
  peer: Peer;
  agents: string[];
  since: number;
}

/** One open notebook and the processes that have joined it, each for its agent or its terminal. */
export class SharedNotebook {
  readonly target: JoinTarget;
  readonly openedAt = Date.now();
  readonly #members = new Map<Peer, Member>();
  /** When somebody last needed it. */
  #busyAt = performance.now();
  #hadWindow = false;

  constructor(target: JoinTarget) {
    this.target = target;
  }

  get members(): number {
    return this.#members.size;
  }

  /** What would be lost if it ended now; undefined if nothing. */
  get loss(): string | undefined {
    const { unsaved } = this.target.state();
    return unsaved === undefined ? undefined : `${this.target.file ?? 'a notebook in memory'}: ${unsaved}`;
  }

  /** Nothing of it would be missed: no file, no window ever, nobody joined. */
  get isForgotten(): boolean {
    if (this.#members.size > 0 || this.target.file !== undefined) return false;
    return this.isIdleFor(0) && !this.#hadWindow;
  }

  /** Whether nobody has joined, looked at it or run anything for so long. */
  isIdleFor(idleMs: number): boolean {
    const { windows, isRunning } = this.target.state();
    if (windows > 0) this.#hadWindow = true;
    const isBusy = this.#members.size > 0 || windows > 0 || isRunning;
    if (isBusy) this.#busyAt = performance.now();
    return !isBusy && performance.now() - this.#busyAt >= idleMs;
  }

  /** Throws `sandbox_unavailable` or `bad_usage` if the notebook was opened on other terms than the joining process insists on. */
  assertTerms({ sandbox, readOnly }: NotebookTerms): void {
    const { file = 'The notebook', terms } = this.target;
    if (sandbox === 'require' && terms.sandbox !== 'require')
      throw new BridgeError(
        'sandbox_unavailable',
        `"${file}" is open already, without --sandbox=require. End it with "notebridge stop ${file}", then start this one again.`,
      );
    if (readOnly && !terms.readOnly)
      throw new BridgeError(
        'bad_usage',
        `"${file}" is open already, and agents may change it: --read-only cannot be had for one of them. End it with "notebridge stop ${file}", or leave --read-only out.`,
      );
  }

  /** `toolsKey`: the process lends the servers of this config to the notebook's code. */
  join(peer: Peer, toolsKey: string | undefined): void {
    this.#members.set(peer, { id: randomBytes(6).toString('hex'), peer, agents: [], since: Date.now() });
    if (toolsKey !== undefined) this.target.tools?.offer({ peer, key: toolsKey });
  }

  leave(peer: Peer): void {
    const member = this.#members.get(peer);
    if (member === undefined) return;
    this.#busyAt = performance.now();
    this.#members.delete(peer);
    this.target.tools?.withdraw(peer);
    this.target.showAgents(member.id, []);
  }

  /** Before it is closed: whoever has joined is let go, and joins anew with the next call. */
  end(): void {
    for (const peer of [...this.#members.keys()]) peer.close();
  }

  /** A person disconnects the process whose agents are shown under this source; the notebook stays. */
  disconnect(source: string): void {
    const member = [...this.#members.values()].find(({ id }) => id === source);
    if (member === undefined) return;
    member.peer.notify('notebook/disconnected');
    // The notification leaves first.
    setImmediate(() => member.peer.close());
  }

  async request(peer: Peer, method: string, params: JsonObject, call: Cancellation): Promise<JsonObject> {
    switch (method) {
      case 'tools/list':
      case 'tools/call':
        return this.target.provider.request(method, params, this.#contextOf(peer, method, params, call));
      case 'window/open':
        return { url: this.target.newWindowUrl(), path: await this.target.writeAddress() };
      case 'notebook/save':
        await this.target.save();
        return {};
      default:
        throw new BridgeError('unknown_method', `A notebook does not answer "${method}".`);
    }
  }

  notify(peer: Peer, method: string, params: JsonObject): void {
    const member = this.#members.get(peer);
    if (member === undefined) return;
    if (method !== 'agents/set') return this.target.tools?.hear(peer, method, params);
    const agents = params.agents as { id: string; name: string }[];
    member.agents = agents.map(({ name }) => name);
    this.target.showAgents(member.id, agents);
  }

  /** For `notebridge ps`. */
  status(): JsonObject {
    const { windows, kernel } = this.target.state();
    const agents = [...this.#members.values()].flatMap((member) => member.agents);
    return { file: this.target.file ?? null, kernel, windows, agents, since: this.openedAt };
  }

  #contextOf(peer: Peer, method: string, message: JsonObject, cancellation: Cancellation): RequestContext {
    const id = this.#members.get(peer)?.id ?? '';
    const name = typeof message.agent === 'string' ? message.agent : undefined;
    const clientInfo = name === undefined ? undefined : { name };
    return new RequestContext({
      type: 'request',
      method,
      message,
      callId: id,
      caller: { sessionId: id, door: 'library', era: 'legacy', clientInfo },
      cancellation,
      notify: (notified, params) => peer.notify(notified, params),
    });
  }
}
