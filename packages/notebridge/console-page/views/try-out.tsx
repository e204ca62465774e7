import { printJson } from '@notebridge/protocol/exact-json';
import { isJsonObject } from '@notebridge/protocol/json';
import { useEffect, useState } from 'preact/hooks';
import { lines, oneLine } from '../format.js';
import type { LiveHub } from '../live-hub.js';
import { Box, Fault, Json, messageOf, Nothing, Section, useAnswer, useHub, View } from '../parts.js';
import { hrefOf } from '../route.js';
import { ask, pathOf } from '../session.js';
import { spellingsOf } from '../try-out/same-call.js';
import type { Server, Tool } from '../wire.js';
import { Copy } from './copy.js';
import { ToolForm } from './tool-form.js';

/** What was chosen last: a person comes back to it. */
let lastChoice: readonly string[] = [];

/** Calls any tool, as the owner. */
export function TryOut({
  hub,
  server: serverName,
  tool: toolName,
  call,
}: {
  hub: LiveHub;
  server: string | undefined;
  tool: string | undefined;
  /** Whose arguments the form begins with. */
  call: string | undefined;
}) {
  useHub(hub);
  const { servers } = hub.told;
  const only = servers.length === 1 ? servers[0]?.name : undefined;
  useEffect(() => {
    if (serverName !== undefined) lastChoice = toolName === undefined ? [serverName] : [serverName, toolName];
    const choice = lastChoice.length > 0 ? lastChoice : only === undefined ? [] : [only];
    // No step of its own for the browser's way back.
    if (serverName === undefined && choice.length > 0) location.replace(hrefOf('try', ...choice));
  }, [serverName, toolName, only]);
  const server = servers.find(({ name }) => name === serverName);
  const fault = useTools(hub, server);
  const tool = server?.tools?.find(({ name }) => name === toolName);
  return (
    <View title="Try out">
      <div class="filters">
        <Chooser label="Server" names={servers.map(({ name }) => name)} value={serverName} onChoose={(name) => go(name)} />
        <Chooser
          label="Tool"
          names={(server?.tools ?? []).map(({ name }) => name)}
          value={toolName}
          onChoose={(name) => go(serverName ?? '', name)}
        />
      </div>
      <Fault text={fault} />
      <Hint server={server} serverName={serverName} tool={tool} toolName={toolName} />
      {server === undefined || tool === undefined ? null : (
        <OneTool key={`${server.name}\0${tool.name}\0${call ?? ''}`} server={server.name} tool={tool} call={call} />
      )}
    </View>
  );
}

/** Has a server asked for its tools that was not asked yet, which starts it. Returns why that failed. */
function useTools(hub: LiveHub, server: Server | undefined): string | undefined {
  const [fault, setFault] = useState<string>();
  const name = server?.tools === null ? server.name : undefined;
  useEffect(() => {
    setFault(undefined);
    if (name === undefined) return;
    ask(`/servers${pathOf(name)}`)
      .then(() => hub.refresh())
      .catch((error: unknown) => setFault(messageOf(error)));
  }, [hub, name]);
  return fault;
}

function go(...names: string[]): void {
  location.hash = hrefOf('try', ...names.filter((name) => name !== ''));
}

interface ChooserProps {
  label: string;
  names: readonly string[];
  value: string | undefined;
  onChoose: (name: string) => void;
}

function Chooser({ label, names, value = '', onChoose }: ChooserProps) {
  return (
    <label>
      {label}{' '}
      <select value={value} disabled={names.length === 0} onChange={(event) => onChoose(event.currentTarget.value)}>
        <option value="">choose …</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {oneLine(name)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Hint({
  server,
  serverName,
  tool,
  toolName,
}: {
  server: Server | undefined;
  serverName: string | undefined;
  tool: Tool | undefined;
  toolName: string | undefined;
}) {
  if (serverName === undefined)
    return <Nothing>Choose a server and one of its tools. The call is made as yours, and is in the audit.</Nothing>;
  if (server === undefined) return <Nothing>The hub has no server of this name (any more).</Nothing>;
  if (server.tools === null) return <Nothing>Asking it for its tools …</Nothing>;
  if (toolName === undefined) return <Nothing>{server.tools.length === 0 ? 'It has no tools.' : 'Choose one of its tools.'}</Nothing>;
  return tool === undefined ? <Nothing>It has no tool of this name (any more).</Nothing> : null;
}

function OneTool({ server, tool, call }: { server: string; tool: Tool; call: string | undefined }) {
  const [json, setJson] = useState('{}');
  const { value, fault } = useAnswer(async () => (call === undefined ? undefined : ask<'WholeCall'>(`/calls${pathOf(call)}`)), [call]);
  const isAsking = call !== undefined && value === undefined && fault === undefined;
  const given = isJsonObject(value?.arguments) ? printJson(value.arguments) : undefined;
  return (
    <>
      <Section
        title={oneLine(tool.name)}
        beside={tool.needs_approval ? <span class="tag">needs approval: calling it here is yours</span> : null}
      >
        <Box text={lines(tool.description ?? 'Its server says nothing about it.')} label="Description" />
        <details>
          <summary>Schema of its arguments</summary>
          <Json value={tool.input_schema} label="Schema of its arguments" />
        </details>
      </Section>
      <Fault text={fault} />
      {isAsking ? null : <ToolForm server={server} tool={tool} given={given} onArguments={setJson} />}
      <Section title="The same call from elsewhere">
        <p class="soft">
          Code needs a token in <code>NOTEBRIDGE_TOKEN</code>: <a href={hrefOf('grants')}>issue a grant</a>, which gives the lines for a
          notebook.
        </p>
        {spellingsOf({ origin: location.origin, server, tool: tool.name, json }).map(({ title, text }) => (
          <div key={title}>
            <h3>{title}</h3>
            <Copy text={text} label={title} />
          </div>
        ))}
      </Section>
    </>
  );
}
