import { Cancellation } from '../core/cancellation.js';
import { BridgeError } from '../core/errors.js';
import { isJsonObject, type JsonObject } from '../json.js';
import { quote } from '../util/quote.js';
import { CallTable } from './call-table.js';
import type { Channel } from './message-stream.js';
import {
  type Classified,
  classifyMessage,
  idKey,
  isRpcId,
  ResultAnswer,
  type RpcId,
  type RpcNotification,
  type RpcRequest,
  toErrorAnswer,
  toNotification,
} from './messages.js';
import { type PeerRequestOptions, WaitingCalls } from './waiting-calls.js';

export type { PeerRequestOptions };

export interface PeerOptions extends ServedCallsOptions {
  channel: Channel;
  /** The ids of our requests come behind this one. Default 0. */
  lastId?: number | undefined;
  /** Every notification but cancellation and progress, which belong to a call. */
  onNotification: (notification: RpcNotification) => void;
  /** A frame that could not be used. It was dropped; the connection goes on. `id` is that of the frame, if it had one. */
  onFault: (error: BridgeError, id: RpcId | null) => void;
  /** A notification or answer of ours was dropped: it cannot be printed, or the other side does not read. */
  onUnsent?: (error: unknown) => void;
  /** The connection ended; every call of either side has been ended before. */
  onClose?: (error?: Error) => void;
}

/**
 * A thin JSON-RPC peer: ids, cancellation, progress and time-outs, and nothing else. It validates no payload and copies none,
 * so what it does not know passes. Messages are handled in the turn in which they arrive: progress that shares a chunk with
 * its answer is delivered before it.
 */
export class Peer {
  readonly #options: PeerOptions;
  readonly #waiting: WaitingCalls;
  readonly #served: ServedCalls;
  #closeError: Error | undefined;
  readonly #respond: Respond = (answer) => {
    if (answer !== undefined) this.#sendAnswer(answer);
  };
  readonly #receive = (value: unknown): void => {
    if (Array.isArray(value)) this.#receiveBatch(value);
    else this.#receiveOne(classifyMessage(value), this.#respond);
  };
  /** Throws what the channel throws for a message that it cannot take. */
  readonly #send = (message: JsonObject | JsonObject[]): void => {
    if (this.#closeError === undefined) this.#options.channel.outgoing.send(message);
  };

  constructor(options: PeerOptions) {
    this.#options = options;
    const sender = { send: this.#send, notify: (method: string, params: JsonObject) => this.notify(method, params) };
    this.#waiting = new WaitingCalls(sender, options.lastId);
    this.#served = new ServedCalls(options);
    options.channel.incoming.consume({
      onItem: this.#receive,
      onClose: (error) => this.#end(error ?? new BridgeError('closed', 'The other side closed the connection.')),
    });
  }

  /** Calls of ours that wait for an answer, and calls of theirs that run. */
  get inFlight(): { waiting: number; serving: number } {
    return { waiting: this.#waiting.size, serving: this.#served.size };
  }

  /** Sends a request. Rejects with `RemoteError`, or a `BridgeError` `cancelled`, `timeout` or whatever ended the connection. */
  request(method: string, params: JsonObject | undefined, options: PeerRequestOptions = {}): Promise<JsonObject> {
    if (this.#closeError !== undefined) return Promise.reject(this.#closeError);
    return this.#waiting.request(method, params, options);
  }

  /** Sends a notification. One that cannot be sent is dropped, and reported to `onUnsent` unless the connection is closed. */
  notify(method: string, params?: JsonObject): void {
    this.#post(toNotification(method, params));
  }

  /** Sends an error that answers no particular request, as JSON-RPC wants for a frame that could not be read. */
  sendFault(error: BridgeError, id: RpcId | null): void {
    this.#post(toErrorAnswer(id, error));
  }

  /** Ends what we asked the other side with the error, and tells it. */
  withdrawRequests(error: Error): void {
    this.#waiting.abandonAll(error);
  }

  /** Ends every call with the error and hangs up. Closing twice is harmless. */
  close(error: Error = new BridgeError('closed', 'The connection was closed.')): void {
    this.#end(error);
    this.#options.channel.outgoing.close();
  }

  /** Sends what nobody waits for, so nobody is there to catch what the channel throws. */
  #post(message: JsonObject): void {
    try {
      this.#send(message);
    } catch (error) {
      this.#options.onUnsent?.(error);
    }
  }

  /** Sends an answer, or why it cannot be sent, so that the caller does not wait for ever. */
  #sendAnswer(answer: JsonObject): void {
    try {
      this.#send(answer);
    } catch (error) {
      this.#post(toErrorAnswer(answer.id, error));
    }
  }

  /** Sends the answers of a batch; if one of them spoils it, each goes alone. */
  #sendBatch(answers: JsonObject[]): void {
    try {
      this.#send(answers);
    } catch {
      for (const answer of answers) this.#sendAnswer(answer);
    }
  }

  /** A batch (2025-03-26 and JSON-RPC itself) is answered by one array, when all its requests are done. */
  #receiveBatch(values: unknown[]): void {
    if (values.length === 0) return this.#options.onFault(new BridgeError('bad_message', 'Not a JSON-RPC message: an empty batch.'), null);
    const messages = values.map(classifyMessage);
    const answers: JsonObject[] = [];
    let open = messages.filter((message) => message.kind === 'request').length;
    for (const message of messages) {
      this.#receiveOne(message, (answer) => {
        if (answer !== undefined) answers.push(answer);
        if (--open === 0 && answers.length > 0) this.#sendBatch(answers);
      });
    }
  }

  #receiveOne(classified: Classified, respond: Respond): void {
    // What arrives after we hung up would be served for nobody.
    if (this.#closeError !== undefined) return;
    switch (classified.kind) {
      case 'answer': {
        const { message } = classified;
        if (this.#waiting.settle(message)) return;
        return this.#options.onFault(
          new BridgeError('unexpected_answer', `No call waits for an answer with id ${quote(message.id)}.`),
          message.id,
        );
      }
      case 'request':
        return this.#served.serve(classified.message, respond);
      case 'notification':
        return this.#receiveNotification(classified.message);
      case 'fault':
        return this.#options.onFault(classified.error, classified.id);
    }
  }

  #receiveNotification(notification: RpcNotification): void {
    const { method, params = {} } = notification;
    if (method === 'notifications/progress') this.#waiting.progress(params);
    else if (method === 'notifications/cancelled') this.#served.cancel(params);
    else this.#options.onNotification(notification);
  }

  #end(error: Error): void {
    if (this.#closeError !== undefined) return;
    this.#closeError = error;
    this.#waiting.rejectAll(error);
    this.#served.cancelAll('the connection was closed');
    this.#options.onClose?.(error);
  }
}

export interface ServedCallsOptions {
  /** Answers a request of the other side. `call` reports when the other side cancels it or goes away. */
  onRequest: (request: RpcRequest, call: Cancellation) => Promise<JsonObject>;
  /** Requests of the other side that may run at once; further ones are answered `limit_reached`. Default 1024. */
  maxInFlight?: number;
}

/** Receives the answer to a request of the other side; not called for one that the caller cancelled. */
export type Respond = (answer?: JsonObject) => void;

/** Calls of the other side that run here. */
export class ServedCalls {
  readonly #options: ServedCallsOptions;
  readonly #calls = new CallTable<Cancellation>();

  constructor(options: ServedCallsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#calls.size;
  }

  /** Runs a request, and responds once: in a later turn, or at once if it is refused. */
  serve(request: RpcRequest, respond: Respond): void {
    const { id, method } = request;
    const key = idKey(id);
    const refusal = this.#refuse(id, key);
    if (refusal !== undefined) return respond(toErrorAnswer(id, refusal));
    const call = new Cancellation();
    this.#calls.add(key, call);
    const finish = (answer: JsonObject): void => {
      this.#calls.take(key);
      // A request that the caller cancelled is not answered (MCP, cancellation): it has forgotten it.
      respond(call.reason === undefined || call.callerWaits ? answer : undefined);
    };
    const fail = (error: unknown): void => finish(toErrorAnswer(id, error));
    try {
      this.#options.onRequest(request, call).then((result) => {
        // Printed, an answer without a result would leave its key out, and the caller waiting.
        if (isJsonObject(result)) finish(new ResultAnswer(id, result));
        else fail(new BridgeError('internal', `"${method}" was answered with ${quote(result)}, not with an object.`));
      }, fail);
    } catch (error) {
      fail(error);
    }
  }

  /** Cancels what `notifications/cancelled` names. That of a call which has been answered is late, not wrong. */
  cancel({ requestId, reason }: JsonObject): void {
    if (isRpcId(requestId)) this.#calls.get(idKey(requestId))?.cancel(typeof reason === 'string' ? reason : 'the caller cancelled it');
  }

  /** The other side has gone away. */
  cancelAll(reason: string): void {
    for (const call of this.#calls.takeAll()) call.cancel(reason, { callerIsGone: true });
  }

  /** Why a request can't be served. A second one under the id of a running one could be neither counted nor cancelled. */
  #refuse(id: RpcId, key: string | number): BridgeError | undefined {
    if (this.#calls.get(key) !== undefined) return new BridgeError('bad_message', `A request with id ${quote(id)} is running already.`);
    const { maxInFlight = 1024 } = this.#options;
    if (this.#calls.size < maxInFlight) return undefined;
    return new BridgeError('limit_reached', `${maxInFlight} calls are in flight on this connection; wait for one to end.`);
  }
}
