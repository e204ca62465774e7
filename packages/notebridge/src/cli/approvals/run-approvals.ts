import { BridgeError } from '../../core/errors.js';
import { printMessage } from '../../core/wire.js';
import type { OwnerBody } from '../../doors/owner/owner-schemas.js';
import { askOwner } from '../client/hub-request.js';
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

/** Lists the calls that wait for their owner, shows one whole, or answers some. Rejects with `closed` without a hub, `bad_params` for an id that none has. */
export async function runApprovals({ show, approve = [], approveSession = [], deny = [], json = false }: ApprovalAnswers): Promise<void> {
  const hub = await findHub();
  if (hub === undefined)
    throw new BridgeError('closed', asTyped('No hub of yours runs, so no call waits for you. One is started by: notebridge serve'));
  const pathOf = (id: string): string => `/approvals/${encodeURIComponent(id)}`;
  if (show !== undefined) return print({ approvals: [await askOwner<'Approval'>(hub, pathOf(show))] }, json);
  const answers = [
    ...approve.map((id) => ({ id, decision: 'once', done: 'Approved' })),
    ...approveSession.map((id) => ({ id, decision: 'session', done: 'Approved for its session' })),
    ...deny.map((id) => ({ id, decision: 'deny', done: 'Denied' })),
  ];
  if (answers.length === 0) return print(await askOwner<'Approvals'>(hub, '/approvals'), json);
  for (const { id, decision, done } of answers) {
    const answered = await askOwner<'Approval'>(hub, pathOf(id), { body: { decision } });
    process.stdout.write(
      json ? `${printMessage({ ...answered, decision })}\n` : `${done}: ${answered.tool} of ${answered.server} (${id}).\n`,
    );
  }
}

/** The texts of the hub hold no character that a terminal would obey. */
function print({ approvals }: OwnerBody<'Approvals'>, json: boolean): void {
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
