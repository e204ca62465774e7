import { clock, digits, oneLine } from '../format.js';
import { CertainAction, Head, Nothing } from '../parts.js';
import { hrefOf } from '../route.js';
import { ask, pathOf } from '../session.js';
import type { Agent } from '../wire.js';

const columns = {
  Agent: '',
  'Came by': '',
  Since: 'number wide',
  'Last call': 'number wide',
  'Under way': 'number wide',
  Disconnect: 'unseen',
};

const doors: { readonly [door: string]: string } = { stdio: 'stdio', http: 'HTTP', library: 'library' };

interface AgentTableProps {
  agents: readonly Agent[];
  onDone: () => void;
}

/** The agents that are connected, those that came last first. */
export function AgentTable({ agents, onDone }: AgentTableProps) {
  if (agents.length === 0)
    return (
      <Nothing>
        No agent is connected to this hub. <a href={hrefOf('connect')}>Connect one</a>
      </Nothing>
    );
  return (
    <table>
      <Head columns={columns} />
      <tbody>
        {agents.map((agent) => (
          <Row key={agent.id} agent={agent} onDone={onDone} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ agent, onDone }: { agent: Agent; onDone: () => void }) {
  const { names, door, era, since, last_call: lastCall, in_flight: inFlight } = agent;
  return (
    <tr>
      <th scope="row">
        {names.length === 0 ? 'It has not said who it is' : names.map(oneLine).join(', ')}
        <span class="soft id">{whoOf(agent)}</span>
      </th>
      <td>
        {doors[door] ?? oneLine(door)} <span class="soft">{era === null ? '' : oneLine(era)}</span>
      </td>
      <td class="number wide">{clock(since)}</td>
      <td class="number wide">{lastCall === null ? '–' : clock(lastCall)}</td>
      <td class="number wide">{digits(inFlight)}</td>
      <td>
        <Ways agent={agent} onDone={onDone} />
      </td>
    </tr>
  );
}

function whoOf({ kind, label, grant_id: grant }: Agent): string {
  if (grant === null) return kind === 'owner' ? 'you, the owner' : 'anybody (--no-auth)';
  return `grant ${oneLine(label ?? grant)}`;
}

/** How this agent is kept out: its session ends, its grant does, or the reason why neither is possible. */
function Ways({ agent: { id, grant_id: grant, can_disconnect: can, instead }, onDone }: { agent: Agent; onDone: () => void }) {
  const end = (path: string) => async () => {
    await ask(path, { method: 'DELETE' });
    onDone();
  };
  return (
    <>
      <div class="actions">
        {can ? (
          <CertainAction work={end(`/agents${pathOf(id)}`)} question="Disconnect it now">
            Disconnect
          </CertainAction>
        ) : null}
        {grant !== null ? (
          <CertainAction work={end(`/grants${pathOf(grant)}`)} question="Revoke its grant now">
            Revoke its grant
          </CertainAction>
        ) : null}
      </div>
      {instead === null ? null : (
        <details class="why">
          <summary>Why not disconnect?</summary>
          <p>{instead}</p>
        </details>
      )}
    </>
  );
}
