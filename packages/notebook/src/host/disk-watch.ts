import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { Logger } from '@notebridge/kit/logger';
import { messageOf } from '@notebridge/kit/message-of';

/** Changes that the system does not report (network file systems, too many watches, a moved folder) are found by polling. */
const lookMs = 3000;

/**
 * Calls the listener when a file may have changed, which the listener checks; returns a function that ends it. Watches with Node
 * alone: chokidar drops events that follow each other closely, which would lose changes, and nothing that it adds is needed here.
 */
export function watchDisk(path: string, onMaybe: () => void, logger: Logger): () => void {
  let isClosed = false;
  const notify = () => {
    if (!isClosed) onMaybe();
  };
  const timer = setInterval(notify, lookMs).unref();
  const watcher = watchFolder(path, notify, (error) => {
    const fields = { path, error: messageOf(error) };
    logger.warn('The file cannot be watched; it is looked at every few seconds instead.', fields);
  });
  return () => {
    isClosed = true;
    clearInterval(timer);
    watcher?.close();
  };
}

/** On the folder, because most programs replace the file, and a watch on the file would end with the old one. */
function watchFolder(path: string, notify: () => void, warn: (error: unknown) => void): FSWatcher | undefined {
  const name = basename(path);
  try {
    return watch(dirname(path), { persistent: false }, (_, changed) => {
      if (changed === null || changed === name) notify();
    }).on('error', warn);
  } catch (error) {
    warn(error);
    return undefined;
  }
}
