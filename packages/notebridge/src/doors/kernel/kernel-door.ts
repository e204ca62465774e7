import type { ParentCall } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Principal } from '@notebridge/protocol/core/principal';
import type { Asker } from '@notebridge/protocol/core/questions';
import type { Printed } from '@notebridge/protocol/core/wire';
import type { JsonObject } from '@notebridge/protocol/json';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { toCallEvent } from '../tool-proxy/call-stream.js';
import { callTarget, lateFailure, parseCallBody, proxyToolCall } from '../tool-proxy/proxy-tool-call.js';
import { failedAnswer, printAnswer } from '../tool-proxy/to-answer.js';
import { createProxyContext, type ToolProxyOptions } from '../tool-proxy/tool-proxy-context.js';

/** A call as the code of a kernel has made it: only texts, nothing of it checked. */
export interface KernelCall {
  server: string;
  tool: string;
  /** `{"arguments":{…}}` */
  body: string;
}

export interface KernelCallOptions {
  principal: Principal;
  signal: AbortSignal;
  /** The call in whose course the code runs: the audit names it, and questions go to the agent that made it. */
  parent?: ParentCall | undefined;
  /** Receives progress and log lines, each one JSON text. */
  onEvent?: ((line: string) => void) | undefined;
  /** How servers ask whoever has the code run. Left out: they ask nobody. */
  asker?: Asker | undefined;
}

/** The tool proxy without HTTP, for code in a kernel of this process: texts in, the proxy's own answers out, unchanged. */
export interface KernelDoor {
  /** Never rejects: what went wrong is an answer too. */
  call(call: KernelCall, options: KernelCallOptions): Promise<string>;
  /** The session that servers with instances per agent see. */
  sessionOf(principal: Principal): string;
}

export function createKernelDoor(options: ToolProxyOptions): KernelDoor {
  const proxy = createProxyContext(options, callTarget);
  return {
    sessionOf: (principal) => proxy.callerOf(principal).sessionId,
    async call({ server, tool, body }, { principal, signal, parent, onEvent, asker }) {
      const callId = proxy.nextCallId();
      const startedAt = proxy.now();
      const print = (answer: ReturnType<typeof failedAnswer>): string => {
        const duration_ms = Math.round(proxy.now() - startedAt);
        return toText(printAnswer({ ...answer, call_id: callId, duration_ms }, proxy.limits.maxResultBytes));
      };
      const parsed = parseCallBody(body);
      if (!('arguments' in parsed)) return print(failedAnswer('invalid_arguments', `The call was not understood: ${toWhy(parsed.detail)}`));
      const cancellation = new Cancellation();
      const cancel = (): void => cancellation.cancel('The code does not wait for the answer any more.');
      if (signal.aborted) cancel();
      else signal.addEventListener('abort', cancel, { once: true });
      try {
        const response = await proxyToolCall(
          proxy,
          { server, tool },
          { arguments: parsed.arguments, principal, callId, parent, cancellation, onEvent: onEvent && toNotify(onEvent), asker },
        );
        return toText(printAnswer(response, proxy.limits.maxResultBytes));
      } catch (error) {
        if (!(error instanceof BridgeError))
          proxy.hub.logger.error('A call of a kernel failed.', { call_id: callId, error: messageOf(error) });
        return print(lateFailure(error));
      } finally {
        signal.removeEventListener('abort', cancel);
      }
    },
  };
}

function toNotify(onEvent: (line: string) => void): (method: string, params: JsonObject) => void {
  return (method, params) => {
    const said = toCallEvent(method, params);
    if (said !== undefined) onEvent(said.text);
  };
}

function toWhy(detail: unknown): string {
  return typeof detail === 'string' ? detail : JSON.stringify(detail);
}

function toText(printed: Printed): string {
  return typeof printed === 'string' ? printed : Buffer.concat(printed).toString('utf8');
}
