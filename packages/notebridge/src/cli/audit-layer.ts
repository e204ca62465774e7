import type { CallContext } from '../core/call-context.js';
import { BridgeError, messageOf } from '../core/errors.js';
import type { Middleware } from '../core/middleware.js';
import type { GrantStore } from '../grants/grant-store.js';
import type { OpenGuard } from './guard.js';
import type { HubSetup } from './hub-setup.js';
import type { ConfigServers } from './servers.js';
import { stateDir } from './state-dir.js';

/** The guard of a process that serves its owner, and perhaps code with a grant. */
export interface AuditLayer {
  middleware: Middleware;
  /** The grants that the guard asks. Rejects with `write_failed` if there can be none. */
  openStore(): Promise<GrantStore>;
  /** Writes the last lines. Closing twice is harmless. */
  close(): Promise<void>;
}

type GuardWithStore = OpenGuard & { store: GrantStore };

/**
 * The guard of a hub whose only agent is its owner's: for that one it does no more than take calls down. It is loaded with the first
 * call, so that the start does not pay for it.
 */
export function createAuditLayer(setup: HubSetup, servers: () => ConfigServers | undefined): AuditLayer {
  const isAudited = setup.config.audit !== false;
  let opening: Promise<GuardWithStore> | undefined;
  let guard: Middleware | undefined;
  const openGuarded = (): Promise<GuardWithStore> => {
    opening ??= openOwnGuard(setup, servers());
    return opening;
  };
  const open = async (context: CallContext): Promise<Middleware> => {
    try {
      guard = (await openGuarded()).middleware;
    } catch (error) {
      // A state folder that cannot be used costs the owner the audit, not the work. It opens nothing to anybody else.
      if (isOfGrant(context)) throw new BridgeError('denied', 'Grants cannot be looked up, so nothing is allowed.', { cause: error });
      if (guard === undefined) setup.logger.warn('Calls are not taken down in the audit.', { error: messageOf(error) });
      guard = refuseGrants;
    }
    return guard;
  };
  const isFree = (context: CallContext): boolean => !isAudited && !isOfGrant(context);
  return {
    middleware: {
      name: 'audit',
      keepsResults: true,
      // Not async: once the guard is there, a call pays for it alone.
      onCallTool: (context, callNext) => {
        if (isFree(context)) return callNext(context);
        if (guard === undefined) return open(context).then((opened) => opened.onCallTool?.(context, callNext) ?? callNext(context));
        return guard.onCallTool?.(context, callNext) ?? callNext(context);
      },
      onRequest: (context, callNext) => {
        if (!takenDown.has(context.method) || isFree(context)) return callNext(context);
        return open(context).then((opened) => opened.onRequest?.(context, callNext) ?? callNext(context));
      },
    },
    openStore: async () => (await openGuarded()).store,
    close: async () => {
      const opened = await opening?.catch(() => undefined);
      opened?.close();
      await opened?.store.close();
    },
  };
}

/** What an owner's audit has lines of besides calls of tools. */
const takenDown = new Set(['resources/read', 'prompts/get']);

const refuseGrants: Middleware = {
  name: 'guard',
  onCallTool(context, callNext) {
    if (isOfGrant(context)) throw new BridgeError('denied', 'Grants cannot be looked up, so nothing is allowed.');
    return callNext(context);
  },
};

function isOfGrant({ caller }: CallContext): boolean {
  return caller.principal?.kind === 'grant';
}

/** Rejects if the user's state folder cannot be used. */
async function openOwnGuard({ config, logger, redactor }: HubSetup, servers: ConfigServers | undefined): Promise<GuardWithStore> {
  const [{ GrantStore }, { openGuard }] = await Promise.all([import('../grants/grant-store.js'), import('./guard.js')]);
  const store = await GrantStore.open({ dir: stateDir(), logger });
  const guard = openGuard({ store, servers, audit: config.audit, stateDir: stateDir(), logger, redactor });
  return { ...guard, store };
}
