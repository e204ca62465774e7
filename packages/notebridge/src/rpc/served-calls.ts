import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import { Cancellation } from '../core/cancellation.js';
import { BridgeError } from '../core/errors.js';
import { quote } from '../util/quote.js';
import { CallTable } from './call-table.js';
import { ResultAnswer } from './frames.js';
import { idKey, isRpcId, type RpcId, type RpcRequest, toErrorAnswer } from './messages.js';

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
