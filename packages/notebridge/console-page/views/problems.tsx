import { hasFailed, titleOf } from '../call-parts.js';
import { count, duration, lines, oneLine } from '../format.js';
import type { LiveHub } from '../live-hub.js';
import { Action, Box, Section, State } from '../parts.js';
import { hrefOf } from '../route.js';
import { ask, pathOf } from '../session.js';
import type { Call, ServerState } from '../wire.js';
import { ClusterTrouble } from './cluster-trouble.js';

/** So far back a tool that fails counts as a problem of now. Milliseconds. */
const recentMs = 10 * 60_000;
/** One that fails once may have been called wrongly. */
const often = 3;
const mostTools = 4;

/** What is wrong, each with its next step. */
export function Problems({ hub }: { hub: LiveHub }) {
  const broken = hub.told.servers.filter(({ status, starting_late: isLate }) => status === 'failed' || status === 'restarting' || isLate);
  const failing = failingTools(hub.calls.newestFirst);
  const configFault = hub.told.report?.config_fault ?? null;
  const cluster = hub.told.report?.cluster;
  if (broken.length + failing.length === 0 && configFault === null && (cluster?.text ?? null) === null)
    return (
      <p class="well">
        <State name="ok" /> <span class="soft">No server is down, and no tool keeps failing.</span>
      </p>
    );
  return (
    <Section title="Not as it should be">
      <ul class="cards">
        {configFault === null ? null : <BrokenConfig text={configFault} />}
        <ClusterTrouble cluster={cluster} href={hrefOf('hubs')} />
        {broken.map((server) => (
          <Broken key={server.name} server={server} hub={hub} />
        ))}
        {failing.slice(0, mostTools).map((failed) => (
          <Failing key={titleOf(failed.last)} {...failed} />
        ))}
      </ul>
    </Section>
  );
}

function BrokenConfig({ text }: { text: string }) {
  return (
    <li class="card" data-tone="bad">
      <h3>
        The config file <State name="not used" />
      </h3>
      <Box text={lines(text)} label="Why the config is not used" />
      <p class="soft">What held before the edit goes on. Mend the file: it is read again at once.</p>
      <p class="actions">
        <a class="button" href={hrefOf('servers')}>
          Each fault with its line
        </a>
      </p>
    </li>
  );
}

function Broken({ server: { name, status, since, reason, restarts, starting_late: isLate }, hub }: { server: ServerState; hub: LiveHub }) {
  const restart = async (): Promise<void> => {
    await ask(`/servers${pathOf(name, 'restart')}`, { method: 'POST' });
    await hub.refresh();
  };
  return (
    <li class="card" data-tone="bad">
      <h3>
        {oneLine(name)} <State name={status} />
      </h3>
      {reason === null ? null : <Box text={lines(reason)} label={`Why ${oneLine(name)} is down`} />}
      <p class="soft">
        {isLate ? `Starting for ${duration(Date.now() - since)}, longer than it usually takes. ` : ''}
        {restarts === 0 ? '' : `Started again ${count(restarts, 'time')} by itself. `}
        {hub.isOwner ? 'Look at what it said last; when the cause is gone, restart it.' : ''}
      </p>
      <p class="actions">
        {hub.isOwner ? (
          <Action work={restart} kind="main">
            Restart
          </Action>
        ) : null}
        <a class="button" href={hrefOf('servers', name)}>
          {hub.isOwner ? 'What it said' : 'Open it'}
        </a>
      </p>
    </li>
  );
}

interface FailingTool {
  last: Call;
  failed: number;
  made: number;
}

/** Tools of which most calls failed lately. */
function failingTools(newestFirst: readonly Call[]): FailingTool[] {
  const since = Date.now() - recentMs;
  const tools = new Map<string, FailingTool>();
  for (const call of newestFirst) {
    if (Date.parse(call.started_at) < since) break;
    // A person's own no is no fault, and neither is a refusal that works as it should.
    if (call.outcome === null || ['cancelled', 'denied', 'not_approved'].includes(call.outcome)) continue;
    const key = titleOf(call);
    const known = tools.get(key) ?? { last: call, failed: 0, made: 0 };
    tools.set(key, known);
    known.made++;
    if (hasFailed(call)) known.failed++;
  }
  return [...tools.values()]
    .filter(({ failed, made }) => failed >= often && failed * 2 >= made)
    .sort((one, other) => other.failed - one.failed);
}

function Failing({ last, failed, made }: FailingTool) {
  const text = new URLSearchParams({ text: last.tool ?? '', outcome: 'failed' });
  return (
    <li class="card" data-tone="bad">
      <h3>{titleOf(last)}</h3>
      <p class="soft">
        {failed} of its last {count(made, 'call')} failed within ten minutes, the newest with “{oneLine(last.outcome ?? '')}”.
      </p>
      <p class="actions">
        <a class="button" href={hrefOf('calls', last.id)}>
          Open a call that failed
        </a>
        <a class="button" href={`${hrefOf('calls')}?${text}`}>
          All of them
        </a>
      </p>
    </li>
  );
}
