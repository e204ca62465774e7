import { clock, duration, lines, oneLine, pretty, size } from '../format.js';
import type { HubState } from '../hub-state.js';
import type { Call } from '../owner-api.js';
import { Action, Name, Nothing, Section, State, useAnswer, useHub } from '../parts.js';
import { ask } from '../session.js';
import { callerOf, titleOf } from './overview.js';
import { Result } from './result.js';

interface WholeCall extends Call {
  arguments: unknown;
  arguments_left_out?: boolean;
  result: unknown;
  result_left_out?: boolean;
}

/** One call: what was sent and answered, and the calls that its code made. */
export function OneCall({ hub, id }: { hub: HubState; id: string }) {
  useHub(hub);
  const known = hub.calls.find((call) => call.id === id);
  const { value, fault } = useAnswer(() => ask<WholeCall>(`/calls/${encodeURIComponent(id)}`), [id, known?.outcome]);
  const call = value ?? known;
  if (call === undefined) return <Nothing>{fault === undefined ? 'Asking the hub …' : oneLine(fault)}</Nothing>;
  const nested = hub.calls.filter(({ parent }) => parent !== null && parent === call.call_id);
  return (
    <>
      <p class="back">
        <a href="#calls">All calls</a>
      </p>
      <Section title={oneLine(titleOf(call))} beside={<State name={call.outcome ?? 'running'} />}>
        <dl class="facts">
          <dt>By</dt>
          <dd>{oneLine(callerOf(call))}</dd>
          <dt>Door</dt>
          <dd>{call.door}</dd>
          <dt>Began</dt>
          <dd>{clock(call.started_at)}</dd>
          <dt>Took</dt>
          <dd>{call.duration_ms === null ? 'runs' : duration(call.duration_ms)}</dd>
          <dt>Size</dt>
          <dd>
            {size(call.bytes_in)} in, {size(call.bytes_out)} out
          </dd>
          <dt>In the audit</dt>
          <dd>
            <Name text={call.call_id} />
          </dd>
        </dl>
        <p class="actions">
          {call.state === 'running' ? (
            <Action work={() => ask(`/calls/${encodeURIComponent(id)}/cancel`, { method: 'POST' })}>Cancel</Action>
          ) : null}
          {call.server === null || call.tool === null ? null : (
            <a class="button" href={`#try/${encodeURIComponent(call.server)}/${encodeURIComponent(call.tool)}`}>
              Try this tool
            </a>
          )}
        </p>
      </Section>
      {fault === undefined ? null : <Nothing>{oneLine(fault)}</Nothing>}
      {value === undefined ? null : (
        <>
          <Section title="Arguments">
            <Kept value={value.arguments} isLeftOut={value.arguments_left_out} />
          </Section>
          {value.state === 'running' ? null : (
            <Section title="Result">
              {value.result_left_out ? <Kept value={undefined} isLeftOut /> : <Result result={value.result} />}
            </Section>
          )}
        </>
      )}
      {nested.length === 0 ? null : (
        <Section title="Calls of its code">
          <ul class="plain">
            {nested.map((each) => (
              <li key={each.id}>
                <a href={`#calls/${each.id}`}>{oneLine(titleOf(each))}</a> <State name={each.outcome ?? 'running'} />
              </li>
            ))}
          </ul>
        </Section>
      )}
    </>
  );
}

function Kept({ value, isLeftOut = false }: { value: unknown; isLeftOut?: boolean | undefined }) {
  if (isLeftOut) return <Nothing>Not kept: too large, too long ago, or the config keeps nothing.</Nothing>;
  if (value === null || value === undefined) return <Nothing>Nothing.</Nothing>;
  return <pre class="values">{typeof value === 'string' ? lines(value) : pretty(value)}</pre>;
}
