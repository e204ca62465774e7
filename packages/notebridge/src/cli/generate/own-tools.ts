import { type Logger, silentLogger } from '@notebridge/kit/logger';
import { createNotebridge } from '../../assembly/create-notebridge.js';
import { gatherInput } from '../../bindings/input.js';
import { loadConfig } from '../../config/load-config.js';
import { onToolsChanged } from '../../core/tool-server.js';
import { AsyncEvent } from '../../util/async-event.js';
import type { Redacting } from '../../util/redactor.js';
import type { ToolsSource } from './tools-source.js';

export interface OwnToolsOptions {
  config: string | undefined;
  /** Follow edits of the config. */
  watch: boolean;
  /** Receives edits that cannot be used. */
  printLine: (text: string) => void;
  createLogger: (redactor: Redacting) => Logger;
}

/** How long a server may take to start and to list its tools. Milliseconds. */
const timeoutMs = 60_000;

/** The tools of the config's servers, started in this process. Rejects with `bad_config`. */
export async function createOwnTools({ config, watch, printLine, createLogger }: OwnToolsOptions): Promise<ToolsSource> {
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
      return gatherInput(bridge.servers, { hubUrl: undefined, timeoutMs });
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
