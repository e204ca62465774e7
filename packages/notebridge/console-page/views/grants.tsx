import { useEffect, useRef, useState } from 'preact/hooks';
import type { OwnerBody } from '../../src/doors/owner/owner-schemas.js';
import { clock, count, digits, oneLine } from '../format.js';
import type { LiveHub } from '../live-hub.js';
import { CertainAction, Fault, Head, Nothing, Section, useAnswer, useHub, View } from '../parts.js';
import { hrefOf } from '../route.js';
import { ask, pathOf } from '../session.js';
import type { Grant } from '../wire.js';
import { Copy } from './copy.js';
import { IssueForm } from './issue-form.js';

const columns = { Grant: '', 'May call': '', For: 'wide', Calls: 'number', Ends: 'number wide', Revoke: 'unseen' };

export type Issued = OwnerBody<'IssuedGrant'>;

/** Its token is nowhere else: it stays until the person has it, also while another view is open. */
let notTaken: Issued | undefined;

/** How often it is asked how many calls each has made. */
const usesEveryMs = 3000;

/** Who else may call tools, and what: issue, look at, revoke. */
export function Grants({ hub }: { hub: LiveHub }) {
  useHub(hub);
  const [issued, setShown] = useState<Issued | undefined>(notTaken);
  const setIssued = (made: Issued | undefined): void => {
    notTaken = made;
    setShown(made);
  };
  const { value, fault, again } = useAnswer(
    () => ask<'Grants'>('/grants'),
    [hub.told.report?.grants, Math.floor(Date.now() / usesEveryMs)],
  );
  return (
    <View title="Grants" beside={<p class="aside">{value === undefined ? '' : `${count(value.grants.length, 'live grant')}`}</p>}>
      {issued === undefined ? null : <NewGrant {...issued} onDone={() => setIssued(undefined)} />}
      <Section title="Live">
        <Fault text={fault} />
        {value === undefined ? null : <List grants={value.grants} onRevoked={again} />}
      </Section>
      <Section title="Issue one">
        <IssueForm
          hub={hub}
          onIssued={(made) => {
            setIssued(made);
            again();
          }}
        />
      </Section>
    </View>
  );
}

function NewGrant({ grant: { id, door, label }, token, onDone }: Issued & { onDone: () => void }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    heading.current?.focus();
  }, [id]);
  return (
    <section class="card" data-tone="good" aria-label="The new grant">
      <h2 ref={heading} tabIndex={-1}>
        {oneLine(label ?? id)} is issued
      </h2>
      <p>This is its token, shown this once: the hub itself keeps only a digest. {whereItGoes(door)}</p>
      <Copy text={token} label="Token of the new grant" />
      {door === 'tools' ? (
        <>
          <p>
            In a notebook, before a call that <a href={hrefOf('try')}>Try out</a> shows in Python:
          </p>
          <Copy text={`import os\nos.environ["NOTEBRIDGE_TOKEN"] = "${token}"`} label="For a notebook" />
        </>
      ) : null}
      <p class="actions">
        <button type="button" onClick={onDone}>
          I have copied it
        </button>
      </p>
    </section>
  );
}

function whereItGoes(door: string) {
  if (door === 'watch') return 'A screen is signed in with it on this page, at this hub’s address with /console behind it.';
  return (
    <>
      {door === 'agent' ? 'An agent’s host' : 'Code'} reads it from the variable{' '}
      <code>{door === 'agent' ? 'NOTEBRIDGE_AGENT_TOKEN' : 'NOTEBRIDGE_TOKEN'}</code>.
    </>
  );
}

const holders: { readonly [door: string]: string } = { tools: 'code', agent: 'an agent', watch: 'who watches' };

function List({ grants, onRevoked }: { grants: readonly Grant[]; onRevoked: () => void }) {
  if (grants.length === 0) return <Nothing>No grant is live: only you may call tools.</Nothing>;
  const revoke = (id: string) => async () => {
    await ask(`/grants${pathOf(id)}`, { method: 'DELETE' });
    onRevoked();
  };
  return (
    <table>
      <Head columns={columns} />
      <tbody>
        {grants.map((grant) => (
          <tr key={grant.id}>
            <th scope="row">
              {oneLine(grant.label ?? grant.id)}
              {grant.label === null ? null : <span class="soft id">{grant.id}</span>}
              <span class="soft narrow">ends {clock(grant.expires_at)}</span>
            </th>
            <td class="free">
              {grant.allow.map((pattern) => (
                <code key={pattern}>{oneLine(pattern)}</code>
              ))}
              {grant.door === 'watch' ? <span class="soft">nothing</span> : null}
              {grant.read_only ? <span class="tag">read-only</span> : null}
            </td>
            <td class="wide">{holders[grant.door] ?? oneLine(grant.door)}</td>
            <td class="number">
              {grant.calls === null ? digits(grant.used) : `${digits(grant.used)} of ${digits(grant.calls)}`}
              {grant.calls !== null && grant.used >= grant.calls ? (
                <span class="tag" data-tone="bad">
                  used up
                </span>
              ) : null}
            </td>
            <td class="number wide">{clock(grant.expires_at)}</td>
            <td>
              <div class="actions">
                <CertainAction work={revoke(grant.id)} question="Revoke it now">
                  Revoke
                </CertainAction>
              </div>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
