import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Fault, messageOf, Section, View, Words } from './parts.js';
import { signIn, watch } from './session.js';

/** In place of the console, in a tab that may not see it. */
export function SignedOut({ why }: { why: string }) {
  return (
    <>
      <header class="side">
        <p class="brand">
          <img src="/console/icon.svg" alt="" width="22" height="22" /> Notebridge
        </p>
      </header>
      <main class="alone">
        <View title="Not signed in">
          <p role="alert">
            <Words text={why} />
          </p>
          <p>
            In a terminal on the hub’s machine, run <code>notebridge console</code>. It opens this page signed in; each address it gives
            opens the console once, within 15 minutes.
          </p>
          <Section title="With a code">
            <SecretForm {...byCode}>
              Where this page is reached through a proxy or a forwarded port, or the browser runs as another user: type the code of{' '}
              <code>notebridge code</code>.
            </SecretForm>
          </Section>
          <Section title="Only to watch">
            <SecretForm {...byGrant}>
              Paste the token of <code>notebridge grant --door watch --ttl 30d</code>: this tab then shows how the hub is, without what was
              sent and answered, and changes nothing.
            </SecretForm>
          </Section>
        </View>
      </main>
    </>
  );
}

interface SecretFormProps {
  label: string;
  button: string;
  kind: { type: 'text' } | { type: 'password' };
  /** What it may look like: a header has no room for anything else. */
  pattern: RegExp;
  /** What is said of anything else. */
  fault: string;
  /** Answers with what kept it from being taken. */
  enter: (secret: string) => Promise<string | undefined>;
  children: ComponentChildren;
}

/** For who has come through a proxy or forwarded port, or as another user than the hub's. */
const byCode = {
  label: 'Code',
  button: 'Open',
  kind: { type: 'text' },
  pattern: /^[\w-]{1,40}$/,
  fault: 'This is no code. Type the one that the command printed.',
  enter: signIn,
} as const;

/** For a screen that shows the hub to a team: its grant is given here, and stands in no address. */
const byGrant = {
  label: 'Token',
  button: 'Watch',
  kind: { type: 'password' },
  pattern: /^[\w.~+/=-]{1,512}$/,
  fault: 'This is no token. Paste the one that the command printed.',
  enter: (grant: string) => watch(grant).then(() => undefined, messageOf),
} as const;

function SecretForm({ label, button, kind, pattern, fault, enter, children }: SecretFormProps) {
  const [text, setText] = useState('');
  const [why, setWhy] = useState<string>();
  const submit = async (): Promise<void> => {
    const secret = text.replaceAll(/\s/g, '');
    const refused = pattern.test(secret) ? await enter(secret) : fault;
    if (refused === undefined) location.reload();
    else setWhy(refused);
  };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
    >
      <p>{children}</p>
      <div class="filters">
        <label>
          {label}{' '}
          <input {...kind} autoComplete="off" spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <button type="submit">{button}</button>
      </div>
      <Fault text={why} />
    </form>
  );
}
