import { createHash } from 'node:crypto';
import type { CallContext } from '@notebridge/protocol/core/call-context';
import { owner } from '@notebridge/protocol/core/principal';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import { parseJson, printJson } from '@notebridge/protocol/exact-json';
import { ExactNumber, isJsonObject } from '@notebridge/protocol/json';
import { writeOutHidden } from '@notebridge/protocol/util/hidden-characters';
import { distinctNames } from '@notebridge/protocol/util/redact-members';
import type { Redacting } from '@notebridge/protocol/util/redactor';
import type { ReadableCall } from './readable-call.js';

/** A call as a person is shown it. Characters that hide, move or cover others are written out (`writeOutHidden`). */
export interface ShownCall {
  server: string;
  tool: string;
  /** One line for each argument, and for what is sent beside them. */
  arguments: string;
  /** On whose behalf, as far as that is known. */
  caller: string;
  /** All of it in one text. */
  message: string;
  /** `arguments` with nothing left out. */
  whole: () => string;
}

const usual: ShownLimits = { text: 400, name: 100, list: 30, depth: 8, lines: 100, all: 4000 };
/** The limits of a call that is shown whole. Those of a message, `usual`, are tighter. */
const unbounded: ShownLimits = { ...usual, text: Infinity, name: Infinity, list: Infinity, lines: Infinity, all: Infinity, depth: 1000 };

/** Shows a call, from the texts which are what will be sent. */
export function showCall(
  { server, tool }: ToolAddress,
  {
    exact,
    beside,
    context,
    label,
    redactor,
  }: Pick<ReadableCall, 'exact' | 'beside'> & { context: CallContext; label: string | undefined; redactor: Pick<Redacting, 'redact'> },
): ShownCall {
  const membersOf = (value: unknown) => Object.entries(isJsonObject(value) ? value : { arguments: value ?? null });
  const showText = (json: string, limits: ShownLimits): string => {
    const members = membersOf(parseJson(json));
    const printer = new ShownPrinter(redactor, limits);
    const text = members.length === 0 ? '  none' : printer.lines(members);
    if (!printer.isCut) return text;
    return `${text}\n  Not all of it is shown: ${json.length} characters, SHA-256 ${createHash('sha256').update(json).digest('hex')}`;
  };
  const show = (limits: ShownLimits): string =>
    [showText(exact, limits), ...(beside === '{}' ? [] : ['Sent beside the arguments:', showText(beside, limits)])].join('\n');
  const printer = new ShownPrinter(redactor, usual);
  const name = (value: string): string => printer.name(value);
  const shown = { server: name(server), tool: name(tool), arguments: show(usual), caller: callerOf(context, label, name) };
  const message = [
    'Notebridge asks: may this tool be called?',
    `Server: ${shown.server}`,
    `Tool: ${shown.tool}`,
    'Arguments:',
    shown.arguments,
    `For: ${shown.caller}`,
  ].join('\n');
  return { ...shown, message, whole: () => show(unbounded) };
}

function callerOf({ caller, parent }: CallContext, label: string | undefined, name: (value: string) => string): string {
  const { principal = owner } = caller;
  const { clientInfo, door } = parent?.caller ?? caller;
  const agent = typeof clientInfo?.name === 'string' ? `an agent that calls itself ${name(clientInfo.name)}` : 'an agent';
  const who = parent !== undefined ? `code that ${agent} runs` : door === 'tool-proxy' ? 'code in a notebook or script' : agent;
  const rights = { owner: 'with your own rights', anonymous: 'without a token' };
  if (principal.kind !== 'grant') return `${who}, ${rights[principal.kind]}`;
  return `${who}, with the grant ${principal.grantId}${label === undefined ? '' : ` (${name(label)})`}`;
}

/** Most that is shown: of a text, of a name, members of a list or an object, of these within one another, lines, and all together. */
interface ShownLimits {
  text: number;
  name: number;
  list: number;
  depth: number;
  lines: number;
  all: number;
}

/** Secrets are looked for in so much more of a text than is shown: one that begins in what is shown ends there. Characters. */
const lookAhead = 65_536;

/**
 * Prints values for a person to decide about: JSON, with what is left out counted in words outside of all quotes, which no value can
 * imitate, and every character written out that hides, moves or reorders others.
 */
class ShownPrinter {
  readonly #redactor: Pick<Redacting, 'redact'>;
  readonly #limits: ShownLimits;
  /** Something was left out. */
  isCut = false;

  constructor(redactor: Pick<Redacting, 'redact'>, limits: ShownLimits) {
    this.#redactor = redactor;
    this.#limits = limits;
  }

  name(text: string): string {
    return this.#text(text, this.#limits.name);
  }

  /** One line for each member; no two begin alike. Those that are short leave their room to the others. */
  lines(members: readonly (readonly [string, unknown])[]): string {
    const shown = members.slice(0, this.#limits.lines);
    const distinct = distinctNames();
    const names = shown.map(([name]) => distinct(this.name(name)));
    const whole = shown.map(([, value]) => this.#value(value, 0, { left: this.#limits.all }));
    const room = fairShare(
      whole.map(({ length }) => length),
      this.#limits.all,
    );
    const lines = shown.map(([, value], at) => {
      const text = (whole[at]?.length ?? 0) <= room ? whole[at] : this.#value(value, 0, { left: room });
      return `  ${names[at]}: ${text}`;
    });
    return [...lines, ...this.#more(members.length - shown.length, '  ')].join('\n');
  }

  #text(text: string, most: number): string {
    const redacted = this.#redactor.redact(text.length > most + lookAhead ? text.slice(0, most + lookAhead) : text);
    if (redacted.length <= most) return writeOutHidden(printJson(redacted));
    this.isCut = true;
    return `${writeOutHidden(printJson(redacted.slice(0, most)))}… (${text.length} characters)`;
  }

  #value(value: unknown, depth: number, room: { left: number }): string {
    if (typeof value === 'string') return take(room, this.#text(value, Math.min(this.#limits.text, Math.max(room.left, 0))));
    if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return take(room, printJson(value));
    const isList = Array.isArray(value);
    const members: readonly (readonly [string, unknown])[] = isList ? value.map((item) => ['', item]) : Object.entries(value);
    const [open, close] = isList ? '[]' : '{}';
    if (depth >= this.#limits.depth && members.length > 0) return take(room, `${open}${this.#more(members.length)}${close}`);
    const distinct = distinctNames();
    const parts: string[] = [];
    for (const [name, member] of members) {
      if (parts.length >= this.#limits.list || room.left <= 0) break;
      const label = isList ? '' : take(room, `${distinct(this.name(name))}: `);
      parts.push(label + this.#value(member, depth + 1, room));
    }
    return `${open}${[...parts, ...this.#more(members.length - parts.length)].join(', ')}${close}`;
  }

  #more(count: number, indent = ''): string[] {
    if (count === 0) return [];
    this.isCut = true;
    return [`${indent}… ${count} more`];
  }
}

function take(room: { left: number }, text: string): string {
  room.left -= text.length;
  return text;
}

/** The most that each may have so that all together have no more than `all`. */
function fairShare(lengths: readonly number[], all: number): number {
  let left = all;
  const sorted = [...lengths].sort((a, b) => a - b);
  for (const [at, length] of sorted.entries()) {
    const share = Math.floor(left / (sorted.length - at));
    if (length > share) return share;
    left -= length;
  }
  return all;
}
