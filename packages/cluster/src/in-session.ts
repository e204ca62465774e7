import type { CallContext } from '@notebridge/protocol/core/call-context';

/** The same call, in another session: where one agent is several callers. */
export function inSession(context: CallContext, sessionId: string): CallContext {
  const { ask } = context;
  return {
    callId: context.callId,
    caller: { ...context.caller, sessionId },
    parent: context.parent,
    isTyped: context.isTyped,
    target: context.target,
    trace: context.trace,
    cancellation: context.cancellation,
    get signal() {
      return context.signal;
    },
    clientCapabilities: context.clientCapabilities,
    ask: ask === undefined ? undefined : (question, options) => ask(question, options),
    wantsProgress: context.wantsProgress,
    forwardProgress: (params) => context.forwardProgress(params),
    log: (level, data, logger) => context.log(level, data, logger),
  };
}
