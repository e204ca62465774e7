import { useState } from 'preact/hooks';
import { type AgentHost, agentHosts } from '../agent-hosts.js';
import type { LiveHub } from '../live-hub.js';
import { Section, View } from '../parts.js';
import { hrefOf } from '../route.js';
import { Copy } from './copy.js';

/** How an agent's host comes to this hub, and a notebook page. */
export function Connect(_: { hub: LiveHub }) {
  const [name, setName] = useState(agentHosts[0]?.name ?? '');
  const host = agentHosts.find((each) => each.name === name);
  return (
    <View title="Connect">
      <Section title="An agent">
        <fieldset class="hosts">
          <legend>Which host does it run in?</legend>
          {agentHosts.map((each) => (
            <label key={each.name}>
              <input type="radio" name="host" value={each.name} checked={each.name === name} onChange={() => setName(each.name)} />{' '}
              {each.title}
            </label>
          ))}
        </fieldset>
        {host === undefined ? null : <Steps host={host} url={`${location.origin}/mcp`} />}
      </Section>
      <Section title="Code">
        <p>
          Code in a notebook or script calls tools with a <a href={hrefOf('grants')}>grant</a> in the variable <code>NOTEBRIDGE_TOKEN</code>
          . This writes a Python package with one function for each tool:
        </p>
        <Copy text="notebridge generate --out generated" label="Command that writes the package" />
        <p>
          Code beside that folder then calls a tool as a function. Without the package: <a href={hrefOf('try')}>Try out</a> shows each call
          in Python, TypeScript and for curl.
        </p>
      </Section>
      <Section title="A notebook page">
        <p>
          Where the hub serves a notebook page such as Google Colab, its card in <a href={hrefOf('notebooks')}>Notebooks and agents</a> says
          whether one is connected, and opens the page that says what to do next.
        </p>
      </Section>
    </View>
  );
}

/** A snippet names the variable that holds the token, never the token. */
function Steps({ host: { name, title, snippet, ownCommand, afterwards }, url }: { host: AgentHost; url: string }) {
  if (snippet === undefined)
    return (
      <ol class="steps">
        <li>
          {title} starts a command for each server; this has it start Notebridge itself, on stdio.
          <Copy text={`notebridge setup ${name} --write`} label="Setup command" />
        </li>
        <li>{afterwards}</li>
      </ol>
    );
  return (
    <ol class="steps">
      <li>
        Give it a grant, in the shell that {title} is started from:
        <Copy text="export NOTEBRIDGE_AGENT_TOKEN=$(notebridge grant --agent --ttl 30d)" label="Command that issues a grant" />
      </li>
      <li>
        Have this hub written into its settings:
        <Copy text={`notebridge setup ${name} --url ${url} --write`} label="Setup command" />
        <details>
          <summary>Or by hand</summary>
          <Copy text={snippet(url)} label={`Settings of ${title}`} />
          {ownCommand === undefined ? null : <Copy text={ownCommand(url)} label={`Command of ${title}`} />}
        </details>
      </li>
      <li>{afterwards}</li>
    </ol>
  );
}
