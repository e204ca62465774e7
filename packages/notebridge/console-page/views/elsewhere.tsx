import { useState } from 'preact/hooks';
import { lines, oneLine } from '../format.js';
import { Action, Box, CertainAction, Fault, Nothing, Section, State, useAnswer } from '../parts.js';
import { ask, HubFault, pathOf } from '../session.js';
import { isPlain, quoted } from '../try-out/shell-words.js';
import type { OtherProcess } from '../wire.js';
import { Copy } from './copy.js';

const holders: { readonly [kind: string]: string } = { broker: 'the broker', notebook: 'a terminal or hub' };

/** What other processes of the user hold: seen from here, and worked where it is held. */
export function Elsewhere() {
  const { value, fault, again } = useAnswer(() => ask<'Processes'>('/notebooks/elsewhere'), []);
  return (
    <Section
      title="Held by other processes"
      beside={
        <button type="button" onClick={again}>
          Look again
        </button>
      }
    >
      <p class="soft">
        Notebooks that agents have opened outside this hub. You can take one from the agent that writes in it, and end it; to work in it,
        open its window.
      </p>
      <Fault text={fault} />
      {value?.processes.length === 0 ? <Nothing>No other process of yours holds a notebook.</Nothing> : null}
      <ul class="cards">
        {value?.processes.flatMap((held) =>
          held.fault === undefined ? (
            held.notebooks.map((notebook) => <Held key={notebook.id} notebook={notebook} by={held} onDone={again} />)
          ) : (
            <li class="card" data-tone="bad" key={held.pid}>
              <h3>
                Process {held.pid} <State name="not answering" />
              </h3>
              <Box text={lines(held.fault)} label="Why it is not known what it holds" />
            </li>
          ),
        )}
      </ul>
    </Section>
  );
}

interface HeldProps {
  notebook: OtherProcess['notebooks'][number];
  by: OtherProcess;
  onDone: () => void;
}

function Held({ notebook: { id, file, kernel, agents, holder }, by, onDone }: HeldProps) {
  const [loss, setLoss] = useState<string>();
  const act = (action: string, body?: object) => async () => {
    await ask(`/notebooks/elsewhere${pathOf(id, action)}`, { method: 'POST', ...(body && { body }) });
    onDone();
  };
  const end = async (): Promise<void> => {
    try {
      await act('end')();
    } catch (error) {
      if (!(error instanceof HubFault) || error.status !== 409) throw error;
      setLoss(error.message);
    }
  };
  return (
    <li class="card">
      <h3>
        {oneLine(file ?? 'in memory')} <span class="tag">{oneLine(id)}</span>
      </h3>
      <p class="soft">
        {oneLine(kernel)}. Held by {holders[by.kind] ?? oneLine(by.kind)}, process {by.pid}.{' '}
        {agents.length === 0 ? 'No agent works in it.' : `Agents: ${agents.map(oneLine).join(', ')}.`}{' '}
        {holder === null ? '' : `${oneLine(holder)} writes.`}
      </p>
      <Fault text={loss} />
      <p class="actions">
        {holder === null ? null : (
          <Action key="release" work={act('release')}>
            {`Take it from ${oneLine(holder)}`}
          </Action>
        )}
        {loss === undefined ? (
          <CertainAction key="end" work={end} question="Save and end it now">
            End it
          </CertainAction>
        ) : (
          <CertainAction key="lose" work={act('end', { force: true })} question="Lose it">
            End it without saving
          </CertainAction>
        )}
      </p>
      <details class="why">
        <summary>The same from a terminal</summary>
        <Copy text={commandsFor(id, file)} label={`Commands for ${oneLine(id)}`} />
      </details>
    </li>
  );
}

/** A name that cannot be seen whole is not for a shell. */
function commandsFor(id: string, file: string | null): string {
  const isFile = file?.endsWith('.ipynb') === true && !file.includes('://') && isPlain(file);
  return [
    ...(isFile ? [`notebridge notebook ${quoted(file)}    # opens a window`] : []),
    `notebridge release ${id}    # ends the hold of whoever writes`,
    `notebridge stop ${id}    # saves and ends it`,
  ].join('\n');
}
