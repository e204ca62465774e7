import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { count, lines, oneLine, pretty } from './format.js';
import type { LiveHub } from './live-hub.js';

/** Draws again whenever what is known of the hub has changed. */
export function useHub(hub: LiveHub): void {
  const [, draw] = useState(0);
  useEffect(() => {
    // What came between the first picture and now.
    draw((number) => number + 1);
    return hub.subscribe(() => draw((number) => number + 1));
  }, [hub]);
}

interface Asked<Value> {
  value?: Value;
  fault?: string;
}

/** What was asked for, asked anew when one of `inputs` changes; the answer before stays until then. `again` asks at once. */
export function useAnswer<Value>(work: () => Promise<Value>, inputs: readonly unknown[]): Asked<Value> & { again: () => void } {
  const [asked, setAsked] = useState<Asked<Value>>({});
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    work().then(
      (value) => isCurrent && setAsked({ value }),
      (error: unknown) => isCurrent && setAsked(({ value }) => ({ ...(value !== undefined && { value }), fault: messageOf(error) })),
    );
    return () => {
      isCurrent = false;
    };
  }, [...inputs, round]);
  return { ...asked, again: () => setRound((number) => number + 1) };
}

export function messageOf(error: unknown): string {
  // What `fetch` says of a hub that is gone differs in each browser.
  if (error instanceof TypeError) return 'The hub does not answer.';
  return error instanceof Error ? error.message : String(error);
}

let isOpen = false;

/** One view: its heading, which is the title of the page too and is focused when the view is opened. */
export function View({ title, beside, children }: { title: string; beside?: ComponentChildren; children: ComponentChildren }) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} – Notebridge`;
  }, [title]);
  useEffect(() => {
    // Not on the first view of all: there the page begins at its top.
    if (isOpen) heading.current?.focus({ preventScroll: true });
    isOpen = true;
  }, []);
  return (
    <>
      <div class="head">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {beside}
      </div>
      {children}
    </>
  );
}

/** A part of a view, with what belongs beside its heading. */
export function Section({ title, beside, children }: { title: string; beside?: ComponentChildren; children: ComponentChildren }) {
  const id = useId();
  return (
    <section aria-labelledby={id}>
      <div class="head">
        <h2 id={id}>{title}</h2>
        {beside}
      </div>
      {children}
    </section>
  );
}

/** The head of a table: the title of each column with its class. `unseen`: the title is only read aloud. */
export function Head({ columns, index }: { columns: { readonly [title: string]: string }; index?: number }) {
  return (
    <thead>
      <tr aria-rowindex={index}>
        {Object.entries(columns).map(([title, kind]) => (
          <th key={title} scope="col" class={kind === '' || kind === 'unseen' ? undefined : kind}>
            {kind === 'unseen' ? <span class="unseen">{title}</span> : title}
          </th>
        ))}
      </tr>
    </thead>
  );
}

/** A state in words, with a mark whose colour says the same. */
export function State({ name }: { name: string }) {
  return (
    <span class="state" data-tone={toneOf(name)}>
      {oneLine(name).replaceAll('_', ' ')}
    </span>
  );
}

function toneOf(state: string): 'good' | 'busy' | 'bad' | 'calm' {
  if (['ok', 'running', 'serving', 'live', 'idle'].includes(state)) return 'good';
  if (['starting', 'restarting', 'under way', 'waiting', 'opening', 'busy', 'draining', 'not joined yet'].includes(state)) return 'busy';
  return ['stopped', 'disabled', 'cancelled', 'ended', 'not started', 'not connected', 'not known'].includes(state) ? 'calm' : 'bad';
}

/** In place of a list that has nothing. */
export function Nothing({ children }: { children: ComponentChildren }) {
  return <p class="nothing">{children}</p>;
}

export function Fault({ text }: { text: string | undefined }) {
  if (text === undefined) return null;
  return (
    <p class="fault" role="alert">
      <Words text={lines(text)} />
    </p>
  );
}

/** A sentence of the hub: what stands between backticks is to be typed. */
export function Words({ text }: { text: string }) {
  const parts = text.split('`');
  if (parts.length % 2 === 0) return <>{text}</>;
  return <>{parts.map((part, index) => (index % 2 === 0 ? part : <code key={`${index} ${part}`}>{part}</code>))}</>;
}

/** One line of a `<dl class="facts">`. */
export function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Of what a text has become when all in it is written out that cannot be seen. Characters. */
const longestShown = 400_000;

/** A text of somebody else's that scrolls in a box of its own; reached by the keyboard, since a box that scrolls must be. */
export function Box({ text, label }: { text: string; label: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached by the keyboard.
    // biome-ignore lint/a11y/useSemanticElements: a section with a name is a landmark, and there are many boxes.
    <pre class="box" role="group" aria-label={label} tabIndex={0}>
      {text.length > longestShown ? text.slice(0, longestShown) : text}
      {text.length > longestShown ? <b>{`\n… ${count(text.length - longestShown, 'more character')}`}</b> : null}
    </pre>
  );
}

/** A value as JSON. */
export function Json({ value, label }: { value: unknown; label: string }) {
  return <Box text={pretty(value)} label={label} />;
}

/** A button whose work takes a while: it is not pressed twice, and says what went wrong. */
export function Action({ work, children, kind }: { work: () => Promise<unknown>; children: ComponentChildren; kind?: 'main' | 'danger' }) {
  const [state, setState] = useState<{ isBusy?: boolean; fault?: string }>({});
  const run = (): void => {
    if (state.isBusy) return;
    setState({ isBusy: true });
    work().then(
      () => setState({}),
      (error: unknown) => setState({ fault: messageOf(error) }),
    );
  };
  return (
    <>
      <button type="button" class={kind} aria-disabled={state.isBusy === true} onClick={run}>
        {children}
      </button>
      <Fault text={state.fault} />
    </>
  );
}

/** An action that cannot be taken back: pressed once it asks, pressed again it does it. */
export function CertainAction({ work, children, question }: { work: () => Promise<unknown>; children: string; question: string }) {
  const [isAsked, setAsked] = useState(false);
  if (!isAsked)
    return (
      <button type="button" onClick={() => setAsked(true)}>
        {children}
      </button>
    );
  return (
    <>
      <Action work={() => work().then(() => setAsked(false))} kind="danger">
        {question}
      </Action>
      <button type="button" onClick={() => setAsked(false)}>
        Keep it
      </button>
    </>
  );
}
