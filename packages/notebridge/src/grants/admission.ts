import { BridgeError } from '../core/errors.js';
import type { Tool } from '../core/mcp.js';
import type { Principal } from '../core/principal.js';
import type { ProviderEvent } from '../core/provider.js';
import type { ToolAddress } from '../core/tool-address.js';
import { quote } from '../util/quote.js';
import type { AllowList } from './allow-list.js';
import { allows, allowsWhole, type Bound, Bounds, type GrantSource } from './bounds.js';
import { charge, type Ticket } from './charge.js';
import { type Delegations, isDelegated } from './delegations.js';
import { notebookServer } from './guarded-methods.js';
import type { ListerOf } from './may-list.js';

export interface AdmissionOptions {
  store: GrantSource;
  /** Left out: no code runs on behalf of callers. */
  delegations?: Delegations | undefined;
  /** False for a server whose tools' words of themselves count for nothing. Default: all are trusted. */
  isTrusted?: ((server: string) => boolean) | undefined;
  /** Milliseconds of a clock that is never set back. Default: `performance.now`. */
  now?: () => number;
}

const free: Ticket = { release: () => {}, undo: () => {} };

/**
 * Decides which call may be made. The owner, and anonymous callers where `--no-auth` lets them in, may call everything. A grant is held to its
 * terms: tools, read-only, calls under way, rate, budget, in this order, and a refused call costs none of them. Code that runs on
 * behalf of callers is held to the terms of each, and each is charged. Rate and calls under way are counted per process, the budget
 * across all of them.
 */
export class Admission {
  readonly #bounds: Bounds;
  readonly #now: () => number;
  readonly #isTrusted: (server: string) => boolean;
  readonly #delegations: Delegations | undefined;

  constructor({ store, delegations, isTrusted = () => true, now = () => performance.now() }: AdmissionOptions) {
    this.#isTrusted = isTrusted;
    this.#delegations = delegations;
    this.#now = now;
    this.#bounds = new Bounds(store, delegations, now);
  }

  /** True if the decision hangs on the tool's annotations; else `admit` does not look at them. */
  needsTool(principal: Principal, address: ToolAddress): boolean {
    const bounds = this.#boundsOf(principal);
    return bounds.some(({ readOnly }) => readOnly) && bounds.every((bound) => allows(bound, address));
  }

  /**
   * The ticket of one tool call. A promise only where a budget has to be asked from the file.
   *
   * @throws BridgeError `denied` with the rule, `budget_exhausted`, or `bad_grant` if it has ended since.
   */
  admit(principal: Principal, address: ToolAddress, tool: Tool | undefined): Ticket | Promise<Ticket> {
    if (principal.kind !== 'grant') return free;
    return this.#charge(principal, this.#assertTool(principal.grantId, address, tool));
  }

  /** As `admit`, for a call that was admitted before and waited since: it takes no ticket. */
  assertTool(principal: Principal, address: ToolAddress, tool: Tool | undefined): void {
    if (principal.kind === 'grant') this.#assertTool(principal.grantId, address, tool);
  }

  /** The ticket of one request for a resource or prompt: those of a server belong to callers that may call all of its tools. */
  admitWhole(principal: Principal, server: string | undefined): Ticket | Promise<Ticket> {
    if (principal.kind !== 'grant') return free;
    this.assertWhole(principal, server);
    return this.#charge(principal, this.#live(principal.grantId));
  }

  /** As `admitWhole`, for what costs nothing: it takes no ticket. */
  assertWhole(principal: Principal, server: string | undefined): void {
    if (principal.kind !== 'grant') return;
    for (const bound of this.#live(principal.grantId)) if (!allowsWhole(bound, server)) throw deniedWhole(bound, server);
  }

  /** What lists may show the principal. */
  readonly listerOf: ListerOf = (principal) => {
    if (principal.kind !== 'grant') return () => true;
    const bounds = this.#bounds.of(principal.grantId);
    if (bounds instanceof BridgeError) return () => false;
    return (server, tool) => {
      if (tool === undefined) return bounds.every((bound) => allowsWhole(bound, server));
      const address = { server, tool: tool.name };
      return bounds.every((bound) => allows(bound, address) && (!bound.readOnly || this.#isReadOnly(address, tool)));
    };
  };

  /** True if a list may show the tool. */
  mayList(principal: Principal, address: ToolAddress, tool: Tool): boolean {
    return this.#allow(principal, (bound) => allows(bound, address) && (!bound.readOnly || this.#isReadOnly(address, tool)));
  }

  /** True if a grant of such a scope, which need not exist, would allow calls of the tool. */
  wouldAllow({ allowList, readOnly }: { allowList: AllowList; readOnly: boolean }, address: ToolAddress, tool: Tool): boolean {
    return allowList.allows(address) && (!readOnly || this.#isReadOnly(address, tool));
  }

  /** True if a list may show the resources and prompts of the server; undefined: of servers that are not known. */
  mayListWhole(principal: Principal, server: string | undefined): boolean {
    return this.#allow(principal, (bound) => allowsWhole(bound, server));
  }

  /**
   * True if an agent may receive a notification of a server. All may know that a list has changed, since lists show
   * to each what it may see; log lines and updates are for callers that may use all of the server. A grant that has ended receives nothing.
   */
  mayHear(principal: Principal, { method, server = notebookServer }: ProviderEvent): boolean {
    return this.#allow(principal, (bound) => method.endsWith('/list_changed') || allowsWhole(bound, server));
  }

  /** What the owner called the grant; of a delegated one, what it is for. */
  labelOf(grantId: string): string | undefined {
    const bounds = this.#bounds.of(grantId);
    if (bounds instanceof BridgeError) return undefined;
    const [own] = bounds;
    return own?.delegation?.label ?? own?.grant?.label;
  }

  /** For the audit: the grants on whose behalf code calls with this one. Undefined: none, since it is the owner's code, or no code. */
  behind(grantId: string): readonly string[] | undefined {
    const behind = isDelegated(grantId) ? this.#delegations?.behind(grantId) : undefined;
    return behind?.length === 0 ? undefined : behind;
  }

  /** @throws BridgeError `bad_grant` if the grant of the principal has ended. */
  assertLive(principal: Principal): void {
    if (principal.kind === 'grant') this.#live(principal.grantId);
  }

  /** Why nothing may be called with the grant any more. Undefined: it lives, or nobody can tell, or it is that of code, which ends with the code. */
  endOf(grantId: string): BridgeError | undefined {
    const bounds = this.#bounds.of(grantId);
    return bounds instanceof BridgeError && bounds.code === 'bad_grant' && bounds.data.reason !== 'ended' ? bounds : undefined;
  }

  #assertTool(grantId: string, address: ToolAddress, tool: Tool | undefined): readonly Bound[] {
    const bounds = this.#live(grantId);
    for (const bound of bounds) {
      if (!allows(bound, address)) throw deniedTool(bound, address);
      if (bound.readOnly && !this.#isReadOnly(address, tool)) {
        throw denied(
          bound,
          'readOnly',
          `read-only grant, and ${quote(address.tool)} of ${quote(address.server)} is not marked readOnlyHint`,
        );
      }
    }
    return bounds;
  }

  #isReadOnly({ server }: ToolAddress, tool: Tool | undefined): boolean {
    return tool?.annotations?.readOnlyHint === true && this.#isTrusted(server);
  }

  /** True if the principal's grants have not ended, and all are content. */
  #allow(principal: Principal, isContent: (bound: Bound) => boolean): boolean {
    if (principal.kind !== 'grant') return true;
    const bounds = this.#bounds.of(principal.grantId);
    return !(bounds instanceof BridgeError) && bounds.every(isContent);
  }

  /** None if there is no bound, or nothing is allowed any more: then `admit` says so. */
  #boundsOf(principal: Principal): readonly Bound[] {
    if (principal.kind !== 'grant') return [];
    const bounds = this.#bounds.of(principal.grantId);
    return bounds instanceof BridgeError ? [] : bounds;
  }

  #live(grantId: string): readonly Bound[] {
    const bounds = this.#bounds.of(grantId);
    if (bounds instanceof BridgeError) throw bounds;
    return bounds;
  }

  #charge(principal: Principal, bounds: readonly Bound[]): Ticket | Promise<Ticket> {
    const charged = charge(bounds, this.#bounds, this.#now());
    return charged instanceof Promise ? charged.then((ticket) => this.#ifLive(principal, ticket)) : charged;
  }

  /** It may have ended while a budget was asked for. */
  #ifLive(principal: Principal, ticket: Ticket): Ticket {
    try {
      this.assertLive(principal);
      return ticket;
    } catch (error) {
      ticket.undo();
      throw error;
    }
  }
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
