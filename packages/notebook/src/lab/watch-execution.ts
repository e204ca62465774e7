import { pause } from './pause.js';
import type { RemoteExecution } from './remote-execution.js';

const watchMs = 10_000;

/**
 * Calls `onLost` where nothing runs in the kernel, and that twice in a row, while we wait for a cell: a kernel that was killed and started
 * again says nothing. `isBusy`: undefined where it cannot be known now.
 */
export async function watchExecution(
  execution: RemoteExecution,
  isBusy: () => Promise<boolean | undefined>,
  onLost: () => void,
): Promise<void> {
  const end = new AbortController();
  const stop = () => end.abort();
  execution.ended.then(stop, stop);
  for (let idleTimes = 0; idleTimes < 2; ) {
    await pause(watchMs, end.signal);
    if (end.signal.aborted) return;
    idleTimes = (await isBusy().catch(() => undefined)) === false ? idleTimes + 1 : 0;
  }
  if (!end.signal.aborted) onLost();
}
