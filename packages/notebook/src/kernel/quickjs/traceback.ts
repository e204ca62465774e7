import type { Output } from '../kernel.js';
import { CodeError } from './code-error.js';

type ErrorOutput = Extract<Output, { output_type: 'error' }>;

export interface Place {
  /** The name under which the code runs. */
  fileName: string;
  source: string;
}

const maxFrames = 20;
const maxLine = 200;

/** An error of code for its author: with the line, and without what is ours. `told`: what the guest says of it, JSON, not checked. */
export function toErrorOutput(told: string | undefined, place: Place): ErrorOutput {
  const { name, message, stack, code } = read(told);
  const frames = stack.split('\n').filter((line) => /\bcode-\d+:\d+/.test(line));
  const line = Number(new RegExp(`\\b${place.fileName}:(\\d+)`).exec(frames.join('\n'))?.[1] ?? 0);
  const shown = frames.slice(0, maxFrames).map((frame) => `  ${frame.trim().replaceAll(place.fileName, 'code').slice(0, maxLine)}`);
  const text = `${name}: ${message}${code === undefined ? '' : ` (code: ${code})`}${adviceOn(message)}`;
  return {
    output_type: 'error',
    ename: name,
    evalue: message,
    traceback: [text, ...shown, ...(line > 0 ? [quoteLine(place.source, line)] : [])],
  };
}

/** Of code that cannot be run at all. */
export function toSyntaxOutput(error: unknown, { source }: Place): ErrorOutput {
  const { message } = error as Error;
  const where =
    error instanceof CodeError ? [quoteLine(source, error.line), `${' '.repeat(error.column + String(error.line).length + 9)}^`] : [];
  return { output_type: 'error', ename: 'SyntaxError', evalue: message, traceback: [`SyntaxError: ${message}`, ...where] };
}

function quoteLine(source: string, line: number): string {
  return `  line ${line}: ${(source.split('\n')[line - 1] ?? '').slice(0, maxLine)}`;
}

function read(told: string | undefined): { name: string; message: string; stack: string; code: string | undefined } {
  const unknown = { name: 'Error', message: 'an error that cannot be read', stack: '', code: undefined };
  if (told === undefined) return unknown;
  try {
    const { name, message, stack, code } = JSON.parse(told) as { [key: string]: unknown };
    return { name: `${name}`, message: `${message}`, stack: `${stack ?? ''}`, code: typeof code === 'string' ? code : undefined };
  } catch {
    return unknown;
  }
}

/** Names of Node and of browsers, which many an agent expects. */
const foreign = /'?\b(require|process|fetch|Buffer|window|document|XMLHttpRequest|Deno|Bun|__dirname|module|exports)\b'? is not defined/;

function adviceOn(message: string): string {
  const [, name] = foreign.exec(message) ?? [];
  if (name === undefined) return '';
  if (name === 'require' || name === 'module' || name === 'exports') return '\nUse import: import { … } from "./generated/mcp/SERVER.js".';
  return '\nThis is JavaScript alone, without the names of Node or of a browser: files and networks are reached by tools.';
}
