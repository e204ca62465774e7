import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { JsonObject } from '@notebridge/protocol/json';
import { type CallTarget, type ClusterParts, type HubCalls, NotStarted } from './cluster-parts.js';

export interface RemoteCallerOptions extends Pick<ClusterParts, 'runtime'> {
  calls: Pick<HubCalls, 'call'>;
  /** Who has it now. Resolves to undefined if that is this hub itself, so that the call is made here. Rejects if nobody has it. */
  find: () => CallTarget | undefined | Promise<CallTarget | undefined>;
  /** Makes the call here. Rejects with `NotStarted` if it is not here any more. */
  callHere: (method: string, params: JsonObject, context: CallContext) => Promise<JsonObject>;
  /** For messages. */
  what: string;
}

/** What was not started is tried again: whoever has it may just have changed. Milliseconds before each try. */
const pausesMs = [20, 60, 200, 600, 1500, 3000, 3000, 3000];
/** A hub that drains keeps what it has until its calls have ended: 20 s, if nobody has set it otherwise. Pauses of the last length. */
const drainingPauses = 8;

/** Has calls answered by whoever has a resource, here or at another hub. Only a call that certainly was not started is made again. */
export class RemoteCaller {
  readonly #options: RemoteCallerOptions;

  constructor(options: RemoteCallerOptions) {
    this.#options = options;
  }

  async call(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const { calls, find, callHere, what } = this.#options;
    for (let tries = 0; ; tries++) {
      try {
        const target = await find();
        return await (target === undefined ? callHere(method, params, context) : calls.call(target, method, params, context));
      } catch (error) {
        if (!(error instanceof NotStarted)) throw error;
        const mayWait = error.reason === 'draining' && tries < pausesMs.length + drainingPauses;
        const pauseMs = pausesMs[tries] ?? (mayWait ? pausesMs.at(-1) : undefined);
        if (pauseMs === undefined)
          throw new BridgeError('cluster_unavailable', `${what} is with no hub that answers (${error.reason}). Nothing was called.`, {
            cause: error,
          });
        await this.#pause(pauseMs, context);
      }
    }
  }

  #pause(ms: number, { cancellation }: CallContext): Promise<void> {
    return new Promise((resolve, reject) => {
      const callOff = this.#options.runtime.after(ms, () => {
        stop();
        resolve();
      });
      const stop = cancellation.onCancel((reason) => {
        callOff();
        reject(new BridgeError('cancelled', `Cancelled before it was called: ${reason}`));
      });
    });
  }
}
