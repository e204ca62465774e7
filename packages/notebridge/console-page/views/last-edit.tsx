import { clock, lines, oneLine } from '../format.js';
import type { LiveHub } from '../live-hub.js';
import { Fact, Fault, Nothing, Section, useAnswer } from '../parts.js';
import { hrefOf } from '../route.js';
import { ask } from '../session.js';
import type { ConfigState } from '../wire.js';

/** What the last edit of the config changed, and what is wrong with the file as it is now. */
export function LastEdit({ hub }: { hub: LiveHub }) {
  const { news, connection } = hub.told;
  const { value, fault } = useAnswer(() => ask<'Config'>('/config'), [news.config, connection]);
  if (value === undefined) return <Fault text={fault} />;
  const { file, edit, refused } = value;
  return (
    <Section title="What the last edit of the config changed" beside={file === null ? null : <code>{oneLine(file)}</code>}>
      {refused === null ? null : <Refused {...refused} />}
      {edit === null ? <Nothing>No edit was taken into use since the hub started.</Nothing> : <Used edit={edit} />}
    </Section>
  );
}

function Used({ edit: { at, added, removed, restarted, changed, late } }: { edit: NonNullable<ConfigState['edit']> }) {
  const isSame = [added, removed, restarted, changed].every(({ length }) => length === 0);
  return (
    <dl class="facts">
      <Fact name="At">{clock(at)}</Fact>
      <Names name="Added" names={added} />
      {removed.length === 0 ? null : <Fact name="Removed">{removed.map(oneLine).join(', ')}</Fact>}
      <Names name="Restarted" names={restarted} />
      <Names name="Changed as they run" names={changed} />
      {isSame ? <Fact name="Servers">as they were</Fact> : null}
      {late.length === 0 ? null : <Fact name="Hold after a restart of the hub">{late.map(oneLine).join(', ')}</Fact>}
    </dl>
  );
}

function Names({ name, names }: { name: string; names: readonly string[] }) {
  if (names.length === 0) return null;
  return (
    <Fact name={name}>
      {names.map((each, index) => (
        <span key={each}>
          {index === 0 ? '' : ', '}
          <a href={hrefOf('servers', each)}>{oneLine(each)}</a>
        </span>
      ))}
    </Fact>
  );
}

function Refused({ at, message, file, faults }: NonNullable<ConfigState['refused']>) {
  return (
    <div class="card" data-tone="bad" role="status">
      <h3>The file is not used since {clock(at)}; what held before goes on</h3>
      {faults.length === 0 ? <p>{lines(message)}</p> : null}
      <ul>
        {faults.map((fault) => (
          <li key={`${fault.line} ${fault.key} ${fault.found}`}>
            <code>{placeOf(file, fault)}</code> {fault.key === '' ? 'The file' : <b>{oneLine(fault.key)}</b>} {oneLine(fault.found)}.{' '}
            <span class="soft">{oneLine(fault.next)}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function placeOf(file: string | null, { line }: { line: number | null }): string {
  return `${oneLine(file ?? '')}${line === null ? '' : `:${line}`}`;
}
