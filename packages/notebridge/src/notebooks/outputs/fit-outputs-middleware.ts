import type { createImageScaler, Output } from '@notebridge/notebook/outputs';
import type { ContentBlock, ListToolsResult, Tool, ToolCall, ToolResult } from '@notebridge/protocol/core/mcp';
import { type Answered, answer, type CallNext, type Middleware, type MiddlewareContext } from '@notebridge/protocol/core/middleware';
import { toPlainValue } from '@notebridge/protocol/core/wire';
import { parseJson, printJson } from '@notebridge/protocol/exact-json';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { answerBudget } from '@notebridge/protocol/runs/answer-budget';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { type RememberedCell, RememberedOutputs } from './remembered-outputs.js';

type CallHook = CallNext<ToolCall, ToolResult>;

const readers = new Set(['run_code_cell', 'get_cells']);
/** What answers with outputs. */
const fitted = new Set([...readers, 'get_run']);
const name = 'get_output';

/** As the built-in notebook lists it; written out, since an agent of a page does not wait for that to load. */
const getOutputTool: Tool = {
  name,
  description:
    'Reads one output of a cell: what other answers left out. Answers {"type", "types", "characters", "from", "text"}; images as blocks.',
  inputSchema: {
    type: 'object',
    properties: {
      cellId: { type: 'string', description: 'Id of the cell.' },
      outputIndex: { type: 'integer', minimum: 0, description: 'Default: the last.' },
      type: { type: 'string', description: 'Mime type. Default: plain text, else the first.' },
      from: { type: 'integer', description: 'First character; below 0: so many from the end. Default 0.' },
      region: { type: 'string', description: 'Of an image: x,y,width,height.' },
    },
    required: ['cellId'],
    additionalProperties: false,
  },
  annotations: { title: 'Read an output', readOnlyHint: true, idempotentHint: true, openWorldHint: false },
};

export interface FitOutputsOptions {
  logger?: Logger;
  /** False: `get_output` is not listed, since all agents here want outputs whole. Default true. */
  isListed?: boolean;
}

/**
 * Outputs of a page within an agent's budget, as those of the built-in notebook: both ends of long texts, tables as a few lines, images as
 * blocks that are scaled. `get_output` reads the rest, from what is remembered of the page's answers, else from the page. A result that fits
 * passes unchanged, and so do one of another shape and all that an agent wants whole.
 */
export class FitOutputsMiddleware implements Middleware {
  readonly #logger: Logger;
  readonly #remembered = new RememberedOutputs();
  readonly #isListed: boolean;
  #options: OutputOptions | undefined;
  /** The page has one of its own. */
  #isListedByPage = false;

  constructor({ logger = silentLogger, isListed = true }: FitOutputsOptions = {}) {
    this.#logger = logger;
    this.#isListed = isListed;
  }

  async onListTools(context: MiddlewareContext, callNext: CallNext<JsonObject, ListToolsResult>): Promise<Answered<ListToolsResult>> {
    const listed = await callNext(context);
    if (context.message.cursor !== undefined || !this.#isListed) return listed;
    this.#isListedByPage = listed.tools.some((tool) => tool.name === name);
    const isNotebook = [...readers].every((reader) => listed.tools.some((tool) => tool.name === reader));
    return this.#isListedByPage || !isNotebook ? listed : { ...listed, tools: [...listed.tools, getOutputTool] };
  }

  /** Not async: other calls pay nothing here. A page knows nothing of the mark of `WholeOutputsMiddleware`. */
  onCallTool(context: MiddlewareContext<ToolCall>, callNext: CallHook): Promise<Answered<ToolResult>> {
    const { name: called, outputs } = context.message;
    const plain = outputs === undefined ? context : withoutMark(context);
    if (called === name && !this.#isListedByPage) return this.#getOutput(plain, callNext);
    return fitted.has(called) && outputs !== 'whole' ? this.#fit(plain, callNext) : callNext(plain);
  }

  async #fit(context: MiddlewareContext<ToolCall>, callNext: CallHook): Promise<Answered<ToolResult>> {
    const { name: called, arguments: args } = context.message;
    const result = await callNext(context);
    const text = textToFit(result);
    if (called === 'run_code_cell' && text === undefined) this.#remembered.forget(String(args?.cellId));
    if (text === undefined) return result;
    try {
      const parsed = parseOutputs(text, args?.cellId);
      if (parsed === undefined) return result;
      // A part of what a cell gives is not what it gave.
      if ('run_id' in parsed.value) this.#remembered.forget(String(parsed.value.cellId));
      else for (const cell of parsed.cells) if (cell) this.#remembered.add(cell, Math.ceil(text.length / parsed.cells.length));
      const tools = await import('@notebridge/notebook/outputs');
      this.#options ??= { scaleImage: tools.createImageScaler() };
      return answer(await fitResult(result, parsed, tools, this.#options));
    } catch (error) {
      this.#logger.warn('Outputs of the page could not be read, and are passed on as they are.', { error: messageOf(error) });
      return result;
    }
  }

  async #getOutput(context: MiddlewareContext<ToolCall>, callNext: CallHook): Promise<Answered<ToolResult>> {
    const tools = await import('@notebridge/notebook/outputs');
    this.#options ??= { scaleImage: tools.createImageScaler() };
    const options = this.#options;
    try {
      const given = toPlainValue(context.message.arguments ?? {});
      const args = tools.checkArguments(name, tools.describeTool(tools.getOutput).inputSchema, given) as unknown as Parameters<
        typeof tools.readOutput
      >[1];
      const outputs = this.#remembered.get(args.cellId) ?? (await this.#askPage(args.cellId, context, callNext));
      if (Array.isArray(outputs)) return answer({ ...tools.toResult(await tools.readOutput(outputs, args, options)) });
      return outputs as Answered<ToolResult>;
    } catch (error) {
      if (!(error instanceof tools.NotebookError)) throw error;
      return answer({ ...tools.toFailedAnswer(error) });
    }
  }

  /** The outputs of a cell that nothing is remembered of; or the page's own answer, if that has none. */
  async #askPage(cellId: string, context: MiddlewareContext<ToolCall>, callNext: CallHook) {
    const message = { name: 'get_cells', arguments: { includeOutputs: true } };
    const result = await callNext(context.copy({ message }));
    if (result.isError === true) return result;
    const text = result.content?.find(({ type }) => type === 'text')?.text;
    const cell = typeof text === 'string' ? parseOutputs(text, undefined)?.cells.find((found) => found?.cellId === cellId) : undefined;
    if (cell) this.#remembered.add(cell, String(text).length);
    return cell?.outputs ?? [];
  }
}

function withoutMark(context: MiddlewareContext<ToolCall>): MiddlewareContext<ToolCall> {
  const { outputs: _, ...message } = context.message;
  return context.copy({ message, target: context.target });
}

type Tools = typeof import('@notebridge/notebook/outputs');
type OutputOptions = { scaleImage: ReturnType<typeof createImageScaler> };

/** What there is to shorten: an image, a code of a terminal, a line that was written over, a table, a chart, scripts. A shorter text without is left alone. */
const worthReading =
  /image\/(?:png|jpeg|gif|webp)|\\u001[bB]|\\r|\\b|(?:<|\\u003[cC])(?:table|script|iframe|style)|application\/(?:javascript|vnd\.(?:plotly|vega))/i;

/** The text of a result that may be too much for an agent; undefined for any other. */
function textToFit({ content, isError }: ToolResult): string | undefined {
  const text = isError === true || !Array.isArray(content) ? undefined : content.find(({ type }) => type === 'text')?.text;
  if (typeof text !== 'string' || !text.includes('"outputs"')) return undefined;
  return text.length > answerBudget.textCharacters || worthReading.test(text) ? text : undefined;
}

/** The outputs in the text of a result of `run_code_cell` or `get_cells`; undefined for a text of another shape. */
function parseOutputs(text: string, cellId: unknown): { value: JsonObject; cells: (RememberedCell | undefined)[] } | undefined {
  const value = parseJson(text);
  if (!isJsonObject(value)) return undefined;
  const ofRun = Array.isArray(value.outputs) ? [{ id: cellId, outputs: value.outputs }] : undefined;
  const entries = ofRun ?? value.cells;
  if (!Array.isArray(entries)) return undefined;
  return { value, cells: entries.map(toCellOutputs) };
}

/** The same result with other outputs, and the images of them as blocks. */
async function fitResult(
  result: ToolResult,
  { value, cells }: { value: JsonObject; cells: readonly (RememberedCell | undefined)[] },
  { createImageCollector, fitCells, fitOutputs, maxTextCharactersOf }: Tools,
  options: OutputOptions,
): Promise<ToolResult> {
  const images = createImageCollector(options);
  const collected: (JsonObject[] | undefined)[] = [];
  for (const cell of cells) collected.push(cell && (await images.collect(cell.outputs)));
  const max = maxTextCharactersOf(options);
  const fitted = Array.isArray(value.cells)
    ? {
        ...value,
        cells: fitCells(
          value.cells.map((cell: JsonObject, index) => withOutputs(cell, collected[index])),
          max,
        ),
      }
    : { ...value, outputs: fitOutputs(collected[0] ?? [], max) };
  let isFirst = true;
  const content = (result.content ?? []).map((block): ContentBlock => {
    if (block.type !== 'text' || !isFirst) return block;
    isFirst = false;
    return { ...block, text: printJson(fitted) };
  });
  const structured = isJsonObject(result.structuredContent) ? { structuredContent: fitted } : {};
  return { ...result, content: [...content, ...images.blocks], ...structured };
}

function withOutputs(cell: JsonObject, outputs: JsonObject[] | undefined): JsonObject {
  return outputs ? { ...cell, outputs } : cell;
}

function toCellOutputs(cell: unknown): RememberedCell | undefined {
  if (!isJsonObject(cell) || !Array.isArray(cell.outputs)) return undefined;
  return { cellId: typeof cell.id === 'string' ? cell.id : '', outputs: cell.outputs.map(toOutput) };
}

/** A page's outputs as nbformat has them in memory. What is none becomes text. */
function toOutput(value: unknown): Output {
  if (isJsonObject(value)) {
    const { output_type: type, text, data, ename, evalue, traceback } = value;
    if (type === 'stream' && isText(text))
      return { output_type: 'stream', name: value.name === 'stderr' ? 'stderr' : 'stdout', text: join(text) };
    if ((type === 'display_data' || type === 'execute_result') && isJsonObject(data)) {
      const joined = Object.entries(data).map(([mime, part]) => [mime, isText(part) && !mime.endsWith('json') ? join(part) : part]);
      return { ...value, data: Object.fromEntries(joined), metadata: isJsonObject(value.metadata) ? value.metadata : {} } as Output;
    }
    if (type === 'error') {
      const lines = Array.isArray(traceback) ? traceback.map(String) : [];
      return { output_type: 'error', ename: String(ename ?? ''), evalue: String(evalue ?? ''), traceback: lines };
    }
  }
  return { output_type: 'stream', name: 'stderr', text: `${printJson(value)}\n` };
}

function isText(value: unknown): value is string | string[] {
  return typeof value === 'string' || (Array.isArray(value) && value.every((line) => typeof line === 'string'));
}

function join(text: string | readonly string[]): string {
  return typeof text === 'string' ? text : text.join('');
}
