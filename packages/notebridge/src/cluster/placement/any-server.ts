import { createHash } from 'node:crypto';
import type { JsonObject } from '@notebridge/kit/json';
import { agentKey } from '../../core/agent-key.js';
import type { CallContext } from '../../core/call-context.js';

import { type CallTarget, type HubView, ofHubItself, toKeyPart } from '../cluster-parts.js';
import { RemoteCaller } from '../remote-caller.js';
import { toHubContext } from '../remote-events.js';
import { PlacedServer, type PlacedServerOptions } from './placed-server.js';
import { endSessionMethod, ofServers } from './server-resources.js';

/** A call is made here unless this hub has so many more under way than another: what others say of their load is seconds old. */
const indifferent = 8;

/** A server that each hub may run: a call of a tool goes where there is little to do; an agent's own instance stays at one hub. */
export class AnyServer extends PlacedServer {
  readonly #options: PlacedServerOptions;
  readonly #resource: string;
  readonly #caller: RemoteCaller;
  /** Calls of this hub that others run just now, by their id. */
  readonly #sent = new Map<string, number>();
  /** Where sessions of agents have something of their own. */
  readonly #homes = new Map<string, Set<string>>();

  constructor(options: PlacedServerOptions) {
    super(options);
    const { calls, runtime, local } = options;
    this.#options = options;
    this.#resource = `${ofHubItself}${ofServers}${toKeyPart(local.name)}`;
    this.#caller = new RemoteCaller({
      calls: { ...calls, call: (target, ...call) => this.#count(target, () => calls.call(target, ...call)) },
      runtime,
      find: (context) => this.#choose(context),
      callHere: (method, params, context) => this.local.request(method, params, context),
      what: `The server "${local.name}"`,
    });
  }

  /** What is not a call of a tool is answered here: all hubs have the same. */
  request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    if (method !== 'tools/call' && !this.isPerAgent) return this.local.request(method, params, context);
    // A call that waits here for its agent's answer goes on here; one that waits elsewhere was routed there before (`state-router.ts`).
    if (this.#options.whereIs(params.requestState, context) === 'here') return this.local.request(method, params, context);
    return this.#caller.call(method, params, context);
  }

  fromLocal(): boolean {
    return true;
  }

  async endSession(sessionId: string): Promise<void> {
    const homes = this.#homes.get(sessionId) ?? [];
    this.#homes.delete(sessionId);
    const context = toHubContext(endSessionMethod, { params: { sessionId }, runtime: this.#options.runtime });
    const tell = (hub: string) => this.#options.calls.call(this.#toTarget(hub), context.method, context.message, context);
    await Promise.all([...homes].map((hub) => tell(hub).catch(() => undefined)));
  }

  async close(): Promise<void> {}

  #toTarget(hub: string): CallTarget {
    return { hub, resource: this.#resource, epoch: 0 };
  }

  #choose(context: CallContext): CallTarget | undefined {
    const { membership } = this.#options;
    const { self } = membership;
    const open = membership.hubs().filter(({ isDraining }) => !isDraining);
    if (!membership.isHeld() || open.length < 2) return undefined;
    const chosen = this.isPerAgent ? hubOfAgent(agentKey(context.caller), open) : this.#leastLoaded(open, self);
    if (chosen.id === self.id) return undefined;
    if (this.isPerAgent) this.#noteHome(context.caller.sessionId, chosen.id);
    return this.#toTarget(chosen.id);
  }

  /** Of this hub and one other by chance: looking at all of them would send every hub's calls to the same. */
  #leastLoaded(open: readonly HubView[], self: HubView): HubView {
    const others = open.filter(({ id }) => id !== self.id);
    const at = this.#options.runtime.bytes(4).readUInt32BE() % others.length;
    const other = others[at] ?? self;
    const own = open.find(({ id }) => id === self.id);
    if (own === undefined) return other;
    return own.load > other.load + (this.#sent.get(other.id) ?? 0) + indifferent ? other : self;
  }

  #noteHome(sessionId: string, hub: string): void {
    const homes = this.#homes.get(sessionId);
    if (homes === undefined) this.#homes.set(sessionId, new Set([hub]));
    else homes.add(hub);
  }

  async #count({ hub }: CallTarget, call: () => Promise<JsonObject>): Promise<JsonObject> {
    this.#sent.set(hub, (this.#sent.get(hub) ?? 0) + 1);
    try {
      return await call();
    } finally {
      const left = (this.#sent.get(hub) ?? 1) - 1;
      if (left > 0) this.#sent.set(hub, left);
      else this.#sent.delete(hub);
    }
  }
}

/** The hub of an agent's own things: the same for all that know the same hubs, and for most agents also after one came or went (rendezvous hashing). */
function hubOfAgent(agent: string, hubs: readonly HubView[]): HubView {
  const weighed = hubs.map((hub) => ({ hub, weight: createHash('sha256').update(`${hub.id}\n${agent}`).digest('hex') }));
  return weighed.reduce((best, each) => (each.weight > best.weight ? each : best)).hub;
}
