import { isJsonObject, type JsonObject } from '../util/json.js';
import { Cancellation } from './cancellation.js';
import { BridgeError, RemoteError, toRpcError } from './errors.js';
import type { Channel } from './message-stream.js';
import { type Classified, classifyMessage, idKey, type RpcAnswer, type RpcId, type RpcNotification, type RpcRequest } from './rpc.js';

export interface PeerOptions {
  channel: Channel;
  /** Answers a request of the other side. `call` tells when the other side cancels it or goes away. */
  onRequest: (request: RpcRequest, call: Cancellation) => Promise<JsonObject>;
  /** Every notification but cancellation and progress, which belong to a call. */
  onNotification: (notification: RpcNotification) => void;
  /** A frame that could not be used. It was dropped; the connection goes on. `id` is that of the frame, if it had one. */
  onFault: (error: BridgeError, id: RpcId | null) => void;
  /** The connection ended; every call of either side has been ended before. */
  onClose?: (error?: Error) => void;
  /** Requests of the other side that may run at once; further ones are answered `limit_reached`. Default 1024. */
  maxInFlight?: number;
}

export interface PeerRequestOptions {
  /** When cancelled, the other side is told and the request fails with `cancelled`. */
  cancellation?: Cancellation | undefined;
  /** Ends the wait with `timeout`; progress starts it anew. Milliseconds. Default: none, the connection's end is the bound. */
  timeoutMs?: number | undefined;
  /** Called with the params of each progress notification, token included, in order and always before the answer. */
  onProgress?: ((params: JsonObject) => void) | undefined;
}

interface PendingCall {
  resolve: (result: JsonObject) => void;
  reject: (error: Error) => void;
  onProgress: ((params: JsonObject) => void) | undefined;
  timer: NodeJS.Timeout | undefined;
  stopListening: (() => void) | undefined;
}

/** Takes the answer to a request of the other side; nothing for one that was cancelled. */
type Respond = (answer?: JsonObject) => void;

/**
 * A thin JSON-RPC peer: ids, cancellation, progress and time-outs, and nothing else. It validates no payload and copies none,
 * so what it does not know passes. Messages are handled in the turn in which they arrive: progress that shares a chunk with
 * its answer is delivered before it.
 */
export class Peer {
  readonly #options: PeerOptions;
  readonly #pending = new Map<number, PendingCall>();
  readonly #serving = new Map<string | number, Cancellation>();
  #lastId = 0;
  #closeError: Error | undefined;
  readonly #respond: Respond = (answer) => {
    if (answer !== undefined) this.#send(answer);
  };

  constructor(options: PeerOptions) {
    this.#options = options;
    options.channel.incoming.consume({
      onItem: (value) => this.#receive(value),
      onClose: (error) => this.#end(error ?? new BridgeError('closed', 'The other side closed the connection.')),
    });
  }

  /** Calls of ours that wait for an answer, and calls of theirs that run. */
  get inFlight(): { waiting: number; serving: number } {
    return { waiting: this.#pending.size, serving: this.#serving.size };
  }

  /** Sends a request. Rejects with `RemoteError`, or a `BridgeError` `cancelled`, `timeout` or whatever ended the connection. */
  request(method: string, params: JsonObject | undefined, options: PeerRequestOptions = {}): Promise<JsonObject> {
    return new Promise((resolve, reject) => {
      if (this.#closeError !== undefined) return reject(this.#closeError);
      const { cancellation, timeoutMs, onProgress } = options;
      if (cancellation?.reason !== undefined)
        return reject(new BridgeError('cancelled', `Cancelled before "${method}" was sent: ${cancellation.reason}`));
      const id = ++this.#lastId;
      const call: PendingCall = { resolve, reject, onProgress, timer: undefined, stopListening: undefined };
      this.#pending.set(id, call);
      if (timeoutMs !== undefined) {
        call.timer = setTimeout(
          () => this.#abandon(id, new BridgeError('timeout', `No answer to "${method}" within ${timeoutMs} ms.`)),
          timeoutMs,
        );
      }
      call.stopListening = cancellation?.onCancel((reason) =>
        this.#abandon(id, new BridgeError('cancelled', `"${method}" was cancelled: ${reason}`)),
      );
      const sent = onProgress === undefined ? params : withProgressToken(params, id);
      try {
        this.#send(sent === undefined ? { jsonrpc: '2.0', id, method } : { jsonrpc: '2.0', id, method, params: sent });
      } catch (error) {
        // It cannot be printed or queued, so no answer can ever come.
        this.#take(id);
        reject(error);
      }
    });
  }

  /** Sends a notification; once closed, drops it. */
  notify(method: string, params?: JsonObject): void {
    this.#send(params === undefined ? { jsonrpc: '2.0', method } : { jsonrpc: '2.0', method, params });
  }

  /** Sends an error that answers no particular request, as JSON-RPC wants for a frame that could not be read. */
  sendFault(error: BridgeError, id: RpcId | null): void {
    this.#send({ jsonrpc: '2.0', id, error: toRpcError(error) });
  }

  /** Ends every call with the error and hangs up. Closing twice is harmless. */
  close(error: Error = new BridgeError('closed', 'The connection was closed.')): void {
    this.#end(error);
    this.#options.channel.outgoing.close();
  }

  #send(message: JsonObject): void {
    this.#options.channel.outgoing.send(message);
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
        if (--open === 0 && answers.length > 0) this.#options.channel.outgoing.send(answers);
      });
    }
  }

  #receiveOne(classified: Classified, respond: Respond): void {
    switch (classified.kind) {
      case 'answer':
        return this.#receiveAnswer(classified.message);
      case 'request':
        return this.#serve(classified.message, respond);
      case 'notification':
        return this.#receiveNotification(classified.message);
      case 'fault':
        return this.#options.onFault(classified.error, classified.id);
    }
  }

  #receiveAnswer(answer: RpcAnswer): void {
    const call = typeof answer.id === 'number' ? this.#take(answer.id) : undefined;
    if (call === undefined) {
      const shown = JSON.stringify(String(answer.id)).slice(0, 80);
      return this.#options.onFault(new BridgeError('unexpected_answer', `Nobody waits for an answer with id ${shown}.`), answer.id);
    }
    if (isJsonObject(answer.error)) call.reject(new RemoteError(answer.error));
    else if (isJsonObject(answer.result)) call.resolve(answer.result);
    else call.reject(new BridgeError('bad_message', 'The answer\'s "result" is not an object.'));
  }

  #receiveNotification(notification: RpcNotification): void {
    if (notification.method === 'notifications/progress') return this.#receiveProgress(notification);
    if (notification.method === 'notifications/cancelled') {
      const id = notification.params?.requestId;
      const call =
        typeof id === 'string' || typeof id === 'number' || typeof id === 'object' ? this.#serving.get(idKey(id as RpcId)) : undefined;
      if (call !== undefined) return call.cancel(String(notification.params?.reason ?? 'the caller cancelled it'));
    }
    this.#options.onNotification(notification);
  }

  #receiveProgress(notification: RpcNotification): void {
    const token = notification.params?.progressToken;
    const call = typeof token === 'number' ? this.#pending.get(token) : undefined;
    // Progress of a call that has ended is late, not wrong.
    if (call === undefined || notification.params === undefined) return;
    call.timer?.refresh();
    call.onProgress?.(notification.params);
  }

  #serve(request: RpcRequest, respond: Respond): void {
    const { id } = request;
    const limit = this.#options.maxInFlight ?? 1024;
    if (this.#serving.size >= limit) {
      return respond({
        jsonrpc: '2.0',
        id,
        error: toRpcError(new BridgeError('limit_reached', `${limit} calls are in flight on this connection; wait for one to end.`)),
      });
    }
    const key = idKey(id);
    const call = new Cancellation();
    this.#serving.set(key, call);
    const finish = (answer: JsonObject): void => {
      if (this.#serving.get(key) === call) this.#serving.delete(key);
      // A cancelled request is not answered (MCP, cancellation): the caller has forgotten it.
      if (call.reason !== undefined) return respond();
      try {
        respond(answer);
      } catch (error) {
        respond({ jsonrpc: '2.0', id, error: toRpcError(error) });
      }
    };
    this.#options.onRequest(request, call).then(
      (result) => finish({ jsonrpc: '2.0', id, result }),
      (error: unknown) => finish({ jsonrpc: '2.0', id, error: toRpcError(error) }),
    );
  }

  #take(id: number): PendingCall | undefined {
    const call = this.#pending.get(id);
    if (call === undefined) return undefined;
    this.#pending.delete(id);
    clearTimeout(call.timer);
    call.stopListening?.();
    return call;
  }

  /** Stops waiting and says so to the other side, which may stop working. */
  #abandon(id: number, error: BridgeError): void {
    const call = this.#take(id);
    if (call === undefined) return;
    this.notify('notifications/cancelled', { requestId: id, reason: error.message });
    call.reject(error);
  }

  #end(error: Error): void {
    if (this.#closeError !== undefined) return;
    this.#closeError = error;
    for (const id of [...this.#pending.keys()]) this.#take(id)?.reject(error);
    for (const call of this.#serving.values()) call.cancel('the connection was closed');
    this.#serving.clear();
    this.#options.onClose?.(error);
  }
}

function withProgressToken(params: JsonObject | undefined, progressToken: number): JsonObject {
  const meta = isJsonObject(params?._meta) ? params._meta : {};
  return { ...params, _meta: { ...meta, progressToken } };
}
