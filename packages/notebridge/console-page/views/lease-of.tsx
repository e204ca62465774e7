import { clock, oneLine } from '../format.js';
import { Action } from '../parts.js';
import type { Lease } from '../wire.js';

/** Sends a request to a route of one notebook. */
export type DoTo = (name: string, body?: object) => () => Promise<unknown>;

/** Which agent writes in a notebook, who asks for it, and who only looks. */
export function LeaseOf({ lease, doTo }: { lease: Lease | null; doTo: DoTo }) {
  if (lease === null) return <p class="soft">Its agents are not kept apart: each of them may write in it.</p>;
  const { holder, asking, barred } = lease;
  return (
    <ul class="lease" aria-label="Who writes">
      <li>
        {holder === null ? (
          <span>No agent holds it: whichever writes next does.</span>
        ) : (
          <>
            <span>
              <b>{oneLine(holder.name)}</b> holds it since {clock(holder.since)}: it alone changes and runs.
            </span>
            <Action key="take" work={doTo('lease', { agent: holder.id, may_hold: false })}>
              Take over
            </Action>
            <Action key="release" work={doTo('release')}>
              Release
            </Action>
          </>
        )}
      </li>
      {asking.map(({ question, name, reason }) => (
        <li key={`asks ${question}`}>
          <span>
            <b>{oneLine(name)}</b> asks for it{reason === null ? '.' : `: “${oneLine(reason)}”`}
          </span>
          <Action work={doTo('answer', { question, yes: true })} kind="main">
            Give it
          </Action>
          <Action work={doTo('answer', { question, yes: false })}>Say no</Action>
        </li>
      ))}
      {barred.map(({ id, name }) => (
        <li key={`barred ${id}`}>
          <span>
            <b>{oneLine(name ?? id)}</b> only looks: you took it over.
          </span>
          <Action work={doTo('lease', { agent: id, may_hold: true })}>Let it write again</Action>
        </li>
      ))}
    </ul>
  );
}
