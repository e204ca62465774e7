import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { CallLink, callerOf, Outcome } from '../call-parts.js';
import { clock, count, duration, oneLine } from '../format.js';
import { Head } from '../parts.js';
import type { Call } from '../wire.js';

const columns = { Tool: '', Outcome: '', Took: 'number', Caller: 'wide', Door: 'wide', Began: 'number wide' };

/** Of a row, as the style sheet has it. Pixels. */
const rowHeight = 34;
/** Rows that are drawn beyond those that are seen, on each side. */
const spare = 12;

interface CallTableProps {
  calls: readonly Call[];
  /** Newer calls that are not among them. */
  waiting: number;
  /** The person has left the top of the list, or is back. */
  onReading: (isReading: boolean) => void;
}

/** Draws only the rows that are seen, however many there are. */
export function CallTable({ calls, waiting, onReading }: CallTableProps) {
  const place = useRef<HTMLElement>(null);
  const isReading = useRef(false);
  const [seen, setSeen] = useState({ top: 0, height: 800 });
  const measure = (): void => {
    const { scrollTop = 0, clientHeight = 800 } = place.current ?? {};
    setSeen({ top: scrollTop, height: clientHeight });
    const now = scrollTop > rowHeight / 2;
    if (now === isReading.current) return;
    isReading.current = now;
    onReading(now);
  };
  useEffect(() => {
    const watch = new ResizeObserver(measure);
    if (place.current !== null) watch.observe(place.current);
    measure();
    return () => watch.disconnect();
  }, []);
  const first = Math.min(Math.max(0, Math.floor(seen.top / rowHeight) - spare), Math.max(0, calls.length - 1));
  const end = Math.min(calls.length, Math.ceil((seen.top + seen.height) / rowHeight) + spare);
  return (
    <>
      <p class="newer" role="status">
        {waiting === 0 ? null : (
          <button type="button" onClick={() => place.current?.scrollTo({ top: 0 })}>
            {count(waiting, 'newer call')} above
          </button>
        )}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard. */}
      <section class="scroll" ref={place} onScroll={measure} tabIndex={0} aria-label="List of calls">
        <table aria-rowcount={calls.length + 1}>
          <Head columns={columns} index={1} />
          <tbody>
            <Gap rows={first} />
            {calls.slice(first, end).map((call, at) => (
              <Row key={call.id} call={call} index={first + at + 2} />
            ))}
            <Gap rows={calls.length - end} />
          </tbody>
        </table>
      </section>
    </>
  );
}

function Row({ call, index }: { call: Call; index: number }) {
  return (
    <tr aria-rowindex={index}>
      <td class={call.parent === null ? undefined : 'nested'}>
        <CallLink call={call} />
      </td>
      <td>
        <Outcome call={call} />
      </td>
      <td class="number">{call.duration_ms === null ? '–' : duration(call.duration_ms)}</td>
      <td class="wide">{callerOf(call)}</td>
      <td class="wide soft">{oneLine(call.door)}</td>
      <td class="number wide">{clock(call.started_at)}</td>
    </tr>
  );
}

/** In place of rows that are not drawn. */
function Gap({ rows }: { rows: number }) {
  const place = useRef<HTMLTableRowElement>(null);
  useLayoutEffect(() => {
    // By script: the page allows no style in an attribute.
    if (place.current !== null) place.current.style.height = `${rows * rowHeight}px`;
  }, [rows]);
  return <tr class="gap" ref={place} />;
}
