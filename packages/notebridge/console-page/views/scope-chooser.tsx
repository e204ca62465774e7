import { useEffect, useState } from 'preact/hooks';
import { count, oneLine } from '../format.js';
import type { LiveHub } from '../live-hub.js';
import { Nothing } from '../parts.js';
import type { Server } from '../wire.js';

interface ScopeChooserProps {
  hub: LiveHub;
  /** Told of the patterns `server:tool` that were chosen. */
  onChange: (allow: readonly string[]) => void;
}

/** Which tools of which servers, from those that there are; patterns for those that there will be. */
export function ScopeChooser({ hub, onChange }: ScopeChooserProps) {
  const { servers } = hub.told;
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [more, setMore] = useState('');
  useEffect(() => onChange([...chosen, ...more.split(/[\s,]+/).filter((pattern) => pattern !== '')]), [chosen, more]);
  const choose = (pattern: string, isChosen: boolean): void =>
    setChosen((before) => {
      const next = new Set(before);
      if (isChosen) next.add(pattern);
      else next.delete(pattern);
      return next;
    });
  return (
    <fieldset class="scope">
      <legend>May call</legend>
      {servers.length === 0 ? <Nothing>The hub has no servers.</Nothing> : null}
      {servers.map((server) => (
        <OneScope key={server.name} server={server} chosen={chosen} choose={choose} />
      ))}
      <label class="field">
        <span>
          Patterns <span class="soft">such as *:read_*, separated by spaces</span>
        </span>
        <input type="text" class="code" spellcheck={false} value={more} onInput={(event) => setMore(event.currentTarget.value)} />
      </label>
    </fieldset>
  );
}

interface OneScopeProps {
  server: Server;
  chosen: ReadonlySet<string>;
  choose: (pattern: string, isChosen: boolean) => void;
}

function OneScope({ server: { name, tools }, chosen, choose }: OneScopeProps) {
  const whole = `${name}:*`;
  const isWhole = chosen.has(whole);
  const some = (tools ?? []).filter((tool) => chosen.has(`${name}:${tool.name}`)).length;
  return (
    <div class="of-server">
      <label>
        <input type="checkbox" checked={isWhole} onChange={(event) => choose(whole, event.currentTarget.checked)} /> <b>{oneLine(name)}</b>{' '}
        <span class="soft">every tool, also those to come</span>
      </label>
      {tools === null || tools.length === 0 ? null : (
        <details>
          <summary>
            {some === 0 || isWhole ? `or some of its ${count(tools.length, 'tool')}` : `${some} of ${count(tools.length, 'tool')}`}
          </summary>
          <ul>
            {tools.map((tool) => (
              <li key={tool.name}>
                <label>
                  <input
                    type="checkbox"
                    disabled={isWhole}
                    checked={isWhole || chosen.has(`${name}:${tool.name}`)}
                    onChange={(event) => choose(`${name}:${tool.name}`, event.currentTarget.checked)}
                  />{' '}
                  {oneLine(tool.name)}
                </label>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
