import { messageOf } from '@notebridge/kit/message-of';
import type { CallContext } from '../core/call-context.js';
import { BridgeError } from '../core/errors.js';
import type { Tool } from '../core/mcp.js';
import type { MiddlewareContext } from '../core/middleware.js';
import type { Principal } from '../core/principal.js';
import type { ProviderEvent } from '../core/provider.js';
import { codeModeServer } from '../core/tool-address.js';
import { ApprovalPolicy, type ApprovalRules } from '../grants/approvals/approval-policy.js';
import type { GrantSource } from '../grants/bounds.js';
import type { DelegateRights } from '../grants/delegated-rights.js';
import { Delegations, isDelegated } from '../grants/delegations.js';
import type { GrantStore } from '../grants/grant-store.js';
import type { Guard } from '../grants/guard.js';
import { isAuditedForAll, notebookServer } from '../grants/guarded-methods.js';
import type { ListerOf } from '../grants/may-list.js';
import { foreverLive, type WhileLive } from '../grants/while-live.js';
import type { OnRefused } from '../net/refused-attempt.js';
import type { GrantsOfGuard, GuardedParts, OpenGuard } from './open-guard.js';
import type { Settings } from './settings.js';

/** The guard of a hub, loaded when it is needed. */
export interface LazyGuard {
  middleware: Guard;
  /** Records refused attempts. */
  onRefused: OnRefused;
  /** Whether an agent of this principal receives an event. Before the guard is open: the owner alone. */
  mayHear(principal: Principal, event: ProviderEvent): boolean;
  /** Before the guard is open nobody has come in with a grant. */
  whileLive: WhileLive;
  /** Rights for code that runs on behalf of callers. Needs neither file nor open guard: its first call opens that. */
  delegate: DelegateRights;
  /** Tells what lists may show a principal. Before the guard is open: the owner alone sees any. */
  listerOf: ListerOf;
  /** The same of one tool. */
  mayList(principal: Principal, server: string, tool: Tool | undefined): boolean;
  /** Which calls a person is asked about, as the config says now. */
  policy(): ApprovalPolicy;
  /** From now on calls are asked about as this config says. */
  follow(rules: ApprovalRules): void;
  /** Opens the guard now. Rejects with `write_failed` if the user's state folder cannot be used. */
  open(): Promise<GuardWithStore>;
  /** Writes the last lines of the audit. Closing twice is harmless. */
  close(): Promise<void>;
}

export type GuardWithStore = OpenGuard & { store: GrantStore };

/**
 * For the owner the guard only records calls. It is loaded with the first message that it has something to do with, so that the start
 * of an agent does not pay for it. All other callers' messages wait for it, whatever they are: without it nothing of theirs goes on.
 */
export function createLazyGuard(settings: Settings, parts: GuardedParts): LazyGuard {
  const { config, logger, telemetry } = settings;
  const isAudited = config.audit !== false;
  const delegations = new Delegations();
  let approvalPolicy = toPolicy(config);
  const grants = { delegations, policy: () => approvalPolicy };
  let opening: Promise<GuardWithStore> | undefined;
  let opened: GuardWithStore | undefined;
  let withoutStore: Promise<OpenGuard> | undefined;
  let isBroken = false;
  let isClosed = false;
  const open = (): Promise<GuardWithStore> => {
    // Nothing would close it again.
    if (isClosed && opening === undefined) return Promise.reject(new BridgeError('closed', 'The hub has ended.'));
    opening ??= openWithStore(settings, parts, grants).then((guard) => {
      opened = guard;
      return guard;
    });
    return opening;
  };
  const pass: Guard['onMessage'] = async (context, callNext) => {
    try {
      await open();
    } catch (error) {
      // A state folder that cannot be used costs the owner the audit, not the work. It opens nothing to others.
      if (!isOfOwner(context) && (isClosed || !isOfDelegate(context)))
        throw new BridgeError('denied', 'Grants cannot be looked up, so nothing is allowed.', { cause: error });
      if (!isBroken) logger.warn('Calls are not recorded in the audit.', { error: messageOf(error) });
      isBroken = true;
      if (isOfOwner(context) && !approvalPolicy.isOn && telemetry === undefined) return callNext(context);
      if (isClosed) throw error;
      // Rights of this process and approvals need no file. If a grant of the file stands behind rights, they are refused with it.
      withoutStore ??= openWithoutStore(settings, parts, grants);
      return (await withoutStore).middleware.onMessage(context, callNext);
    }
    return (await open()).middleware.onMessage(context, callNext);
  };
  /** Of what the owner sends: what is recorded, or may have to be approved. */
  const needsGuard = (context: MiddlewareContext): boolean =>
    isAuditedForAll(context) && ((isAudited && !isBroken) || approvalPolicy.isOn || opened?.calls.isOn === true || telemetry !== undefined);
  const listerOf: ListerOf = (principal) => opened?.admission.listerOf(principal) ?? (() => principal.kind !== 'grant');
  return {
    middleware: {
      name: 'guard',
      // Not async: once the guard is there, a call pays for it alone.
      onMessage: (context, callNext) => {
        if (isOfOwner(context) && !needsGuard(context)) return callNext(context);
        return opened === undefined ? pass(context, callNext) : opened.middleware.onMessage(context, callNext);
      },
    },
    onRefused: (attempt) => {
      if (opened !== undefined) return opened.refusals.add(attempt);
      open().then(
        ({ refusals }) => refusals.add(attempt),
        (error: unknown) => logger.debug('A refusal is not recorded.', { error: messageOf(error) }),
      );
    },
    mayHear: (principal, event) => principal.kind === 'owner' || (opened?.admission.mayHear(principal, event) ?? false),
    whileLive: (principal, onEnd) => (opened?.whileLive ?? foreverLive)(principal, onEnd),
    delegate: (callers, terms) => delegations.delegate(callers, terms),
    listerOf,
    mayList: (principal, server, tool) => listerOf(principal)(server, tool),
    policy: () => approvalPolicy,
    follow: (rules) => {
      approvalPolicy = toPolicy(rules);
    },
    open,
    close: async () => {
      isClosed = true;
      const guard = await opening?.catch(() => undefined);
      guard?.close();
      (await withoutStore)?.close();
      await guard?.store.close();
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

type GrantsOfProcess = Omit<GrantsOfGuard, 'store'>;

async function openWithStore(settings: Settings, parts: GuardedParts, grants: GrantsOfProcess): Promise<GuardWithStore> {
  const [{ GrantStore }, { openGuard }] = await Promise.all([import('../grants/grant-store.js'), import('./open-guard.js')]);
  const { cluster } = parts;
  const store =
    cluster === undefined
      ? await GrantStore.open({ dir: settings.stateDir, logger: settings.logger })
      : await GrantStore.openShared({
          store: cluster.bareStore,
          runtime: cluster.runtime,
          logger: settings.logger,
          clusterKey: cluster.key,
        });
  const guard = openGuard(settings, parts, { ...grants, store });
  store.onChange(guard.onGrant);
  return { ...guard, store };
}

const noGrants: GrantSource = { get: () => 'unknown', takeCall: () => false, putBackCall: () => {} };

async function openWithoutStore(settings: Settings, parts: GuardedParts, grants: GrantsOfProcess): Promise<OpenGuard> {
  const { openGuard } = await import('./open-guard.js');
  return openGuard(settings, parts, { ...grants, store: noGrants });
}
