import { BridgeError } from '../core/errors.js';
import type { Tool } from '../core/mcp.js';
import type { Principal } from '../core/principal.js';
import type { ProviderEvent } from '../core/provider.js';
import type { ToolAddress } from '../core/tool-address.js';
import { quote } from '../util/quote.js';
import { TokenBucket } from '../util/token-bucket.js';
import type { LiveGrant } from './grant.js';
import { ended, type GrantStore } from './grant-store.js';
import { notebookServer } from './guarded-methods.js';

/** The right to make one call. It is given back when the call has ended, however it ended. */
export interface Ticket {
  /** Releasing twice is harmless. */
  release(): void;
}

export interface AdmissionOptions {
  store: GrantStore;
  /** Milliseconds of a clock that is never set back. Default: `performance.now`. */
  now?: () => number;
}

/** What this process knows of a grant besides its terms. */
interface Traffic {
  running: number;
  bucket: TokenBucket | undefined;
  /** Which tools its patterns allow, as far as they were asked for. */
  decisions: Map<string, boolean>;
}

const maxDecisions = 2000;
const maxTraffic = 2000;
const free: Ticket = { release: () => {} };

/**
 * Decides which call may be made. The owner, and anonymous callers where `--no-auth` lets them in, may call everything. A grant is held to its
 * terms: tools, read-only, calls under way, rate, budget, in this order, and a refused call costs none of them. Rate and calls under
 * way are counted per process, the budget across all of them.
 */
export class Admission {
  readonly #store: GrantStore;
  readonly #now: () => number;
  readonly #traffic = new Map<string, Traffic>();

  constructor({ store, now = () => performance.now() }: AdmissionOptions) {
    this.#store = store;
    this.#now = now;
  }

  /** True if the decision hangs on the tool's annotations; else `admit` does not look at them. */
  needsTool(principal: Principal, address: ToolAddress): boolean {
    if (principal.kind !== 'grant') return false;
    const grant = this.#store.get(principal.grantId);
    return typeof grant !== 'string' && grant.readOnly && allows(grant, this.#trafficOf(grant), address);
  }

  /**
   * The ticket of one tool call. A promise only where a budget has to be asked from the file.
   *
   * @throws BridgeError `denied` with the rule, `budget_exhausted`, or `bad_grant` if it has ended since.
   */
  admit(principal: Principal, address: ToolAddress, tool: Tool | undefined): Ticket | Promise<Ticket> {
    if (principal.kind !== 'grant') return free;
    const grant = this.#live(principal.grantId);
    const traffic = this.#trafficOf(grant);
    if (!allows(grant, traffic, address)) throw deniedTool(grant, address);
    if (grant.readOnly && !isReadOnly(tool)) {
      throw denied(grant, 'readOnly', `read-only grant, and ${quote(address.tool)} of ${quote(address.server)} is not marked readOnlyHint`);
    }
    return this.#take(grant, traffic);
  }

  /** The ticket of one request for a resource or prompt: those of a server belong to callers that may call all of its tools. */
  admitWhole(principal: Principal, server: string | undefined): Ticket | Promise<Ticket> {
    if (principal.kind !== 'grant') return free;
    const grant = this.#live(principal.grantId);
    if (!allowsWhole(grant, server)) throw deniedWhole(grant, server);
    return this.#take(grant, this.#trafficOf(grant));
  }

  /** As `admitWhole`, for what costs nothing: it takes no ticket. */
  assertWhole(principal: Principal, server: string | undefined): void {
    if (principal.kind !== 'grant') return;
    const grant = this.#live(principal.grantId);
    if (!allowsWhole(grant, server)) throw deniedWhole(grant, server);
  }

  /** True if a list may show the tool. */
  mayList(principal: Principal, address: ToolAddress, tool: Tool): boolean {
    if (principal.kind !== 'grant') return true;
    const grant = this.#store.get(principal.grantId);
    if (typeof grant === 'string') return false;
    return allows(grant, this.#trafficOf(grant), address) && (!grant.readOnly || isReadOnly(tool));
  }

  /** True if a list may show the resources and prompts of the server; undefined: of servers that are not known. */
  mayListWhole(principal: Principal, server: string | undefined): boolean {
    if (principal.kind !== 'grant') return true;
    const grant = this.#store.get(principal.grantId);
    return typeof grant !== 'string' && allowsWhole(grant, server);
  }

  /**
   * True if an agent may receive a notification of a server. All may know that a list has changed, since lists show
   * to each what it may see; log lines and updates are for callers that may use all of the server. A grant that has ended receives nothing.
   */
  mayHear(principal: Principal, { method, server = notebookServer }: ProviderEvent): boolean {
    if (principal.kind !== 'grant') return true;
    const grant = this.#store.get(principal.grantId);
    return typeof grant !== 'string' && (method.endsWith('/list_changed') || allowsWhole(grant, server));
  }

  /** What the owner called the grant. */
  labelOf(grantId: string): string | undefined {
    const grant = this.#store.get(grantId);
    return typeof grant === 'string' ? undefined : grant.label;
  }

  /** @throws BridgeError `bad_grant` if the grant of the principal has ended. */
  assertLive(principal: Principal): void {
    if (principal.kind === 'grant') this.#live(principal.grantId);
  }

  #live(grantId: string): LiveGrant {
    const grant = this.#store.get(grantId);
    if (typeof grant !== 'string') return grant;
    this.#traffic.delete(grantId);
    throw ended(grantId, grant);
  }

  #take(grant: LiveGrant, traffic: Traffic): Ticket | Promise<Ticket> {
    if (grant.concurrent !== undefined && traffic.running >= grant.concurrent) {
      throw exhausted(grant, 'concurrent', `${grant.concurrent} calls are under way, which is all it may have at once`);
    }
    const waitMs = traffic.bucket?.take(this.#now()) ?? 0;
    if (waitMs > 0) {
      const seconds = Math.ceil(waitMs / 1000);
      throw exhausted(grant, 'perMinute', `${grant.perMinute} calls per minute are used up; try again in ${seconds} s`, seconds);
    }
    traffic.running++;
    const taken = this.#store.takeCall(grant);
    if (taken === true) return ticketOf(traffic);
    if (taken === false) throw this.#refuse(grant, traffic);
    return this.#await(taken, grant, traffic);
  }

  async #await(taken: Promise<boolean>, grant: LiveGrant, traffic: Traffic): Promise<Ticket> {
    const isTaken = await taken.catch((error: unknown) => {
      this.#refuse(grant, traffic);
      throw error;
    });
    if (!isTaken) throw this.#refuse(grant, traffic);
    return ticketOf(traffic);
  }

  #refuse(grant: LiveGrant, traffic: Traffic): BridgeError {
    traffic.running--;
    traffic.bucket?.putBack();
    return exhausted(grant, 'calls', `all of its ${grant.calls} calls are used`);
  }

  #trafficOf({ id, perMinute }: LiveGrant): Traffic {
    let traffic = this.#traffic.get(id);
    if (traffic === undefined) {
      if (this.#traffic.size >= maxTraffic) this.#forgetEnded();
      const bucket = perMinute === undefined ? undefined : new TokenBucket({ capacity: perMinute, perSecond: perMinute / 60 }, this.#now());
      traffic = { running: 0, bucket, decisions: new Map() };
      this.#traffic.set(id, traffic);
    }
    return traffic;
  }

  #forgetEnded(): void {
    for (const id of this.#traffic.keys()) if (typeof this.#store.get(id) === 'string') this.#traffic.delete(id);
  }
}

function ticketOf(traffic: Traffic): Ticket {
  let isReleased = false;
  return {
    release: () => {
      if (!isReleased) traffic.running--;
      isReleased = true;
    },
  };
}

function allows(grant: LiveGrant, { decisions }: Traffic, address: ToolAddress): boolean {
  if (grant.allowList.allowsAll) return true;
  const key = `${address.server}\n${address.tool}`;
  const known = decisions.get(key);
  if (known !== undefined) return known;
  // Names come from the caller: without a bound they would fill the memory.
  if (decisions.size >= maxDecisions) decisions.clear();
  const isAllowed = grant.allowList.allows(address);
  decisions.set(key, isAllowed);
  return isAllowed;
}

function allowsWhole({ allowList }: LiveGrant, server: string | undefined): boolean {
  return allowList.allowsAll || (server !== undefined && allowList.allowsWhole(server));
}

function isReadOnly(tool: Tool | undefined): boolean {
  return tool?.annotations?.readOnlyHint === true;
}

const only = ({ id, allow }: LiveGrant): string =>
  `grant ${id} allows ${allow
    .slice(0, 5)
    .map((pattern) => `\`${pattern}\``)
    .join(', ')}${allow.length > 5 ? ', …' : ''} only`;

function deniedTool(grant: LiveGrant, { server, tool }: ToolAddress): BridgeError {
  return denied(grant, 'allow', `${only(grant)}, not ${quote(tool)} of ${quote(server)}`);
}

function deniedWhole(grant: LiveGrant, server: string | undefined): BridgeError {
  const what = server === undefined ? 'everything ("*:*")' : `all tools of ${quote(server)}`;
  return denied(grant, 'allow', `${only(grant)}, and this needs a grant for ${what}`);
}

function denied({ id }: LiveGrant, rule: string, why: string): BridgeError {
  return new BridgeError('denied', `Denied: ${why}. Have a grant issued that allows it.`, { data: { rule, grant_id: id } });
}

function exhausted({ id }: LiveGrant, rule: string, why: string, seconds?: number): BridgeError {
  const next = rule === 'calls' ? ' Have a new grant issued.' : rule === 'concurrent' ? ' Wait until one has ended.' : '';
  const data = { rule, grant_id: id, ...(seconds === undefined ? {} : { retry_after_s: seconds }) };
  return new BridgeError('budget_exhausted', `Grant ${id}: ${why}.${next}`, { data });
}
