import { maxFramesInFlight } from './outbox.js';
import type { DataFrame } from './packets.js';

export interface ArrivedMessage {
  kind: number;
  payload: Buffer;
  isLast: boolean;
}

/** What one side of an exchange hears: frames in any order, some of them twice, become messages in theirs. */
export class Inbox {
  readonly #early = new Map<number, DataFrame>();
  #pieces: Uint8Array[] = [];
  #pieceBytes = 0;
  #earlyBytes = 0;
  #next = 0;
  /** What came since the other side was told of it. */
  #untoldBytes = 0;
  #untoldFrames = 0;
  #hasFirst = false;

  /** True once the whole first message has come. */
  get hasFirst(): boolean {
    return this.#hasFirst;
  }

  /** All frames below have come. */
  get ack(): number {
    return this.#next;
  }

  /** Bit n: frame `ack + 1 + n` has come. */
  get early(): number {
    if (this.#early.size === 0) return 0;
    let bits = 0;
    for (const sequence of this.#early.keys()) bits |= 1 << (sequence - this.#next - 1);
    return bits >>> 0;
  }

  /** What is kept here of messages that are not complete. */
  get heldBytes(): number {
    return this.#pieceBytes + this.#earlyBytes;
  }

  /** True if the other side soon has its window full, as far as it knows. */
  mustTell(windowBytes: number): boolean {
    return this.#untoldBytes > windowBytes / 4 || this.#untoldFrames > maxFramesInFlight / 4;
  }

  tell(): void {
    this.#untoldBytes = this.#untoldFrames = 0;
  }

  /** True if the frame is the next one. Otherwise the other side is to be told at once what is missing, or that it came already. */
  take(frame: DataFrame): boolean {
    const ahead = frame.sequence - this.#next;
    if (ahead >= 0 && ahead < maxFramesInFlight && !this.#early.has(frame.sequence)) {
      this.#early.set(frame.sequence, frame);
      this.#earlyBytes += frame.payload.length;
    }
    return ahead === 0;
  }

  /** The next message, if all of it has come. */
  shift(): ArrivedMessage | undefined {
    for (;;) {
      const frame = this.#early.get(this.#next);
      if (frame === undefined) return undefined;
      const { kind, payload, isMore, isLast } = frame;
      this.#early.delete(this.#next++);
      this.#earlyBytes -= payload.length;
      this.#untoldBytes += payload.length;
      this.#untoldFrames++;
      if (!isMore) this.#hasFirst = true;
      if (!isMore && this.#pieces.length === 0)
        return { kind, payload: Buffer.from(payload.buffer, payload.byteOffset, payload.length), isLast };
      this.#pieces.push(payload);
      this.#pieceBytes += payload.length;
      if (isMore) continue;
      const whole = Buffer.concat(this.#pieces, this.#pieceBytes);
      this.#pieces = [];
      this.#pieceBytes = 0;
      return { kind, payload: whole, isLast };
    }
  }

  clear(): void {
    this.#early.clear();
    this.#pieces = [];
    this.#pieceBytes = this.#earlyBytes = 0;
  }
}
