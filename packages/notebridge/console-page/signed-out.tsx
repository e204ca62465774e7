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
            <CodeForm />
          </Section>
          <Section title="Only to watch">
            <WatchForm />
          </Section>
        </View>
      </main>
    </>
  );
}

/** For who has come through a proxy or forwarded port, or as another user than the hub's. */
function CodeForm() {
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string>();
  const enter = async (): Promise<void> => {
    const code = text.replaceAll(/\s/g, '');
    // A header has no room for anything else.
    const why = /^[\w-]{1,40}$/.test(code) ? await signIn(code) : 'This is no code. Type the one that the command printed.';
    if (why === undefined) location.reload();
    else setFault(why);
  };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void enter();
      }}
    >
      <p>
        Where this page is reached through a proxy or a forwarded port, or the browser runs as another user: type the code of{' '}
        <code>notebridge code</code>.
      </p>
      <div class="filters">
        <label>
          Code{' '}
          <input type="text" autoComplete="off" spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <button type="submit">Open</button>
      </div>
      <Fault text={fault} />
    </form>
  );
}

/** For a screen that shows the hub to a team: its grant is given here, and stands in no address. */
function WatchForm() {
  const [text, setText] = useState('');
  const [fault, setFault] = useState<string>();
  const enter = async (): Promise<void> => {
    // A header has no room for what a token never has.
    const grant = text.replaceAll(/\s/g, '');
    if (!/^[\w.~+/=-]{1,512}$/.test(grant)) return setFault('This is no token. Paste the one that the command printed.');
    await watch(grant).then(
      () => location.reload(),
      (error: unknown) => setFault(messageOf(error)),
    );
  };
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void enter();
      }}
    >
      <p>
        Paste the token of <code>notebridge grant --door watch --ttl 30d</code>: this tab then shows how the hub is, without what was sent
        and answered, and changes nothing.
      </p>
      <div class="filters">
        <label>
          Token <input type="password" autoComplete="off" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        </label>
        <button type="submit">Watch</button>
      </div>
      <Fault text={fault} />
    </form>
  );
}
