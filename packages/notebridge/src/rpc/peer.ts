import type { JsonObject } from '@notebridge/kit/json';
import { BridgeError } from '../core/errors.js';
import { quote } from '../util/quote.js';
import type { Channel } from './message-stream.js';
import { type Classified, classifyMessage, type RpcId, type RpcNotification, toErrorAnswer, toNotification } from './messages.js';
import { type Respond, ServedCalls, type ServedCallsOptions } from './served-calls.js';
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

  constructor(options: PeerOptions) {
    this.#options = options;
    const sender = {
      send: (message: JsonObject) => this.#send(message),
      notify: (method: string, params: JsonObject) => this.notify(method, params),
    };
    this.#waiting = new WaitingCalls(sender, options.lastId);
    this.#served = new ServedCalls(options);
    options.channel.incoming.consume({
      onItem: (value) => this.#receive(value),
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

  /** Throws what the channel throws for a message that it cannot take. */
  #send(message: JsonObject | JsonObject[]): void {
    if (this.#closeError === undefined) this.#options.channel.outgoing.send(message);
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

  #receive(value: unknown): void {
    if (Array.isArray(value)) this.#receiveBatch(value);
    else this.#receiveOne(classifyMessage(value), this.#respond);
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
