import { createHash } from 'node:crypto';
import { printJson } from '@notebridge/kit/exact-json';
import { ExactNumber, isJsonObject } from '@notebridge/kit/json';
import type { CallContext } from '../../core/call-context.js';
import { BridgeError } from '../../core/errors.js';
import { owner } from '../../core/principal.js';
import type { ToolAddress } from '../../core/tool-address.js';
import { writeOutHidden } from '../../util/hidden-characters.js';
import type { Redacting } from '../../util/redactor.js';

/** A call as a person is shown it. Every character that could hide, move or reorder others is written out. */
export interface ShownCall {
  server: string;
  tool: string;
  /** One line for each argument. */
  arguments: string;
  /** On whose behalf, as far as that is known. */
  caller: string;
  /** All of it in one text. */
  message: string;
}

/** What is shown of a text, of a name, of lists and objects, of the arguments, and of all together. Characters; members. */
const longest = { text: 400, name: 100, list: 30, lines: 100, all: 4000 };
const deepest = 8;
/** Secrets are looked for in so much of a text. Characters. */
const maxRedacted = 100_000;

/** Shows a call. `exact`: its arguments as JSON. */
export function showCall(
  { server, tool }: ToolAddress,
  {
    args,
    exact,
    context,
    label,
    redactor,
  }: { args: unknown; exact: string; context: CallContext; label: string | undefined; redactor: Redacting },
): ShownCall {
  const shortening: Shortening = { redactor, isCut: false };
  const members = Object.entries(isJsonObject(args) ? args : { arguments: args ?? null });
  const lines = members
    .slice(0, longest.lines)
    .map(
      ([key, value]) =>
        `  ${writeOutHidden(printJson(shortText(key, longest.name, shortening)))}: ${writeOutHidden(printJson(shorten(value, shortening, 0)))}`,
    );
  if (members.length > longest.lines) {
    lines.push(`  … ${members.length - longest.lines} more`);
    shortening.isCut = true;
  }
  let text = lines.join('\n');
  if (text.length > longest.all) {
    text = `${text.slice(0, longest.all)}…`;
    shortening.isCut = true;
  }
  if (lines.length === 0) text = '  none';
  if (shortening.isCut)
    text += `\n  Not all of it is shown: ${exact.length} characters, SHA-256 ${createHash('sha256').update(exact).digest('hex')}`;
  const name = (value: string): string => writeOutHidden(printJson(shortText(value, longest.name, shortening)));
  const shown = { server: name(server), tool: name(tool), arguments: text, caller: callerOf(context, label, name) };
  const message = [
    'Notebridge asks: may this tool be called?',
    `Server: ${shown.server}`,
    `Tool: ${shown.tool}`,
    'Arguments:',
    shown.arguments,
    `For: ${shown.caller}`,
  ].join('\n');
  return { ...shown, message };
}

/** The arguments as they will be sent. @throws BridgeError `not_approved` for what cannot be printed, and so not be shown. */
export function toExactText(args: unknown): string {
  try {
    return printJson(args ?? null);
  } catch (error) {
    const text = 'The arguments of the call are nested too deeply to be shown to a person, who has to approve it. It was not made.';
    throw new BridgeError('not_approved', text, { data: { reason: 'too_deep' }, cause: error });
  }
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

interface Shortening {
  redactor: Redacting;
  isCut: boolean;
}

function shortText(text: string, most: number, shortening: Shortening): string {
  const redacted = shortening.redactor.redact(text.slice(0, maxRedacted));
  if (redacted.length <= most && text.length <= maxRedacted) return redacted;
  shortening.isCut = true;
  return `${redacted.slice(0, most)}… (${text.length} characters)`;
}

function shorten(value: unknown, shortening: Shortening, depth: number): unknown {
  if (typeof value === 'string') return shortText(value, longest.text, shortening);
  if (typeof value !== 'object' || value === null || value instanceof ExactNumber) return value;
  if (depth >= deepest) {
    shortening.isCut = true;
    return '…';
  }
  const members = Array.isArray(value) ? value : Object.entries(value);
  if (members.length > longest.list) shortening.isCut = true;
  if (Array.isArray(value)) {
    const shown = value.slice(0, longest.list).map((item) => shorten(item, shortening, depth + 1));
    return members.length > longest.list ? [...shown, `… ${members.length - longest.list} more`] : shown;
  }
  const shown = (members as [string, unknown][])
    .slice(0, longest.list)
    .map(([key, member]) => [shortText(key, longest.name, shortening), shorten(member, shortening, depth + 1)]);
  return Object.fromEntries(members.length > longest.list ? [...shown, ['…', `${members.length - longest.list} more`]] : shown);
}
