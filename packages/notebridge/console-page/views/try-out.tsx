import { useEffect, useRef, useState } from 'preact/hooks';
import { exampleOf } from '../example-of.js';
import { duration, lines, oneLine, pretty } from '../format.js';
import type { HubState } from '../hub-state.js';
import type { Server, Tool } from '../owner-api.js';
import { Copy, messageOf, Nothing, Section, useHub } from '../parts.js';
import { ask, send } from '../session.js';
import { Result } from './result.js';

/** Calls any tool, as the owner. */
export function TryOut({ hub, server, tool }: { hub: HubState; server: string | undefined; tool: string | undefined }) {
  useHub(hub);
  const chosen = hub.servers.find(({ name }) => name === server);
  const found = chosen?.tools?.find(({ name }) => name === tool);
  useEffect(() => {
    // Asked for once: a server that was not needed yet is started by it.
    if (server !== undefined && chosen !== undefined && chosen.tools === null)
      ask(`/servers/${encodeURIComponent(server)}`).then(
        () => hub.refresh(),
        () => {},
      );
  }, [server, chosen?.tools === null]);
  return (
    <>
      <Section>
        <form class="filters" onSubmit={(event) => event.preventDefault()}>
          <Choice label="Server" names={hub.servers.map(({ name }) => name)} value={server} onChoose={(name) => go(name)} />
          <Choice
            label="Tool"
            names={(chosen?.tools ?? []).map(({ name }) => name)}
            value={tool}
            onChoose={(name) => go(server ?? '', name)}
          />
        </form>
        {server === undefined ? <Nothing>Choose a server, then one of its tools.</Nothing> : null}
        {chosen?.tools === null ? <Nothing>Asking for its tools …</Nothing> : null}
      </Section>
      {chosen === undefined || found === undefined ? null : <Form key={`${server} ${tool}`} server={chosen} tool={found} />}
    </>
  );
}

function go(server: string, tool?: string): void {
  location.hash = ['#try', server, ...(tool === undefined ? [] : [tool])]
    .map((part, at) => (at === 0 ? part : encodeURIComponent(part)))
    .join('/');
}

function Choice({
  label,
  names,
  value = '',
  onChoose,
}: {
  label: string;
  names: string[];
  value?: string | undefined;
  onChoose: (name: string) => void;
}) {
  return (
    <label>
      {label}{' '}
      <select value={value} disabled={names.length === 0} onChange={(event) => onChoose(event.currentTarget.value)}>
        <option value="">–</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {oneLine(name)}
          </option>
        ))}
      </select>
    </label>
  );
}

interface Answer {
  result?: unknown;
  fault?: string;
  tookMs: number;
}

function Form({ server: { name }, tool }: { server: Server; tool: Tool }) {
  const [text, setText] = useState(() => JSON.stringify(exampleOf(tool.input_schema) ?? {}, undefined, 2));
  const [answer, setAnswer] = useState<Answer>();
  const [running, setRunning] = useState<AbortController>();
  const leaving = useRef<AbortController>(undefined);
  useEffect(() => () => leaving.current?.abort(), []);
  const parsed = parse(text);
  const run = async (): Promise<void> => {
    const controller = new AbortController();
    const startedAt = performance.now();
    leaving.current = controller;
    setRunning(controller);
    setAnswer(undefined);
    const outcome = await call({ server: name, tool: tool.name, args: text, signal: controller.signal }).catch((error: unknown) => ({
      fault: controller.signal.aborted ? 'You cancelled it.' : messageOf(error),
    }));
    setRunning(undefined);
    setAnswer({ ...outcome, tookMs: performance.now() - startedAt });
  };
  return (
    <>
      <Section title={oneLine(tool.name)}>
        <pre class="values">{lines(tool.description ?? 'Its server says nothing of it.')}</pre>
        <details>
          <summary>What it takes</summary>
          <pre class="values">{pretty(tool.input_schema)}</pre>
        </details>
        <label class="field">
          Arguments, as JSON
          <textarea
            spellcheck={false}
            rows={Math.min(20, text.split('\n').length + 2)}
            value={text}
            aria-invalid={parsed !== undefined}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        </label>
        {parsed === undefined ? null : <p class="fault">{parsed}</p>}
        <p class="actions">
          {running === undefined ? (
            <button type="button" class="main" disabled={parsed !== undefined} onClick={() => void run()}>
              Call it
            </button>
          ) : (
            <button type="button" onClick={() => running.abort()}>
              Cancel
            </button>
          )}
          <span class="count">A call of yours: it is made at once, and is in the audit.</span>
        </p>
      </Section>
      {answer === undefined ? null : (
        <Section title="Answer" beside={<span class="count">{duration(answer.tookMs)}</span>}>
          {answer.fault === undefined ? <Result result={answer.result} /> : <pre class="values fault">{lines(answer.fault)}</pre>}
        </Section>
      )}
      <Section title="The same from elsewhere">
        <SameCall server={name} tool={tool.name} args={parsed === undefined ? JSON.stringify(JSON.parse(text)) : '{}'} />
      </Section>
    </>
  );
}

/** Numbers stay as they were typed: the text itself is sent. */
async function call(options: { server: string; tool: string; args: string; signal: AbortSignal }): Promise<Omit<Answer, 'tookMs'>> {
  const { server, tool, args, signal } = options;
  const path = `/api/v1/mcp/proxy/${encodeURIComponent(server)}/tools/${encodeURIComponent(tool)}`;
  const headers = { 'notebridge-typed': 'true' };
  const response = await send(path, { method: 'POST', headers, body: `{"arguments":${args}}`, signal });
  const { success, result, error, content, structured_content: structured } = (await response.json()) as ProxyAnswer;
  if (!success && content === undefined) return { fault: error ?? 'It failed, and did not say why.' };
  if (content === undefined) return { result: areBlocks(result) ? { content: result } : result };
  return { result: { content, ...(success ? { structuredContent: structured ?? result } : { isError: true, error }) } };
}

/** Of what is no text alone the tool proxy answers the blocks themselves. */
function areBlocks(value: unknown): boolean {
  const isBlock = (part: unknown): boolean => typeof part === 'object' && part !== null && 'type' in part && typeof part.type === 'string';
  return Array.isArray(value) && value.length > 0 && value.every(isBlock);
}

interface ProxyAnswer {
  success: boolean;
  result: unknown;
  error: string | null;
  content?: unknown;
  structured_content?: unknown;
}

/** Why it is no object of JSON; undefined if it is one. */
function parse(text: string): string | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? undefined : 'The arguments must be an object: { … }';
  } catch (error) {
    return messageOf(error);
  }
}

function SameCall({ server, tool, args }: { server: string; tool: string; args: string }) {
  const quoted = (part: string): string => `'${part.replaceAll("'", "'\\''")}'`;
  const url = `${location.origin}/api/v1/mcp/proxy/${encodeURIComponent(server)}/tools/${encodeURIComponent(tool)}`;
  return (
    <>
      <Copy label="the command" text={`notebridge call ${quoted(server)} ${quoted(tool)} ${quoted(args)}`} />
      <Copy
        label="the command of curl"
        text={`curl ${quoted(url)} -H "Authorization: Bearer $(notebridge grant --allow ${quoted(`${server}:${tool}`)})" --json ${quoted(`{"arguments":${args}}`)}`}
      />
    </>
  );
}
