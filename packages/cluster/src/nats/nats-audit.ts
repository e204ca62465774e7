import { randomUUID } from 'node:crypto';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { StoreUnavailable } from '@notebridge/system/files/shared-store';
import { toKeyPart } from '../cluster-parts.js';
import { type NatsLink, NatsRefusal } from './nats-link.js';

/** Of several lines: far below what NATS takes, if nobody has changed that. */
const maxBatchBytes = 262_144;
/** Of a message, more than its headers need. */
const headerBytes = 1024;
/** A person has given the stream a limit for each message. */
const tooLarge = 10_054;
/** What waits for NATS at most; the oldest goes first. Each hub has all of it in its own file. */
const maxWaitingBytes = 8_388_608;
const retryMs = 1000;
/** Lines wait so long for others: a message of its own for each would cost a hub more than many calls do. */
const gatherMs = 20;

export interface NatsAuditOptions {
  link: NatsLink;
  clusterName: string;
  logger: Logger;
}

/** Lines of the audit on their way to the stream of all hubs. Those of one hub keep their order; none is there twice. */
export class NatsAudit {
  readonly #options: NatsAuditOptions;
  /** Of this life: with a number it names a message, so that NATS drops the second of two. */
  readonly #life = randomUUID();
  readonly #waiting: { hub: string; line: string; bytes: number }[] = [];
  #waitingBytes = 0;
  #count = 0;
  #dropped = 0;
  #sending: Promise<void> | undefined;
  #isClosed = false;
  #wake: (() => void) | undefined;

  constructor(options: NatsAuditOptions) {
    this.#options = options;
  }

  /** Takes one line of JSON, and never throws. One that NATS would not take goes without its arguments, which the file of the hub has. */
  publish(hub: string, line: string): void {
    if (this.#isClosed) return;
    const text = Buffer.byteLength(line) < this.#roomBytes ? line : withoutArguments(line);
    const bytes = Buffer.byteLength(text) + 1;
    if (bytes > this.#roomBytes) return this.#drop(1, 'a line is larger than a message of NATS');
    this.#waiting.push({ hub, line: text, bytes });
    this.#waitingBytes += bytes;
    while (this.#waitingBytes > maxWaitingBytes) {
      this.#waitingBytes -= this.#waiting.shift()?.bytes ?? 0;
      this.#drop(1, 'too many wait');
    }
    this.#sending ??= this.#send();
  }

  /** Sends what waits, if NATS takes it at once. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#wake?.();
    await this.#sending;
    if (this.#waiting.length > 0) this.#drop(this.#waiting.length, 'this hub ends');
    this.#waiting.length = 0;
  }

  /** Of one message, for lines. */
  get #roomBytes(): number {
    return this.#options.link.maxPayload - headerBytes;
  }

  async #send(): Promise<void> {
    while (this.#waiting.length > 0) {
      if (!this.#isClosed && this.#waitingBytes < maxBatchBytes) await this.#pause(gatherMs);
      const { hub, lines } = this.#takeBatch();
      this.#count += 1;
      if (!(await this.#deliver(hub, lines))) break;
    }
    this.#sending = undefined;
  }

  /** As many lines of one hub as a message holds. */
  #takeBatch(): { hub: string; lines: string[] } {
    const hub = this.#waiting[0]?.hub ?? '';
    const most = Math.min(maxBatchBytes, this.#roomBytes);
    let [count, bytes] = [0, 0];
    for (const each of this.#waiting) {
      if (each.hub !== hub || (count > 0 && bytes + each.bytes > most)) break;
      count += 1;
      bytes += each.bytes;
    }
    this.#waitingBytes -= bytes;
    return { hub, lines: this.#waiting.splice(0, count).map(({ line }) => line) };
  }

  /** Until it is there, or never can be. False: given up, since we end. */
  async #deliver(hub: string, lines: readonly string[]): Promise<boolean> {
    const { link, clusterName, logger } = this.#options;
    const text = lines.join('\n');
    const bytes = Buffer.byteLength(text);
    // A hub may have any name, and its subject is one part below that of the cluster.
    const subject = `notebridge.${clusterName}.audit.${toKeyPart(hub)}`;
    const options = { msgID: `${this.#life}-${this.#count}` };
    let refusals = 0;
    for (;;) {
      // Another server may take less than the one that this was made for.
      let isForGood = bytes > this.#roomBytes;
      try {
        if (isForGood) throw new StoreUnavailable('larger than a message of NATS');
        await link.ask('keep lines of the audit', (timeout) => link.client.publish(subject, text, { ...options, timeout }));
        return true;
      } catch (error) {
        isForGood ||= error instanceof NatsRefusal && error.code === tooLarge;
        if (this.#isClosed || isForGood) {
          this.#drop(lines.length, messageOf(error));
          return isForGood;
        }
        // That there is no connection is said by the connection.
        if (link.isConnected) refusals += 1;
        if (refusals === 2) logger.warn('cluster: audit lines wait, since NATS does not take them', { error: messageOf(error) });
        await this.#pause(retryMs);
      }
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms).unref();
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Says it the first time, the tenth, the hundredth, and when the hub ends. */
  #drop(count: number, why: string): void {
    const before = this.#dropped;
    this.#dropped += count;
    if (before > 0 && String(before).length === String(this.#dropped).length && !this.#isClosed) return;
    const { logger } = this.#options;
    logger.warn('cluster: audit lines did not get to NATS; the file of this hub has them', { why, dropped: this.#dropped });
  }
}

/** What else is in the line is small. */
function withoutArguments(line: string): string {
  try {
    const { arguments: _, ...rest } = JSON.parse(line) as { arguments?: unknown };
    return JSON.stringify({ ...rest, arguments_left_out: 'too large for NATS' });
  } catch {
    // Larger than it is by nothing that we know.
    return line;
  }
}
