import { setTimeout as pause } from 'node:timers/promises';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import type { Peer } from '@notebridge/protocol/rpc/peer';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { type HostPlace, readBrokerPlace, readHostPlaces } from './host-place.js';
import { dialHost, type LinkHandler } from './join-link.js';

/** A broker that was started, or could not be. */
export interface StartedBroker {
  /** Resolves when it has ended, with how: `exit code 1`, or why it did not start. */
  ended: Promise<string>;
}

export interface ReachOptions {
  /** The user's state folder. */
  dir: string;
  version: string;
  /** With links resolved; undefined for a notebook in memory. */
  file: string | undefined;
  startBroker: () => StartedBroker;
  logger: Logger;
  /** How long one is asked again that runs and does not answer: it may be flooded, or about to end. Milliseconds, default 10,000. */
  silentTimeoutMs?: number | undefined;
}

/** A start takes a third of a second; a busy machine more. Milliseconds. */
const startTimeoutMs = 30_000;
const pollMs = 15;

/**
 * Joins the process that has the file open, else the user's broker, which is started if there is none. Rejects with `not_started` if it
 * cannot be, and with `host_silent`, `other_version`, `write_failed`.
 */
export async function reachHost(options: ReachOptions, createHandler: (peer: Peer) => LinkHandler): Promise<Peer> {
  const { dir, version, file, logger } = options;
  const holder = file === undefined ? undefined : readHostPlaces(dir).find((place) => place.kind === 'notebook' && place.file === file);
  if (holder !== undefined) {
    try {
      return await dialHost(holder, version, createHandler);
    } catch (error) {
      if (codeOf(error) !== 'not_ours' && codeOf(error) !== 'host_silent') throw error;
      // It is ending, or was: the file's lock says whether it still has it.
      logger.debug('A process that says that it has the notebook open cannot be joined.', { pid: holder.pid, error: messageOf(error) });
    }
  }
  return reachBroker(options, createHandler);
}

async function reachBroker(
  { dir, version, startBroker, logger, silentTimeoutMs = 10_000 }: ReachOptions,
  createHandler: (peer: Peer) => LinkHandler,
): Promise<Peer> {
  const deadline = performance.now() + startTimeoutMs;
  const silentDeadline = performance.now() + silentTimeoutMs;
  let started: StartedBroker | undefined;
  let ending: string | undefined;
  /** One that did not prove itself is not asked again. */
  let refused: string | undefined;
  for (;;) {
    const place = readBrokerPlace(dir);
    if (place !== undefined && place.secret !== refused) {
      try {
        return await dialHost(place, version, createHandler);
      } catch (error) {
        // That process runs: another one beside it could not open what it holds, and nobody would find the first any more.
        if (codeOf(error) === 'host_silent' && performance.now() < silentDeadline) {
          await pause(pollMs);
          continue;
        }
        if (codeOf(error) !== 'not_ours') throw error;
        refused = place.secret;
        logger.warn('A broker that its file names cannot be joined; another one is started.', { pid: place.pid, error: messageOf(error) });
      }
    }
    if (started === undefined || (ending !== undefined && !isThere(dir, refused))) {
      if (ending !== undefined && ending !== cleanEnding) throw notStarted(ending);
      ending = undefined;
      started = startBroker();
      void started.ended.then((end) => {
        ending = end;
      });
    }
    if (performance.now() > deadline) throw notStarted(`it was not there within ${startTimeoutMs / 1000} s`);
    await pause(pollMs);
  }
}

/** Another one was quicker. */
const cleanEnding = 'exit code 0';

function isThere(dir: string, refused: string | undefined): boolean {
  const place: HostPlace | undefined = readBrokerPlace(dir);
  return place !== undefined && place.secret !== refused;
}

function notStarted(why: string): BridgeError {
  return new BridgeError(
    'not_started',
    `The process that holds notebooks could not be started: ${why}. Its log is "broker.log" in the state folder ("notebridge doctor" names it). With --standalone the notebook is opened in this process.`,
  );
}
