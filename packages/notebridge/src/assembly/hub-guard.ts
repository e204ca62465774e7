import { join } from 'node:path';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import type { CallObserver } from '@notebridge/protocol/core/call-observer';
import type { DelegateRights } from '@notebridge/protocol/core/delegate-rights';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Tool } from '@notebridge/protocol/core/mcp';
import type { Principal } from '@notebridge/protocol/core/principal';
import { codeModeServer, type ToolAddress } from '@notebridge/protocol/core/tool-address';
import type { WhileLive } from '@notebridge/protocol/core/while-live';
import { Admission } from '../grants/admission.js';
import { ApprovalPolicy, type ApprovalRules } from '../grants/approvals/approval-policy.js';
import { Approvals } from '../grants/approvals/approvals.js';
import { PendingApprovals } from '../grants/approvals/pending-approvals.js';
import { AuditLog } from '../grants/audit-log.js';
import { Delegations, isDelegated } from '../grants/delegations.js';
import type { GrantStore } from '../grants/grant-store.js';
import { createGuard, type Guard, type GuardOptions } from '../grants/guard.js';
import { notebookServer } from '../grants/guarded-methods.js';
import { LiveGrants } from '../grants/live-grants.js';
import { Refusals } from '../grants/refusals.js';
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

/** The outermost layer of a hub, and what it decides by. */
export interface HubGuard {
  middleware: Guard;
  admission: Admission;
  whileLive: WhileLive;
  /** Records refused attempts. */
  refusals: Refusals;
  /** The calls that run, and the last ones, for the owner to look at. */
  calls: RecentCalls;
  /** Another that is told of each call. */
  observe(observer: CallObserver): void;
  /** Calls that wait for the owner. */
  pending: PendingApprovals;
  /** Rights for code that runs on behalf of callers. They are in no file. */
  delegate: DelegateRights;
  /** Which calls a person is asked about, as the config says now. */
  policy(): ApprovalPolicy;
  /** From now on calls are asked about as this config says. */
  follow(rules: ApprovalRules): void;
  /** Opens the grants and the audit. Rejects with `write_failed` if the user's state folder cannot be used. */
  open(): Promise<GrantStore>;
  /** Writes the last lines of the audit. Closing twice is harmless. */
  close(): Promise<void>;
}

export type GuardWithStore = HubGuard & { store: GrantStore };

/**
 * Joins grants, audit and names into the layer that every message passes first. The grants are opened with the first message that is not
 * the owner's, and the audit with the first line, so that the start of an agent pays for neither. Whoever is not the owner waits for the
 * grants, whatever the message is.
 */
export function createHubGuard(settings: Settings, parts: GuardedParts): HubGuard {
  const { config, logger, redactor, telemetry } = settings;
  const { servers, codeModeTools = [] } = parts;
  const delegations = new Delegations();
  let policy = toPolicy(config);
  let opening: Promise<GrantStore> | undefined;
  let isClosed = false;
  const audit = createAudit(settings, parts.cluster);
  const admission = new Admission({ delegations, isTrusted: (server) => policy.isTrusted(server) });
  const calls = new RecentCalls({ keeps: config.keepCalls });
  const observers = new CallObservers(calls);
  const pending = new PendingApprovals();
  const labelOf = (principal: Principal): string | undefined => admission.rightsOf(principal).label;
  const timeoutMs = config.limits.answerTimeoutMs;
  const approvals = new Approvals({ policy: () => policy, pending, labelOf, redactor, logger, timeoutMs });
  const liveGrants = new LiveGrants((grantId) => admission.endOf(grantId));
  const { whileLive } = liveGrants;
  const codeModeNames = new Set(codeModeTools.map(({ name }) => name));
  const ofCodeMode = (name: string): ToolAddress | undefined =>
    codeModeNames.has(name) ? { server: codeModeServer, tool: name } : undefined;
  const guarded: GuardOptions = {
    admission,
    whileLive,
    audit,
    observer: calls,
    opening: (context) => (isOfOwner(context) ? undefined : untilOpen(context)),
    approvals: policy.isOn ? approvals : undefined,
    resolve: (name) => ofCodeMode(name) ?? servers?.provider.addressOf(name),
    learn: (name, context) => (codeModeNames.has(name) ? undefined : servers?.provider.learn(name, context)),
    serverOf: (kind, name) => servers?.provider.serverOf(kind, name),
    findTool: (address, context) => findTool(address, context, parts),
  };
  const observe = (observer: CallObserver): void => {
    observers.add(observer);
    guarded.observer = observers;
  };
  if (telemetry !== undefined) observe(telemetry.observer);
  const refusals = new Refusals({ audit, logger });
  const open = (): Promise<GrantStore> => {
    if (isClosed && opening === undefined) return Promise.reject(new BridgeError('closed', 'The hub has ended.'));
    opening ??= openStore(settings, parts.cluster).then((opened) => {
      opened.onChange((change) => audit?.add(change));
      audit?.open();
      admission.open(opened);
      // From here on a call pays for the guard alone.
      guarded.opening = undefined;
      return opened;
    });
    return opening;
  };
  /** Grants that cannot be looked up open nothing. Rights of this process need no file; one of the file that stands behind them refuses them. */
  const untilOpen = async (context: CallContext): Promise<void> => {
    try {
      await open();
    } catch (error) {
      if (isClosed || !isOfDelegate(context))
        throw new BridgeError('denied', 'Grants cannot be looked up, so nothing is allowed.', { cause: error });
    }
  };
  return {
    middleware: createGuard(guarded),
    admission,
    whileLive,
    refusals,
    calls,
    observe,
    pending,
    delegate: (callers, terms) => delegations.delegate(callers, terms),
    policy: () => policy,
    follow: (rules) => {
      policy = toPolicy(rules);
      guarded.approvals = policy.isOn ? approvals : undefined;
    },
    open,
    close: async () => {
      isClosed = true;
      const opened = await opening?.catch(() => undefined);
      liveGrants.close();
      approvals.close();
      refusals.close();
      audit?.close();
      await opened?.close();
    },
  };
}

function isOfOwner({ caller }: CallContext): boolean {
  return caller.principal === undefined || caller.principal.kind === 'owner';
}

function isOfDelegate({ caller: { principal } }: CallContext): boolean {
  return principal?.kind === 'grant' && isDelegated(principal.grantId);
}

/** Tools of ours. A server of the config cannot have these names. */
const toPolicy = (rules: ApprovalRules): ApprovalPolicy => new ApprovalPolicy(rules, [notebookServer, codeModeServer]);

async function openStore({ stateDir: dir, logger }: Settings, cluster: Cluster | undefined): Promise<GrantStore> {
  const { GrantStore } = await import('../grants/grant-store.js');
  if (cluster === undefined) return GrantStore.open({ dir, logger });
  const { bareStore, runtime, key: clusterKey } = cluster;
  return GrantStore.openShared({ store: bareStore, runtime, logger, clusterKey });
}

/** The audit of this user, unless the config names another file. */
function createAudit({ config: { audit }, stateDir, redactor, logger }: Settings, cluster: Cluster | undefined): AuditLog | undefined {
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
