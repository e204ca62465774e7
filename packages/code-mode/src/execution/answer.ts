import type { Written } from '@notebridge/notebook/host';
import { createImageCollector, createImageScaler, type Output, shareOut } from '@notebridge/notebook/outputs';
import type { ErrorCode } from '@notebridge/protocol/core/errors';
import { type ContentBlock, errorCodeMetaKey, type ToolResult } from '@notebridge/protocol/core/mcp';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { answerBudget } from '@notebridge/protocol/runs/answer-budget';
import { resultOf } from './execution-outputs.js';
import { type SortedFiles, shownPath, sortFiles, toFileBlocks } from './file-blocks.js';
import type { CallRecord } from './nested-calls.js';

export type ExecutionStatus = 'ok' | 'error' | 'interrupted' | 'timeout' | 'died';

/** What came of an execution. */
export interface ExecutionOutcome {
  status: ExecutionStatus;
  outputs: readonly Output[];
  /** Files that the code has written for its agent. Left out: none. */
  written?: Written | undefined;
  /** Calls of tools that were made. */
  calls: number;
  records: readonly CallRecord[];
  /** What the agent should know besides, one text each. */
  notes: readonly string[];
  /** Of a failure that is ours to explain. */
  errorCode?: ErrorCode | undefined;
}

/** Of a value that is given as structured content, too. */
const maxResultCharacters = 2000;
/** Below this, a part of a text says nothing. */
const leastCharacters = 300;

/**
 * The outcome as blocks of MCP within the budget: printed text, the last value, images, errors, files, and what already ran where it failed.
 * `session`: under which the agent finds its variables again; left out where there are none to find.
 */
export async function toCodeResult(outcome: ExecutionOutcome, session?: string): Promise<ToolResult> {
  const { status, outputs, written, calls, notes, errorCode } = outcome;
  const images = createImageCollector({ scaleImage: createImageScaler(), elsewhere: 'show fewer or smaller images' });
  const printed = (await images.collect(outputs)).map(toText).filter((text) => text !== '');
  const sorted = sortFiles(written?.files ?? []);
  const pictures = await collectPictures(sorted, images);
  const [forPrinted = 0, forFiles = 0] = shareOut(
    [lengthOf(printed), lengthOf(sorted.texts.map(({ text }) => text))],
    answerBudget.textCharacters,
  );
  const files = toFileBlocks(sorted, written, forFiles);
  const hasFailed = status !== 'ok';
  const texts = [...fitTexts(printed, forPrinted), ...pictures, ...notes, ...files.notes, ...(hasFailed ? [describeCalls(outcome)] : [])];
  const result = resultOf(outputs, maxResultCharacters);
  return {
    content: [...texts.map((text) => ({ type: 'text', text })), ...images.blocks, ...files.blocks] as ContentBlock[],
    structuredContent: {
      status,
      ...(result === undefined ? {} : { result }),
      ...(session === undefined ? {} : { session }),
      calls,
    },
    ...(hasFailed ? { isError: true } : {}),
    ...(errorCode === undefined ? {} : { _meta: { [errorCodeMetaKey]: errorCode } }),
  };
}

/** Within the same budget as those that were shown. What stands for each in the text. */
async function collectPictures({ pictures }: SortedFiles, images: ReturnType<typeof createImageCollector>): Promise<string[]> {
  const outputs = pictures.map(({ mimeType, data }): Output => ({ output_type: 'display_data', data: { [mimeType]: data }, metadata: {} }));
  const collected = await images.collect(outputs);
  return collected.map((output, at) => `${shownPath(pictures[at]?.path ?? '')}: ${toText(output)}`);
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}

/** What must not be done twice by trying again. */
function describeCalls({ calls, records }: Pick<ExecutionOutcome, 'calls' | 'records'>): string {
  if (calls === 0) return 'No tool was called.';
  const lines = records.map(({ tool, outcome }) => `- ${tool}: ${outcome}`);
  const leftOut = calls - records.length;
  if (leftOut > 0) lines.splice(Math.ceil(records.length / 2), 0, `- … ${leftOut} more`);
  return `Tool calls before that; what they did stands, unless the line says that it was not made:\n${lines.join('\n')}`;
}

/** One output, as the collector has made it readable. */
function toText(output: JsonObject): string {
  if (output.output_type === 'stream') return joined(output.text);
  if (output.output_type === 'error') {
    // Lines for the eyes of people cost an agent as much as others.
    const lines = Array.isArray(output.traceback) ? output.traceback.flatMap((part) => String(part).split('\n')) : [];
    const traceback = lines.filter((line) => !/^-{20,}$/.test(line)).join('\n');
    return traceback === '' ? `${String(output.ename)}: ${String(output.evalue)}` : traceback;
  }
  const data = isJsonObject(output.data) ? output.data : {};
  const images = Object.entries(data).filter(([type]) => /^image\/(png|jpeg|gif|webp)$/.test(type));
  // What stands for an image says more than the name of the object that drew it.
  if (images.length > 0) return images.map(([, text]) => joined(text)).join('\n');
  const type = ['text/plain', 'text/markdown', 'text/latex', 'application/json', 'text/html'].find((known) => known in data);
  const value = data[type ?? Object.keys(data)[0] ?? ''];
  return typeof value === 'string' || Array.isArray(value) ? joined(value) : value === undefined ? '' : JSON.stringify(value);
}

function joined(text: unknown): string {
  return Array.isArray(text) ? text.join('') : String(text ?? '');
}

/** Texts in at most so many characters together: of longer ones the beginning and the end. */
function fitTexts(all: readonly string[], maxCharacters: number): string[] {
  const most = Math.floor(answerBudget.textCharacters / leastCharacters);
  const head = Math.floor(most / 3);
  const isTooMany = all.length > most;
  const texts = isTooMany
    ? [...all.slice(0, head), `[${all.length - most} outputs left out here]`, ...all.slice(all.length - (most - head))]
    : all;
  const shares = shareOut(
    texts.map(({ length }) => length),
    maxCharacters,
  );
  return texts.map((text, index) => fitText(text, shares[index] ?? 0));
}

function fitText(text: string, max: number): string {
  if (text.length <= max) return text;
  const half = Math.floor(max / 2);
  const [start, end] = [text.slice(0, half), text.slice(text.length - half)];
  const note = `[${text.length - start.length - end.length} characters left out here: print less, or a part of it]`;
  return `${start.replace(/[\ud800-\udbff]$/, '')}\n${note}\n${end.replace(/^[\udc00-\udfff]/, '')}`;
}
