import type { ParentCall } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError, RemoteError } from '@notebridge/protocol/core/errors';
import type { Asker, Question, QuestionOptions } from '@notebridge/protocol/core/questions';
import { RequestContext } from '@notebridge/protocol/core/request-context';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import { type CallHead, callKinds, fromHubFault, parseHubCall, parseNote, printNote, printResult, toHubFault } from './call-messages.js';
import { type ClusterParts, NotStarted, type ServedCall, type WhyNotStarted } from './cluster-parts.js';
import type { ExchangeEnd, ExchangeListener, HubExchange } from './hub-exchange.js';

export type AnswerCall = (call: ServedCall) => Promise<JsonObject>;

export interface ServedHubCallOptions extends Pick<ClusterParts, 'runtime' | 'logger'> {
  maxMessageBytes: number;
  /** What answers the call, or why it is not to be started. Asked in the turn in which it starts. */
  admit: (head: CallHead) => AnswerCall | WhyNotStarted;
  /** The call is over, and its caller has the answer, or is gone. */
  onEnd: () => void;
}

/** Progress and log lines are left out while more than this waits to be sent. Bytes. */
const maxWaitingBytes = 1_048_576;
/** Said once, and of what is there from then on: whoever misses it believes in the old tools for good. */
const toolsChanged = 'notifications/tools/list_changed';
/** Questions of one call that may wait for an answer at once. */
const maxQuestions = 64;

interface OpenQuestion {
  resolve: (answer: JsonObject) => void;
  reject: (error: Error) => void;
  /** It is not to be taken back any more. */
  unlink: () => void;
}

/** A call of another hub, which runs here as one that came through a door of this one. */
export class ServedHubCall implements ExchangeListener {
  readonly #exchange: HubExchange;
  readonly #options: ServedHubCallOptions;
  readonly #cancellation = new Cancellation();
  readonly #questions = new Map<number, OpenQuestion>();
  #asked = 0;
  #hasBegun = false;
  /** What hubs say to one another is never left out. */
  #isLossless = false;

  constructor(exchange: HubExchange, options: ServedHubCallOptions) {
    this.#exchange = exchange;
    this.#options = options;
  }

  onMessage(kind: number, payload: Buffer): void {
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      return this.#begin(kind, payload);
    }
    if (kind === callKinds.cancel) this.#cancel(parseNote(payload));
    else if (kind === callKinds.answer) this.#takeAnswer(parseNote(payload));
  }

  onEnd(end: ExchangeEnd): void {
    if (end !== 'done') this.#cancellation.cancel('the hub of the caller went away', { callerIsGone: true });
    for (const { reject, unlink } of this.#questions.values()) {
      unlink();
      reject(new BridgeError('cancelled', 'The caller of the call is gone.'));
    }
    this.#questions.clear();
    this.#options.onEnd();
  }

  #begin(kind: number, payload: Buffer): void {
    try {
      if (kind !== callKinds.call) throw new BridgeError('bad_message', 'Another hub has begun a call with another message.');
      const { head, method, params } = parseHubCall(payload);
      this.#isLossless = method.startsWith('notebridge/');
      const context = this.#toContext(head, method, params);
      // Nothing may stand between this question and the call: what it has asked is true in this turn alone.
      const answer = this.#options.admit(head);
      if (typeof answer === 'string') throw new NotStarted(answer);
      answer({ resource: head.resource, from: this.#exchange.hub, queuedBytes: () => this.#exchange.queuedBytes, context }).then(
        (result) => this.#finish(method, result),
        (error: unknown) => this.#fail(error, head.callId),
      );
    } catch (error) {
      this.#fail(error);
    }
  }

  #finish(method: string, result: JsonObject): void {
    try {
      if (!isJsonObject(result)) throw new BridgeError('internal', `"${method}" was answered with ${quote(result)}, not with an object.`);
      const bytes = printResult(result);
      const { maxMessageBytes } = this.#options;
      if (bytes.length > maxMessageBytes)
        throw new BridgeError(
          'message_too_large',
          `The result of "${method}" has ${bytes.length} bytes; between hubs it may have ${maxMessageBytes}.`,
        );
      this.#exchange.send(callKinds.result, bytes, { isLast: true });
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown, callId?: string): void {
    const isExpected = error instanceof BridgeError || error instanceof RemoteError || error instanceof NotStarted;
    if (!isExpected) this.#options.logger.error('A call of another hub failed.', { call_id: callId, error: messageOf(error) });
    this.#exchange.send(callKinds.fault, printNote(toHubFault(error)), { isLast: true });
  }

  #toContext(head: CallHead, method: string, params: JsonObject): RequestContext {
    const { callId, caller, isTyped, target, trace, clientCapabilities, canAsk } = head;
    const asker: Asker | undefined = clientCapabilities && {
      clientCapabilities,
      ...(canAsk ? { ask: (_during: string | number, question: Question, options: QuestionOptions) => this.#ask(question, options) } : {}),
    };
    const parent: ParentCall | undefined = head.parent && { ...head.parent, asker };
    return new RequestContext({
      method,
      type: 'request',
      message: head.wantsProgress ? withToken(params, callId) : params,
      ...{ callId, caller, parent, isTyped, target, trace, asker },
      requestId: callId,
      cancellation: this.#cancellation,
      timestamp: this.#options.runtime.now(),
      notify: (notification, notified) => this.#notify(notification, notified),
    });
  }

  #notify(method: string, params: JsonObject | undefined): void {
    const mayBeLeftOut = !this.#isLossless && method !== toolsChanged;
    if (mayBeLeftOut && this.#exchange.queuedBytes > maxWaitingBytes) return;
    this.#exchange.send(callKinds.notice, printNote(params === undefined ? { method } : { method, params }));
  }

  #ask({ method, params }: Question, { cancellation, timeoutMs }: QuestionOptions): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      if (this.#exchange.isOver) return reject(new BridgeError('cancelled', 'The caller of the call is gone.'));
      if (cancellation.reason !== undefined) return reject(new BridgeError('cancelled', `Not asked: ${cancellation.reason}`));
      if (this.#questions.size >= maxQuestions)
        return reject(new BridgeError('limit_reached', `${maxQuestions} questions of this call wait for an answer; wait for one.`));
      const id = ++this.#asked;
      this.#exchange.send(callKinds.question, printNote({ id, method, params, timeoutMs }));
      const unlink = cancellation.onCancel((reason) => {
        if (!this.#questions.delete(id)) return;
        this.#exchange.send(callKinds.questionEnd, printNote({ id, reason }));
        reject(new BridgeError('cancelled', `"${method}" was cancelled: ${reason}`));
      });
      this.#questions.set(id, { resolve, reject, unlink });
    });
  }

  #takeAnswer({ id, result, fault }: JsonObject): void {
    const question = typeof id === 'number' ? this.#questions.get(id) : undefined;
    if (question === undefined) return;
    this.#questions.delete(id as number);
    question.unlink();
    if (isJsonObject(result)) question.resolve(result);
    else question.reject(fromHubFault(isJsonObject(fault) ? fault : {}));
  }

  #cancel({ reason, callerIsGone, callerWaits }: JsonObject): void {
    this.#cancellation.cancel(typeof reason === 'string' ? reason : 'the caller cancelled it', {
      callerIsGone: callerIsGone === true,
      callerWaits: callerWaits === true,
    });
  }
}

/** Without a token nobody is sent progress; the caller's own hub knows the one that counts. */
function withToken(params: JsonObject, token: string): JsonObject {
  const meta = isJsonObject(params._meta) ? params._meta : {};
  return (meta.progressToken ?? undefined) === undefined ? { ...params, _meta: { ...meta, progressToken: token } } : params;
}
