import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import type { JsonObject } from '@notebridge/protocol/json';
import { type Logger, toLogger } from '@notebridge/protocol/util/logger';
import { StoreConflict, StoreUnavailable } from '@notebridge/system/files/shared-store';
import type { Life } from './simulated-hub.js';
import type { World } from './world.js';

/** What the parts of a hub say of faults that nobody expected is a problem of the run, and not only a line of a log. */
export function strictLogger(world: World, { name }: Life, onLine?: (message: string, fields: JsonObject) => void): Logger {
  return toLogger((level, message, fields) => {
    onLine?.(message, fields);
    if (level === 'error') world.problem(`${name} logged "${message}" ${JSON.stringify(fields)}`);
  });
}

/** Takes a rejection that store and network may bring about. Any other is a fault of ours, and would be hidden by being caught. */
export function onlyExpected(world: World, what: string, { also = [] }: { also?: readonly string[] } = {}): (error: unknown) => undefined {
  return (error) => {
    world.count('asked in vain');
    if (!isOfStore(error) && !also.includes(codeOf(error) ?? ''))
      world.problem(`${what} failed with ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
    return undefined;
  };
}

function isOfStore(error: unknown): boolean {
  if (error instanceof StoreUnavailable || error instanceof StoreConflict) return true;
  return error instanceof BridgeError && (error.code === 'cluster_unavailable' || error.data.outcome === 'unknown');
}
