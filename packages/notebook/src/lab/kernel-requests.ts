import type { JsonObject } from '@notebridge/kit/json';
import { within } from '../kernel/within.js';
import type { KernelChannel } from './kernel-channel.js';
import type { KernelMessage } from './kernel-message.js';

/** Requests to a kernel that have one answer: all but the execution of code. */
export class KernelRequests {
  readonly #waiting = new Map<string, (content: JsonObject) => void>();

  /** True for an answer that somebody waits for. */
  take({ channel, parentId, content }: KernelMessage): boolean {
    // What the kernel says on the way, that it is busy, has the same parent.
    const answer = channel === 'shell' ? this.#waiting.get(parentId) : undefined;
    answer?.(content);
    return answer !== undefined;
  }

  /** Undefined where no answer comes in time, or the channel ends. */
  async ask(channel: KernelChannel, { type, content, timeoutMs }: { type: string; content: JsonObject; timeoutMs: number }) {
    const id = channel.send({ channel: 'shell', type, content });
    const answer = new Promise<JsonObject | undefined>((resolve) => {
      this.#waiting.set(id, resolve);
      void channel.closed.then(() => resolve(undefined));
    });
    try {
      return await within(timeoutMs, answer);
    } finally {
      this.#waiting.delete(id);
    }
  }
}
