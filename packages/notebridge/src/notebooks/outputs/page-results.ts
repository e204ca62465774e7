import { answerBudget } from '@notebridge/kit/answer-budget';
import { parseJson, printJson } from '@notebridge/kit/exact-json';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import type { createImageScaler, Output } from '@notebridge/notebook/outputs';
import type { ContentBlock, ToolResult } from '../../core/mcp.js';

type Tools = typeof import('@notebridge/notebook/outputs');
export type OutputOptions = { scaleImage: ReturnType<typeof createImageScaler> };

/** The outputs of one cell, as the page gave them. */
export interface CellOutputs {
  cellId: string;
  outputs: readonly Output[];
}

/** What there is to shorten: an image, a code of a terminal, a line that was written over, a table, a chart, scripts. A shorter text without is left alone. */
const worthReading =
  /image\/(?:png|jpeg|gif|webp)|\\u001[bB]|\\r|\\b|(?:<|\\u003[cC])(?:table|script|iframe|style)|application\/(?:javascript|vnd\.(?:plotly|vega))/;

/** The text of a result that may be too much for an agent; undefined for any other. */
export function textToFit({ content, isError }: ToolResult): string | undefined {
  const text = isError === true || !Array.isArray(content) ? undefined : content.find(({ type }) => type === 'text')?.text;
  if (typeof text !== 'string' || !text.includes('"outputs"')) return undefined;
  return text.length > answerBudget.textCharacters || worthReading.test(text) ? text : undefined;
}

/** The outputs in the text of a result of `run_code_cell` or `get_cells`; undefined for a text of another shape. */
export function parseOutputs(text: string, cellId: unknown): { value: JsonObject; cells: (CellOutputs | undefined)[] } | undefined {
  const value = parseJson(text);
  if (!isJsonObject(value)) return undefined;
  const ofRun = Array.isArray(value.outputs) ? [{ id: cellId, outputs: value.outputs }] : undefined;
  const entries = ofRun ?? value.cells;
  if (!Array.isArray(entries)) return undefined;
  return { value, cells: entries.map(toCellOutputs) };
}

/** The same result with other outputs, and the images of them as blocks. */
export async function fitResult(
  result: ToolResult,
  { value, cells }: { value: JsonObject; cells: readonly (CellOutputs | undefined)[] },
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

function toCellOutputs(cell: unknown): CellOutputs | undefined {
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
