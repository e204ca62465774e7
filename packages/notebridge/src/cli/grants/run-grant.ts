import { BridgeError } from '../../core/errors.js';
import { describeGrant } from '../../grants/describe-grant.js';
import type { GrantDoor, GrantTerms, GrantView } from '../../grants/grant.js';
import { assertKeptOutside } from '../../processes/written-rule.js';
import { writeFileAtomic } from '../../state/atomic-file.js';
import { asTyped } from '../own-command.js';
import { type Paint, paintFor, toDuration, toTable } from '../terminal.js';
import { withGrantDesk } from './grant-desk.js';
import { parseCount, parseRate, parseTime } from './parse-terms.js';

export interface IssueOptions {
  allow?: string[];
  ttl: string;
  calls?: string;
  rate?: string;
  concurrent?: string;
  readOnly?: boolean;
  door: GrantDoor;
  agent?: boolean;
  label?: string;
  file?: string;
  keep?: boolean;
  json?: boolean;
}

/** Issues a grant and prints its token alone on stdout, so that a shell can take it; what it may do stands on stderr. */
export async function issueGrant(options: IssueOptions): Promise<void> {
  const terms: GrantTerms = {
    allow: options.allow,
    readOnly: options.readOnly,
    ttlMs: parseTime(options.ttl),
    calls: parseCount('--calls', options.calls),
    perMinute: parseRate(options.rate),
    concurrent: parseCount('--concurrent', options.concurrent),
    door: options.agent === true ? 'agent' : options.door,
    label: options.label,
  };
  const { file } = options;
  if (file !== undefined) assertKeptOutside(file, 'The file of the token');
  if (options.keep === true) return keep(terms, options);
  const { token, ...grant } = await withGrantDesk(async (desk) => {
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
  const { stdout, stderr } = process;
  if (options.json === true) {
    const where = file === undefined ? { token } : { token_file: file };
    return void stdout.write(`${JSON.stringify({ ...where, ...describeGrant(grant) })}\n`);
  }
  if (file === undefined) stdout.write(`${token}\n`);
  const paint = paintFor(stderr);
  stderr.write(`${paint.dim(`${file === undefined ? 'Grant' : `The token is in ${file}. Grant`} ${grant.id}: ${describe(grant)}.`)}\n`);
}

/** Stays, so that the file always holds a token that opens. */
async function keep(terms: GrantTerms, { file, json }: IssueOptions): Promise<void> {
  if (file === undefined) throw new BridgeError('bad_usage', '--keep renews the token in a file: name one with --file.');
  const { keepGrant } = await import('./keep-grant.js');
  const { stdout, stderr } = process;
  await keepGrant({
    terms,
    file,
    onKept: (grant) => {
      if (json === true) return void stdout.write(`${JSON.stringify({ token_file: file, ...describeGrant(grant) })}\n`);
      const text = `The token is in ${file}, and is renewed there until this ends. Grant ${grant.id}: ${describe(grant)}.`;
      stderr.write(`${paintFor(stderr).dim(text)}\n`);
    },
  });
}

/** Prints the live grants; never a token, which is kept nowhere. */
export async function listGrants({ json = false }: { json?: boolean }): Promise<void> {
  const grants = await withGrantDesk((desk) => desk.list());
  const { stdout } = process;
  if (json) return void stdout.write(`${JSON.stringify({ grants: grants.map(describeGrant) })}\n`);
  if (grants.length === 0) return void stdout.write(asTyped('No grant is live. Issue one with: notebridge grant\n'));
  const paint = paintFor(stdout);
  stdout.write(
    toTable(
      ['ID', 'DOOR', 'ENDS IN', 'CALLS', 'MAY CALL', 'LABEL'],
      grants.map((grant) => toRow(grant, paint)),
      { paint, width: stdout.isTTY ? stdout.columns : undefined },
    ),
  );
}

/** Ends grants. Rejects with `bad_grant` for an id that no grant has which could be revoked; the others are revoked all the same. */
export async function revokeGrants(ids: readonly string[], { json = false }: { json?: boolean }): Promise<void> {
  const unknown = await withGrantDesk(async (desk) => {
    const missing: string[] = [];
    for (const id of ids) if (!(await desk.revoke(id))) missing.push(id);
    return missing;
  });
  const revoked = ids.filter((id) => !unknown.includes(id));
  if (json) process.stdout.write(`${JSON.stringify({ revoked, unknown })}\n`);
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

function toRow(grant: GrantView, paint: Paint): string[] {
  const { id, door, expiresAt, used, calls, allow, readOnly, label } = grant;
  const budget = calls === undefined ? `${used}` : `${used}/${calls}`;
  const what = door === 'watch' ? paint.dim('nothing; it watches') : `${allow.join(' ')}${readOnly ? paint.dim(' (read only)') : ''}`;
  return [id, door, toDuration(expiresAt - Date.now()), budget, what, label ?? ''];
}
