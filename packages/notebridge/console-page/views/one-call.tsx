import { CallLink, callerOf, Outcome, titleOf } from '../call-parts.js';
import { clock, duration, lines, oneLine, size } from '../format.js';
import type { LiveHub } from '../live-hub.js';
import { Action, Box, Fact, Fault, Json, Nothing, Section, useAnswer, useHub, View } from '../parts.js';
import { hrefOf } from '../route.js';
import { ask, pathOf } from '../session.js';
import type { Call } from '../wire.js';
import { LogLines } from './log-lines.js';
import { Result } from './result.js';

/** One call: what was sent and answered, the calls that its code made, and what was logged of it. */
export function OneCall({ hub, id }: { hub: LiveHub; id: string }) {
  useHub(hub);
  const known = hub.calls.find(id);
  const { isOwner } = hub;
  const { value, fault } = useAnswer(
    async () => (isOwner ? ask<'WholeCall'>(`/calls${pathOf(id)}`) : undefined),
    [id, known?.state, isOwner],
  );
  const call: Call | undefined = known ?? value;
  if (call === undefined)
    return (
      <View title="Call">
        <Back />
        {fault === undefined ? <Nothing>Asking the hub …</Nothing> : <Fault text={fault} />}
      </View>
    );
  return (
    <View title={titleOf(call)} beside={<Outcome call={call} />}>
      <Back />
      <Facts call={call} />
      {isOwner ? <Actions call={call} /> : null}
      <Fault text={fault} />
      {value === undefined ? null : (
        <>
          <Section title="Arguments" beside={<span class="soft">{size(value.bytes_in)}</span>}>
            {value.arguments_left_out ? <NotKept /> : <Sent value={value.arguments} />}
          </Section>
          {value.state === 'running' ? null : (
            <Section title="Result" beside={<span class="soft">{size(value.bytes_out)}</span>}>
              {value.error === null ? null : <Fault text={value.error} />}
              {value.result_left_out ? <NotKept /> : value.error === null ? <Result result={value.result} /> : null}
            </Section>
          )}
        </>
      )}
      <Nested hub={hub} call={call} />
      {isOwner ? <Logged call={call} /> : null}
    </View>
  );
}

function Actions({ call: { id, state, server, tool } }: { call: Call }) {
  return (
    <p class="actions">
      {state === 'running' ? <Action work={() => ask(`/calls${pathOf(id, 'cancel')}`, { method: 'POST' })}>Cancel this call</Action> : null}
      {server === null || tool === null ? null : (
        <a class="button" href={`${hrefOf('try', server, tool)}?${new URLSearchParams({ call: id })}`}>
          Try this tool out
        </a>
      )}
    </p>
  );
}

function Back() {
  return (
    <p class="back">
      <a href={hrefOf('calls')}>All calls</a>
    </p>
  );
}

function Facts({ call }: { call: Call }) {
  const { caller, door, started_at: startedAt, duration_ms: tookMs, call_id: id } = call;
  return (
    <dl class="facts">
      <Fact name="Caller">
        {callerOf(call)} <span class="soft">({[caller.kind, caller.grant_id].filter((part) => part !== null).join(' ')})</span>
      </Fact>
      <Fact name="Door">{oneLine(door)}</Fact>
      <Fact name="Began">{clock(startedAt)}</Fact>
      <Fact name="Took">{tookMs === null ? 'not over' : duration(tookMs)}</Fact>
      <Fact name="In the audit">
        <code>{oneLine(id)}</code>
      </Fact>
    </dl>
  );
}

function NotKept() {
  return <Nothing>Not kept: it was too large or is too long ago, or the config has the hub keep none.</Nothing>;
}

function Sent({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <Nothing>None.</Nothing>;
  return typeof value === 'string' ? <Box text={lines(value)} label="Arguments" /> : <Json value={value} label="Arguments" />;
}

/** The calls that the code of this one made, and whose code made this one. */
function Nested({ hub, call }: { hub: LiveHub; call: Call }) {
  const all = hub.calls.newestFirst;
  const inside = all.filter(({ parent }) => parent !== null && parent === call.call_id).reverse();
  const parent = call.parent === null ? undefined : all.find(({ call_id: id }) => id === call.parent);
  return (
    <>
      {parent === undefined ? null : (
        <Section title="Made by the code of">
          <p>
            <CallLink call={parent} /> <Outcome call={parent} />
          </p>
        </Section>
      )}
      {inside.length === 0 ? null : (
        <Section title="Calls that its code made">
          <ul class="rows">
            {inside.map((each) => (
              <li key={each.id}>
                <CallLink call={each} /> <Outcome call={each} />
                <span class="number">{each.duration_ms === null ? '' : duration(each.duration_ms)}</span>
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

function Logged({ call: { call_id: id, state } }: { call: Call }) {
  const { value } = useAnswer(() => ask<'Log'>(`/logs?limit=100&call=${encodeURIComponent(id)}`), [id, state]);
  if (value === undefined || value.lines.length === 0) return null;
  return (
    <Section title="Logged">
      <LogLines lines={value.lines} />
    </Section>
  );
}
