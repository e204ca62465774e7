import type { Commands } from '../commands.js';
import { Visible } from '../parts.js';
import { headingsOf } from '../state/headings.js';
import type { Store } from '../state/store.js';

/** The headings of the text cells; each leads to its cell. */
export function Outline({ store, commands, current }: { store: Store; commands: Commands; current: string | undefined }) {
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
            onClick={() => commands.show(cellId)}
          >
            <span class="visually-hidden">{`Level ${level}: `}</span>
            <Visible text={text} />
          </button>
        </li>
      ))}
    </ol>
  );
}
