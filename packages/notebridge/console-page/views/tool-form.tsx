import { isJsonObject } from '@notebridge/protocol/json';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { duration, lines, oneLine, pretty } from '../format.js';
import { Box, Fault, messageOf, Section } from '../parts.js';
import { callTool, type Said, type ToolAnswer } from '../try-out/call-tool.js';
import { faultOfObject, fieldsOf, missing, toArguments, toValues, type Values } from '../try-out/fields.js';
import type { Tool } from '../wire.js';
import { FieldInput } from './field-input.js';
import { Result } from './result.js';

interface ToolFormProps {
  server: string;
  tool: Tool;
  /** An object as JSON, to begin with. */
  given?: string | undefined;
  /** Told of each set of arguments that could be sent. */
  onArguments: (json: string) => void;
}

/** The arguments of one tool as a form or as JSON, the call, and its answer. */
export function ToolForm({ server, tool, given, onArguments }: ToolFormProps) {
  const fields = useMemo(() => fieldsOf(tool.input_schema), [tool]);
  const begun = useMemo(() => (given === undefined ? undefined : toValues(fields, given)), []);
  const [values, setValues] = useState<Values>(() =>
    begun !== undefined && 'values' in begun ? begun.values : Object.fromEntries(fields.map(({ name, initial }) => [name, initial])),
  );
  // Text: what is typed as JSON, in place of the form.
  const isTyped = fields.length === 0 || (begun !== undefined && 'without' in begun);
  const [text, setText] = useState<string | undefined>(isTyped ? (given ?? '{}') : undefined);
  const [note, setNote] = useState<string>();
  const [isTried, setTried] = useState(false);
  const args = useMemo(() => (text === undefined ? toArguments(fields, values) : toTyped(text)), [fields, values, text]);
  const json = 'json' in args ? args.json : undefined;
  useEffect(() => {
    if (json !== undefined) onArguments(json);
  }, [json]);
  const call = useCall({ server, tool: tool.name });
  const toForm = (): void => {
    const read = text === undefined || faultOfObject(text) !== undefined ? { without: '' } : toValues(fields, text);
    if ('without' in read)
      return setNote(read.without === '' ? 'It is no object of JSON yet.' : `The form has no field for “${oneLine(read.without)}”.`);
    setNote(undefined);
    setValues(read.values);
    setText(undefined);
  };
  const faults = 'faults' in args ? args.faults : {};
  return (
    <>
      <Section
        title="Arguments"
        beside={
          fields.length === 0 ? null : (
            <button type="button" aria-pressed={text !== undefined} onClick={() => (text === undefined ? setText(json ?? '{}') : toForm())}>
              As JSON
            </button>
          )
        }
      >
        <form
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            setTried(true);
            if (json === undefined) call.clear();
            else void call.run(json);
          }}
        >
          {text === undefined ? (
            <div class="fields">
              {fields.map((field) => (
                <FieldInput
                  key={field.name}
                  field={field}
                  value={values[field.name] ?? ''}
                  fault={isTried || field.kind === 'json' ? shownFault(faults[field.name], { isTried }) : undefined}
                  onChange={(value) => setValues((before) => ({ ...before, [field.name]: value }))}
                />
              ))}
            </div>
          ) : (
            <label class="field">
              <span>Arguments, as JSON</span>
              <textarea
                class="code"
                spellcheck={false}
                rows={Math.min(24, text.split('\n').length + 2)}
                value={text}
                aria-invalid={json === undefined}
                onInput={(event) => setText(event.currentTarget.value)}
              />
              {faults.json === undefined ? null : <span class="fault">{faults.json}</span>}
            </label>
          )}
          {takesNothing(tool.input_schema) ? <p class="soft">It names no arguments.</p> : null}
          <Fault text={note} />
          <p class="actions">
            {call.isRunning ? (
              // Another element than the one that calls: it would become that in the middle of the click, and send the form again.
              <button key="cancel" type="button" onClick={call.cancel}>
                Cancel
              </button>
            ) : (
              <button key="call" type="submit" class="main">
                Call
              </button>
            )}
            <span role="status" class="soft">
              {call.isRunning ? progressOf(call.said) : ''}
            </span>
          </p>
        </form>
      </Section>
      <Answer outcome={call.outcome} said={call.said} />
    </>
  );
}

function takesNothing(schema: unknown): boolean {
  const { properties } = isJsonObject(schema) ? schema : {};
  return properties === undefined || (isJsonObject(properties) && Object.keys(properties).length === 0);
}

function toTyped(text: string): { json: string } | { faults: Values } {
  const fault = faultOfObject(text);
  return fault === undefined ? { json: text } : { faults: { json: fault } };
}

/** That something is missing is said when it was tried, not before. */
function shownFault(fault: string | undefined, { isTried }: { isTried: boolean }): string | undefined {
  return isTried || fault !== missing ? fault : undefined;
}

interface CallOutcome {
  answer?: ToolAnswer;
  fault?: string;
}

function useCall({ server, tool }: { server: string; tool: string }) {
  const [running, setRunning] = useState<AbortController>();
  const [said, setSaid] = useState<readonly Said[]>([]);
  const [outcome, setOutcome] = useState<CallOutcome>();
  const run = async (json: string): Promise<void> => {
    const controller = new AbortController();
    setRunning(controller);
    setSaid([]);
    setOutcome(undefined);
    const onSaid = (one: Said): void => setSaid((before) => [...before.slice(-199), one]);
    const { signal } = controller;
    const ended = await callTool({ server, tool, json, signal, onSaid }).then(
      (answer) => ({ answer }),
      (error: unknown) => ({ fault: signal.aborted ? 'You cancelled the call.' : messageOf(error) }),
    );
    setOutcome(ended);
    setRunning(undefined);
  };
  return { run, said, outcome, isRunning: running !== undefined, cancel: () => running?.abort(), clear: () => setOutcome(undefined) };
}

function progressOf(said: readonly Said[]): string {
  const last = said.findLast((one) => one.event === 'progress');
  if (last === undefined) return 'Under way …';
  const { progress, total, message } = last;
  return [total === undefined ? String(progress) : `${progress} of ${total}`, message === undefined ? '' : oneLine(String(message))]
    .join(' ')
    .trim();
}

function Answer({ outcome, said }: { outcome: CallOutcome | undefined; said: readonly Said[] }) {
  const logged = said.filter((one) => one.event === 'log');
  if (outcome === undefined && logged.length === 0) return null;
  return (
    <Section
      title="Answer"
      beside={outcome?.answer === undefined ? null : <span class="soft">{duration(outcome.answer.duration_ms)}</span>}
    >
      {logged.length === 0 ? null : (
        <details>
          <summary>What it logged</summary>
          <Box
            text={logged
              .map(({ level, data }) => `${oneLine(String(level))}: ${typeof data === 'string' ? lines(data) : pretty(data)}`)
              .join('\n')}
            label="What it logged"
          />
        </details>
      )}
      {outcome === undefined ? null : <Ended {...outcome} />}
    </Section>
  );
}

function Ended({ answer, fault }: CallOutcome) {
  if (answer === undefined) return <Fault text={fault} />;
  const { success, error, error_code: code, ...rest } = answer;
  const shown = toShown(rest);
  return (
    <>
      {success ? null : <Fault text={`${code === null ? '' : `${code}: `}${error ?? 'It failed and did not say why.'}`} />}
      {success || rest.content !== undefined ? <Result result={shown} raw={answer} /> : null}
    </>
  );
}

/** For code an answer is a value, and its blocks stand beside it only where they say more. */
function toShown({ result, content, structured_content: structured }: Omit<ToolAnswer, 'success' | 'error' | 'error_code'>): unknown {
  if (content !== undefined) return { content, structured_content: structured ?? (typeof result === 'string' ? undefined : result) };
  const isBlocks = Array.isArray(result) && result.length > 0 && result.every((block) => typeof block?.type === 'string');
  return isBlocks ? { content: result } : result;
}
