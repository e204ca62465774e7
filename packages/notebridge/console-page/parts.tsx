import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { oneLine } from './format.js';
import type { HubState } from './hub-state.js';

/** Draws again whenever what is known of the hub has changed. */
export function useHub(hub: HubState): void {
  const [, draw] = useState(0);
  useEffect(() => hub.subscribe(() => draw((number) => number + 1)), [hub]);
}

/** What an asked-for value has become; asked for again when one of `inputs` changes. `again` asks at once. */
export function useAnswer<Value>(
  work: () => Promise<Value>,
  inputs: readonly unknown[],
): { value?: Value | undefined; fault?: string | undefined; again: () => void } {
  const [state, setState] = useState<{ value?: Value; fault?: string }>({});
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    work().then(
      (value) => isCurrent && setState({ value }),
      (error: unknown) => isCurrent && setState({ fault: messageOf(error) }),
    );
    return () => {
      isCurrent = false;
    };
  }, [...inputs, round]);
  return { ...state, again: () => setRound((number) => number + 1) };
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A state in a word, with a mark whose colour says the same. */
export function State({ name }: { name: string }) {
  return (
    <span class="state" data-state={name}>
      {oneLine(name).replaceAll('_', ' ')}
    </span>
  );
}

/** A text that somebody else wrote, as a name. */
export function Name({ text }: { text: string }) {
  return <code class="name">{oneLine(text)}</code>;
}

/** A text to take away, with a button that copies it. */
export function Copy({ text, label }: { text: string; label: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = (): void => void navigator.clipboard.writeText(text).then(() => setCopied(true));
  return (
    <div class="copy">
      <pre>{text}</pre>
      <button type="button" onClick={copy} aria-label={`Copy ${label}`}>
        {isCopied ? 'Copied' : 'Copy'}
      </button>
    </div>
  );
}

/** A button whose work takes a while: it cannot be pressed twice, and says what went wrong. */
export function Action({ work, children, kind }: { work: () => Promise<unknown>; children: ComponentChildren; kind?: string }) {
  const [state, setState] = useState<{ isBusy?: boolean; fault?: string }>({});
  const run = (): void => {
    setState({ isBusy: true });
    work().then(
      () => setState({}),
      (error: unknown) => setState({ fault: messageOf(error) }),
    );
  };
  return (
    <>
      <button type="button" class={kind} disabled={state.isBusy} onClick={run}>
        {children}
      </button>
      {state.fault === undefined ? null : (
        <span class="fault" role="alert">
          {oneLine(state.fault)}
        </span>
      )}
    </>
  );
}

/** A part of a view, with what belongs beside its heading. Without a title it is what the heading of the view says. */
export function Section({ title, beside, children }: { title?: string; beside?: ComponentChildren; children: ComponentChildren }) {
  return (
    <section>
      <div class="head">
        {title === undefined ? null : <h2>{title}</h2>}
        {beside}
      </div>
      {children}
    </section>
  );
}

/** In place of a list that has nothing. */
export function Nothing({ children }: { children: ComponentChildren }) {
  return <p class="nothing">{children}</p>;
}
