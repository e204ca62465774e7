import { useMemo } from 'preact/hooks';
import { callerOf } from '../call-parts.js';
import { count, digits, oneLine } from '../format.js';
import type { LiveHub } from '../live-hub.js';
import { Section, State } from '../parts.js';
import { hrefOf } from '../route.js';
import type { Call, ClusterReport, HubReport } from '../wire.js';

const mostShown = 8;

/** Who calls, the hub between, and whom it calls, with numbers on it. */
export function Picture({ hub, report }: { hub: LiveHub; report: HubReport }) {
  const calls = hub.calls.newestFirst;
  const callers = useMemo(() => callersOf(calls), [calls]);
  const { servers } = hub.told;
  const running = servers.filter(({ status }) => status === 'running').length;
  return (
    <Section title="Who calls whom">
      <div class="picture">
        <div>
          <h3>Callers</h3>
          {callers.length === 0 ? <p class="soft">Nobody has called yet.</p> : null}
          <ul>
            {callers.slice(0, mostShown).map(({ name, door, calls, running: now }) => (
              <li key={`${name} ${door}`}>
                <a href={`${hrefOf('calls')}?${new URLSearchParams({ text: name })}`}>{name}</a>
                <span class="soft">{door}</span>
                <span class="number">{now > 0 ? `${now} now, ${count(calls, 'call')}` : count(calls, 'call')}</span>
              </li>
            ))}
          </ul>
          <Rest number={callers.length - mostShown} href={hrefOf('calls')} />
        </div>
        <div class="hub">
          <h3>
            Hub <NameOf cluster={report.cluster} />
          </h3>
          <dl>
            <dt>
              <a href={`${hrefOf('calls')}?outcome=running`}>Calls under way</a>
            </dt>
            <dd>{digits(report.calls.running)}</dd>
            <dt>
              <a href={hrefOf('calls')}>Calls made</a>
            </dt>
            <dd>{digits(report.calls.made)}</dd>
            <dt>
              <a href={`${hrefOf('calls')}?outcome=failed`}>Calls failed</a>
            </dt>
            <dd>{digits(report.calls.failed)}</dd>
            <dt>{hub.isOwner ? <a href={hrefOf('grants')}>Live grants</a> : 'Live grants'}</dt>
            <dd>{digits(report.grants)}</dd>
          </dl>
          <OfCluster cluster={report.cluster} />
          <p class="soft">{report.code_mode ? 'Code mode: agents write code that calls tools.' : 'Agents call tools one by one.'}</p>
        </div>
        <div>
          <h3>
            Servers{' '}
            <span class="soft">
              {running} of {servers.length} running
            </span>
          </h3>
          {servers.length === 0 ? (
            <p class="soft">
              {report.config_file === null ? 'The hub was started without a config.' : `${oneLine(report.config_file)} names none.`}
            </p>
          ) : null}
          <ul>
            {[...servers]
              .sort((one, other) => other.in_flight - one.in_flight)
              .slice(0, mostShown)
              .map(({ name, status, in_flight: inFlight }) => (
                <li key={name}>
                  <a href={hrefOf('servers', name)}>{oneLine(name)}</a>
                  <State name={status} />
                  <span class="number">{inFlight === 0 ? '' : `${inFlight} under way`}</span>
                </li>
              ))}
          </ul>
          <Rest number={servers.length - mostShown} href={hrefOf('servers')} />
        </div>
      </div>
    </Section>
  );
}

function NameOf({ cluster }: { cluster: ClusterReport | undefined }) {
  const name = cluster?.hubs.find(({ is_this: isThis }) => isThis)?.name;
  return name === undefined ? null : <span class="soft">{oneLine(name)}</span>;
}

function OfCluster({ cluster }: { cluster: ClusterReport | undefined }) {
  if (cluster === undefined) return null;
  const { name, hubs } = cluster;
  return (
    <p class="soft">
      One of <a href={hrefOf('hubs')}>{count(hubs.length, 'hub')}</a> in the cluster {oneLine(name)}.
    </p>
  );
}

function Rest({ number, href }: { number: number; href: string }) {
  return number <= 0 ? null : <a href={href}>{number} more</a>;
}

interface CallerCount {
  name: string;
  door: string;
  calls: number;
  running: number;
}

/** Of the calls that this page knows, the most active first. Nested calls are their parent's. */
function callersOf(calls: readonly Call[]): CallerCount[] {
  const found = new Map<string, CallerCount>();
  for (const call of calls) {
    if (call.parent !== null) continue;
    const name = callerOf(call);
    const key = `${name}\0${call.door}`;
    const known = found.get(key) ?? { name, door: oneLine(call.door), calls: 0, running: 0 };
    found.set(key, known);
    known.calls++;
    if (call.state === 'running') known.running++;
  }
  return [...found.values()].sort((one, other) => other.running - one.running || other.calls - one.calls);
}
