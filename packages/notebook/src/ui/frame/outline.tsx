import { Visible } from '../parts.js';
import { headingsOf } from '../state/headings.js';
import type { Store } from '../state/store.js';

export interface OutlineProps {
  store: Store;
  /** The cell at which the person is. */
  current: string | undefined;
  goTo: (cellId: string) => void;
}

/** The headings of the text cells; each leads to its cell. */
export function Outline({ store, current, goTo }: OutlineProps) {
  const headings = headingsOf(store.cells);
  if (headings.length === 0)
    return <p class="empty">No headings yet. A line that begins with # in a text cell is one: “# Results”, “## By city”.</p>;
  return (
    <ol class="outline">
      {headings.map(({ cellId, level, text }, index) => (
        <li key={`${cellId} ${index}`}>
          <button
            type="button"
            class={`quiet level-${level}`}
            aria-current={cellId === current ? 'true' : undefined}
            onClick={() => goTo(cellId)}
          >
            <span class="visually-hidden">{`Level ${level}: `}</span>
            <Visible text={text} />
          </button>
        </li>
      ))}
    </ol>
  );
}
