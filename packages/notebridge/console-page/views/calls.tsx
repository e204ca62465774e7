import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { clock, count, duration, oneLine } from '../format.js';
import type { HubState } from '../hub-state.js';
import type { Call } from '../owner-api.js';
import { Nothing, Section, State, useHub } from '../parts.js';
import { callerOf, titleOf } from './overview.js';

/** Of a row, as the style sheet has it. Pixels. */
const rowHeight = 34;
/** Rows that are drawn beyond what is seen, on each side. */
const spare = 12;
const outcomes = ['all', 'running', 'failed', 'ok'] as const;
type Outcome = (typeof outcomes)[number];

/** Every call as it comes, the newest first. */
export function Calls({ hub, query }: { hub: HubState; query: URLSearchParams }) {
  useHub(hub);
  const [text, setText] = useState(query.get('text') ?? '');
  const [outcome, setOutcome] = useState<Outcome>((query.get('outcome') as Outcome) ?? 'all');
  // While it stands still, what comes waits: a row must not move under the pointer.
  const [still, setStill] = useState<readonly Call[]>();
  const all = still ?? hub.calls;
  const shown = useMemo(() => all.filter((call) => hasOutcome(call, outcome) && hasText(call, text)), [all, text, outcome]);
  return (
    <Section
      beside={
        <form class="filters" onSubmit={(event) => event.preventDefault()}>
          <label>
            <span class="unseen-label">Find</span>
            <input
              type="search"
              placeholder="Tool, server, caller …"
              value={text}
              onInput={(event) => setText(event.currentTarget.value)}
            />
          </label>
          <label>
            <span class="unseen-label">Outcome</span>
            <select value={outcome} onChange={(event) => setOutcome(event.currentTarget.value as Outcome)}>
              {outcomes.map((name) => (
                <option key={name} value={name}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <button type="button" aria-pressed={still !== undefined} onClick={() => setStill(still === undefined ? hub.calls : undefined)}>
            {still === undefined ? 'Hold still' : 'Go on'}
          </button>
          <span class="count">{count(shown.length, 'call')}</span>
        </form>
      }
    >
      {shown.length === 0 ? <Nothing>No such call yet.</Nothing> : <Table calls={shown} />}
    </Section>
  );
}

/** Draws only the rows that are seen, however many there are. */
function Table({ calls }: { calls: readonly Call[] }) {
  const place = useRef<HTMLElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  const measure = (): void => setView({ top: place.current?.scrollTop ?? 0, height: place.current?.clientHeight ?? 800 });
  useEffect(() => {
    const watch = new ResizeObserver(measure);
    if (place.current !== null) watch.observe(place.current);
    measure();
    return () => watch.disconnect();
  }, []);
  const first = Math.max(0, Math.floor(view.top / rowHeight) - spare);
  const end = Math.min(calls.length, Math.ceil((view.top + view.height) / rowHeight) + spare);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard.
    <section class="scroll" ref={place} onScroll={measure} tabIndex={0} aria-label="List of calls">
      <table aria-rowcount={calls.length + 1}>
        <thead>
          <tr>
            <th>Tool</th>
            <th>Outcome</th>
            <th class="number">Took</th>
            <th class="wide">By</th>
            <th class="wide">Door</th>
            <th>At</th>
          </tr>
        </thead>
        <tbody>
          <Gap rows={first} />
          {calls.slice(first, end).map((call, at) => (
            <Row key={call.id} call={call} index={first + at + 2} />
          ))}
          <Gap rows={calls.length - end} />
        </tbody>
      </table>
    </section>
  );
}

function Row({ call, index }: { call: Call; index: number }) {
  return (
    <tr aria-rowindex={index}>
      <td class={call.parent === null ? undefined : 'nested'}>
        <a href={`#calls/${call.id}`}>{oneLine(titleOf(call))}</a>
      </td>
      <td>
        <State name={call.outcome ?? 'running'} />
      </td>
      <td class="number">{call.duration_ms === null ? '…' : duration(call.duration_ms)}</td>
      <td class="wide">{oneLine(callerOf(call))}</td>
      <td class="wide">{call.door}</td>
      <td>{clock(call.started_at)}</td>
    </tr>
  );
}

/** In place of rows that are not drawn. */
function Gap({ rows }: { rows: number }) {
  const place = useRef<HTMLTableRowElement>(null);
  useEffect(() => {
    // Set by script: the page allows no style in an attribute.
    if (place.current !== null) place.current.style.height = `${rows * rowHeight}px`;
  }, [rows]);
  return <tr class="gap" ref={place} />;
}

function hasOutcome({ outcome }: Call, wanted: Outcome): boolean {
  if (wanted === 'all') return true;
  if (wanted === 'running') return outcome === null;
  return wanted === 'failed' ? outcome !== null && outcome !== 'ok' : outcome === wanted;
}

function hasText(call: Call, text: string): boolean {
  if (text === '') return true;
  const { server, tool, outcome, door, call_id: id, caller } = call;
  const wanted = text.toLowerCase();
  return [server, tool, outcome, door, id, caller.label, caller.client, caller.grant_id, caller.kind].some(
    (part) => part?.toLowerCase().includes(wanted) === true,
  );
}
