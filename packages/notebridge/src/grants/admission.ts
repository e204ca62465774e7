import { BridgeError } from '@notebridge/protocol/core/errors';
import type { ListerOf } from '@notebridge/protocol/core/may-list';
import type { Tool } from '@notebridge/protocol/core/mcp';
import type { Principal } from '@notebridge/protocol/core/principal';
import type { ProviderEvent } from '@notebridge/protocol/core/provider';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import { quote } from '@notebridge/protocol/util/quote';
import type { AllowList } from './allow-list.js';
import { allows, allowsWhole, type Bound, Bounds, charge, type GrantSource, type Ticket } from './bounds.js';
import { type Delegations, isDelegated } from './delegations.js';
import { notebookServer } from './guarded-methods.js';

export interface AdmissionOptions {
  /** Left out: no grant is known before `open`. */
  store?: GrantSource | undefined;
  /** Left out: no code runs on behalf of callers. */
  delegations?: Delegations | undefined;
  /** False for a server whose tools' words of themselves count for nothing. Default: all are trusted. */
  isTrusted?: ((server: string) => boolean) | undefined;
  /** Milliseconds of a clock that is never set back. Default: `performance.now`. */
  now?: () => number;
}

/**
 * Decides which call may be made. The owner, and anonymous callers where `--no-auth` lets them in, may call everything. A grant is held to its
 * terms: tools, read-only, calls under way, rate, budget, in this order, and a refused call costs none of them. Code that runs on
 * behalf of callers is held to the terms of each, and each is charged. Rate and calls under way are counted per process, the budget
 * across all of them.
 */
export class Admission {
  readonly #source: RightsSource;

  constructor({ store, delegations, isTrusted = () => true, now = () => performance.now() }: AdmissionOptions) {
    this.#source = { bounds: new Bounds(store, delegations, now), delegations, isTrusted, now };
  }

  /** From now on grants are looked up here. */
  open(store: GrantSource): void {
    this.#source.bounds.store = store;
  }

  /** What a principal may do at this moment: looked up once for all that is done in one turn, and anew after a wait. */
  rightsOf(principal: Principal): Rights {
    return new Rights(principal, this.#source);
  }

  /** What lists may show the principal. */
  readonly listerOf: ListerOf = (principal) => {
    const rights = this.rightsOf(principal);
    return (server, tool) => (tool === undefined ? rights.mayListWhole(server) : rights.mayList({ server, tool: tool.name }, tool));
  };

  /** True if a grant of such a scope, which need not exist, would allow calls of the tool. */
  wouldAllow({ allowList, readOnly }: { allowList: AllowList; readOnly: boolean }, address: ToolAddress, tool: Tool): boolean {
    return allowList.allows(address) && (!readOnly || isReadOnly(address, tool, this.#source));
  }

  /** Why nothing may be called with the grant any more. Undefined: it lives, or nobody can tell, or it is that of code, which ends with the code. */
  endOf(grantId: string): BridgeError | undefined {
    const bounds = this.#source.bounds.of(grantId);
    return bounds instanceof BridgeError && bounds.code === 'bad_grant' && bounds.data.reason !== 'ended' ? bounds : undefined;
  }
}

interface RightsSource {
  readonly bounds: Bounds;
  readonly delegations: Delegations | undefined;
  readonly isTrusted: (server: string) => boolean;
  readonly now: () => number;
}

/** A tool with its annotations, as its server lists it. */
type FindTool = () => Tool | undefined | Promise<Tool | undefined>;

const unbound: readonly Bound[] = [];

/** What one principal may do, as it was when it was looked up: nothing if a grant behind it has ended, everything if there is none. */
export class Rights {
  readonly #principal: Principal;
  readonly #source: RightsSource;
  readonly #found: readonly Bound[] | BridgeError;

  constructor(principal: Principal, source: RightsSource) {
    this.#principal = principal;
    this.#source = source;
    this.#found = principal.kind === 'grant' ? source.bounds.of(principal.grantId) : unbound;
  }

  /** What the owner called the grant; of a delegated one, what it is for. */
  get label(): string | undefined {
    if (this.#found instanceof BridgeError) return undefined;
    const [own] = this.#found;
    return own?.delegation?.label ?? own?.grant?.label;
  }

  /** For the audit: the grants on whose behalf code calls with this one. Undefined: none, since it is the owner's code, or no code. */
  get behind(): readonly string[] | undefined {
    const principal = this.#principal;
    if (principal.kind !== 'grant' || !isDelegated(principal.grantId)) return undefined;
    const behind = this.#source.delegations?.behind(principal.grantId);
    return behind?.length === 0 ? undefined : behind;
  }

  /** @throws BridgeError `bad_grant` if the grant of the principal has ended. */
  assertLive(): readonly Bound[] {
    if (this.#found instanceof BridgeError) throw this.#found;
    return this.#found;
  }

  /** True if the decision hangs on the tool's annotations. Else it is not looked for: reading its list may start the server, which those must not cause that may not call it. */
  needsTool(address: ToolAddress): boolean {
    const bounds = this.#found;
    return !(bounds instanceof BridgeError) && bounds.some(({ readOnly }) => readOnly) && bounds.every((bound) => allows(bound, address));
  }

  /**
   * The ticket of one tool call. A promise only where the tool has to be found, or a budget asked from the file.
   *
   * @throws BridgeError `denied` with the rule, `budget_exhausted`, or `bad_grant` if it has ended since.
   */
  admit(address: ToolAddress, findTool: FindTool): Ticket | Promise<Ticket> {
    if (this.needsTool(address)) return Promise.resolve(findTool()).then((tool) => this.#anew().#charge(address, tool));
    return this.#charge(address, undefined);
  }

  /** As `admit`, for a call that was admitted before and waited since: it takes no ticket. */
  assertTool(address: ToolAddress, findTool: FindTool): void | Promise<void> {
    if (this.needsTool(address)) return Promise.resolve(findTool()).then((tool) => void this.#anew().#assert(address, tool));
    this.#assert(address, undefined);
  }

  /** The ticket of one request for a resource or prompt: those of a server belong to callers that may call all of its tools. */
  admitWhole(server: string | undefined): Ticket | Promise<Ticket> {
    return this.#take(this.assertWhole(server));
  }

  /** As `admitWhole`, for what costs nothing: it takes no ticket. */
  assertWhole(server: string | undefined): readonly Bound[] {
    const bounds = this.assertLive();
    for (const bound of bounds) if (!allowsWhole(bound, server)) throw deniedWhole(bound, server);
    return bounds;
  }

  /** True if a list may show the tool. */
  mayList(address: ToolAddress, tool: Tool): boolean {
    const mayCall = (bound: Bound): boolean => allows(bound, address) && (!bound.readOnly || isReadOnly(address, tool, this.#source));
    return !(this.#found instanceof BridgeError) && this.#found.every(mayCall);
  }

  /** True if a list may show the resources and prompts of the server; undefined: of servers that are not known. */
  mayListWhole(server: string | undefined): boolean {
    return !(this.#found instanceof BridgeError) && this.#found.every((bound) => allowsWhole(bound, server));
  }

  /**
   * True if an agent may receive a notification of a server. All may know that a list has changed, since lists show
   * to each what it may see; log lines and updates are for callers that may use all of the server. A grant that has ended receives nothing.
   */
  mayHear({ method, server = notebookServer }: ProviderEvent): boolean {
    return method.endsWith('/list_changed') ? !(this.#found instanceof BridgeError) : this.mayListWhole(server);
  }

  #anew(): Rights {
    return new Rights(this.#principal, this.#source);
  }

  #assert(address: ToolAddress, tool: Tool | undefined): readonly Bound[] {
    const bounds = this.assertLive();
    for (const bound of bounds) {
      if (!allows(bound, address)) throw deniedTool(bound, address);
      if (bound.readOnly && !isReadOnly(address, tool, this.#source)) {
        const why = `read-only grant, and ${quote(address.tool)} of ${quote(address.server)} is not marked readOnlyHint`;
        throw denied(bound, 'readOnly', why);
      }
    }
    return bounds;
  }

  #charge(address: ToolAddress, tool: Tool | undefined): Ticket | Promise<Ticket> {
    return this.#take(this.#assert(address, tool));
  }

  #take(bounds: readonly Bound[]): Ticket | Promise<Ticket> {
    const { bounds: all, now } = this.#source;
    const charged = charge(bounds, all, now());
    return charged instanceof Promise ? charged.then((ticket) => this.#ifLive(ticket)) : charged;
  }

  /** It may have ended while a budget was asked for. */
  #ifLive(ticket: Ticket): Ticket {
    try {
      this.#anew().assertLive();
      return ticket;
    } catch (error) {
      ticket.undo();
      throw error;
    }
  }
}

function isReadOnly({ server }: ToolAddress, tool: Tool | undefined, { isTrusted }: RightsSource): boolean {
  return tool?.annotations?.readOnlyHint === true && isTrusted(server);
}

const only = ({ id, allow }: Bound): string =>
  `grant ${id} allows ${allow
    .slice(0, 5)
    .map((pattern) => `\`${pattern}\``)
    .join(', ')}${allow.length > 5 ? ', …' : ''} only`;

function deniedTool(grant: Bound, { server, tool }: ToolAddress): BridgeError {
  return denied(grant, 'allow', `${only(grant)}, not ${quote(tool)} of ${quote(server)}`);
}

function deniedWhole(grant: Bound, server: string | undefined): BridgeError {
  const what = server === undefined ? 'everything ("*:*")' : `all tools of ${quote(server)}`;
  return denied(grant, 'allow', `${only(grant)}, and this needs a grant for ${what}`);
}

function denied({ id }: Bound, rule: string, why: string): BridgeError {
  return new BridgeError('denied', `Denied: ${why}. Have a grant issued that allows it.`, { data: { rule, grant_id: id } });
}
