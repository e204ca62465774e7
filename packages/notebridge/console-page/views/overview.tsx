import { clock, count, duration, lines, oneLine } from '../format.js';
import type { HubState } from '../hub-state.js';
import type { Approval, Call, Server } from '../owner-api.js';
import { Action, Name, Nothing, Section, State, useHub } from '../parts.js';
import { ask } from '../session.js';

const mostFailed = 8;

/** The hub at a glance: what is wrong stands first, with what to do about it. */
export function Overview({ hub }: { hub: HubState }) {
  useHub(hub);
  const { status, servers, approvals, calls } = hub;
  if (status === undefined) return <Nothing>Asking the hub …</Nothing>;
  const broken = servers.filter(({ status: state }) => state === 'failed' || state === 'restarting');
  const failed = calls.filter(({ outcome }) => outcome !== null && outcome !== 'ok').slice(0, mostFailed);
  const running = servers.filter(({ status: state }) => state === 'running').length;
  return (
    <>
      {approvals.length === 0 ? null : (
        <Section title="Waits for you">
          {approvals.map((approval) => (
            <Waiting key={approval.id} approval={approval} />
          ))}
        </Section>
      )}
      {broken.length === 0 ? null : (
        <Section title="Not as it should be">
          {broken.map((server) => (
            <Broken key={server.name} server={server} />
          ))}
        </Section>
      )}
      <Section title="The hub">
        <ol class="glance">
          <li>
            <a href="#grants">
              <b>{status.grants}</b> {status.grants === 1 ? 'grant' : 'grants'} live
            </a>
            <span>agents and code call with them</span>
          </li>
          <li>
            <a href="#calls">
              <b>{status.calls.running}</b> under way
            </a>
            <span>
              {count(status.calls.made, 'call')} made, {status.calls.failed.toLocaleString('en')} failed
            </span>
          </li>
          <li>
            <a href="#servers">
              <b>{running}</b> of {count(servers.length, 'server')} running
            </a>
            <span>{status.code_mode ? 'agents call them by code' : 'their tools are listed to agents'}</span>
          </li>
        </ol>
        <p class="facts">
          Version {status.version}, process {status.pid}, since {clock(status.started_at)}.{' '}
          {status.config_file === null ? 'No config.' : <>Config: {<Name text={status.config_file} />}</>}
        </p>
      </Section>
      <Section title="Failed last" beside={<a href="#calls?outcome=failed">All that failed</a>}>
        {failed.length === 0 ? <Nothing>No call has failed.</Nothing> : <FailedCalls calls={failed} />}
      </Section>
    </>
  );
}

function Waiting({ approval: { id, server, tool, arguments: args, caller, ends_at: endsAt } }: { approval: Approval }) {
  const decide = (decision: string) => () => ask(`/approvals/${encodeURIComponent(id)}`, { body: { decision } });
  return (
    <article class="card" data-state="waiting">
      <h3>
        {oneLine(tool)} of {oneLine(server)}
      </h3>
      <pre class="values">{lines(args)}</pre>
      <p>
        For {oneLine(caller)}. Refused at {clock(endsAt)}.
      </p>
      <p class="actions">
        <Action work={decide('once')} kind="main">
          Allow once
        </Action>
        <Action work={decide('session')}>Allow in this session</Action>
        <Action work={decide('deny')}>Deny</Action>
      </p>
    </article>
  );
}

function Broken({ server: { name, status, reason } }: { server: Server }) {
  return (
    <article class="card" data-state={status}>
      <h3>
        <a href={`#servers/${encodeURIComponent(name)}`}>{oneLine(name)}</a> <State name={status} />
      </h3>
      <pre class="values">{lines(reason ?? 'No reason is known.')}</pre>
      <p class="actions">
        <Action work={() => ask(`/servers/${encodeURIComponent(name)}/restart`, { method: 'POST' })}>Start it again</Action>
      </p>
    </article>
  );
}

function FailedCalls({ calls }: { calls: readonly Call[] }) {
  return (
    <table>
      <thead>
        <tr>
          <th>Tool</th>
          <th>Outcome</th>
          <th class="wide">By</th>
          <th>When</th>
        </tr>
      </thead>
      <tbody>
        {calls.map((call) => (
          <tr key={call.id}>
            <td>
              <a href={`#calls/${call.id}`}>{oneLine(titleOf(call))}</a>
            </td>
            <td>
              <State name={call.outcome ?? 'running'} />
            </td>
            <td class="wide">{oneLine(callerOf(call))}</td>
            <td>{duration(Date.now() - Date.parse(call.started_at))} ago</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What was called. */
export function titleOf({ server, tool, method }: Call): string {
  return [server, tool].filter((part) => part !== null && part !== '').join(' · ') || method;
}

/** Who called. */
export function callerOf({ caller: { label, client, grant_id: grant, kind } }: Call): string {
  return label ?? client ?? grant ?? kind;
}
