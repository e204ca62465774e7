import type { OwnerBody } from '../../doors/owner/owner-schemas.js';
import { collect, sharedOptions } from '../command-options.js';
import { defineCommand, type OptionsOf, option } from '../define-command.js';
import { askOwner } from '../hub/hub-request.js';
import { ownHub } from '../hub/own-hub.js';
import { asTyped } from '../own-command.js';
import { paint, printJsonLine, toDuration } from '../terminal.js';

const typed = [
  option('--show <id>', 'show this call with its arguments whole'),
  option('--approve <id>', 'let this call be made (repeatable)', { parse: collect }),
  option('--approve-session <id>', 'let it be made, and further calls of the same tool in the same session (repeatable)', {
    parse: collect,
  }),
  option('--deny <id>', 'refuse it (repeatable)', { parse: collect }),
  sharedOptions.json,
];

/** `notebridge approvals`: the calls that wait for their owner. */
export const approvalsCommand = defineCommand({ typed, run: runApprovals });

/** Lists the calls that wait for their owner, shows one whole, or answers some. Rejects with `closed` without a hub, `bad_params` for an id that none has. */
async function runApprovals({ show, approve = [], approveSession = [], deny = [], json = false }: OptionsOf<typeof typed>): Promise<void> {
  const hub = await ownHub(', so no call waits for you');
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
    if (json) printJsonLine({ ...answered, decision });
    else process.stdout.write(`${done}: ${answered.tool} of ${answered.server} (${id}).\n`);
  }
}

/** The texts of the hub hold no character that a terminal would obey. */
function print({ approvals }: OwnerBody<'Approvals'>, json: boolean): void {
  const { stdout } = process;
  if (json) return printJsonLine({ approvals });
  if (approvals.length === 0) return void stdout.write('No call waits for your approval.\n');
  for (const { id, server, tool, arguments: args, caller, ends_at: endsAt } of approvals) {
    const left = toDuration(Date.parse(endsAt) - Date.now());
    stdout.write(`${paint.bold(id)}  ${tool} of ${server}, for ${caller}; refused in ${left}\n${args}\n\n`);
  }
  stdout.write(
    asTyped(
      'notebridge approvals --show ID (all of its arguments), --approve ID, --approve-session ID (this tool, as long as the session lasts) or --deny ID\n',
    ),
  );
}
