import type { CallContext } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { callKinds, fromHubFault, parseNote, parseResult, printNote, toHubFault } from './call-messages.js';
import { type ClusterParts, NotStarted } from './cluster-parts.js';
import type { ExchangeEnd, ExchangeListener, HubExchange } from './hub-exchange.js';

export interface MadeHubCallOptions extends Pick<ClusterParts, 'runtime' | 'logger'> {
  method: string;
  context: CallContext;
  /** For people: the name of the other hub. */
  hubName: string;
  /** The time that the owner has to answer a call that was cancelled, as most callers then wait no longer. Milliseconds. */
  cancelledMs: number;
}

/** A call that another hub answers, as its caller's hub has it. */
export class MadeHubCall implements ExchangeListener {
  readonly outcome: Promise<JsonObject>;
  readonly #options: MadeHubCallOptions;
  readonly #questions = new Map<number, Cancellation>();
  #resolve: (result: JsonObject) => void = () => {};
  #reject: (error: Error) => void = () => {};
  #exchange: HubExchange | undefined;
  #unlink: (() => void) | undefined;
  #stopWaiting: (() => void) | undefined;
  #isSettled = false;

  constructor(options: MadeHubCallOptions) {
    this.#options = options;
    this.outcome = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  begin(exchange: HubExchange, payload: Buffer): void {
    this.#exchange = exchange;
    exchange.send(callKinds.call, payload);
    this.#unlink = this.#options.context.cancellation.onCancel((reason) => this.#cancel(reason));
  }

  onMessage(kind: number, payload: Buffer): void {
    try {
      if (kind === callKinds.result) this.#settle(parseResult(payload));
      else if (kind === callKinds.fault) this.#settle(fromHubFault(parseNote(payload)));
      else if (this.#isSettled) return;
      else if (kind === callKinds.notice) this.#takeNotice(parseNote(payload));
      else if (kind === callKinds.question) this.#takeQuestion(parseNote(payload));
      else if (kind === callKinds.questionEnd) this.#endQuestion(parseNote(payload));
    } catch (error) {
      this.#options.logger.error('A message of another hub could not be handled.', { error: messageOf(error) });
      if (kind === callKinds.result || kind === callKinds.fault)
        this.#settle(error instanceof Error ? error : new BridgeError('internal', String(error)));
    }
  }

  onEnd(end: ExchangeEnd): void {
    // Each call ends; an error is made for the few that have no answer.
    if (!this.#isSettled) this.#settle(this.#toError(end));
  }

  #toError(end: ExchangeEnd): Error {
    const { hubName, method } = this.#options;
    switch (end) {
      case 'full':
        return new BridgeError('limit_reached', `Hub "${hubName}" takes no more calls of other hubs at once; wait for some to end.`);
      case 'large':
        return new BridgeError('message_too_large', `"${method}" was not made: hub "${hubName}" takes no message that large.`);
      case 'overflow':
        return new BridgeError(
          'message_too_large',
          `Hub "${hubName}" has made the call; its result is larger than this hub keeps of other hubs.`,
        );
      case 'done':
        return new BridgeError('internal', `Hub "${hubName}" has ended the call without an answer.`);
      default:
        // Before all of it was sent, the other hub has nothing that it could have started.
        if (this.#exchange?.outbox.hasSentFirst !== true) return new NotStarted('unreachable');
        return new BridgeError(
          'hub_gone',
          `Hub "${hubName}" was to make the call, and ended or fell silent in the middle. Whether it had an effect is unknown; it was not repeated.`,
          { data: { hub: this.#exchange.hub } },
        );
    }
  }

  #settle(outcome: JsonObject | Error): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    this.#unlink?.();
    this.#stopWaiting?.();
    for (const cancellation of this.#questions.values()) cancellation.cancel('the call has ended');
    this.#questions.clear();
    if (outcome instanceof Error) this.#reject(outcome);
    else this.#resolve(outcome);
  }

  #takeNotice({ method, params = {} }: JsonObject): void {
    const { context } = this.#options;
    if (!isJsonObject(params)) return;
    if (method === 'notifications/progress') context.forwardProgress(params);
    else if (method === 'notifications/message' && typeof params.level === 'string')
      context.log(params.level, params.data, ...(typeof params.logger === 'string' ? [params.logger] : []));
    else if (method === 'notifications/tools/list_changed' && 'sendToolListChanged' in context)
      (context as { sendToolListChanged(): void }).sendToolListChanged();
  }

  #takeQuestion({ id, method, params, timeoutMs }: JsonObject): void {
    if (typeof id !== 'number' || typeof method !== 'string' || typeof timeoutMs !== 'number') return;
    const answer = (note: JsonObject): void => {
      if (this.#questions.delete(id)) this.#exchange?.send(callKinds.answer, printNote({ id, ...note }));
    };
    const cancellation = new Cancellation();
    this.#questions.set(id, cancellation);
    const { ask } = this.#options.context;
    if (ask === undefined) return answer({ fault: toHubFault(new BridgeError('unanswered_question', 'The caller cannot be asked.')) });
    ask({ method, params: isJsonObject(params) ? params : undefined }, { cancellation, timeoutMs }).then(
      (result) => answer({ result }),
      (error: unknown) => answer({ fault: toHubFault(error) }),
    );
  }

  #endQuestion({ id, reason }: JsonObject): void {
    const cancellation = this.#questions.get(id as number);
    this.#questions.delete(id as number);
    cancellation?.cancel(typeof reason === 'string' ? reason : 'it was taken back');
  }

  #cancel(reason: string): void {
    const { context, runtime, method, cancelledMs } = this.#options;
    const { callerIsGone, callerWaits } = context.cancellation;
    const cancelled = new BridgeError('cancelled', `"${method}" was cancelled: ${reason}`);
    if (this.#exchange?.outbox.hasSentFirst !== true) {
      this.#exchange?.close();
      return this.#settle(cancelled);
    }
    this.#exchange.send(callKinds.cancel, printNote({ reason, callerIsGone, callerWaits }));
    if (!callerWaits) this.#stopWaiting = runtime.after(cancelledMs, () => this.#settle(cancelled));
  }
}
