import { createHmac } from 'node:crypto';
import { get } from 'node:http';
import type { ClusterBus } from '@notebridge/cluster/cluster-bus';
import type { ClusterParts, HubView } from '@notebridge/cluster/cluster-parts';
import { isJsonObject } from '@notebridge/protocol/json';
import { deriveKey } from '@notebridge/protocol/util/derive-key';
import type { Runtime } from '@notebridge/protocol/util/runtime';
import { isSameToken } from '@notebridge/protocol/util/token';
import { tryJson } from '@notebridge/protocol/util/try-json';
import type { HubPlace, PlaceAnswer, WatchedPlace } from '../../doors/hub-place.js';

/** Between two rounds of questions while this hub has no place. Milliseconds. */
const askEveryMs = 2000;
/** How long another hub may take. Milliseconds. */
const answerMs = 1500;
/** One that has its place says enough. */
const mostAsked = 16;
const mostBytes = 4096;

export interface PlaceWatchOptions extends Pick<ClusterParts, 'membership' | 'runtime'> {
  bus: Pick<ClusterBus, 'isConnected'>;
  clusterKey: Buffer;
  /** Why this hub gets no place until it is started again; undefined: it does, or tries. */
  refusal: () => string | undefined;
}

/**
 * Whether this hub alone has lost its place in the cluster. A hub without NATS cannot tell whether NATS is away for all; so it asks the hubs that it
 * knew last, at their doors. What says that it has its place proves that it has the key of the cluster.
 */
export class PlaceWatch implements WatchedPlace {
  readonly #options: PlaceWatchOptions;
  readonly #key: Buffer;
  readonly #stop: () => void;
  #hasJoined = false;
  #isAlone = false;
  #stopAsking: (() => void) | undefined;
  /** Another one each time that the place is lost. Undefined: nobody is asked. */
  #loss: object | undefined;

  constructor(options: PlaceWatchOptions) {
    this.#options = options;
    this.#key = deriveKey(options.clusterKey, 'places of hubs');
    this.#stop = options.membership.subscribe(() => this.#look());
    this.#look();
  }

  get place(): HubPlace {
    const { membership, refusal } = this.#options;
    if (membership.isHeld()) return 'held';
    if (refusal() !== undefined) return 'refused';
    if (!this.#hasJoined) return 'joining';
    return this.#isAlone ? 'lost_alone' : 'lost';
  }

  answer(challenge: string): PlaceAnswer {
    const { membership, bus } = this.#options;
    // When NATS goes away for all, no hub is to take another's last seconds for a place.
    const place = membership.isHeld() && bus.isConnected && !membership.self.isDraining ? 'held' : 'lost';
    return { place, proof: this.#proofOf(challenge, place) };
  }

  /** Closing twice is harmless. */
  close(): void {
    this.#stop();
    this.#endLoss();
  }

  #look(): void {
    const isHeld = this.#options.membership.isHeld();
    this.#hasJoined ||= isHeld;
    if (isHeld) this.#endLoss();
    else if (this.#hasJoined && this.#loss === undefined) {
      this.#loss = {};
      void this.#ask(this.#loss);
    }
  }

  #endLoss(): void {
    this.#loss = undefined;
    this.#isAlone = false;
    this.#stopAsking?.();
  }

  async #ask(loss: object): Promise<void> {
    const { membership, runtime } = this.#options;
    const { self } = membership;
    const others = membership.hubs().filter(({ id, askAt }) => id !== self.id && askAt !== undefined && askAt !== self.askAt);
    const places = await Promise.all(others.slice(0, mostAsked).map((hub) => this.#placeOf(hub)));
    if (this.#loss !== loss) return;
    this.#isAlone = places.includes('held');
    this.#stopAsking = runtime.after(askEveryMs, () => void this.#ask(loss));
  }

  /** What another hub says of its place; undefined: nothing, or nothing that counts. */
  async #placeOf({ askAt = '' }: HubView): Promise<string | undefined> {
    const { runtime } = this.#options;
    const challenge = runtime.bytes(24).toString('base64url');
    const answer = tryJson(await readAnswer(askAt, challenge, runtime).catch(() => ''));
    if (!isJsonObject(answer) || typeof answer.place !== 'string' || typeof answer.proof !== 'string') return undefined;
    return isSameToken(answer.proof, this.#proofOf(challenge, answer.place)) ? answer.place : undefined;
  }

  #proofOf(challenge: string, place: string): string {
    return createHmac('sha256', this.#key).update(`${place} ${challenge}`).digest('base64url');
  }
}

/** Not by `fetch`: a hub answers to the name `localhost` at whatever address it is, and to few others. */
function readAnswer(url: string, challenge: string, runtime: Runtime): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = new URL('/readyz', url);
    asked.searchParams.set('challenge', challenge);
    const request = get(asked, { headers: { host: `localhost:${asked.port}` }, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
        if (text.length > mostBytes) request.destroy(new Error('It answers too much.'));
      });
      response.on('end', () => resolve(text)).on('error', reject);
    });
    const callOff = runtime.after(answerMs, () => request.destroy(new Error('It does not answer.')));
    request.on('error', reject).on('close', callOff);
  });
}
