import type { CallContext } from '@notebridge/protocol/core/call-context';
import { BridgeError, codeOf, errorTable, RemoteError } from '@notebridge/protocol/core/errors';
import { ForwardingProvider } from '@notebridge/protocol/core/forwarding-provider';
import { type Tool, type ToolResult, toFailedResult, toTextResult } from '@notebridge/protocol/core/mcp';
import type { Provider } from '@notebridge/protocol/core/provider';
import { toPlainValue } from '@notebridge/protocol/core/wire';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { Lease } from './lease.js';
import { takeOverName } from './lease-errors.js';
import type { LeaseAgent } from './lease-questions.js';

/** Listed always, since many agents read the list once. */
const takeOverTool: Tool = {
  name: takeOverName,
  description:
    'Asks the person to let you change and run this notebook while another agent holds it. Needed only after a call was refused for that. Answers {"status": "yours"}, or "asked" while nobody has answered: call again.',
  inputSchema: {
    type: 'object',
    properties: { reason: { type: 'string', description: 'Why, in one sentence, for the person.' } },
    required: [],
    additionalProperties: false,
  },
  annotations: { title: 'Ask for the notebook', readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
};

const maxReason = 200;

export interface LeaseGateOptions {
  /** The notebook itself. */
  provider: Provider;
  /** Tools that only look, besides those whose list says so. */
  reads?: ReadonlySet<string> | undefined;
  lease: Lease;
  agentOf: (context: CallContext) => LeaseAgent;
}

/** A notebook's provider for its agents: what changes or runs, by the annotations of its tools, needs the lease. */
export class LeaseGate extends ForwardingProvider {
  readonly #options: LeaseGateOptions;
  readonly #unsubscribe: () => void;
  /** What only looks, as it was listed last. */
  #reading: Promise<ReadonlySet<string>> | undefined;

  constructor(options: LeaseGateOptions) {
    super(options.provider);
    this.#options = options;
    this.#unsubscribe = options.provider.subscribe(({ method }) => {
      if (method === 'notifications/tools/list_changed') this.#reading = undefined;
    });
  }

  override async request(method: string, params: JsonObject, context: CallContext): Promise<JsonObject> {
    const { lease, agentOf } = this.#options;
    if (method === 'tools/list') return this.#list(params, context);
    if (method !== 'tools/call') return super.request(method, params, context);
    const agent = agentOf(context);
    const end = lease.begin(agent);
    let giveBack = (): void => {};
    try {
      if (params.name === takeOverName) return await this.#takeOver(params, agent, context);
      if (!(await this.#isReading(params.name, context))) giveBack = await lease.admit(agent);
      const result = await super.request(method, params, context);
      if (wasNotUnderstood(result)) giveBack();
      return result;
    } catch (error) {
      if (isNotUnderstood(error)) giveBack();
      if (error instanceof BridgeError && error.code === 'held') return toHeldResult(error);
      throw error;
    } finally {
      end();
    }
  }

  close(): void {
    this.#unsubscribe();
  }

  /** At the end of the list: of one in pages, of the last one. */
  async #list(params: JsonObject, context: CallContext): Promise<JsonObject> {
    const result = await super.request('tools/list', params, context);
    if (!Array.isArray(result.tools) || result.nextCursor !== undefined) return result;
    // A page's own of that name would never be reached.
    const others = result.tools.filter((tool) => !isJsonObject(tool) || tool.name !== takeOverName);
    return { ...result, tools: [...others, takeOverTool] };
  }

  async #takeOver(params: JsonObject, agent: LeaseAgent, { cancellation }: CallContext): Promise<ToolResult> {
    const { reason } = toPlainValue(params.arguments ?? {}) as JsonObject;
    const said = typeof reason === 'string' && reason.trim() !== '' ? reason.trim().slice(0, maxReason) : undefined;
    const outcome = await this.#options.lease.takeOver(agent, { reason: said, cancellation });
    if (outcome.status === 'yours') return toTextResult(JSON.stringify({ status: 'yours', since: new Date(outcome.since).toISOString() }));
    const next = `The person has not answered yet; the question stays. Call ${takeOverName} again to go on waiting, or tell the person.`;
    return toTextResult(JSON.stringify({ status: 'asked', next }));
  }

  /** What nobody has listed, or without the hint, may change anything. */
  async #isReading(name: unknown, context: CallContext): Promise<boolean> {
    if (typeof name !== 'string') return false;
    if (this.#options.reads?.has(name) === true) return true;
    this.#reading ??= this.#readList(context);
    const reading = this.#reading;
    try {
      return (await reading).has(name);
    } catch {
      if (this.#reading === reading) this.#reading = undefined;
      return false;
    }
  }

  async #readList(context: CallContext): Promise<ReadonlySet<string>> {
    const names = new Set<string>();
    let params: JsonObject = {};
    for (let page = 0; page < maxPages; page++) {
      const { tools, nextCursor } = await super.request('tools/list', params, context);
      for (const tool of Array.isArray(tools) ? tools : [])
        if (isJsonObject(tool) && isJsonObject(tool.annotations) && tool.annotations.readOnlyHint === true) names.add(String(tool.name));
      if (typeof nextCursor !== 'string') break;
      params = { cursor: nextCursor };
    }
    return names;
  }
}

/** The call was refused for its arguments or its name: it has changed nothing. */
function isNotUnderstood(error: unknown): boolean {
  if (error instanceof RemoteError) return notUnderstood.has(Number(error.raw.code));
  const code = codeOf(error);
  return code !== undefined && notUnderstood.has(errorTable[code].rpcCode);
}

/** JSON-RPC: no such method, invalid params. */
const notUnderstood = new Set<number>([errorTable.unknown_method.rpcCode, errorTable.bad_params.rpcCode]);

/** The same as a result: in JSON as notebooks of ours say it, or in the words of servers of the official SDK. */
function wasNotUnderstood({ isError, content }: JsonObject): boolean {
  const [first] = isError === true && Array.isArray(content) ? content : [];
  const text = isJsonObject(first) && typeof first.text === 'string' ? first.text : '';
  return /^\{"error":\{"code":"(?:bad_arguments|unknown_tool)"/.test(text) || text.startsWith('MCP error -32602');
}

/** A list without an end is a fault of its page. */
const maxPages = 20;

function toHeldResult({ message, data }: BridgeError): ToolResult {
  const result = toFailedResult('held', message);
  return Object.keys(data).length === 0 ? result : { ...result, _meta: { ...result._meta, 'notebridge/holder': data } };
}
