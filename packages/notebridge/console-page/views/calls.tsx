import { useEffect, useMemo, useState } from 'preact/hooks';
import { callerOf, hasFailed } from '../call-parts.js';
import { count, digits, oneLine } from '../format.js';
import type { LiveHub } from '../live-hub.js';
import { Nothing, useHub, View } from '../parts.js';
import { hrefOf } from '../route.js';
import type { Call } from '../wire.js';
import { CallTable } from './call-table.js';

interface Filter {
  text: string;
  server: string;
  outcome: string;
}

const outcomes = ['running', 'failed', 'ok'];

/** Every call as it comes, the newest first. */
export function Calls({ hub, query }: { hub: LiveHub; query: URLSearchParams }) {
  useHub(hub);
  const [filter, setFilter] = useState(() => toFilter(query));
  /** While a person reads further down, what is newer than this waits: no row moves under the pointer. */
  const [newestShown, setNewestShown] = useState<number>();
  // The address says what is shown: a link to it, and the way back from a call, show the same.
  useEffect(() => setFilter(toFilter(query)), [query]);
  const change = (changes: Partial<Filter>): void => {
    const next = { ...filter, ...changes };
    setFilter(next);
    setNewestShown(undefined);
    history.replaceState(null, '', toAddress(next));
  };
  const all = hub.calls.newestFirst;
  const found = useMemo(() => all.filter((call) => fits(call, filter)), [all, filter]);
  const shown = useMemo(
    () => (newestShown === undefined ? found : found.filter(({ id }) => Number(id) <= newestShown)),
    [found, newestShown],
  );
  const servers = useMemo(() => [...new Set(all.map(({ server }) => server ?? ''))].filter((name) => name !== '').sort(), [all]);
  return (
    <View title="Calls" beside={<p class="aside">{toCount(shown.length, all.length)}</p>}>
      <search class="filters">
        <label>
          Find{' '}
          <input
            type="search"
            placeholder="tool, caller, outcome, id"
            value={filter.text}
            onInput={(event) => change({ text: event.currentTarget.value })}
          />
        </label>
        <Choice label="Server" all="all" values={servers} value={filter.server} onChange={(server) => change({ server })} />
        <Choice label="Outcome" all="any" values={outcomes} value={filter.outcome} onChange={(outcome) => change({ outcome })} />
      </search>
      {shown.length === 0 ? (
        <Nothing>{all.length === 0 ? 'No call has been made yet.' : 'No call fits. Take a filter away.'}</Nothing>
      ) : (
        <CallTable
          key={toAddress(filter)}
          calls={shown}
          waiting={found.length - shown.length}
          onReading={(isReading) => setNewestShown(isReading ? Number(all[0]?.id ?? 0) : undefined)}
        />
      )}
    </View>
  );
}

function toCount(shown: number, all: number): string {
  return shown === all ? count(all, 'call') : `${digits(shown)} of ${count(all, 'call')}`;
}

interface ChoiceProps {
  label: string;
  all: string;
  values: readonly string[];
  value: string;
  onChange: (value: string) => void;
}

function Choice({ label, all, values, value, onChange }: ChoiceProps) {
  return (
    <label>
      {label}{' '}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{all}</option>
        {/* One that the address names is shown, whether there are such calls or not. */}
        {[...new Set([...values, ...(value === '' ? [] : [value])])].map((name) => (
          <option key={name} value={name}>
            {oneLine(name)}
          </option>
        ))}
      </select>
    </label>
  );
}

function toFilter(query: URLSearchParams): Filter {
  return { text: query.get('text') ?? '', server: query.get('server') ?? '', outcome: query.get('outcome') ?? '' };
}

function toAddress(filter: Filter): string {
  const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== '')).toString();
  return query === '' ? hrefOf('calls') : `${hrefOf('calls')}?${query}`;
}

function fits(call: Call, { text, server, outcome }: Filter): boolean {
  return (server === '' || call.server === server) && (outcome === '' || hasOutcome(call, outcome)) && (text === '' || hasText(call, text));
}

function hasOutcome(call: Call, wanted: string): boolean {
  if (wanted === 'running') return call.state === 'running';
  return wanted === 'failed' ? hasFailed(call) : call.outcome === wanted;
}

function hasText(call: Call, text: string): boolean {
  const { server, tool, outcome, door, call_id: id, caller } = call;
  const wanted = text.toLowerCase();
  return [server, tool, outcome, door, id, caller.grant_id, callerOf(call)].some((part) => part?.toLowerCase().includes(wanted) === true);
}
