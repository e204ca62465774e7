import type { Command, HostCommand, ServiceName } from '../messages.js';
import type { Mailbox } from './mailbox.js';

/** What came of a call: the host's JSON, and bytes. */
export interface HostReply {
  readonly value: { readonly [key: string]: unknown };
  readonly data: Uint8Array<ArrayBuffer>;
}

const noBytes = new Uint8Array(0);

/** Calls of the host besides tools: those of code that blocks, and those of code that does not. */
export class HostPort {
  readonly #mailbox: Mailbox;
  readonly #waiting = new Map<number, (reply: HostReply) => void>();
  #lastId = 0;

  constructor(mailbox: Mailbox) {
    this.#mailbox = mailbox;
  }

  /** False: only calls by promise work here. */
  get canWait(): boolean {
    return this.#mailbox.canWait;
  }

  /** Sends a call, for `wait`. */
  begin(service: ServiceName, text: string, data?: Uint8Array<ArrayBuffer>): number {
    const id = ++this.#lastId;
    this.#mailbox.post({ type: 'hostCall', id, service, text, data });
    return id;
  }

  /** Blocks until the answer is there or the time is over. An interrupt ends the wait, and stays for Python to find. */
  wait(id: number, ms: number): HostReply | 'interrupted' | undefined {
    const isAnswer = (next: Command) => next.type === 'hostAnswer' && next.id === id;
    const command = this.#mailbox.wait(isAnswer, ms, { keepsInterrupt: true });
    if (command === 'interrupted') return command;
    return command?.type === 'hostAnswer' ? toReply(command) : undefined;
  }

  /** What Python's own modules ask a service by, while they block: see host.py. Everything in and out is text, numbers and bytes. */
  toPython(service: ServiceName): object {
    let last = noBytes;
    return Object.freeze({
      canWait: this.canWait,
      begin: Object.freeze((text: string, data?: Uint8Array) => this.begin(service, `${text}`, data && new Uint8Array(data))),
      /** The JSON of the answer; `i` for an interrupt, which stays; nothing if the time is over. */
      wait: Object.freeze((id: number, ms: number) => {
        const reply = this.wait(Number(id), Number(ms));
        if (reply === undefined || reply === 'interrupted') return reply === undefined ? '' : 'i';
        last = reply.data;
        return JSON.stringify(reply.value);
      }),
      /** The bytes of the last answer. */
      data: Object.freeze(() => last),
      cancel: Object.freeze((id: number) => this.cancel(service, Number(id))),
    });
  }

  /** The host still answers, perhaps as if nothing had been said. What it has opened for a call that nobody waits for is closed. */
  cancel(service: ServiceName, id: number): void {
    if (!this.#waiting.has(id)) this.#waiting.set(id, ({ value }) => this.release(service, value));
    this.#mailbox.post({ type: 'hostCancel', id });
  }

  release(service: ServiceName, { handle }: HostReply['value']): void {
    if (typeof handle === 'number') this.begin(service, JSON.stringify({ op: 'close', handle }));
  }

  /** A call that blocks nobody. */
  call(service: ServiceName, text: string, data?: Uint8Array<ArrayBuffer>): { id: number; reply: Promise<HostReply> } {
    const id = this.begin(service, text, data);
    return { id, reply: new Promise((resolve) => this.#waiting.set(id, resolve)) };
  }

  take(command: HostCommand): void {
    const resolve = this.#waiting.get(command.id);
    this.#waiting.delete(command.id);
    resolve?.(toReply(command));
  }
}

function toReply({ text, data }: HostCommand): HostReply {
  return { value: JSON.parse(text), data: data ?? noBytes };
}
