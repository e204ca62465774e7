import type { JsonObject } from '@notebridge/kit/json';
import { within } from '../kernel/within.js';
import type { KernelChannel } from './kernel-channel.js';
import type { KernelMessage } from './kernel-message.js';

export interface KernelQuestion {
  type: string;
  content: JsonObject;
  timeoutMs: number;
  /** The answer is waited for until all is heard that the kernel said before it: output comes another way. Default false. */
  behindOutput?: boolean | undefined;
}

interface Waiting {
  resolve: (content: JsonObject) => void;
  behindOutput: boolean;
  answer?: JsonObject;
  isIdle?: boolean;
}

/** Requests to a kernel that have one answer: all but the execution of code. */
export class KernelRequests {
  readonly #waiting = new Map<string, Waiting>();

  /** True for an answer that somebody waits for. */
  take({ channel, type, parentId, content }: KernelMessage): boolean {
    const waiting = this.#waiting.get(parentId);
    if (!waiting) return false;
    // What the kernel says on the way, that it is busy and idle, has the same parent.
    const isAnswer = channel === 'shell';
    if (isAnswer) waiting.answer = content;
    else if (type === 'status') waiting.isIdle ||= content.execution_state === 'idle';
    if (waiting.answer && (waiting.isIdle || !waiting.behindOutput)) waiting.resolve(waiting.answer);
    return isAnswer;
  }

  /** What the kernel is; undefined as `ask`. */
  askInfo(
    channel: KernelChannel | undefined,
    options: Pick<KernelQuestion, 'timeoutMs' | 'behindOutput'>,
  ): Promise<JsonObject | undefined> {
    return this.ask(channel, { type: 'kernel_info_request', content: {}, ...options });
  }

  /** Undefined where no answer comes in time, or the channel ends. */
  async ask(channel: KernelChannel | undefined, options: KernelQuestion): Promise<JsonObject | undefined> {
    if (!channel?.isOpen) return undefined;
    const { type, content, timeoutMs, behindOutput = false } = options;
    const id = channel.send({ channel: 'shell', type, content });
    const answer = new Promise<JsonObject | undefined>((resolve) => {
      this.#waiting.set(id, { resolve, behindOutput });
      void channel.closed.then(() => resolve(undefined));
    });
    try {
      return await within(timeoutMs, answer);
    } finally {
      this.#waiting.delete(id);
    }
  }
}
