import { extname } from 'node:path';
import { BridgeError, codeOf } from '@notebridge/protocol/core/errors';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import { printMessage } from '@notebridge/protocol/core/wire';
import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import { didYouMean } from '@notebridge/protocol/util/did-you-mean';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import { writeOutput } from '@notebridge/system/files/output-file';
import { writtenBy } from '@notebridge/system/processes/written-rule';
import { shellWord } from '@notebridge/system/starts/shell-word';
import type { ToolCallResponse } from '../../doors/tool-proxy/to-answer.js';
import { withSource } from '../client/open-source.js';
import { parseToolArguments } from '../client/parse-arguments.js';
import { showResult } from '../client/print-result.js';
import type { ToolEvent, ToolSource } from '../client/tool-source.js';
import { defineCommand, type OptionsOf, option } from '../define-command.js';
import { asTyped } from '../own-command.js';
import { createProgressLine, printJsonLine } from '../terminal.js';
import { withoutControls } from '../terminal-logger.js';
import { sourceOptions } from './servers.js';

const options = [option('-o, --output <file>', 'write the result there: an image or other data as it is, else the text'), ...sourceOptions];

/** `notebridge call`: one call of a tool from a shell. */
export const callCommand = defineCommand({
  arguments: [
    ['<server>', 'see: notebridge servers'],
    ['<tool>', 'see: notebridge tools SERVER'],
    ['[arguments...]', `'{"key": "value"}', key=value …, @FILE, or - for JSON on stdin`],
  ],
  options,
  example: 'notebridge call fs read_text_file path=/etc/hostname',
  run: (server, tool, words, given) => runCall({ server, tool }, words, given),
});

/** Calls a tool and prints what it answers. A tool that failed is reported on stderr, with exit code 1. */
async function runCall(
  address: ToolAddress,
  words: readonly string[],
  { output, json = false, ...where }: OptionsOf<typeof options>,
): Promise<void> {
  const { answer, next } = await withSource(where, async (source) => {
    const schema = async (): Promise<unknown> => inputSchemaOf(source, address);
    const args = await parseToolArguments(words, { stdin: process.stdin, schema });
    const answered = await callWithProgress(source, address, args).catch(async (error: unknown) => {
      // The door of the hub speaks to code; a person gets a list of what there is instead.
      if (codeOf(error) === 'unknown_server') await source.server(address.server);
      throw error;
    });
    return { answer: answered, next: answered.success ? '' : await nextStep(source, { address, args, code: answered.error_code }) };
  });
  if (json) printJsonLine(answer);
  if (!answer.success) return fail(address, answer, { next, isSaid: json });
  if (output !== undefined) await save(answer, output);
  else if (!json) print(answer);
}

/** What the person can do about a call that failed: the nearest tool, or the arguments that it lacked. Empty if that is not known. */
async function nextStep(source: ToolSource, call: { address: ToolAddress; args: JsonObject; code: string | null }): Promise<string> {
  const { address, args, code } = call;
  const { server, tool } = address;
  const tools = await source.server(server).then(
    (report) => report.tools ?? [],
    () => [],
  );
  if (code !== 'tool_not_found') return describeMissing(address, args, tools.find(({ name }) => name === tool)?.input_schema) ?? '';
  const meant = didYouMean(
    tool,
    tools.map(({ name }) => name),
  );
  return `${meant === undefined ? '' : `Did you mean "${meant}"? `}See what it has with: notebridge tools ${server}`;
}

/**
 * Which required arguments of a tool's input schema a call lacked, and a line to type that has all of them; undefined if it lacked none.
 * The schema is the server's word: what is no name of a parameter as people type them is only named.
 */
function describeMissing({ server, tool }: ToolAddress, args: JsonObject, schema: unknown): string | undefined {
  if (!isJsonObject(schema) || !Array.isArray(schema.required)) return undefined;
  const required = schema.required.filter((key): key is string => typeof key === 'string');
  const missing = required.filter((key) => !Object.hasOwn(args, key));
  if (missing.length === 0) return undefined;
  const properties = isJsonObject(schema.properties) ? schema.properties : {};
  const named = missing.map((key) => `${quote(key)}${kindOf(properties[key])}`).join(', ');
  const values = { ...Object.fromEntries(required.map((key) => [key, exampleOf(properties[key])])), ...args };
  const words = Object.entries(values).map(([key, value]) => `${key}=${typeof value === 'string' ? value : printMessage(value)}`);
  const line = ['notebridge', 'call', ...[server, tool, ...words].map((word) => shellWord(word))].join(' ');
  return withoutControls(`It lacks ${named}. For example: ${line}`);
}

function kindOf(property: unknown): string {
  const type = isJsonObject(property) ? property.type : undefined;
  return typeof type === 'string' ? ` (${type})` : '';
}

function exampleOf(property: unknown): unknown {
  const { default: preset, enum: values, examples, type } = isJsonObject(property) ? property : {};
  if (preset !== undefined) return preset;
  for (const list of [examples, values]) if (Array.isArray(list) && list.length > 0) return list[0];
  return typeof type === 'string' && Object.hasOwn(valuesByType, type) ? valuesByType[type] : 'TEXT';
}

const valuesByType: JsonObject = { integer: 1, number: 1, boolean: true, array: [], object: {}, null: null };

async function inputSchemaOf(source: ToolSource, { server, tool }: ToolAddress): Promise<unknown> {
  const { tools } = await source.server(server);
  return tools?.find(({ name }) => name === tool)?.input_schema;
}

/** Ctrl-C cancels the call at the server, and the command ends when the server has been notified. */
async function callWithProgress(
  source: ToolSource,
  address: ToolAddress,
  args: Parameters<ToolSource['call']>[1],
): Promise<ToolCallResponse> {
  const cancelling = new AbortController();
  const cancel = (): void => cancelling.abort();
  const signals = ['SIGINT', 'SIGTERM'] as const;
  for (const signal of signals) process.once(signal, cancel);
  const line = createProgressLine(process.stderr);
  try {
    line.show(`${address.server} → ${address.tool} …`);
    const onEvent = process.stderr.isTTY ? (event: ToolEvent) => line.show(toProgressText(address, event)) : undefined;
    return await source.call(address, args, { signal: cancelling.signal, isTyped: process.stdin.isTTY === true, onEvent });
  } finally {
    line.clear();
    for (const signal of signals) process.off(signal, cancel);
  }
}

function toProgressText({ server, tool }: ToolAddress, { event, params }: ToolEvent): string {
  const { progress, total, message, data } = params;
  const step = event === 'log' ? '' : total === undefined ? ` ${progress}` : ` ${progress}/${total}`;
  const text = event === 'log' ? (typeof data === 'string' ? data : printMessage(data)) : (message ?? '');
  return withoutControls(`${server} → ${tool}${step} ${String(text)}`);
}

function fail(
  { server, tool }: ToolAddress,
  { error, error_code: code, is_error: isToolError }: ToolCallResponse,
  { next, isSaid }: { next: string; isSaid: boolean },
): void {
  process.exitCode = 1;
  const text = String(error);
  // The tool's own words are data like its results: not to be taken for ours.
  const why = isToolError
    ? `"${tool}" of "${server}" failed: ${text}`
    : `"${tool}" of "${server}" gave no result${code === null ? '' : ` (${code})`}: ${text}`;
  if (isSaid) return;
  process.stderr.write(`notebridge: ${toOutput(process.stderr, why).trimEnd()}\n`);
  if (next !== '') process.stderr.write(`${asTyped(next)}\n`);
}

function print(answer: ToolCallResponse): void {
  const { text, attachments } = showResult(answer);
  if (text !== '') process.stdout.write(toOutput(process.stdout, text.endsWith('\n') ? text : `${text}\n`));
  for (const { description } of attachments) process.stdout.write(`[${withoutControls(description)}; save it with --output FILE]\n`);
}

/** A file or pipe gets every byte; a terminal no commands of others. */
function toOutput(stream: { isTTY?: boolean | undefined }, text: string): string {
  return stream.isTTY === true ? withoutControls(text) : text;
}

/** The first attachment has the name that was given, those behind it a number. */
async function save(answer: ToolCallResponse, path: string): Promise<void> {
  const { text, attachments } = showResult(answer);
  try {
    if (attachments.length === 0) await writeOutput(path, text, writtenBy);
    for (const [index, { bytes, description }] of attachments.entries()) {
      const file = index === 0 ? path : numbered(path, index + 1);
      await writeOutput(file, bytes, writtenBy);
      process.stderr.write(`Saved ${file} (${withoutControls(description)}).\n`);
    }
  } catch (error) {
    throw new BridgeError(
      'write_failed',
      `The tool was called, but its result cannot be written: ${messageOf(error)}. Choose another --output.`,
    );
  }
  if (attachments.length > 0 && text !== '') process.stdout.write(toOutput(process.stdout, `${text}\n`));
}

function numbered(path: string, number: number): string {
  const end = extname(path);
  return `${path.slice(0, path.length - end.length)}-${number}${end}`;
}
