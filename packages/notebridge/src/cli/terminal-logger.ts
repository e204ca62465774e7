import { printJson } from '@notebridge/protocol/exact-json';
import type { JsonObject } from '@notebridge/protocol/json';
import { isAtLeast, type Logger, type LoggerLevel, silentLogger, toLogger } from '@notebridge/protocol/util/logger';
import type { Redacting } from '@notebridge/protocol/util/redactor';
import { type Paint, paintFor, plain } from './terminal.js';

export interface TerminalLoggerOptions {
  level: LoggerLevel;
  redactor: Redacting;
  write: (text: string) => void;
  /** `json`: an object per line, for programs; `text`: for people. */
  format: 'json' | 'text';
  paint?: Paint;
}

/** A log on stderr. What a server of the config prints there stands under its name. */
export function createTerminalLogger({ level: lowest, redactor, write, format, paint = plain }: TerminalLoggerOptions): Logger {
  const toLine = format === 'json' ? toJsonLine : (line: Line) => toTextLine(line, paint);
  return toLogger((level, message, fields) => {
    if (isAtLeast(level, lowest)) write(`${redactor.redactOurs(toLine({ level, message, fields, time: new Date() }))}\n`);
  });
}

/** The same on stderr, in colours where a person sees them. */
export function createStderrLogger(redactor: Redacting, options: Pick<TerminalLoggerOptions, 'level' | 'format'>): Logger {
  const { stderr } = process;
  return createTerminalLogger({ ...options, redactor, write: (text) => stderr.write(text), paint: paintFor(stderr) });
}

/** What a short command logs: nothing unless it is asked for, since an error says itself what went wrong. */
export function createVerboseLogger(redactor: Redacting): Logger {
  return process.argv.includes('--verbose') ? createStderrLogger(redactor, { level: 'debug', format: 'text' }) : silentLogger;
}

export interface Line {
  level: LoggerLevel;
  message: string;
  fields: JsonObject;
  time: Date;
}

function toJsonLine({ level, message, fields, time }: Line): string {
  return printJson({ level, time: time.toISOString(), ...fields, msg: message });
}

export function toTextLine({ level, message, fields, time }: Line, paint: Paint): string {
  const clock = paint.dim(time.toTimeString().slice(0, 8));
  const { server, stream, ...others } = fields;
  // A server's own words, not ours: they may hold anything, and must not steer the terminal.
  if (stream === 'stderr') return `${clock} ${paint.dim(`${String(server)} |`)} ${withoutControls(message)}`;
  const mark = { debug: paint.dim('debug '), info: '', warn: paint.yellow('warning: '), error: paint.red('error: ') }[level];
  return `${clock} ${mark}${withoutControls(message)}${paint.dim(withoutControls(toSuffix(others)))}`;
}

function toSuffix(fields: JsonObject): string {
  const parts = Object.entries(fields).filter(([, value]) => value !== undefined);
  return parts.length === 0
    ? ''
    : ` (${parts.map(([key, value]) => `${key}: ${typeof value === 'object' ? printJson(value) : value}`).join(', ')})`;
}

/** Colours and cursor movements of others stay out of the person's terminal; line breaks and tabs are kept. */
export function withoutControls(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return text.replaceAll(/\u001b\[[0-9;?]*[ -/]*[@-~]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, '');
}

/** Names are the agents' own choice: a line break, or characters that reorder the line, would show rows that are not there. */
export function onOneLine(text: string): string {
  const toName = (character: string): string => `U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
  return withoutControls(text).replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, toName);
}
