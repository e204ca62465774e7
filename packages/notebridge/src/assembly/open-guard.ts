import { join } from 'node:path';
import type { CallContext } from '../core/call-context.js';
import type { Tool } from '../core/mcp.js';
import { codeModeServer, type ToolAddress } from '../core/tool-address.js';
import { Admission } from '../grants/admission.js';
import type { ApprovalPolicy } from '../grants/approvals/approval-policy.js';
import { Approvals } from '../grants/approvals/approvals.js';
import { PendingApprovals } from '../grants/approvals/pending-approvals.js';
import type { GrantChange } from '../grants/audit-line.js';
import { AuditLog } from '../grants/audit-log.js';
import type { GrantSource } from '../grants/bounds.js';
import type { Delegations } from '../grants/delegations.js';
import { createGuard, type Guard } from '../grants/guard.js';
import { notebookServer } from '../grants/guarded-methods.js';
import { LiveGrants } from '../grants/live-grants.js';
import { Refusals } from '../grants/refusals.js';
import type { WhileLive } from '../grants/while-live.js';
import { RecentCalls } from '../recent/recent-calls.js';
import { CallObservers } from '../telemetry/call-observers.js';
import type { Cluster } from './cluster/open-cluster.js';
import type { ConfigServers } from './config-servers.js';
import type { NotebookPlace } from './notebooks/open-notebook.js';
import type { Settings } from './settings.js';

/** Where the guard looks up what a name stands for. */
export interface GuardedParts {
  servers: ConfigServers | undefined;
  /** Asked for the tools of the notebook with their annotations, for read-only grants. */
  place: NotebookPlace;
  /** Undefined: there is no code mode. */
  codeModeTools?: readonly Tool[] | undefined;
  /** Undefined: this hub is alone. */
  cluster?: Cluster | undefined;
}

/** What callers are held to: the grants of the user, and those of code that runs on behalf of callers. */
export interface GrantsOfGuard {
  store: GrantSource;
  delegations: Delegations;
  /** Which calls a person is asked about. It changes with the config. */
  policy: () => ApprovalPolicy;
}

/** The outermost layer of a hub, and what it decides by. */
export interface OpenGuard {
  middleware: Guard;
  admission: Admission;
  whileLive: WhileLive;
  /** Records refused attempts. */
  refusals: Refusals;
  /** Records what becomes of grants. */
  onGrant: (change: GrantChange) => void;
  /** Those that run, and the last ones, for the owner to look at. */
  calls: RecentCalls;
  /** Who else is told of each call may be added. */
  observers: CallObservers;
  /** Calls that wait for the owner. */
  pending: PendingApprovals;
  /** Writes the last lines of the audit. Closing twice is harmless. */
  close(): void;
}

/** Joins grants, audit and names into the layer that every message passes first. */
export function openGuard(settings: Settings, parts: GuardedParts, grants: GrantsOfGuard): OpenGuard {
  const { logger } = settings;
  const { servers, codeModeTools = [] } = parts;
  const ofCodeMode = (name: string): ToolAddress | undefined =>
    codeModeTools.some((tool) => tool.name === name) ? { server: codeModeServer, tool: name } : undefined;
  const { store, delegations, policy } = grants;
  const admission = new Admission({ store, delegations, isTrusted: (server) => policy().isTrusted(server) });
  const audit = openAudit(settings, parts.cluster);
  const calls = new RecentCalls({ keeps: settings.config.keepCalls });
  const observers = new CallObservers(calls);
  if (settings.telemetry !== undefined) observers.add(settings.telemetry.observer);
  const pending = new PendingApprovals();
  const { redactor } = settings;
  const labelOf = (grantId: string): string | undefined => admission.labelOf(grantId);
  const timeoutMs = settings.config.limits.answerTimeoutMs;
  const approvals = new Approvals({ policy, pending, labelOf, redactor, logger, timeoutMs });
  const liveGrants = new LiveGrants((grantId) => admission.endOf(grantId));
  const { whileLive } = liveGrants;
  const middleware = createGuard({
    admission,
    whileLive,
    audit,
    observer: observers,
    approvals,
    resolve: (name) => ofCodeMode(name) ?? servers?.provider.addressOf(name),
    learn: (name, context) => (ofCodeMode(name) === undefined ? servers?.provider.learn(name, context) : undefined),
    serverOf: (kind, name) => servers?.provider.serverOf(kind, name),
    findTool: (address, context) => findTool(address, context, parts),
  });
  const refusals = new Refusals({ audit, logger });
  const close = (): void => {
    liveGrants.close();
    approvals.close();
    refusals.close();
    audit?.close();
  };
  const onGrant = (change: GrantChange): void => audit?.addGrant(change);
  return { middleware, admission, whileLive, refusals, onGrant, calls, observers, pending, close };
}

/** Of this user, unless the config names another file. */
function openAudit({ config: { audit }, stateDir, redactor, logger }: Settings, cluster: Cluster | undefined): AuditLog | undefined {
  return audit === false
    ? undefined
    : new AuditLog({
        ...audit,
        path: audit.file ?? join(stateDir, 'audit.jsonl'),
        redactor,
        logger,
        onLine: cluster && ((line) => cluster.audit(line)),
      });
}

async function findTool(
  { server, tool }: ToolAddress,
  context: CallContext,
  { servers, place, codeModeTools }: GuardedParts,
): Promise<Tool | undefined> {
  if (server === codeModeServer) return codeModeTools?.find(({ name }) => name === tool);
  const found = server === notebookServer ? await place.listTools(context) : await toolsOf(server, context, servers);
  return found?.find(({ name }) => name === tool);
}

/** The tools as they are now: what holds of one by its old definition says nothing of a new one. Undefined if they cannot be known just now. */
async function toolsOf(name: string, context: CallContext, servers: ConfigServers | undefined): Promise<readonly Tool[] | undefined> {
  const server = servers?.get(name);
  const isKnown = server?.knownTools !== undefined;
  // The program that a call starts may have others than the one before.
  if (isKnown && server.status !== 'running') await server.start?.();
  return server?.listTools(context).catch((error: unknown) => {
    if (isKnown) return undefined;
    throw error;
  });
}
