import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { JsonObject } from '@notebridge/protocol/json';
import { type CallHead, printHubCall, toHead } from './call-messages.js';
import { type CallTarget, type Claims, type HubCalls, ofHubItself, type WhyNotStarted } from './cluster-parts.js';
import { type ExchangeCounts, Exchanges, type ExchangesOptions } from './exchanges.js';
import { MadeHubCall } from './made-hub-call.js';
import { type AnswerCall, ServedHubCall } from './served-hub-call.js';

export interface ExchangedCallsOptions extends Omit<ExchangesOptions, 'onOpen'> {
  claims: Pick<Claims, 'held'>;
  /** The time that an owner has to answer a call that was cancelled. Milliseconds; default 2,000. */
  cancelledMs?: number | undefined;
}

/** Calls from hub to hub, each in an exchange of its own. */
export class ExchangedCalls implements HubCalls {
  readonly #options: ExchangedCallsOptions;
  readonly #exchanges: Exchanges;
  /** By the prefixes of the resources. */
  readonly #answers = new Map<string, { answer: AnswerCall; whileDraining: boolean }>();
  #served = 0;
  #isDraining = false;
  #onIdle: (() => void)[] = [];

  constructor(options: ExchangedCallsOptions) {
    const { runtime, logger } = options;
    this.#options = options;
    this.#exchanges = new Exchanges({
      ...options,
      onOpen: (exchange) => {
        this.#served++;
        const { maxMessageBytes } = this.#exchanges;
        return new ServedHubCall(exchange, {
          runtime,
          logger,
          maxMessageBytes,
          admit: (head) => this.#admit(head),
          onEnd: () => this.#end(),
        });
      },
    });
  }

  /** Calls of other hubs that run here, or whose answers are on their way. */
  get servedCount(): number {
    return this.#served;
  }

  get counts(): ExchangeCounts {
    return this.#exchanges.counts;
  }

  async call({ hub, resource, epoch }: CallTarget, method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const { runtime, logger, membership, cancelledMs = 2_000 } = this.#options;
    const { reason } = context.cancellation;
    if (reason !== undefined) throw new BridgeError('cancelled', `Cancelled before "${method}" was sent: ${reason}`);
    const payload = printHubCall(toHead(context, { resource, epoch }), method, params);
    const { maxMessageBytes } = this.#exchanges;
    if (payload.length > maxMessageBytes)
      throw new BridgeError(
        'message_too_large',
        `"${method}" has ${payload.length} bytes; a call to another hub may have ${maxMessageBytes}.`,
      );
    const hubName = membership.hubs().find(({ id }) => id === hub)?.name ?? hub;
    const made = new MadeHubCall({ method, context, runtime, logger, hubName, cancelledMs });
    made.begin(this.#exchanges.open(hub, made), payload);
    return made.outcome;
  }

  serve(prefix: string, answer: AnswerCall, { whileDraining = false } = {}): () => void {
    const served = { answer, whileDraining };
    this.#answers.set(prefix, served);
    return () => {
      if (this.#answers.get(prefix) === served) this.#answers.delete(prefix);
    };
  }

  /** Takes no more calls of other hubs, but those that are served while this one drains. Resolves when those that run have ended and their callers have the answers. */
  drain(): Promise<void> {
    this.#isDraining = true;
    return this.#served === 0 ? Promise.resolve() : new Promise((resolve) => this.#onIdle.push(resolve));
  }

  /** Ends all calls, of both sides. Closing twice is harmless. */
  close(): void {
    this.#exchanges.close();
  }

  #admit({ resource, epoch }: CallHead): AnswerCall | WhyNotStarted {
    const served = this.#answerOf(resource);
    if (served === undefined) return 'not_served';
    if (!this.#isOurs(resource, epoch)) return 'not_owner';
    return this.#isDraining && !served.whileDraining ? 'draining' : served.answer;
  }

  #isOurs(resource: string, epoch: number): boolean {
    const { membership, claims } = this.#options;
    if (resource.startsWith(ofHubItself)) return membership.isHeld();
    const claim = claims.held(resource);
    return claim?.epoch === epoch && claim.isHeld();
  }

  /** Of the longest prefix that fits. */
  #answerOf(resource: string): { answer: AnswerCall; whileDraining: boolean } | undefined {
    let longest = '';
    for (const prefix of this.#answers.keys()) if (resource.startsWith(prefix) && prefix.length >= longest.length) longest = prefix;
    return this.#answers.get(longest);
  }

  #end(): void {
    this.#served--;
    if (this.#served > 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}
