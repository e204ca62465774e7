import { silentLogger } from '@notebridge/kit/logger';
import { createNotebridge } from '../../assembly/create-notebridge.js';
import { type GatheredInput, gatherInput } from '../../bindings/input.js';
import { loadConfig } from '../../config/load-config.js';
import { codeOf } from '../../core/errors.js';
import { onToolsChanged } from '../../core/tool-server.js';
import { proxyPrefix } from '../../doors/tool-proxy/tool-proxy.js';
import { AsyncEvent } from '../../util/async-event.js';
import { createLogger } from '../client/open-source.js';
import { askOwner } from '../hub/hub-request.js';
import type { OwnHub } from '../hub/own-hub.js';

/** Where `generate` finds the tools: the running hub, or the servers of the config in this process. */
export interface ToolsSource {
  /** Rejects with `closed` if the hub is gone. */
  read(): Promise<GatheredInput>;
  /** Resolves when the tools may be other ones than those last read, or when the signal comes. Rejects with `closed` if the hub is gone. */
  changed(signal: AbortSignal): Promise<void>;
  /** Ends what was started for it. Closing twice is harmless. */
  close(): Promise<void>;
}

/** A hub may start servers to answer. Milliseconds. */
const answerMs = 120_000;
/** How long a server may take here to start and to list its tools. Milliseconds. */
const listMs = 60_000;

type Answer = GatheredInput & { tag: string };

/** The tools of the running hub, as its owner. It reports changes itself: it answers a request when there is news. */
export function createHubTools(hub: OwnHub): ToolsSource {
  let known = '';
  let latest: Answer | undefined;
  const ask = async (query: string, signal?: AbortSignal): Promise<Answer> =>
    (await askOwner(hub, `/bindings${query}`, { timeoutMs: answerMs, ...(signal && { signal }) })) as Answer;
  return {
    read: async () => {
      const { input, warnings, failed, tag } = latest ?? (await ask(''));
      latest = undefined;
      known = tag;
      return { input: { ...input, hubUrl: `${hub.url}${proxyPrefix}` }, warnings, failed };
    },
    // Before anything was read every tag is another one: a hub that has come in place of one that went is read at once.
    changed: async (signal) => {
      try {
        while (!signal.aborted) {
          const answer = await ask(`?after=${known}`, signal);
          if (answer.tag === known) continue;
          latest = answer;
          return;
        }
      } catch (error) {
        if (codeOf(error) !== 'cancelled') throw error;
      }
    },
    close: async () => {},
  };
}

/** The tools of the config's servers, started in this process. With `watch` it follows edits of the config, and prints those that cannot be used. Rejects with `bad_config`. */
export async function createOwnTools(
  config: string | undefined,
  { watch, printLine }: { watch: boolean; printLine: (text: string) => void },
): Promise<ToolsSource> {
  const bridge = await createNotebridge({
    config: await loadConfig({ file: config, env: process.env }),
    startServers: false,
    followConfig: watch && { logger: { ...silentLogger, warn: printLine, error: printLine } },
    createLogger,
  });
  const changes = new AsyncEvent();
  const unsubscribe = onToolsChanged(bridge.servers, () => changes.set());
  await bridge.start();
  return {
    read: () => {
      changes.clear();
      return gatherInput(bridge.servers, { hubUrl: undefined, timeoutMs: listMs });
    },
    changed: async (signal) => {
      await changes.wait(undefined, signal);
    },
    close: () => {
      unsubscribe();
      return bridge.close();
    },
  };
}
