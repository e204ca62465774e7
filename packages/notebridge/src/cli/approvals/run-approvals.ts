import type { JsonObject } from '@notebridge/kit/json';
import { BridgeError } from '../../core/errors.js';
import { printMessage } from '../../core/wire.js';
import { ownerPrefix } from '../../doors/owner/owner-door.js';
import { askHub } from '../client/hub-request.js';
import { findHub } from '../client/open-source.js';
import { asTyped } from '../own-command.js';
import { paintFor, toDuration } from '../terminal.js';

export interface ApprovalAnswers {
  show?: string;
  approve?: string[];
  approveSession?: string[];
  deny?: string[];
  json?: boolean;
}

/** A call that waits, as the hub prints it: its texts hold no character that a terminal would obey. */
interface Waiting {
  id: string;
  server: string;
  tool: string;
  arguments: string;
  caller: string;
  ends_at: string;
}

const askMs = 10_000;
const prefix = `${ownerPrefix}/approvals`;

/** Lists the calls that wait for their owner, shows one whole, or answers some. Rejects with `closed` without a hub, `bad_params` for an id that none has. */
export async function runApprovals({ show, approve = [], approveSession = [], deny = [], json = false }: ApprovalAnswers): Promise<void> {
  const hub = await findHub();
  if (hub === undefined)
    throw new BridgeError('closed', asTyped('No hub of yours runs, so no call waits for you. One is started by: notebridge serve'));
  const { url, token } = hub;
  if (show !== undefined) {
    const whole = (await askHub(url, { path: `${prefix}/${encodeURIComponent(show)}`, token, timeoutMs: askMs })) as unknown as Waiting;
    return print({ approvals: [whole] }, json);
  }
  const answers = [
    ...approve.map((id) => ({ id, decision: 'once', done: 'Approved' })),
    ...approveSession.map((id) => ({ id, decision: 'session', done: 'Approved for its session' })),
    ...deny.map((id) => ({ id, decision: 'deny', done: 'Denied' })),
  ];
  if (answers.length === 0) return print((await askHub(url, { path: prefix, token, timeoutMs: askMs })) as { approvals: Waiting[] }, json);
  for (const { id, decision, done } of answers) {
    const path = `${prefix}/${encodeURIComponent(id)}`;
    const answered = (await askHub(url, { path, token, body: { decision }, timeoutMs: askMs })) as JsonObject;
    process.stdout.write(
      json ? `${printMessage({ ...answered, decision })}\n` : `${done}: ${answered.tool} of ${answered.server} (${id}).\n`,
    );
  }
}

function print({ approvals }: { approvals: Waiting[] }, json: boolean): void {
  const { stdout } = process;
  if (json) return void stdout.write(`${printMessage({ approvals })}\n`);
  if (approvals.length === 0) return void stdout.write('No call waits for your approval.\n');
  const paint = paintFor(stdout);
  for (const { id, server, tool, arguments: args, caller, ends_at: endsAt } of approvals) {
    const left = toDuration(Math.max(0, Date.parse(endsAt) - Date.now()));
    stdout.write(`${paint.bold(id)}  ${tool} of ${server}, for ${caller}; refused in ${left}\n${args}\n\n`);
  }
  stdout.write(
    asTyped(
      'notebridge approvals --show ID (all of its arguments), --approve ID, --approve-session ID (this tool, as long as the session lasts) or --deny ID\n',
    ),
  );
}
