import { createHash } from 'node:crypto';
import { parseJson } from '@notebridge/kit/exact-json';
import { isJsonObject } from '@notebridge/kit/json';
import type { CallContext } from '../../core/call-context.js';
import { owner } from '../../core/principal.js';
import type { ToolAddress } from '../../core/tool-address.js';
import type { Redacting } from '../../util/redactor.js';
import { type ShownLimits, ShownPrinter } from './print-shown.js';
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
