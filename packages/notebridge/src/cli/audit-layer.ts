import type { CallContext } from '../core/call-context.js';
import { BridgeError, messageOf } from '../core/errors.js';
import type { OnRefused } from '../core/refused-attempt.js';
import type { GrantStore } from '../grants/grant-store.js';
import type { Guard } from '../grants/guard.js';
import { isAuditedForAll } from '../grants/guarded-methods.js';
import type { Refusals } from '../grants/refusals.js';
import type { OpenGuard } from './guard.js';
import type { HubSetup } from './hub-setup.js';
import type { ConfigServers } from './servers.js';
import { stateDir } from './state-dir.js';

/** The guard of a process that serves its owner, and perhaps code with a grant. */
export interface AuditLayer {
  middleware: Guard;
  /** Takes down who was not let in. */
  onRefused: OnRefused;
  /** The grants that the guard asks. Rejects with `write_failed` if there can be none. */
  openStore(): Promise<GrantStore>;
  /** Writes the last lines. Closing twice is harmless. */
  close(): Promise<void>;
}

type GuardWithStore = OpenGuard & { store: GrantStore };

/**
 * The guard of a hub whose only agent is its owner's: for that one it does no more than take calls down. It is loaded with the first
 * message that it has something to do with, so that the start does not pay for it. Everybody else's messages wait for it, whatever
 * they are: without it nothing of theirs goes on.
 */
export function createAuditLayer(setup: HubSetup, servers: () => ConfigServers | undefined): AuditLayer {
  const isAudited = setup.config.audit !== false;
  let opening: Promise<GuardWithStore> | undefined;
  let guard: Guard | undefined;
  let isBroken = false;
  let refusals: Refusals | undefined;
  const openGuarded = (): Promise<GuardWithStore> => {
    opening ??= openOwnGuard(setup, servers());
    return opening;
  };
  const pass: Guard['onMessage'] = async (context, callNext) => {
    try {
      guard = (await openGuarded()).middleware;
    } catch (error) {
      // A state folder that cannot be used costs the owner the audit, not the work. It opens nothing to anybody else.
      if (!isOfOwner(context)) throw new BridgeError('denied', 'Grants cannot be looked up, so nothing is allowed.', { cause: error });
      if (!isBroken) setup.logger.warn('Calls are not taken down in the audit.', { error: messageOf(error) });
      isBroken = true;
      return callNext(context);
    }
    return guard.onMessage(context, callNext);
  };
  return {
    middleware: {
      name: 'audit',
      keepsResults: true,
      // Not async: once the guard is there, a call pays for it alone.
      onMessage: (context, callNext) => {
        if (isOfOwner(context) && (isBroken || !isAudited || !isAuditedForAll(context))) return callNext(context);
        return guard === undefined ? pass(context, callNext) : guard.onMessage(context, callNext);
      },
    },
    onRefused: (attempt) => {
      if (refusals !== undefined) return refusals.add(attempt);
      openGuarded().then(
        (opened) => {
          refusals = opened.refusals;
          refusals.add(attempt);
        },
        (error: unknown) => setup.logger.debug('A refusal is not taken down.', { error: messageOf(error) }),
      );
    },
    openStore: async () => (await openGuarded()).store,
    close: async () => {
      const opened = await opening?.catch(() => undefined);
      opened?.close();
      await opened?.store.close();
    },
  };
}

function isOfOwner({ caller }: CallContext): boolean {
  return caller.principal === undefined || caller.principal.kind === 'owner';
}

/** Rejects if the user's state folder cannot be used. */
async function openOwnGuard({ config, logger, redactor }: HubSetup, servers: ConfigServers | undefined): Promise<GuardWithStore> {
  const [{ GrantStore }, { openGuard }] = await Promise.all([import('../grants/grant-store.js'), import('./guard.js')]);
  const store = await GrantStore.open({ dir: stateDir(), logger });
  const guard = openGuard({ store, servers, audit: config.audit, stateDir: stateDir(), logger, redactor });
  return { ...guard, store };
}
