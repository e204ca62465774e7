import { View } from './parts.js';

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
          <p role="alert">{why}</p>
          <p>
            In a terminal on the hub’s machine, run <code>notebridge console</code>. It opens this page signed in; each address it gives
            opens the console once, within 15 minutes.
          </p>
        </View>
      </main>
    </>
  );
}
