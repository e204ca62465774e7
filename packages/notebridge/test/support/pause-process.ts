import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Stops a process as `kill -STOP`, and resolves when it stands still: one of its threads has to run once more to take the signal, and on a
 * busy machine the others go on until then. Where the system does not say so, it resolves at once.
 */
export async function pauseProcess(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP');
  while (statesOf(pid).some((state) => !'TtZX'.includes(state))) await delay(1);
}

/** The states of its threads, a letter each; none for a process that has ended. */
function statesOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`).map((thread) => {
      const text = readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8');
      return text.slice(text.lastIndexOf(')') + 2, text.lastIndexOf(')') + 3);
    });
  } catch {
    return [];
  }
}
