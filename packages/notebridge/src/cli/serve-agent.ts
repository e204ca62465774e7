import type { Notebridge } from '../assembly/create-notebridge.js';
import { untilSignal } from './process-life.js';

/** Serves one agent on stdio until it closes its end, a signal comes, or a person ends it; then closes everything. */
export async function serveAgent(bridge: Notebridge): Promise<void> {
  try {
    await bridge.start();
    const door = bridge.serveStdio();
    bridge.hub.logger.info('Serving an agent over stdio.');
    const ended = bridge.notebook?.ended;
    await Promise.race([door.closed, untilSignal(), ...(ended === undefined ? [] : [ended])]);
    door.close();
    await door.closed;
    if (isEmpty(process.stdin)) process.stderr.write(nobodyThere);
  } finally {
    await bridge.close();
  }
}

const nobodyThere =
  'notebridge: Standard input ended before an agent said anything, so this has ended too. An agent host keeps it open; for yourself, start it in a terminal.\n';

/** Whether it has ended and nothing came. */
function isEmpty(input: typeof process.stdin): boolean {
  return input.readableEnded && input.bytesRead === 0;
}
