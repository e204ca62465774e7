import { messageOf } from '@notebridge/protocol/util/message-of';
import type { StoreChange, StoreWatch } from '@notebridge/system/files/shared-store';
import type { StoreParts } from './cluster-parts.js';

const againMs = 1_000;

interface KeepWatchingOptions extends StoreParts {
  prefix: string;
  listener: (change: StoreChange) => void;
  /** All that there was has been told. */
  onTold?: () => void;
}

/**
 * Opens a watch, again and again until the store is there. Returns the function that closes it. What an attempt tells counts only if it
 * comes to its end: else what is gone before the next one would stay.
 */
export function keepWatching({ store, runtime, prefix, logger, listener, onTold }: KeepWatchingOptions): () => void {
  let watch: StoreWatch | undefined;
  let isClosed = false;
  let callOff: (() => void) | undefined;
  const open = async () => {
    let early: StoreChange[] | undefined = [];
    let opened: StoreWatch;
    try {
      opened = await store.watch(prefix, (change) => {
        if (early) early.push(change);
        else if (!isClosed) listener(change);
      });
    } catch {
      if (!isClosed) callOff = runtime.after(againMs, () => void open());
      return;
    }
    if (isClosed) return opened.close();
    watch = opened;
    const told = early;
    early = undefined;
    // As the store does later: what one change makes a listener throw keeps it from none of the others.
    for (const change of told) guard(() => listener(change));
    guard(() => onTold?.());
  };
  const guard = (call: () => void) => {
    try {
      call();
    } catch (error) {
      logger?.error('cluster: what watches the store has thrown', { prefix, error: messageOf(error) });
    }
  };
  void open();
  return () => {
    isClosed = true;
    callOff?.();
    watch?.close();
  };
}
