import { gatherInput } from '../../bindings/input.js';
import { loadConfig } from '../../config/load-config.js';
import type { Logger } from '../../core/logger.js';
import { AsyncEvent } from '../../util/async-event.js';
import { Redactor } from '../../util/redactor.js';
import { followConfig } from '../follow-config.js';
import { ownServerInfo } from '../hub-setup.js';
import { Closers } from '../serve/closers.js';
import { ConfigServers } from '../servers.js';
import type { ToolsSource } from './tools-source.js';

export interface OwnToolsOptions {
  config: string | undefined;
  /** Follow edits of the config. */
  watch: boolean;
  /** Told of edits that cannot be used. */
  tell: (text: string) => void;
  createLogger: (redactor: Redactor) => Logger;
}

/** How long a server may take to start and to list its tools. Milliseconds. */
const patienceMs = 60_000;

/** The tools of the config's servers, started in this process. Rejects with `bad_config`. */
export async function createOwnTools({ config: file, watch, tell, createLogger }: OwnToolsOptions): Promise<ToolsSource> {
  const config = await loadConfig({ file, env: process.env });
  const redactor = new Redactor();
  const logger = createLogger(redactor);
  const closers = new Closers();
  const servers = new ConfigServers({ config, logger, redactor, serverInfo: ownServerInfo() });
  closers.add(() => servers.close());
  const changes = new AsyncEvent();
  closers.add(
    servers.subscribe(({ kind }) => {
      if (kind === 'tools' || kind === 'added' || kind === 'removed') changes.set();
    }),
  );
  if (watch) {
    const watching = followConfig({ config, logger: { ...logger, warn: tell, error: tell } }, (changed) => servers.change(changed));
    closers.add(() => watching.close());
  }
  return {
    read: () => {
      changes.clear();
      return gatherInput(servers, { hubUrl: undefined, patienceMs });
    },
    changed: async (signal) => {
      await changes.wait(undefined, signal);
    },
    close: () => closers.close(),
  };
}
