import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import { gatherInput } from '../../bindings/input.js';
import type { ToolServers } from '../../core/tool-server.js';
import { printMessage } from '../../core/wire.js';

/** How long servers may take that were never asked for their tools, and how long the hub waits for news before it says that there are none. Milliseconds. */
const patienceMs = 60_000;
const newsMs = 25_000;
/** Changes often come together. Milliseconds. */
const settleMs = 100;

/** What bindings are made from, with a tag that is another one when they would change. */
export interface BindingsInputAnswer {
  tag: string;
  input: unknown;
  warnings: string[];
  failed: number;
}

/**
 * Gathers what bindings are made from. `after`: the tag that the caller has; waits until it is another one, at most 25 s, so that a
 * command that keeps bindings up to date hears of a change at once and asks seldom.
 */
export async function answerBindingsInput(
  servers: ToolServers,
  { socket, after }: { socket: Socket; after: string | null },
): Promise<BindingsInputAnswer> {
  const changes = new Changes(servers);
  const left = new Promise<void>((resolve) => socket.once('close', resolve));
  try {
    const answer = await gather(servers);
    if (answer.tag !== after) return answer;
    await Promise.race([changes.next(newsMs), left]);
    return await gather(servers);
  } finally {
    changes.close();
  }
}

async function gather(servers: ToolServers): Promise<BindingsInputAnswer> {
  const { input, warnings, failed } = await gatherInput(servers, { hubUrl: undefined, patienceMs });
  const tag = createHash('sha256').update(printMessage({ input, warnings })).digest('base64url');
  return { tag, input, warnings, failed };
}

/** Hears of changes from the moment it is made, so that none falls between a look and the wait. */
class Changes {
  readonly #unsubscribe: () => void;
  #isChanged = false;
  #wake: () => void = () => {};

  constructor(servers: ToolServers) {
    this.#unsubscribe = servers.subscribe(({ kind }) => {
      if (kind !== 'tools' && kind !== 'added' && kind !== 'removed') return;
      this.#isChanged = true;
      this.#wake();
    });
  }

  async next(timeoutMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      timer = setTimeout(resolve, this.#isChanged ? settleMs : timeoutMs);
      this.#wake = () => {
        clearTimeout(timer);
        timer = setTimeout(resolve, settleMs);
      };
    });
  }

  close(): void {
    this.#unsubscribe();
    this.#wake = () => {};
  }
}
