import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import { type ClusterParts, NotStarted, toKeyPart } from './cluster-parts.js';
import type { ExchangeListener, HubExchange } from './hub-exchange.js';
import { HubLink } from './hub-link.js';
import type { ExchangeLimits } from './link-sender.js';
import { dataHead, type HubFrame, hubWire, PacketSigner, packetHead, readPacket, senderOf, sizeOfFrame, writePacket } from './packets.js';

const defaultLimits: ExchangeLimits = {
  maxExchanges: 4096,
  maxMessageBytes: 134_217_728,
  maxHeldBytes: 536_870_912,
  windowBytes: 1_048_576,
  linkWindowBytes: 8_388_608,
  ackMs: 20,
  quietMs: 2_000,
  silenceMs: 10_000,
};

/** Larger packets would hold up the small ones behind them. */
const maxPacketBytes = 131_072;
/** What is remembered of hubs that have ended, so that nothing of theirs is opened again: hubs. */
const maxEndedHubs = 256;
const noticeMs = 60_000;

export interface ExchangesOptions extends Omit<ClusterParts, 'store' | 'claims' | 'calls'> {
  /** Another hub has opened an exchange, of which nothing has come yet. */
  onOpen: (exchange: HubExchange) => ExchangeListener;
  limits?: Partial<ExchangeLimits> | undefined;
}

/** Packets that were dropped: of an unknown hub, with a wrong signature, of an unknown version, not readable. */
export interface ExchangeCounts {
  dropped: { stranger: number; signature: number; version: number; unreadable: number };
}

/** The other hub, and what checks the packets that come from there. */
interface KnownHub {
  link: HubLink;
  incoming: PacketSigner;
}

/** The subject of a hub, below that of its cluster. */
export function hubSubject(hub: string): string {
  return `hub.${toKeyPart(hub)}`;
}

/** Calls between this hub and others, as messages of two sides: each arrives once and in order, over a bus that loses, doubles and reorders. */
export class Exchanges {
  readonly counts: ExchangeCounts = { dropped: { stranger: 0, signature: 0, version: 0, unreadable: 0 } };
  readonly #options: ExchangesOptions;
  readonly #limits: ExchangeLimits;
  readonly #hubs = new Map<string, KnownHub>();
  readonly #held = { bytes: 0 };
  readonly #unsubscribes: (() => void)[];
  /** Those that are alive, by their ids, as of the last change. */
  #alive = new Set<string>();
  #self: string;
  #stopListening: () => void;
  #noticedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: ExchangesOptions) {
    const { bus, membership, limits } = options;
    this.#options = options;
    this.#limits = { ...defaultLimits, ...limits };
    this.#self = membership.self.id;
    this.#stopListening = this.#listen();
    this.#follow();
    this.#unsubscribes = [
      membership.subscribe(() => this.#follow()),
      bus.onConnection((isConnected) => {
        if (isConnected) for (const { link } of this.#hubs.values()) link.reconnect();
      }),
    ];
  }

  /** Those that are open now, of both sides. */
  get openCount(): number {
    let count = 0;
    for (const { link } of this.#hubs.values()) count += link.openCount;
    return count;
  }

  /** Bytes of messages of which not all has come. */
  get heldBytes(): number {
    return this.#held.bytes;
  }

  /** What is remembered so that nothing is opened twice: ranges of numbers. */
  get rangeCount(): number {
    let count = 0;
    for (const { link } of this.#hubs.values()) count += link.rangeCount;
    return count;
  }

  get maxMessageBytes(): number {
    return this.#limits.maxMessageBytes;
  }

  /** Opens an exchange with another hub, by what is sent in it first. Throws `NotStarted` if that can't be reached, and `limit_reached`. */
  open(hub: string, listener: ExchangeListener): HubExchange {
    const view = this.#options.membership.hubs().find(({ id }) => id === hub);
    const canReach = !this.#isClosed && this.#options.bus.isConnected && this.#options.membership.isHeld();
    if (!canReach || view === undefined || view.wire.oldest > hubWire.newest || view.wire.newest < hubWire.oldest)
      throw new NotStarted('unreachable');
    return this.#knownHub(hub).link.open(listener);
  }

  /** Ends all of them, and tells the other hubs. Closing twice is harmless. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const unsubscribe of this.#unsubscribes) unsubscribe();
    this.#stopListening();
    for (const { link } of this.#hubs.values()) link.close();
    this.#hubs.clear();
  }

  #listen(): () => void {
    return this.#options.bus.subscribe(hubSubject(this.#self), (payload) => this.#receive(payload));
  }

  /** Between two lives of hubs everything ends when one of them does. */
  #follow(): void {
    const { membership } = this.#options;
    this.#alive = new Set(membership.hubs().map(({ id }) => id));
    if (membership.self.id !== this.#self) {
      for (const { link } of this.#hubs.values()) link.end();
      this.#hubs.clear();
      this.#stopListening();
      this.#self = membership.self.id;
      this.#stopListening = this.#listen();
      return;
    }
    const ended = [...this.#hubs].filter(([id]) => !this.#alive.has(id));
    for (const [, { link }] of ended) link.end();
    for (const [id] of ended.slice(0, Math.max(0, ended.length - maxEndedHubs))) this.#hubs.delete(id);
  }

  #receive(payload: Uint8Array): void {
    const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.length);
    const version = bytes[0] ?? 0;
    const from = senderOf(bytes);
    if (from === undefined) return this.#drop('unreadable', 'it is too short');
    if (version < hubWire.oldest || version > hubWire.newest) return this.#drop('version', `it is of version ${version}`);
    // Before anything is computed for it: only what is known to be alive can be meant, and is it again after a replay.
    if (!this.#alive.has(from)) {
      // The last words of a hub that has ended come behind the end of its lease: that is no fault.
      if (this.#hubs.has(from)) this.counts.dropped.stranger++;
      else this.#drop('stranger', `no hub ${quote(from)} is known to be alive`);
      return;
    }
    const known = this.#knownHub(from);
    if (!known.incoming.isSigned(bytes)) return this.#drop('signature', `it is not signed by hub ${quote(from)} for this one`);
    const packet = readPacket(bytes);
    if (packet === undefined) return this.#drop('unreadable', `hub ${quote(from)} has sent what this version can't read`);
    try {
      known.link.receive(packet);
    } catch (error) {
      this.#onFault(from, error);
    }
  }

  #onFault(hub: string, error: unknown): void {
    this.#options.logger.error(`A message of hub ${quote(hub)} could not be handled: ${messageOf(error)}`);
  }

  #drop(why: keyof ExchangeCounts['dropped'], text: string): void {
    this.counts.dropped[why]++;
    const now = this.#options.runtime.steady();
    if (now - this.#noticedAt < noticeMs) return;
    this.#noticedAt = now;
    const { stranger, signature, version, unreadable } = this.counts.dropped;
    const total = stranger + signature + version + unreadable;
    this.#options.logger.warn(`A message for this hub was dropped: ${text}. So many were dropped since the start: ${total}.`);
  }

  #knownHub(id: string): KnownHub {
    const known = this.#hubs.get(id);
    if (known !== undefined) return known;
    const { bus, runtime, cluster, key, onOpen } = this.#options;
    const self = Buffer.from(this.#self);
    const head = packetHead(self.length);
    const most = Math.min(bus.maxPayload, maxPacketBytes + head + dataHead);
    const subject = hubSubject(id);
    const outgoing = new PacketSigner(key, { cluster, from: this.#self, to: id });
    const send = (lowest: number, frames: readonly HubFrame[]): void => {
      for (const some of inPackets(frames, most - head)) {
        const packet = writePacket(self, lowest, some);
        outgoing.sign(packet);
        bus.publish(subject, packet);
      }
    };
    const link = new HubLink({
      hub: id,
      runtime,
      limits: this.#limits,
      maxPieceBytes: most - head - dataHead,
      isConnected: () => bus.isConnected,
      send,
      onOpen,
      held: this.#held,
      onFault: (error) => this.#onFault(id, error),
    });
    const created: KnownHub = { link, incoming: new PacketSigner(key, { cluster, from: id, to: this.#self }) };
    this.#hubs.set(id, created);
    return created;
  }
}

/** The frames in as few packets as hold them. */
function* inPackets(frames: readonly HubFrame[], maxBytes: number): Generator<readonly HubFrame[]> {
  let some: HubFrame[] = [];
  let bytes = 0;
  for (const frame of frames) {
    const size = sizeOfFrame(frame);
    if (bytes + size > maxBytes && some.length > 0) {
      yield some;
      some = [];
      bytes = 0;
    }
    some.push(frame);
    bytes += size;
  }
  if (some.length > 0) yield some;
}
