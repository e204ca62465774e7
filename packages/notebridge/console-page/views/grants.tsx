import { useEffect, useState } from 'preact/hooks';
import { count, duration, oneLine } from '../format.js';
import type { HubState } from '../hub-state.js';
import { Action, Copy, messageOf, Name, Nothing, Section, useAnswer, useHub } from '../parts.js';
import { ask } from '../session.js';

interface Grant {
  id: string;
  label: string | null;
  allow: string[];
  read_only: boolean;
  door: string;
  expires_at: string;
  calls: number | null;
  used: number;
}

interface Preview {
  tools: { server: string; tool: string; allowed: boolean }[];
  servers_not_asked: string[];
}

/** The grants that are live, and a new one. */
export function Grants({ hub }: { hub: HubState }) {
  useHub(hub);
  const { value, fault, again } = useAnswer(() => ask<{ grants: Grant[] }>('/grants'), [hub.status?.grants]);
  const renew = (): void => {
    again();
    void hub.refresh().catch(() => {});
  };
  return (
    <>
      <Section title="Live">
        {value === undefined ? <Nothing>{fault ?? 'Asking the hub …'}</Nothing> : <List grants={value.grants} onRevoked={renew} />}
      </Section>
      <NewGrant hub={hub} onIssued={renew} />
    </>
  );
}

function List({ grants, onRevoked }: { grants: readonly Grant[]; onRevoked: () => void }) {
  if (grants.length === 0) return <Nothing>None is live. A grant lets an agent or code call some of your tools, for a while.</Nothing>;
  const revoke = (id: string) => () => ask(`/grants/${encodeURIComponent(id)}`, { method: 'DELETE' }).then(onRevoked);
  return (
    <table>
      <thead>
        <tr>
          <th>For</th>
          <th>May call</th>
          <th class="wide">Opens</th>
          <th class="number wide">Calls</th>
          <th>Ends in</th>
          <th>
            <span class="unseen-label">Revoke</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {grants.map(({ id, label, allow, read_only: readOnly, door, calls, used, expires_at: end }) => (
          <tr key={id}>
            <td>{label === null ? <Name text={id} /> : oneLine(label)}</td>
            <td class="wrap">
              {allow.map(oneLine).join(', ')}
              {readOnly ? ' (read only)' : ''}
            </td>
            <td class="wide">{doors[door] ?? door}</td>
            <td class="number wide">{calls === null ? used : `${used} of ${calls}`}</td>
            <td>{duration(Math.max(0, Date.parse(end) - Date.now()))}</td>
            <td>
              <Action work={revoke(id)}>Revoke</Action>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const doors: Readonly<Record<string, string>> = { tools: 'the tool proxy, for code', agent: '/mcp, for an agent' };
const lives = [
  { label: '15 minutes', seconds: 900 },
  { label: '1 hour', seconds: 3600 },
  { label: '8 hours', seconds: 28_800 },
  { label: '7 days', seconds: 604_800 },
  { label: '30 days', seconds: 2_592_000 },
];

function NewGrant({ hub, onIssued }: { hub: HubState; onIssued: () => void }) {
  const [label, setLabel] = useState('');
  const [door, setDoor] = useState('tools');
  const [seconds, setSeconds] = useState(3600);
  const [calls, setCalls] = useState('');
  const [isReadOnly, setReadOnly] = useState(false);
  const [patterns, setPatterns] = useState('');
  const [issued, setIssued] = useState<{ token: string; grant: Grant }>();
  const allow = patterns.split(/[\s,]+/).filter((pattern) => pattern !== '');
  const issue = async (): Promise<void> => {
    const terms = { allow, read_only: isReadOnly, door, ttl_seconds: seconds };
    const more = { ...(label === '' ? {} : { label }), ...(calls === '' ? {} : { calls: Number(calls) }) };
    setIssued(await ask<{ token: string; grant: Grant }>('/grants', { body: { ...terms, ...more } }));
    onIssued();
  };
  const add = (pattern: string) => () => setPatterns([...allow.filter((each) => each !== pattern), pattern].join(' '));
  return (
    <Section title="A new grant">
      <div class="fields">
        <label class="field">
          For whom
          <input
            type="text"
            maxLength={200}
            value={label}
            placeholder="the nightly report"
            onInput={(event) => setLabel(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          Opens
          <select value={door} onChange={(event) => setDoor(event.currentTarget.value)}>
            {Object.entries(doors).map(([name, text]) => (
              <option key={name} value={name}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          Ends after
          <select value={seconds} onChange={(event) => setSeconds(Number(event.currentTarget.value))}>
            {lives.map(({ label: text, seconds: each }) => (
              <option key={each} value={each}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          Calls at most
          <input type="number" min={1} value={calls} placeholder="any number" onInput={(event) => setCalls(event.currentTarget.value)} />
        </label>
        <label class="field whole">
          May call (patterns like github:read_*, divided by spaces)
          <input
            type="text"
            spellcheck={false}
            value={patterns}
            placeholder="server:tool"
            onInput={(event) => setPatterns(event.currentTarget.value)}
          />
        </label>
      </div>
      <p class="actions">
        {hub.servers.map(({ name }) => (
          <button type="button" key={name} onClick={add(`${name}:*`)}>
            + {oneLine(name)}:*
          </button>
        ))}
        <label class="choice">
          <input type="checkbox" checked={isReadOnly} onChange={(event) => setReadOnly(event.currentTarget.checked)} /> Only tools that say
          they only read
        </label>
      </p>
      {allow.length === 0 ? <Nothing>Choose what it may call.</Nothing> : <WhatItAllows allow={allow} isReadOnly={isReadOnly} />}
      {allow.length === 0 ? null : (
        <p class="actions">
          <Action kind="main" work={issue}>
            Issue it
          </Action>
        </p>
      )}
      {issued === undefined ? null : (
        <article class="card" data-state="running">
          <h3>Its token is shown this once</h3>
          <Copy label="the token" text={issued.token} />
          <p>
            Send it as <code>Authorization: Bearer …</code>; code in a kernel finds it in <code>NOTEBRIDGE_TOKEN</code>.
          </p>
        </article>
      )}
    </Section>
  );
}

/** The tools that the grant would open, asked of the hub: it decides by the same rules as later. */
function WhatItAllows({ allow, isReadOnly }: { allow: readonly string[]; isReadOnly: boolean }) {
  const [preview, setPreview] = useState<Preview | string>();
  const key = `${isReadOnly} ${allow.join(' ')}`;
  useEffect(() => {
    let isCurrent = true;
    // While a person types.
    const timer = setTimeout(() => {
      ask<Preview>('/grants/preview', { body: { allow, read_only: isReadOnly } }).then(
        (found) => isCurrent && setPreview(found),
        (error: unknown) => isCurrent && setPreview(messageOf(error)),
      );
    }, 200);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [key]);
  if (preview === undefined) return null;
  if (typeof preview === 'string') return <p class="fault">{oneLine(preview)}</p>;
  const allowed = preview.tools.filter((tool) => tool.allowed);
  const { servers_not_asked: unknown } = preview;
  return (
    <div role="status">
      <p>
        Opens {count(allowed.length, 'tool')} of {preview.tools.length} that are known
        {unknown.length === 0 ? '' : `; not asked for theirs yet: ${unknown.map(oneLine).join(', ')}`}.
      </p>
      <p class="tools">
        {allowed.slice(0, 200).map(({ server, tool }) => (
          <Name key={`${server}:${tool}`} text={`${server}:${tool}`} />
        ))}
        {allowed.length > 200 ? ` and ${allowed.length - 200} more` : ''}
      </p>
    </div>
  );
}
