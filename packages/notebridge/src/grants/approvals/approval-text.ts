import { createHash } from 'node:crypto';
import { parseJson, printJson } from '@notebridge/kit/exact-json';
import { isJsonObject } from '@notebridge/kit/json';
import type { CallContext } from '../../core/call-context.js';
import { BridgeError } from '../../core/errors.js';
import { owner } from '../../core/principal.js';
import type { ToolAddress } from '../../core/tool-address.js';
import type { Redacting } from '../../util/redactor.js';
import { type ShownLimits, ShownPrinter } from './print-shown.js';

/** A call as a person is shown it. Characters that hide, move or cover others are written out (`writeOutHidden`). */
export interface ShownCall {
  server: string;
  tool: string;
  /** One line for each argument. */
  arguments: string;
  /** On whose behalf, as far as that is known. */
  caller: string;
  /** All of it in one text. */
  message: string;
  /** The arguments with nothing left out. */
  whole: () => string;
}

const usual: ShownLimits = { text: 400, name: 100, list: 30, depth: 8, lines: 100, all: 4000 };
/** The limits of a call that is shown whole. Those of a message, `usual`, are tighter. */
const unbounded: ShownLimits = { ...usual, text: Infinity, name: Infinity, list: Infinity, lines: Infinity, all: Infinity, depth: 1000 };

/** Shows a call. `exact`: its arguments as JSON. */
export function showCall(
  { server, tool }: ToolAddress,
  {
    args,
    exact,
    context,
    label,
    redactor,
  }: { args: unknown; exact: string; context: CallContext; label: string | undefined; redactor: Pick<Redacting, 'redact'> },
): ShownCall {
  const membersOf = (value: unknown) => Object.entries(isJsonObject(value) ? value : { arguments: value ?? null });
  const show = (value: unknown, limits: ShownLimits): string => {
    const members = membersOf(value);
    const printer = new ShownPrinter(redactor, limits);
    const text = members.length === 0 ? '  none' : printer.lines(members);
    if (!printer.isCut) return text;
    return `${text}\n  Not all of it is shown: ${exact.length} characters, SHA-256 ${createHash('sha256').update(exact).digest('hex')}`;
  };
  const printer = new ShownPrinter(redactor, usual);
  const name = (value: string): string => printer.name(value);
  const shown = { server: name(server), tool: name(tool), arguments: show(args, usual), caller: callerOf(context, label, name) };
  const message = [
    'Notebridge asks: may this tool be called?',
    `Server: ${shown.server}`,
    `Tool: ${shown.tool}`,
    'Arguments:',
    shown.arguments,
    `For: ${shown.caller}`,
  ].join('\n');
  // From their text, which is what will be sent.
  return { ...shown, message, whole: () => show(parseJson(exact), unbounded) };
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
