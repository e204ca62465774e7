import { clock, count, duration, lines, oneLine, pretty } from '../format.js';
import type { HubState } from '../hub-state.js';
import type { Server } from '../owner-api.js';
import { Action, Nothing, Section, State, useAnswer, useHub } from '../parts.js';
import { ask } from '../session.js';

/** All servers. */
export function Servers({ hub }: { hub: HubState }) {
  useHub(hub);
  return (
    <Section beside={<span class="count">{count(hub.servers.length, 'server')}</span>}>
      {hub.servers.length === 0 ? (
        <Nothing>The config names none.</Nothing>
      ) : (
        <table>
          <thead>
            <tr>
              <th>Name</th>
              <th>State</th>
              <th class="number">Tools</th>
              <th class="number wide">Under way</th>
              <th class="number wide">Restarts</th>
              <th class="wide">Agents see</th>
              <th>For</th>
            </tr>
          </thead>
          <tbody>
            {hub.servers.map(({ name, status, tools, in_flight: inFlight, restarts, expose, since }) => (
              <tr key={name}>
                <td>
                  <a href={`#servers/${encodeURIComponent(name)}`}>{oneLine(name)}</a>
                </td>
                <td>
                  <State name={status} />
                </td>
                <td class="number">{tools?.length ?? '–'}</td>
                <td class="number wide">{inFlight}</td>
                <td class="number wide">{restarts}</td>
                <td class="wide">{seen[expose]}</td>
                <td>{duration(Math.max(0, Date.now() - since))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Section>
  );
}

const seen = { direct: 'each tool', code: 'by code', none: 'nothing' };

/** One server: how it is, what it has, and what it said last. */
export function OneServer({ hub, name }: { hub: HubState; name: string }) {
  useHub(hub);
  const server = hub.servers.find((each) => each.name === name);
  const logs = useAnswer(
    () => ask<{ lines: LogLine[] }>(`/logs?limit=60&server=${encodeURIComponent(name)}`),
    [name, server?.status, server?.since],
  );
  if (server === undefined) return <Nothing>The config has no server of this name (any more).</Nothing>;
  const path = `/servers/${encodeURIComponent(name)}`;
  const control = (action: string) => () => ask(`${path}/${action}`, { method: 'POST' }).then(() => hub.refresh());
  const { status, reason, pid, restarts, in_flight: inFlight, since, description, is_config: isConfig } = server;
  const isStopped = status === 'stopped' || status === 'failed';
  return (
    <>
      <p class="back">
        <a href="#servers">All servers</a>
      </p>
      <Section title={oneLine(name)} beside={<State name={status} />}>
        {description === null ? null : <p>{oneLine(description)}</p>}
        {reason === null ? null : <pre class="values">{lines(reason)}</pre>}
        <dl class="facts">
          <dt>Since</dt>
          <dd>{clock(new Date(since).toISOString())}</dd>
          <dt>Process</dt>
          <dd>{pid ?? 'none'}</dd>
          <dt>Restarts</dt>
          <dd>{restarts}</dd>
          <dt>Under way</dt>
          <dd>{count(inFlight, 'call')}</dd>
        </dl>
        {!isConfig || status === 'disabled' ? null : (
          <p class="actions">
            {isStopped ? <Action work={control('start')}>Start</Action> : <Action work={control('restart')}>Restart</Action>}
            {isStopped ? null : <Action work={control('stop')}>Stop until it is called</Action>}
          </p>
        )}
      </Section>
      <Tools server={server} ask={() => ask(path).then(() => hub.refresh())} />
      <Section title="What was said last">
        {logs.value === undefined || logs.value.lines.length === 0 ? (
          <Nothing>{logs.fault ?? 'Nothing.'}</Nothing>
        ) : (
          <pre class="values log">{logs.value.lines.map(toText).join('\n')}</pre>
        )}
      </Section>
    </>
  );
}

interface LogLine {
  time: string;
  level: string;
  msg: string;
}

function toText({ time, level, msg }: LogLine): string {
  return `${clock(time)} ${level === 'info' ? '' : `${level}: `}${lines(msg)}`;
}

function Tools({ server: { name, tools }, ask: askTools }: { server: Server; ask: () => Promise<unknown> }) {
  return (
    <Section title="Tools" beside={<span class="count">{tools === null ? 'not asked for yet' : count(tools.length, 'tool')}</span>}>
      {tools === null ? (
        <p class="actions">
          <Action work={askTools}>Ask for its tools</Action>
        </p>
      ) : (
        tools.map((tool) => (
          <details key={tool.name} class="tool">
            <summary>
              <b>{oneLine(tool.name)}</b> {tool.needs_approval ? <State name="asks you" /> : null}
              <span class="about">{oneLine(tool.description?.split('\n', 1)[0] ?? '')}</span>
            </summary>
            <p>
              {tool.agent_name === null ? 'Not listed to agents. ' : `Agents call it ${oneLine(tool.agent_name)}. `}
              <a href={`#try/${encodeURIComponent(name)}/${encodeURIComponent(tool.name)}`}>Try it out</a>
            </p>
            <pre class="values">{lines(tool.description ?? '')}</pre>
            <pre class="values">{pretty(tool.input_schema)}</pre>
          </details>
        ))
      )}
    </Section>
  );
}
