import type { CodeAsker, NotebookHost, ServerQuestion, ServerQuestionOptions } from '@notebridge/notebook/host';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import { type Tool, type ToolResult, toTextResult } from '@notebridge/protocol/core/mcp';
import { ToolsOnlyProvider } from '@notebridge/protocol/core/tools-only-provider';
import type { JsonObject } from '@notebridge/protocol/json';
import type { AskedCall } from '@notebridge/protocol/questions/asked-call';
import { AskedCalls } from '@notebridge/protocol/questions/asked-calls';
import { openedLifeMs } from '@notebridge/system/net/entry-codes';
import type { BrowserResult } from '@notebridge/system/processes/browser';
import { openAddress } from '../../identity/open-address.js';
import { callNotebookTool, toAgentTool } from '../call-notebook-tool.js';

export interface LocalNotebookOptions {
  host: NotebookHost;
  /** Writes the address of the window into a file of the user's own, for a person. Returns its path. Rejects with `write_failed`. */
  writeAddress: () => Promise<string>;
  /** How long an agent may take to answer what a server asks in a call of the code that it runs. Milliseconds. Default 10 min. */
  answerTimeoutMs?: number | undefined;
  /** Whether code in the notebook can call MCP servers. Default false. */
  hasTools?: boolean | undefined;
  /** Opens a URL for the person. Default: the system's browser. */
  openBrowser?: ((url: string) => Promise<BrowserResult>) | undefined;
}

/** The instructions about the built-in notebook for agents. Codex shows its model the first 240 characters alone. What is said of the kernel is true when they are sent. */
const instructions =
  "The user's live Jupyter notebook on this machine, which they see and edit too. Use it to read, write and run notebook cells, to compute and to plot. First call: get_notebook_info.";
const laterInstructions =
  ' A person may put in another kernel at any time: your next answer says so, and get_notebook_info has the one that is there now, and what it can do.';

const unknownKernel = ' It says which kernel runs the code, and what that can and cannot do (packages, files, network).';

/** Where code has something to call. */
const toolInstructions =
  ' Code can call the MCP servers of this hub as Python functions: `from generated.mcp.SERVER import TOOL`, then `await TOOL(...)`; `help(generated.mcp)` lists the servers.';

/** What agents are told before the notebook is there: another process opens it. */
export function localInstructions(hasTools = false): string {
  return [instructions, unknownKernel, hasTools ? toolInstructions : ''].join('');
}

const defaultAnswerTimeoutMs = 600_000;

const ignore = (): void => {};

/** Asks the agent of a call. After the time the question ends as one that nobody answered. */
async function askIn(asked: AskedCall, question: ServerQuestion, { signal, timeoutMs }: ServerQuestionOptions): Promise<JsonObject> {
  const asking = new Cancellation();
  const end = (): void => asking.cancel('the code does not wait for the answer any more');
  if (signal.aborted) end();
  else signal.addEventListener('abort', end, { once: true });
  const timer = setTimeout(() => asking.cancel(`nobody answered it within ${timeoutMs} ms`), timeoutMs);
  try {
    return await asked.ask(question, asking);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}

/** Shows the notebook to the person; everything else works without a window. */
export const windowTool: Tool = {
  name: 'open_notebook_window',
  description:
    'Opens the notebook in a browser window, where a person sees what is done and can edit along. Answers where a person finds its address.',
  inputSchema: { type: 'object', properties: {}, additionalProperties: false },
  annotations: { title: 'Show the notebook', readOnlyHint: true, openWorldHint: false },
};

/** The built-in notebook as a provider: its tools run in this process, whether or not a window is open. */
export class LocalNotebook extends ToolsOnlyProvider {
  readonly name = 'notebook';
  readonly #options: LocalNotebookOptions;
  /** Calls in whose middle servers may ask, since the code that they run calls those. */
  readonly #asked: AskedCalls;

  constructor(options: LocalNotebookOptions) {
    super();
    this.#options = options;
    const timeoutMs = options.answerTimeoutMs ?? defaultAnswerTimeoutMs;
    this.#asked = new AskedCalls({ server: this.name, isNamed: true, tie: 'stream', timeoutMs });
  }

  /** Read at each handshake. */
  get instructions(): string {
    const { host, hasTools } = this.#options;
    return [instructions, describeKernel(host), laterInstructions, hasTools ? toolInstructions : ''].join('');
  }

  protected listTools(): JsonObject {
    return { tools: [...this.#options.host.tools.map(toAgentTool), windowTool] };
  }

  protected async callTool(params: JsonObject, context: CallContext): Promise<ToolResult> {
    if (params.name === windowTool.name) return this.#openWindow();
    const { host } = this.#options;
    const { clientCapabilities, caller, wantsProgress } = context;
    const call = { method: 'tools/call', params, context };
    if (params.requestState !== undefined) return this.#asked.resume(call);
    if (clientCapabilities === undefined) return callNotebookTool(host, params, context);
    return this.#asked.run({
      ...call,
      send: ({ cancellation = context.cancellation, onProgress: forwardProgress = ignore }, asked) => {
        const asker: CodeAsker = { can: clientCapabilities, ask: (question, options) => askIn(asked, question, options) };
        return callNotebookTool(host, params, { caller, cancellation, wantsProgress, forwardProgress }, asker);
      },
    });
  }

  async #openWindow(): Promise<ToolResult> {
    const { host, writeAddress, openBrowser: open = openAddress } = this.#options;
    return showWindow({ url: host.newUrl(openedLifeMs), path: await writeAddress() }, open);
  }
}

/** Opens a window for the person. The holder of its token acts as the person, so an agent gets the path of a private file in its place. */
export async function showWindow(
  { url, path }: { url: string; path: string },
  open: (url: string) => Promise<BrowserResult> = openAddress,
): Promise<ToolResult> {
  const outcome = await open(url);
  const shown = outcome.opened ? `Opened in ${outcome.by}.` : `No browser was opened. ${outcome.hint}`;
  return toTextResult(`${shown} The address of the window is for a person: it stands in "${path}", which only this user can read.`);
}

/** What agents are told of the kernel at the handshake. Names come from files of this machine, so they are quoted and cut. */
function describeKernel({ kernelChoice: choice, session }: Pick<NotebookHost, 'kernelChoice' | 'session'>): string {
  if (!choice) return ` Its kernel is ${quoted(session.kernel.info.displayName)}.`;
  const asks = choice.proposal ? ' The person has another one, and can put it in: get_notebook_info says how.' : '';
  if (choice.id === 'pyodide') return ` When you connected, its kernel was ${choice.isolation}${asks}`;
  return ` When you connected, its kernel was ${quoted(choice.displayName)}, of the user. ${choice.isolation} Its code begins in the folder of the notebook.${asks}`;
}

function quoted(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}
