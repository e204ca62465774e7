import { clock, count, lines, oneLine } from '../format.js';
import type { LiveHub } from '../live-hub.js';
import { Action, Box, Section } from '../parts.js';
import { ask, pathOf } from '../session.js';
import type { Approval } from '../wire.js';

/** The calls that wait for the person before this page. */
export function Approvals({ hub }: { hub: LiveHub }) {
  const { approvals } = hub.told;
  return (
    <>
      <p class="unseen" role="status">
        {approvals.length === 0 ? '' : `${count(approvals.length, 'call')} waiting for your approval`}
      </p>
      {approvals.length === 0 ? null : (
        <Section title="Waiting for your approval">
          <ul class="cards">
            {approvals.map((approval) => (
              <Waiting key={approval.id} approval={approval} hub={hub} />
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

function Waiting({ approval: { id, server, tool, arguments: args, caller, ends_at: endsAt }, hub }: { approval: Approval; hub: LiveHub }) {
  const decide = (decision: string) => async () => {
    await ask(`/approvals${pathOf(id)}`, { method: 'POST', body: { decision } });
    await hub.refreshApprovals();
  };
  return (
    <li class="card" data-tone="busy">
      <h3>
        {oneLine(tool)} <span class="soft">of {oneLine(server)}</span>
      </h3>
      <p class="soft">
        Asked for by {oneLine(caller)}. Refused by itself at {clock(endsAt)}.
      </p>
      <Box text={lines(args)} label="Arguments" />
      <p class="actions">
        <Action work={decide('once')} kind="main">
          Allow once
        </Action>
        <Action work={decide('session')}>Allow for this session</Action>
        <Action work={decide('deny')}>Deny</Action>
      </p>
    </li>
  );
}
