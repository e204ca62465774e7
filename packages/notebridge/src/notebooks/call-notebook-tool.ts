import type { CodeAsker, NotebookHost } from '@notebridge/notebook/host';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Tool, ToolResult } from '@notebridge/protocol/core/mcp';
import { toPlainValue } from '@notebridge/protocol/core/wire';
import type { JsonObject } from '@notebridge/protocol/json';
import { quote } from '@notebridge/protocol/util/quote';

/** What a tool of a notebook is given beside its arguments. */
export interface NotebookCall {
  signal: AbortSignal;
  /** The agent may not call any more: what the call runs ends, whatever the code does. */
  withdrawn: AbortSignal;
  /** Told of a run that goes on when the call is answered. */
  outlivedBy: (run: Promise<unknown>) => void;
  /** The agent is gone, and has not cancelled the call. */
  gone: AbortSignal;
  /** The agent's name, for the person's eyes. */
  agent: string;
  progress?: (message: string) => void;
  /** The agent wants outputs as they are. */
  wholeOutputs: boolean;
  /** The agent, as servers ask it in calls of the code that this call runs. Left out: it cannot be asked. */
  asker?: CodeAsker;
}

/** What has the tools of a notebook. */
export interface NotebookToolHost {
  readonly tools: readonly { readonly name: string }[];
  callTool(name: string, args: unknown, call: NotebookCall): Promise<object>;
}

/** A tool of a notebook of ours, as agents are listed it. */
export function toAgentTool({ name, description, inputSchema, annotations }: Omit<NotebookHost['tools'][number], 'run'>): Tool {
  return { name, description, inputSchema: { ...inputSchema }, annotations: { ...annotations } };
}

/** Answers `tools/call` with a tool of a notebook. Rejects with `unknown_tool`, and `cancelled`. */
export async function callNotebookTool(
  host: NotebookToolHost,
  params: JsonObject,
  context: Pick<CallContext, 'cancellation' | 'caller' | 'wantsProgress' | 'forwardProgress'>,
  asker?: CodeAsker,
): Promise<ToolResult> {
  const name = typeof params.name === 'string' ? params.name : '';
  if (!host.tools.some((tool) => tool.name === name))
    throw new BridgeError('unknown_tool', `The notebook has no tool ${quote(params.name)}.`);
  let said = 0;
  const progress = (message: string): void => context.forwardProgress({ progress: ++said, message });
  const [stop, leave, withdraw] = [new AbortController(), new AbortController(), new AbortController()];
  const { cancellation } = context;
  cancellation.onCancel(() => (cancellation.callerIsGone ? leave : stop).abort());
  const release = cancellation.outlive(() => {
    for (const each of [stop, withdraw]) each.abort();
  });
  let running: Promise<unknown> = Promise.resolve();
  const call: NotebookCall = {
    signal: stop.signal,
    withdrawn: withdraw.signal,
    outlivedBy: (run) => {
      running = run;
    },
    gone: leave.signal,
    agent: nameOfAgent(context),
    wholeOutputs: params.outputs === 'whole',
    ...(context.wantsProgress ? { progress } : {}),
    ...(asker === undefined ? {} : { asker }),
  };
  const called = host.callTool(name, toPlainValue(params.arguments ?? {}), call).finally(() => void running.then(release, release));
  const result = await called;
  // A cancelled call gets no answer; the notebook's own result says what was stopped.
  if (cancellation.reason !== undefined) throw new BridgeError('cancelled', `"${name}" was cancelled: ${cancellation.reason}`);
  return { ...result };
}

/** What the agent calls itself, for the person's eyes. */
export function nameOfAgent({ caller: { clientInfo } }: Pick<CallContext, 'caller'>): string {
  const name = clientInfo?.title ?? clientInfo?.name;
  return typeof name === 'string' && name.length > 0 ? name.slice(0, 80) : 'An agent';
}
