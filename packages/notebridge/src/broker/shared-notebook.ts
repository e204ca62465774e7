import { randomBytes } from 'node:crypto';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import type { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Provider, ProviderEvent } from '@notebridge/protocol/core/provider';
import { RequestContext } from '@notebridge/protocol/core/request-context';
import type { JsonObject } from '@notebridge/protocol/json';
import type { Peer } from '@notebridge/protocol/rpc/peer';
import { openedLifeMs } from '@notebridge/system/net/entry-codes';
import { codeAskMethod } from './code-questions-link.js';
import { Lease, type LeasePerson } from './lease.js';
import { LeaseGate } from './lease-gate.js';
import type { LeaseAgent } from './lease-questions.js';
import { asksParam, toAsker } from './link-questions.js';
import { fileOf, keyOf, type NotebookAddress, notebookKindOf } from './notebook-address.js';
import { assertTerms, kernelNote, type NotebookTerms } from './notebook-terms.js';
import type { SuppliedTools } from './supplied-tools.js';

/** An open notebook, as a process that holds it offers it to others. */
export interface JoinTarget {
  /** Answers for the notebook: tools, resources, prompts; its events reach whoever has joined. */
  provider: Provider;
  /** Tools that only look, where the notebook itself does not say so of its tools: agents that do not hold it may call them. */
  reads?: ReadonlySet<string> | undefined;
  address: NotebookAddress;
  terms: NotebookTerms;
  describe(): NotebookDescription;
  /** Left out: the kernel is not ours to choose. */
  kernel?: JoinKernel | undefined;
  /** Left out: it has no windows that we open. */
  window?: NotebookWindow;
  /** Rejects if it cannot be saved, or has no file. Left out: whoever shows it saves it. */
  save?(): Promise<void>;
  /** Shows the agents of one joined process in the windows; an empty list takes them away. */
  showAgents?(source: string, agents: readonly { id: string; name: string }[]): void;
  /** How many windows there are, whether code runs or waits, and why what is in it cannot be saved, if it cannot. */
  state(): { windows: number; isRunning: boolean; unsaved: string | undefined };
  tools?: SuppliedTools | undefined;
  /** Who sees which agent holds the notebook, and decides about it. Left out: nobody. */
  person?: LeasePerson | undefined;
  /** An agent that calls nothing for so long holds the notebook no more. Milliseconds. Default five minutes. */
  leaseIdleMs?: number | undefined;
}

/** The kernel of a notebook, where it is ours to choose. */
export interface JoinKernel {
  /** Whether it is the one that `--kernel` names so. */
  isUsing(kernel: string): boolean;
  /** Asks the person whether that one shall take its place. */
  offer(kernel: string): void;
  /** What its code can do to this machine. */
  isolation(): string | undefined;
}

/** A notebook as agents and people are told of it. */
export interface NotebookDescription {
  title: string;
  /** A path or URL, without secrets; null: in memory, or not known yet. */
  location: string | null;
  /** Name and version; null: not known. */
  kernel: string | null;
  /** `idle`, `busy`, `starting`, `dead`, `not started`, `not connected` of a kernel; `waiting` of a page that is not connected. */
  state: string;
}

export interface NotebookWindow {
  /** The address of one more window, which is good for 15 minutes, or so many milliseconds. */
  newUrl(lifeMs?: number): string;
  /** Writes the address of a window into a private file; the path. */
  writeAddress(): Promise<string>;
}

interface Member {
  id: string;
  peer: Peer;
  agents: { id: string; name: string }[];
}

/** One open notebook and the processes that have joined it, each for its agent or its terminal. */
export class SharedNotebook {
  /** Short, and never another's. */
  readonly id: string;
  readonly target: JoinTarget;
  readonly openedAt = Date.now();
  /** Another one for each time that the notebook is opened, by whatever process. */
  readonly life = randomBytes(6).toString('hex');
  /** Which of its agents changes and runs. */
  readonly lease: Lease;
  readonly #gate: LeaseGate;
  readonly #members = new Map<Peer, Member>();
  /** When somebody last needed it. */
  #busyAt = performance.now();
  #hadWindow = false;
  readonly #unsubscribe: () => void;

  constructor(target: JoinTarget, id: string) {
    this.target = target;
    this.id = id;
    const { person, leaseIdleMs: idleMs } = target;
    this.lease = new Lease({
      idleMs,
      isRunning: () => target.state().isRunning,
      person,
      nextStep: target.window === undefined ? nobodyText(id) : noWindowText,
    });
    this.#gate = this.gateFor(({ caller }) => ({ id: caller.sessionId, name: String(caller.clientInfo?.name ?? 'An agent') }));
    this.#unsubscribe = target.provider.subscribe((event) => this.#announce(event));
  }

  /** The notebook for agents that this process itself has. */
  gateFor(agentOf: (context: CallContext) => LeaseAgent): LeaseGate {
    return new LeaseGate({ provider: this.target.provider, reads: this.target.reads, lease: this.lease, agentOf });
  }

  /** What would be lost if it ended now; undefined if nothing. */
  get loss(): string | undefined {
    const { unsaved } = this.target.state();
    return unsaved === undefined ? undefined : `${this.#name}: ${unsaved}`;
  }

  /** Nobody can come back to it: no file, no window ever, nobody joined. What runs in it is nobody's either. */
  get isForgotten(): boolean {
    if (this.target.state().windows > 0) this.#hadWindow = true;
    return this.#members.size === 0 && keyOf(this.target.address) === undefined && !this.#hadWindow;
  }

  /** Whether nobody has joined, looked at it or run anything for so long. */
  isIdleFor(idleMs: number): boolean {
    const { windows, isRunning } = this.target.state();
    if (windows > 0) this.#hadWindow = true;
    const isBusy = this.#members.size > 0 || windows > 0 || isRunning;
    if (isBusy) this.#busyAt = performance.now();
    return !isBusy && performance.now() - this.#busyAt >= idleMs;
  }

  /** Throws as `assertTerms` if the notebook gives more than the joining process insists on. */
  assertTerms(wanted: NotebookTerms): void {
    assertTerms(this.target.describe().location ?? 'The notebook', { held: this.target.terms, wanted });
  }

  /** What a process has to know that joins it as it is; the person is asked about it. */
  noteFor(wanted: NotebookTerms): string | undefined {
    const { kernel } = this.target;
    const note = kernel && kernelNote(this.target.describe(), { isUsing: (named) => kernel.isUsing(named), wanted });
    if (note !== undefined && wanted.kernel !== undefined) kernel?.offer(wanted.kernel);
    return note;
  }

  /** `toolsKey`: the process lends the servers of this config to the notebook's code. */
  join(peer: Peer, toolsKey: string | undefined): void {
    this.#members.set(peer, { id: randomBytes(6).toString('hex'), peer, agents: [] });
    if (toolsKey !== undefined) this.target.tools?.offer({ peer, key: toolsKey });
  }

  leave(peer: Peer): void {
    const member = this.#members.get(peer);
    if (member === undefined) return;
    this.#busyAt = performance.now();
    this.#members.delete(peer);
    this.target.tools?.withdraw(peer);
    this.target.showAgents?.(member.id, []);
    this.lease.leave((id) => isOf(member, id));
  }

  /** Before it is closed: whoever has joined is let go, and joins anew with the next call. */
  end(): void {
    this.#unsubscribe();
    this.lease.close();
    this.#gate.close();
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

  async request(peer: Peer, asked: string, params: JsonObject, call: Cancellation): Promise<JsonObject> {
    const { window, save } = this.target;
    switch (asked) {
      case 'window/open':
        if (window === undefined) throw new BridgeError('unknown_method', 'This notebook has no window of ours.');
        return { url: window.newUrl(params.opens === true ? openedLifeMs : undefined), path: await window.writeAddress() };
      case codeAskMethod:
        if (this.target.tools === undefined) throw new BridgeError('unknown_method', 'Code of this notebook calls nothing.');
        return this.target.tools.ask(peer, params, call);
      case 'notebook/save':
        await save?.();
        return {};
      default: {
        if (!asked.startsWith(agentPrefix)) throw new BridgeError('unknown_method', 'A link has no such method.');
        const method = asked.slice(agentPrefix.length);
        const { [agentParam]: agent, [sessionParam]: session, [asksParam]: asks, ...message } = params;
        return this.#gate.request(method, message, this.#contextOf(peer, { method, message, agent, session, asks, cancellation: call }));
      }
    }
  }

  notify(peer: Peer, method: string, params: JsonObject): void {
    const member = this.#members.get(peer);
    if (member === undefined) return;
    if (method === 'notebook/notify') return this.target.provider.notify(String(params.method), params.params as JsonObject | undefined);
    if (method !== 'agents/set') return this.target.tools?.hear(peer, method, params);
    const agents = params.agents as { id: string; name: string }[];
    const gone = member.agents.filter(({ id }) => !agents.some((agent) => agent.id === id)).map(({ id }) => `${member.id}.${id}`);
    member.agents = agents;
    this.target.showAgents?.(member.id, agents);
    if (gone.length > 0) this.lease.leave((id) => gone.includes(id));
  }

  /** For `notebridge ps`. */
  status(): JsonObject {
    const { address } = this.target;
    const { location, kernel, state } = this.target.describe();
    const { windows } = this.target.state();
    const named = kernel === null ? state : `${kernel} (${state})`;
    const file = address.kind === 'built-in' ? (address.file ?? null) : location;
    return { id: this.id, file, kernel: named, windows, agents: this.#agents, holder: this.#holder, since: this.openedAt };
  }

  /** For `notebridge stop`, before it ends. */
  ending(): EndedNotebook {
    const { address, describe, state } = this.target;
    const place = fileOf(address) ?? describe().location;
    return { id: this.id, kind: notebookKindOf(address), place, isRunning: state().isRunning, holder: this.#holder };
  }

  /** For agents that choose a notebook. */
  listed(): ListedNotebook {
    const { address } = this.target;
    const isolation = this.target.kernel?.isolation();
    const can = isolation === undefined ? {} : { isolation };
    return { id: this.id, kind: notebookKindOf(address), ...this.target.describe(), ...can, holder: this.#holder, agents: this.#agents };
  }

  get #agents(): string[] {
    return [...this.#members.values()].flatMap((member) => member.agents.map(({ name }) => name));
  }

  get #holder(): string | null {
    return this.lease.state.holder?.name ?? null;
  }

  get #name(): string {
    return fileOf(this.target.address) ?? this.target.describe().location ?? 'a notebook in memory';
  }

  /** What is for one session of the provider is for the one process that it is of. */
  #announce({ sessionId, ...event }: ProviderEvent): void {
    for (const { id, peer } of this.#members.values())
      if (sessionId === undefined || sessionId.startsWith(`${id}.`)) peer.notify('notebook/event', { ...event });
  }

  #contextOf(peer: Peer, { method, message, agent, session, asks, cancellation }: JoinedCall): RequestContext {
    const id = `${this.#members.get(peer)?.id ?? ''}.${String(session ?? '')}`;
    const clientInfo = typeof agent === 'string' ? { name: agent } : undefined;
    return new RequestContext({
      type: 'request',
      method,
      message,
      callId: id,
      caller: { sessionId: id, door: 'library', era: 'legacy', clientInfo },
      cancellation,
      notify: (notified, params) => peer.notify(notified, params),
      asker: toAsker(peer, asks),
      requestId: id,
    });
  }
}

interface JoinedCall {
  method: string;
  message: JsonObject;
  /** What the agent calls itself. */
  agent: unknown;
  /** Which of the agents of its process it is. */
  session: unknown;
  /** What it can be asked. */
  asks: unknown;
  cancellation: Cancellation;
}

/** Before each method that an agent asks for: none of them is one of the link's own, which open windows and stop processes. */
export const agentPrefix = 'agent:';
/** The agent's name, beside the params of each request that a joined process passes on; notebooks do not see it. */
export const agentParam = 'notebridge/agent';
/** Beside it, the session of that agent in its own process. */
export const sessionParam = 'notebridge/session';

/** Windows know agents by the same ids. */
function isOf(member: Member, agentId: string): boolean {
  return agentId.startsWith(`${member.id}.`);
}

const noWindowText =
  'No window of the notebook is open. Call open_notebook_window, or ask the person to open one, then call take_over again.';
const nobodyText = (id: string): string =>
  `There is no window and no page here in which Notebridge could ask: tell the person, who can end the other agent's hold with "notebridge release ${id}".`;

/** A notebook that was ended, as `host/stop` has it. */
export interface EndedNotebook extends JsonObject {
  id: string;
  kind: string;
  /** A path or URL; null: in memory, or not known yet. */
  place: string | null;
  /** Code ran or waited in it. */
  isRunning: boolean;
  /** The agent that alone changed and ran it; null for none. */
  holder: string | null;
}

/** An open notebook, as `host/list` has it. */
export interface ListedNotebook extends NotebookDescription, JsonObject {
  id: string;
  kind: string;
  title: string;
  location: string | null;
  kernel: string | null;
  state: string;
  /** What its code can do to this machine; left out: the kernel is not ours. */
  isolation?: string;
  /** The agent that may change and run it just now; null: whoever calls first. */
  holder: string | null;
  agents: string[];
}
