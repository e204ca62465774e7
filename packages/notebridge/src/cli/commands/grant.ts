import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Logger } from '@notebridge/protocol/util/logger';
import { writeFileAtomic } from '@notebridge/system/files/atomic-file';
import { assertKeptOutside } from '@notebridge/system/processes/written-rule';
import type { Command } from 'commander';
import { describeGrant } from '../../grants/describe-grant.js';
import type { GrantTerms, GrantView } from '../../grants/grant.js';
import { RotatingToken } from '../../grants/rotating-token.js';
import { collect, sharedOptions } from '../command-options.js';
import { addSubcommand, defineCommand, type OptionsOf, option } from '../define-command.js';
import { withGrantDesk } from '../grants/grant-desk.js';
import { parseCount, parseRate, parseTime } from '../grants/parse-terms.js';
import { asTyped } from '../own-command.js';
import { untilSignal } from '../process-life.js';
import { paint, paintFor, printJsonLine, printTable, toDuration } from '../terminal.js';

/** `notebridge grant`: issues, lists and revokes the tokens with which code and agents come in over HTTP. */
export function grantCommand(command: Command): void {
  const example = "export NOTEBRIDGE_TOKEN=$(notebridge grant --allow 'github:*' --ttl 8h --read-only)";
  defineCommand({ typed, example, run: runGrant })(command);
  const ofList = defineCommand({ typed: [sharedOptions.json], run: (_, self) => listGrants(self.optsWithGlobals()) });
  addSubcommand(command, 'list', 'the grants that are live', ofList);
  const ofRevoke = defineCommand({
    arguments: [['<id...>', 'see: notebridge grant list']],
    typed: [sharedOptions.json],
    run: (ids, _, self) => revokeGrants(ids, self.optsWithGlobals()),
  });
  addSubcommand(command, 'revoke', 'end a grant at once, with all that runs for it', ofRevoke);
}

const typed = [
  option('--allow <server:tool>', 'what may be called, with * for any text (repeatable; default: everything)', { parse: collect }),
  option('--ttl <time>', 'how long it lives: 90s, 15m, 8h, 7d', { default: '1h' }),
  option('--calls <number>', 'calls in its whole life', { parse: (text: string) => parseCount('--calls', text) }),
  option('--rate <number/m>', 'calls per minute, as in 60/m', { parse: (text: string) => parseRate(text) }),
  option('--concurrent <number>', 'calls under way at once', { parse: (text: string) => parseCount('--concurrent', text) }),
  option('--read-only', 'only tools that say that they change nothing'),
  option('--door <door>', 'tools (HTTP tool proxy, for code), agent (/mcp) or watch (how the hub is, and its metrics; calls nothing)', {
    choices: ['tools', 'agent', 'watch'],
    default: 'tools',
  }),
  option('--agent', 'the same as --door agent'),
  option('--label <text>', 'for your own lists: who it is for'),
  option('--file <path>', 'write the token there (0600) in place of printing it'),
  option('--keep', 'stay, and renew the token in that file before it ends; when stopped, remove it and revoke the grant'),
  sharedOptions.json,
];

async function runGrant({
  ttl,
  rate: perMinute,
  agent,
  file,
  keep = false,
  json = false,
  ...named
}: OptionsOf<typeof typed>): Promise<void> {
  const terms: GrantTerms = { ...named, ttlMs: parseTime(ttl), perMinute, door: agent === true ? 'agent' : named.door };
  if (file !== undefined) assertKeptOutside(file, 'The file of the token');
  if (!keep) return issueGrant(terms, { file, json });
  if (file === undefined) throw new BridgeError('bad_usage', '--keep renews the token in a file: name one with --file.');
  return keepGrant(terms, { file, json });
}

/** Issues a grant and prints its token alone on stdout, so that a shell can take it; what it may do stands on stderr. */
async function issueGrant(terms: GrantTerms, { file, json }: { file: string | undefined; json: boolean }): Promise<void> {
  const grant = await withGrantDesk(async (desk) => {
    const issued = await desk.issue(terms);
    if (file === undefined) return issued;
    try {
      await writeFileAtomic(file, `${issued.token}\n`, { mode: 0o600, anew: true });
    } catch (error) {
      // A token that was never handed out must open nothing.
      await desk.revoke(issued.id);
      throw error;
    }
    return issued;
  });
  if (json) return printJsonLine({ ...(file === undefined ? { token: grant.token } : { token_file: file }), ...describeGrant(grant) });
  if (file === undefined) process.stdout.write(`${grant.token}\n`);
  say(`${file === undefined ? 'Grant' : `The token is in ${file}. Grant`} ${grant.id}: ${describe(grant)}.`);
}

/** From a signal to the end of `grant --keep`, whatever cannot be written. Milliseconds. */
const endMs = 3000;
/** Nothing else keeps the process: the token's own timer does not. */
const wakeMs = 2 ** 31 - 1;

/**
 * Stays, and renews the token in the file until a signal comes; then the file is removed and the grant revoked. No hub need run: all of the
 * user read the same grants; but in a cluster, whose grants only a hub can reach. Rejects as `GrantStore.issue` does, or with `write_failed`.
 */
async function keepGrant(terms: GrantTerms, { file, json }: { file: string; json: boolean }): Promise<void> {
  const ended = untilSignal(endMs);
  const awake = setInterval(() => {}, wakeMs);
  try {
    await withGrantDesk(async (desk) => {
      let kept: GrantView | undefined;
      const store = {
        issue: async (asked?: GrantTerms) => {
          const issued = await desk.issue(asked);
          kept = issued;
          return issued;
        },
        renew: desk.renew.bind(desk),
        revoke: desk.revoke.bind(desk),
      };
      const rotating = await RotatingToken.open({ store, path: file, terms, logger: stderrLogger });
      try {
        if (kept === undefined) return;
        if (json) printJsonLine({ token_file: file, ...describeGrant(kept) });
        else say(`The token is in ${file}, and is renewed there until this ends. Grant ${kept.id}: ${describe(kept)}.`);
        await ended;
      } finally {
        await rotating.close();
      }
    });
  } finally {
    clearInterval(awake);
  }
}

const warn = (message: string): void => void process.stderr.write(`notebridge: ${message}\n`);
const stderrLogger: Logger = { debug: () => {}, info: () => {}, warn, error: warn };

function say(text: string): void {
  const { stderr } = process;
  stderr.write(`${paintFor(stderr).dim(text)}\n`);
}

/** Prints the live grants; never a token, which is kept nowhere. */
async function listGrants({ json = false }: { json?: boolean }): Promise<void> {
  const grants = await withGrantDesk(async (desk) => desk.list());
  if (json) return printJsonLine({ grants: grants.map(describeGrant) });
  if (grants.length === 0) return void process.stdout.write(asTyped('No grant is live. Issue one with: notebridge grant\n'));
  printTable(['ID', 'DOOR', 'ENDS IN', 'CALLS', 'MAY CALL', 'LABEL'], grants.map(toRow));
}

/** Ends grants. Rejects with `bad_grant` for an id that no grant has which could be revoked; the others are revoked all the same. */
async function revokeGrants(ids: readonly string[], { json = false }: { json?: boolean }): Promise<void> {
  const unknown = await withGrantDesk(async (desk) => {
    const missing: string[] = [];
    for (const id of ids) if (!(await desk.revoke(id))) missing.push(id);
    return missing;
  });
  const revoked = ids.filter((id) => !unknown.includes(id));
  if (json) printJsonLine({ revoked, unknown });
  else for (const id of revoked) process.stdout.write(`Revoked ${id}.\n`);
  if (unknown.length === 0) return;
  const which = unknown.map((id) => `"${id}"`).join(', ');
  throw new BridgeError('bad_grant', `There is no grant ${which} that could be revoked. See the live ones with: notebridge grant list`);
}

function describe({ allow, readOnly, door, expiresAt, calls, perMinute, concurrent }: GrantView): string {
  const limits = [
    ...(calls === undefined ? [] : [`${calls} calls`]),
    ...(perMinute === undefined ? [] : [`${perMinute} a minute`]),
    ...(concurrent === undefined ? [] : [`${concurrent} at once`]),
  ];
  if (door === 'watch') return `shows how the hub is, and calls nothing; ends in ${toDuration(expiresAt - Date.now())}`;
  const what = allow.includes('*:*') ? 'every tool' : allow.join(', ');
  const doorText = door === 'agent' ? 'for an agent at /mcp' : 'for code at the tool proxy';
  return [`${what}${readOnly ? ' that only reads' : ''}`, ...limits, `ends in ${toDuration(expiresAt - Date.now())}`, doorText].join('; ');
}

function toRow({ id, door, expiresAt, used, calls, allow, readOnly, label }: GrantView): string[] {
  const budget = calls === undefined ? `${used}` : `${used}/${calls}`;
  const what = door === 'watch' ? paint.dim('nothing; it watches') : `${allow.join(' ')}${readOnly ? paint.dim(' (read only)') : ''}`;
  return [id, door, toDuration(expiresAt - Date.now()), budget, what, label ?? ''];
}
