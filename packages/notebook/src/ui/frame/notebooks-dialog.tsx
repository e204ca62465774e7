import { render } from 'preact';
import { useState } from 'preact/hooks';
import type { NearbyNotebook } from '../../viewer/protocol.js';
import type { Commands } from '../commands.js';
import { el } from '../dom.js';
import { Visible } from '../parts.js';
import { openPanel } from './dialogs.js';

/** The notebooks of the folder: one to open in a tab of its own, or a new one. */
export async function showNotebooks(commands: Commands): Promise<void> {
  const notebooks = (await commands.ask({ do: 'listNotebooks' })) as readonly NearbyNotebook[] | undefined;
  if (!notebooks) return;
  const place = el('div', {});
  const open = async (path: string, isNew: boolean): Promise<void> => {
    const opened = (await commands.ask({ do: 'openNotebook', path, isNew })) as { url: string } | undefined;
    dialog.close();
    if (opened) el('a', { href: opened.url, target: '_blank', rel: 'noopener' }).click();
  };
  render(<Notebooks notebooks={notebooks} open={(path, isNew) => void open(path, isNew)} />, place);
  const dialog = openPanel({ name: 'notebooks', title: 'Notebooks of this folder', onClose: () => render(null, place) }, place);
}

function Notebooks({ notebooks, open }: { notebooks: readonly NearbyNotebook[]; open: (path: string, isNew: boolean) => void }) {
  const [name, setName] = useState('');
  const [wanted, setWanted] = useState('');
  const path = name === '' || name.endsWith('.ipynb') ? name : `${name}.ipynb`;
  const exists = notebooks.some((each) => each.path === path);
  const shown = notebooks.filter((each) => each.path.toLowerCase().includes(wanted.toLowerCase()));
  return (
    <>
      {notebooks.length > 8 && (
        <input
          type="text"
          aria-label="Filter"
          placeholder="Filter"
          value={wanted}
          onInput={({ currentTarget }) => setWanted(currentTarget.value)}
        />
      )}
      <ul class="notebook-list">
        {shown.map(({ path: each, isOpen }) => (
          <li key={each}>
            <button type="button" class="quiet" disabled={isOpen} onClick={() => open(each, false)}>
              <Visible text={each} />
            </button>
            {isOpen && <span class="hint-text">this one</span>}
          </li>
        ))}
      </ul>
      <form
        class="new-notebook"
        onSubmit={(event) => {
          event.preventDefault();
          if (path !== '' && !exists) open(path, true);
        }}
      >
        <input
          type="text"
          aria-label="Name of a new notebook"
          placeholder="new-notebook"
          spellcheck={false}
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
        <button type="submit" class="main" disabled={path === '' || exists}>
          New notebook
        </button>
      </form>
      <p class="note">
        {exists
          ? 'There is such a notebook already.'
          : 'It opens in a tab of its own, with a kernel of its own. Agents stay with this notebook.'}
      </p>
    </>
  );
}
