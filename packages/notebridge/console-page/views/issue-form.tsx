import { useEffect, useState } from 'preact/hooks';
import { count, oneLine } from '../format.js';
import type { LiveHub } from '../live-hub.js';
import { Fault, messageOf, useAnswer } from '../parts.js';
import { ask } from '../session.js';
import type { Issued } from './grants.js';
import { ScopeChooser } from './scope-chooser.js';

const lives = [
  ['900', '15 minutes'],
  ['3600', '1 hour'],
  ['28800', '8 hours'],
  ['86400', '1 day'],
  ['604800', '7 days'],
  ['2592000', '30 days'],
] as const;
const previewAfterMs = 250;

/** The terms of a new grant, with what they would allow of the real tools before it is issued. */
export function IssueForm({ hub, onIssued }: { hub: LiveHub; onIssued: (issued: Issued) => void }) {
  const [allow, setAllow] = useState<readonly string[]>([]);
  const [label, setLabel] = useState('');
  const [door, setDoor] = useState('tools');
  const [seconds, setSeconds] = useState('3600');
  const [calls, setCalls] = useState('');
  const [readOnly, setReadOnly] = useState(false);
  const [fault, setFault] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const watches = door === 'watch';
  useEffect(() => setFault(undefined), [allow, door, seconds, calls, readOnly]);
  const chooseDoor = (chosen: string): void => {
    setDoor(chosen);
    // A screen hangs there for longer than code runs.
    if (chosen === 'watch') setSeconds('2592000');
  };
  const issue = async (): Promise<void> => {
    if (isBusy) return;
    if (!watches && allow.length === 0) return setFault('Choose at least one tool.');
    setBusy(true);
    setFault(undefined);
    const terms = {
      door,
      ttl_seconds: Number(seconds),
      ...(label.trim() !== '' && { label: label.trim() }),
      ...(!watches && { allow, read_only: readOnly }),
      // What is no number is for the hub to refuse, in its words.
      ...(!watches && calls.trim() !== '' && { calls: Number.isNaN(Number(calls)) ? calls : Number(calls) }),
    };
    await ask<'IssuedGrant'>('/grants', { method: 'POST', body: terms }).then(onIssued, (error: unknown) => setFault(messageOf(error)));
    setBusy(false);
  };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void issue();
      }}
    >
      <p class="choice">
        <label>
          For{' '}
          <select value={door} onChange={(event) => chooseDoor(event.currentTarget.value)}>
            <option value="tools">code</option>
            <option value="agent">an agent</option>
            <option value="watch">a screen that only watches</option>
          </select>
        </label>
      </p>
      <div hidden={watches}>
        <ScopeChooser hub={hub} onChange={setAllow} />
        <p class="choice">
          <label>
            <input type="checkbox" checked={readOnly} onChange={(event) => setReadOnly(event.currentTarget.checked)} /> Only tools that say
            they change nothing
          </label>
        </p>
        <Preview allow={allow} readOnly={readOnly} />
      </div>
      {watches ? (
        <p class="soft">It shows this page without what was sent and answered, and the metrics. It calls and changes nothing.</p>
      ) : null}
      <div class="filters">
        <label>
          Name <input type="text" value={label} placeholder="who it is for" onInput={(event) => setLabel(event.currentTarget.value)} />
        </label>
        <label>
          Ends after{' '}
          <select value={seconds} onChange={(event) => setSeconds(event.currentTarget.value)}>
            {lives.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {watches ? null : (
          <label>
            Calls{' '}
            <input
              type="text"
              inputMode="numeric"
              class="short"
              value={calls}
              placeholder="any number"
              onInput={(event) => setCalls(event.currentTarget.value)}
            />
          </label>
        )}
      </div>
      <Fault text={fault} />
      <p class="actions">
        <button type="submit" class="main" aria-disabled={isBusy}>
          Issue
        </button>
      </p>
    </form>
  );
}

/** What a grant with this scope could call of the tools that are known. */
function Preview({ allow, readOnly }: { allow: readonly string[]; readOnly: boolean }) {
  const scope = useSettled(JSON.stringify({ allow, read_only: readOnly }));
  const isNone = allow.length === 0;
  const { value, fault } = useAnswer(
    async () => (isNone ? undefined : ask<'GrantPreview'>('/grants/preview', { method: 'POST', body: JSON.parse(scope) })),
    [scope, isNone],
  );
  if (isNone) return <p class="soft">Nothing is chosen: it could call no tool.</p>;
  if (fault !== undefined) return <Fault text={fault} />;
  if (value === undefined) return <p class="soft">Looking what it would allow …</p>;
  const allowed = value.tools.filter((tool) => tool.allowed);
  const unknown = value.servers_not_asked;
  return (
    <div role="status" class="preview">
      <p>
        It could call {allowed.length} of {count(value.tools.length, 'tool')}.
        {unknown.length === 0 ? null : <span class="soft"> Not asked for their tools yet: {unknown.map(oneLine).join(', ')}.</span>}
      </p>
      <ul>
        {allowed.map(({ server, tool }) => (
          <li key={`${server}\0${tool}`}>
            <code>
              {oneLine(server)}:{oneLine(tool)}
            </code>
          </li>
        ))}
      </ul>
    </div>
  );
}

/** A value once it has stood still for a moment. */
function useSettled(value: string): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), previewAfterMs);
    return () => clearTimeout(timer);
  }, [value]);
  return settled;
}
