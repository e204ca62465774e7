import type { RunInNotebook } from '@notebridge/code-mode/execution/code-executor';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import type { ToolResult } from '@notebridge/protocol/core/mcp';
import { RequestContext } from '@notebridge/protocol/core/request-context';
import { isJsonObject } from '@notebridge/protocol/json';
import { maxWaitSeconds } from '@notebridge/protocol/runs/run-words';
import type { Hub } from '../../hub.js';

/** The cell is run by the notebook's own tool, through the whole chain and in the caller's name: with its rights, and its lease. */
export function createRunInNotebook(hub: Pick<Hub, 'request'>): RunInNotebook {
  return async ({ context, code, notebook, seconds, signal, onProgress }) => {
    const { caller, callId, clientCapabilities, ask } = context;
    const cancellation = new Cancellation();
    const cancel = (): void => cancellation.cancel('the execution was cancelled');
    if (signal.aborted) cancel();
    else signal.addEventListener('abort', cancel, { once: true });
    const args = { code, wait_seconds: Math.min(seconds, maxWaitSeconds), ...(notebook === true ? {} : { notebook }) };
    const inner = new RequestContext({
      ...{ method: 'tools/call', type: 'request', callId: `${callId}-notebook`, caller, cancellation },
      message: { name: 'run_code', arguments: args, _meta: { progressToken: callId } },
      notify: (method, params) => {
        if (method === 'notifications/progress' && isJsonObject(params) && typeof params.message === 'string') onProgress(params.message);
      },
      parent: {
        callId,
        ...(clientCapabilities === undefined || ask === undefined
          ? {}
          : { asker: { clientCapabilities, ask: (_during, question, options) => ask(question, options) } }),
      },
    });
    try {
      return withAdvice((await hub.request(inner)) as ToolResult);
    } catch (error) {
      if (codeOf(error) !== 'unknown_tool') throw error;
      throw new BridgeError(
        'invalid_arguments',
        'The notebook has no "run_code", so code mode runs nothing in it. Use its own tools, or leave "notebook" out.',
        { cause: error },
      );
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };
}

const advice = `The kernel of this notebook does not have the functions of the tools. Leave "notebook" out: then the code runs in a Python that has them. A kernel of Jupyter has them if Jupyter was started with the folder of \`notebridge serve --shared-dir FOLDER\` on its PYTHONPATH.`;

/** The built-in notebook brings the functions to its kernels; into a kernel of Jupyter nobody but its user puts anything. */
function withAdvice(result: ToolResult): ToolResult {
  const { content = [] } = result;
  const isMissing = content.some(({ text }) => /No module named 'generated\b/.test(String(text)));
  return isMissing ? { ...result, content: [...content, { type: 'text', text: advice }] } : result;
}
