import { printJson } from '@notebridge/protocol/exact-json';
import type { JsonObject } from '@notebridge/protocol/json';
import { NotebookError } from '../model/errors.js';
import type { Output } from '../model/output.js';
import { toText } from '../model/text.js';
import type { ImageRegion } from '../outputs/image-scaling.js';
import { describeScripted } from '../outputs/scripted-summary.js';
import { toPlainText } from '../outputs/terminal-text.js';
import { cellId } from './arguments.js';
import { fitPart, wholeCharacter } from './fit-outputs.js';
import { createImageCollector, maxTextCharactersOf } from './output-content.js';
import { defineNotebookTool, looks, type ToolAnswer, type ToolOptions } from './tool.js';

export interface GetOutputArguments {
  cellId: string;
  outputIndex?: number;
  type?: string;
  from?: number;
  region?: string;
}

export const getOutput = defineNotebookTool<GetOutputArguments>({
  name: 'get_output',
  description:
    'Reads one output of a cell: what other answers left out. Answers {"type", "types", "characters", "from", "text"}; images as blocks.',
  properties: {
    cellId,
    outputIndex: { type: 'integer', minimum: 0, description: 'Default: the last.' },
    type: { type: 'string', description: 'Mime type. Default: plain text, else the first.' },
    from: { type: 'integer', description: 'First character; below 0: so many from the end. Default 0.' },
    region: { type: 'string', description: 'Of an image: x,y,width,height.' },
  },
  required: ['cellId'],
  annotations: { ...looks('Read an output'), idempotentHint: true },
  answer: ({ session, args, options }) => readOutput(session.document.get(args.cellId).cell.outputs, args, options),
});

/** Answers `get_output` from the outputs of the cell. Rejects with `bad_arguments` for what it does not have. */
export async function readOutput(outputs: readonly Output[], args: GetOutputArguments, options: ToolOptions): Promise<ToolAnswer> {
  const index = args.outputIndex ?? outputs.length - 1;
  const output = outputs[index];
  if (output === undefined) throw noOutput(args.cellId, index, outputs.length);
  const texts = textsOf(output, options);
  const types = Object.keys(texts);
  const type = args.type ?? (types.includes('text/plain') ? 'text/plain' : types[0]);
  const text = type === undefined || !Object.hasOwn(texts, type) ? undefined : texts[type];
  if (type === undefined || text === undefined) throw noType(index, args.type, types);
  const images = createImageCollector(options);
  const about: JsonObject = { output_type: output.output_type, type: shortName(type), ...shortList(types), characters: text.length };
  const image = images.takeOne(type, text, parseRegion(args.region));
  if (image !== undefined) return { value: { ...about, text: await image }, images: images.blocks };
  const { from = 0 } = args;
  const start = wholeCharacter(text, Math.min(text.length, from < 0 ? Math.max(0, text.length + from) : from));
  const part = fitPart(text.slice(start), maxTextCharactersOf(options));
  return { value: { ...about, from: start, text: part, ...(start + part.length < text.length ? { next_from: start + part.length } : {}) } };
}

/** What an output has, by mime type. */
function textsOf(output: Output, { whole }: ToolOptions): { readonly [type: string]: string } {
  const toShown = (text: string): string => (whole ? text : toPlainText(text));
  if (output.output_type === 'stream') return { 'text/plain': toShown(toText(output.text)) };
  if (output.output_type === 'error') return { 'text/plain': toShown(output.traceback.join('\n')) };
  const entries = Object.entries(output.data).map(([type, value]) => [type, isText(value) ? toText(value) : printJson(value)] as const);
  // A script is read by who asks for its type.
  const about = whole ? undefined : describeScripted(output.data);
  return { ...Object.fromEntries(entries), ...(about === undefined ? {} : { 'text/plain': about }) };
}

function isText(value: unknown): value is string | readonly string[] {
  return typeof value === 'string' || (Array.isArray(value) && value.every((line) => typeof line === 'string'));
}

/** Code may show as many types as it likes, under any names. */
const [maxTypes, maxTypeName] = [20, 100];
const shortName = (type: string): string => (type.length > maxTypeName ? `${type.slice(0, maxTypeName)}…` : type);

function shortList(types: readonly string[]): { types: string[]; types_left_out?: number } {
  const left = types.length - maxTypes;
  return { types: types.slice(0, maxTypes).map(shortName), ...(left > 0 ? { types_left_out: left } : {}) };
}

/** Rejects with `bad_arguments`. */
function parseRegion(text: string | undefined): ImageRegion | undefined {
  if (text === undefined) return undefined;
  const [x = 0, y = 0, width = 0, height = 0] = /^(\s*\d{1,6}\s*(,|$)){4}$/.test(text) ? text.split(',').map(Number) : [];
  if (width > 0 && height > 0) return { x, y, width, height };
  throw new NotebookError('bad_arguments', 'Invalid arguments for get_output: region has to be "x,y,width,height", whole pixels.');
}

function noOutput(cell: string, index: number, count: number): NotebookError {
  const has = count === 0 ? 'has no outputs' : `has the outputs 0 to ${count - 1}`;
  return new NotebookError('bad_arguments', `The cell "${cell}" ${has}${count === 0 ? '' : `, and none of index ${index}`}.`, {
    data: { cellId: cell },
  });
}

function noType(index: number, type: string | undefined, types: readonly string[]): NotebookError {
  const asked = type === undefined ? 'any' : JSON.stringify(type.slice(0, 100));
  return new NotebookError(
    'bad_arguments',
    `Output ${index} does not have ${asked}; it has ${shortList(types).types.join(', ') || 'nothing'}.`,
  );
}
