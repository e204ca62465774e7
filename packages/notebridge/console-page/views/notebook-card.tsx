import { clock, count, oneLine } from '../format.js';
import { Action, CertainAction, Fact, State } from '../parts.js';
import { ask, pathOf } from '../session.js';
import type { Notebook } from '../wire.js';
import { type DoTo, LeaseOf } from './lease-of.js';

const kinds: { readonly [kind: string]: string } = { 'built-in': 'built in', jupyter: 'JupyterLab', page: 'a page' };

/** One notebook of this hub: how it stands, who writes in it, and what can be done to it. */
export function NotebookCard({ notebook, onDone }: { notebook: Notebook; onDone: () => void }) {
  const { id, kind, title, state, isolation, page, lease } = notebook;
  const doTo: DoTo =
    (name, body = {}) =>
    async () => {
      await ask(`/notebooks${pathOf(id, name)}`, { method: 'POST', body });
      onDone();
    };
  return (
    <li class="card" data-tone={lease !== null && lease.asking.length > 0 ? 'busy' : undefined}>
      <h3>
        {oneLine(title)} <State name={state} /> <span class="tag">{kinds[kind] ?? oneLine(kind)}</span>
      </h3>
      <Facts notebook={notebook} />
      {isolation === null ? null : <p class="soft">{oneLine(isolation)}</p>}
      {page === null ? null : <p class="soft">{oneLine(page.text)}</p>}
      <LeaseOf lease={lease} doTo={doTo} />
      <Actions notebook={notebook} doTo={doTo} />
    </li>
  );
}

function Facts({ notebook: { id, location, kernel, page, last_call: lastCall } }: { notebook: Notebook }) {
  return (
    <dl class="facts">
      <Fact name="Id">{oneLine(id)}</Fact>
      <Fact name="Where">{location === null ? 'in memory' : <code>{oneLine(location)}</code>}</Fact>
      <Fact name="Kernel">{kernel === null ? 'the page’s own' : oneLine(kernel)}</Fact>
      {page === null ? null : (
        <Fact name="Page">{page.origin === null ? 'none' : `${oneLine(page.origin)}, since ${clock(page.since ?? 0)}`}</Fact>
      )}
      <Fact name="Last call">
        {lastCall === null ? 'none' : `${clock(lastCall.at)}${lastCall.agent === null ? '' : ` by ${oneLine(lastCall.agent)}`}`}
      </Fact>
    </dl>
  );
}

function Actions({
  notebook: { id, kind, location, can, windows, page, state, last_change: change },
  doTo,
}: {
  notebook: Notebook;
  doTo: DoTo;
}) {
  return (
    <p class="actions">
      {can.includes('address') ? (
        <Action work={() => openTab(id)} kind="main">
          {windows === null ? 'How its page connects' : 'Open a window'}
        </Action>
      ) : null}
      {kind === 'jupyter' && location !== null && /^https?:\/\//.test(location) ? (
        <a class="button" href={location} target="_blank" rel="noopener noreferrer">
          Open in JupyterLab
        </a>
      ) : null}
      {can.includes('stop') ? (
        <Action work={doTo('stop')}>{state === 'busy' ? 'Stop what runs' : 'Stop what runs or waits'}</Action>
      ) : (
        <span class="soft">What runs is stopped in the page itself.</span>
      )}
      {can.includes('undo') && change !== null ? (
        <CertainAction work={doTo('undo')} question={`Take back: ${oneLine(change.change)} of the cell ${oneLine(change.cell_id)}`}>
          {`Undo the last change${change.agent === null ? '' : ` of ${oneLine(change.agent)}`}`}
        </CertainAction>
      ) : null}
      {can.includes('restart') ? (
        <CertainAction work={doTo('restart')} question="Restart it: variables are gone">
          Restart the kernel
        </CertainAction>
      ) : null}
      {can.includes('disconnect') && page?.origin != null ? (
        <CertainAction work={doTo('disconnect')} question="Disconnect it now">
          Disconnect the page
        </CertainAction>
      ) : null}
      {windows !== null ? <span class="soft">{windows === 0 ? 'Nobody looks at it.' : `${count(windows, 'window')} open.`}</span> : null}
    </p>
  );
}

/** The address is good once, and the page that it opens takes the code out of it. */
async function openTab(id: string): Promise<void> {
  // Before the hub is asked: a browser lets a page open a tab only while it is being clicked.
  const tab = window.open('', '_blank');
  if (tab === null) throw new Error('Your browser did not let this page open a tab. Allow it for this address, and press again.');
  try {
    tab.opener = null;
    const { address } = await ask<'Address'>(`/notebooks${pathOf(id, 'address')}`, { method: 'POST' });
    tab.location.replace(address);
  } catch (error) {
    tab.close();
    throw error;
  }
}
