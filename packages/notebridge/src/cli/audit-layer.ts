import { messageOf } from '../core/errors.js';
import type { Middleware } from '../core/middleware.js';
import type { OpenGuard } from './guard.js';
import type { HubSetup } from './hub-setup.js';
import type { ConfigServers } from './servers.js';
import { stateDir } from './state-dir.js';

/** The audit of a process that serves its owner alone. */
export interface AuditLayer {
  middleware: Middleware;
  /** Writes the last lines. Closing twice is harmless. */
  close(): Promise<void>;
}

/**
 * The guard of a hub whose only caller is its owner: it does no more than take calls down. It is loaded with the first call, so
 * that the start does not pay for it. Undefined if the config wants no audit.
 */
export function createAuditLayer(setup: HubSetup, servers: () => ConfigServers | undefined): AuditLayer | undefined {
  if (setup.config.audit === false) return undefined;
  let opening: Promise<OpenGuard | undefined> | undefined;
  let guard: Middleware | undefined;
  const open = async (): Promise<Middleware> => {
    opening ??= openOwnGuard(setup, servers());
    guard = (await opening)?.middleware ?? {};
    return guard;
  };
  return {
    middleware: {
      name: 'audit',
      keepsResults: true,
      // Not async: once the guard is there, a call pays for it alone.
      onCallTool: (context, callNext) => {
        if (guard === undefined) return open().then((opened) => opened.onCallTool?.(context, callNext) ?? callNext(context));
        return guard.onCallTool?.(context, callNext) ?? callNext(context);
      },
      onRequest: (context, callNext) => {
        if (!takenDown.has(context.method)) return callNext(context);
        return open().then((opened) => opened.onRequest?.(context, callNext) ?? callNext(context));
      },
    },
    close: async () => (await opening)?.close(),
  };
}

/** What an owner's audit has lines of besides calls of tools. */
const takenDown = new Set(['resources/read', 'prompts/get']);

/** Undefined if the user's state folder cannot be used: that costs the audit, not the work. */
async function openOwnGuard({ config, logger, redactor }: HubSetup, servers: ConfigServers | undefined): Promise<OpenGuard | undefined> {
  try {
    const [{ GrantStore }, { openGuard }] = await Promise.all([import('../grants/grant-store.js'), import('./guard.js')]);
    const store = await GrantStore.open({ dir: stateDir(), logger });
    return openGuard({ store, servers, audit: config.audit, stateDir: stateDir(), logger, redactor });
  } catch (error) {
    logger.warn('Calls are not taken down in the audit.', { error: messageOf(error) });
    return undefined;
  }
}
