import { useState } from 'preact/hooks';
import type { JournalEntry } from '../../model/journal.js';
import type { Commands } from '../commands.js';
import { nameOf, verbs } from '../names.js';
import { Icon, Visible } from '../parts.js';
import { diffLines } from '../state/merge-lines.js';
import type { Store } from '../state/store.js';

/** More are asked for with a button: the newest are the ones that matter. */
const pageSize = 50;
const maxDiffLines = 40;
/** Characters of one line. */
const maxLine = 2000;

interface Shown {
  store: Store;
  commands: Commands;
}

/** The journal of what agents changed, newest first, each with an undo. */
export function ChangesList({ store, commands }: Shown) {
  const [count, setCount] = useState(pageSize);
  const newest = store.journal.toReversed();
  return (
    <ol class="changes">
      {newest.slice(0, count).map((entry) => (
        <Entry key={entry.id} entry={entry} store={store} commands={commands} />
      ))}
      {newest.length === 0 && <li class="empty">Nothing yet. What an agent changes is listed here, and can be taken back.</li>}
      {newest.length > count && (
        <li>
          <button type="button" class="quiet" onClick={() => setCount(count + pageSize)}>
            Show older changes
          </button>
        </li>
      )}
    </ol>
  );
}

function Entry({ entry, store, commands }: Shown & { entry: JournalEntry }) {
  const { id, by, action, cellId, undone, changedBy } = entry;
  const index = store.indexOf(cellId);
  const place = index === -1 ? 'a cell' : `cell ${index + 1}`;
  const { offReason } = store;
  return (
    <li class={undone ? 'change undone' : 'change'}>
      <div class="change-head">
        <span>
          <strong>{nameOf(by)}</strong> {verbs[action]}{' '}
          {index === -1 ? (
            <span>{place}</span>
          ) : (
            <button type="button" class="link" onClick={() => commands.show(cellId)}>
              {place}
            </button>
          )}
        </span>
        {undone || changedBy ? (
          <span class="change-state">{undone ? 'Undone' : `${changedBy ? nameOf(changedBy) : ''} changed it since`}</span>
        ) : (
          <button
            type="button"
            class="undo"
            aria-label={`Undo: ${nameOf(by)} ${verbs[action]} ${place}`}
            title={offReason}
            disabled={offReason !== undefined}
            onClick={() => void commands.ask({ do: 'undo', entryId: id })}
          >
            <Icon name="undo" />
            Undo
          </button>
        )}
      </div>
      <Difference entry={entry} />
    </li>
  );
}

/** The lines that went and came. */
function Difference({ entry: { before, after, action } }: { entry: JournalEntry }) {
  if (action === 'move' || action === 'setType' || action === 'setMetadata') return null;
  const [from, to] = [before?.cell.source ?? '', after?.cell.source ?? ''];
  const old = from.split('\n');
  const lines = diffLines(from, to).flatMap(({ start, end, lines: added }) => [
    ...old.slice(start, end).map((line) => ['gone', line] as const),
    ...added.map((line) => ['come', line] as const),
  ]);
  const seen = lines.filter(([, line], at) => line !== '' || (at > 0 && at < lines.length - 1));
  if (seen.length === 0) return null;
  return (
    // biome-ignore lint/a11y: what scrolls has to be reached by keyboard, and a fieldset is no text.
    <pre class="difference" tabIndex={0} role="group" aria-label="Difference">
      {seen.slice(0, maxDiffLines).map(([kind, line], at) => {
        const text = <Visible text={(line || ' ').slice(0, maxLine)} />;
        return kind === 'gone' ? <del key={at}>{text}</del> : <ins key={at}>{text}</ins>;
      })}
      {seen.length > maxDiffLines && `… ${seen.length - maxDiffLines} more lines`}
    </pre>
  );
}
