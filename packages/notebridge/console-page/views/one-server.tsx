import { useMemo, useState } from 'preact/hooks';
import { clock, count, digits, lines, oneLine } from '../format.js';
import type { LiveHub } from '../live-hub.js';
import { Action, Box, Fact, Fault, Json, Nothing, Section, State, useAnswer, useHub, View } from '../parts.js';
import { hrefOf } from '../route.js';
import { ask, pathOf } from '../session.js';
import type { Server, Tool } from '../wire.js';
import { LogLines } from './log-lines.js';
import { seenAs } from './servers.js';

/** With more tools than this there is a field to find one. */
const mostUnsearched = 12;
/** Tools that are drawn; more are found by their names. */
const mostDrawn = 300;

/** One server: how it is, what it has, and what it said last. */
export function OneServer({ hub, name }: { hub: LiveHub; name: string }) {
  useHub(hub);
  const server = hub.told.servers.find((each) => each.name === name);
  if (server === undefined)
    return (
      <View title={oneLine(name)}>
        <Back />
        <Nothing>{hub.told.connection === 'opening' ? 'Asking the hub …' : 'The hub has no server of this name (any more).'}</Nothing>
      </View>
    );
  const { status, reason, description } = server;
  return (
    <View title={oneLine(name)} beside={<State name={status} />}>
      <Back />
      {description === null ? null : <p>{oneLine(description)}</p>}
      {reason === null ? null : <Box text={lines(reason)} label="Why it is in this state" />}
      <Facts server={server} />
      <Control hub={hub} server={server} />
      <Tools hub={hub} server={server} />
      {hub.isOwner ? <Said server={server} /> : null}
    </View>
  );
}

function Back() {
  return (
    <p class="back">
      <a href={hrefOf('servers')}>All servers</a>
    </p>
  );
}

function Facts({ server: { since, pid, restarts, in_flight: inFlight, expose, name, status } }: { server: Server }) {
  return (
    <dl class="facts">
      <Fact name="Since">{clock(since)}</Fact>
      <Fact name="Process">{pid ?? (status === 'running' ? 'none of this machine' : 'not running')}</Fact>
      <Fact name="Restarts">{digits(restarts)}</Fact>
      <Fact name="Under way">
        <a href={`${hrefOf('calls')}?${new URLSearchParams({ server: name })}`}>{count(inFlight, 'call')}</a>
      </Fact>
      <Fact name="Agents see it">{seenAs[expose] ?? oneLine(expose)}</Fact>
    </dl>
  );
}

function Control({ hub, server: { name, status, is_config: isConfig } }: { hub: LiveHub; server: Server }) {
  if (!hub.isOwner) return null;
  if (!isConfig || status === 'disabled')
    return <p class="soft">{isConfig ? 'It is disabled in the config.' : 'It is built in: there is nothing to start or stop.'}</p>;
  const control = (action: string) => async () => {
    await ask(`/servers${pathOf(name, action)}`, { method: 'POST' });
    await hub.refresh();
  };
  const isDown = status === 'stopped' || status === 'failed';
  return (
    <p class="actions">
      {isDown ? (
        <Action key="start" work={control('start')} kind="main">
          Start
        </Action>
      ) : (
        <Action key="restart" work={control('restart')}>
          Restart
        </Action>
      )}
      {isDown ? null : (
        <Action key="stop" work={control('stop')}>
          Stop
        </Action>
      )}
    </p>
  );
}

function Tools({ hub, server: { name, tools } }: { hub: LiveHub; server: Server }) {
  const [text, setText] = useState('');
  const found = useMemo(() => (tools ?? []).filter((tool) => tool.name.toLowerCase().includes(text.toLowerCase())), [tools, text]);
  const askTools = async (): Promise<void> => {
    await ask(`/servers${pathOf(name)}`);
    await hub.refresh();
  };
  return (
    <Section title="Tools" beside={<span class="soft">{tools === null ? 'not asked for yet' : count(tools.length, 'tool')}</span>}>
      {tools === null && hub.isOwner ? (
        <p class="actions">
          <Action work={askTools}>Start it and ask for its tools</Action>
        </p>
      ) : null}
      {tools !== null && tools.length > mostUnsearched ? (
        <search class="filters">
          <label>
            Find <input type="search" value={text} onInput={(event) => setText(event.currentTarget.value)} />
          </label>
        </search>
      ) : null}
      <div class="tools">
        {found.slice(0, mostDrawn).map((tool) => (
          <OneTool key={tool.name} server={name} tool={tool} mayTry={hub.isOwner} />
        ))}
      </div>
      {found.length > mostDrawn ? <Nothing>{`${count(found.length - mostDrawn, 'more tool')}: find them by their names.`}</Nothing> : null}
    </Section>
  );
}

function OneTool({ server, tool, mayTry }: { server: string; tool: Tool; mayTry: boolean }) {
  // Hundreds of schemas are not drawn before one is looked at.
  const [isOpen, setOpen] = useState(false);
  const { name, description, agent_name: agentName, input_schema: input, output_schema: output, annotations } = tool;
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <b>{oneLine(name)}</b>
        {tool.needs_approval ? <span class="tag">needs approval</span> : null}
        <span class="soft">{oneLine(description?.split('\n', 1)[0] ?? '')}</span>
      </summary>
      {!isOpen ? null : (
        <>
          <p>
            {agentName === null ? 'Agents are not shown it. ' : 'Agents call it '}
            {agentName === null ? null : <code>{oneLine(agentName)}</code>}
          </p>
          {description === null || !description.includes('\n') ? null : <Box text={lines(description)} label="Description" />}
          <h4>What it takes</h4>
          <Json value={input} label="Schema of the arguments" />
          {output === null ? null : (
            <>
              <h4>What it answers</h4>
              <Json value={output} label="Schema of the result" />
            </>
          )}
          {annotations === null ? null : (
            <>
              <h4>What it says of itself</h4>
              <Json value={annotations} label="Annotations" />
            </>
          )}
          {mayTry ? (
            <p class="actions">
              <a class="button" href={hrefOf('try', server, name)}>
                Try it out
              </a>
            </p>
          ) : null}
        </>
      )}
    </details>
  );
}

function Said({ server: { name, status, since } }: { server: Server }) {
  const { value, fault, again } = useAnswer(() => ask<'Log'>(`/logs?limit=60&server=${encodeURIComponent(name)}`), [name, status, since]);
  return (
    <Section
      title="Last lines of its log"
      beside={
        <button type="button" onClick={again}>
          Read again
        </button>
      }
    >
      <Fault text={fault} />
      {value === undefined || value.lines.length === 0 ? <Nothing>Nothing.</Nothing> : <LogLines lines={value.lines} />}
    </Section>
  );
}
