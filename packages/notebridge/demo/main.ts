import { type DemoOptions, type DemoReport, runDemo } from './run-demo.js';
import { abortOnSignal, Stopped } from './stopping.js';
import { createTeller, silentTeller, type Teller } from './teller.js';

export interface DemoCommandOptions extends Pick<DemoOptions, 'folder' | 'keep' | 'sandbox'> {
  browser?: boolean;
  json?: boolean;
  /** The command line that runs this program with these words, from any folder. */
  typed: (...words: string[]) => string;
}

/** Plays the demo on this process's terminal, for the command `demo`. Rejects if a step fails, with what was expected and found. */
export async function tellDemo({ browser = false, json = false, typed, ...place }: DemoCommandOptions): Promise<void> {
  const { stdin, stdout } = process;
  const colours = stdout.isTTY && stdout.hasColors();
  const teller = json ? silentTeller : createTeller({ print: (text) => stdout.write(text), colours });
  const person = !json && stdin.isTTY && stdout.isTTY ? stdin : undefined;
  try {
    const report = await runDemo({ ...place, browser, teller, signal: abortOnSignal(), person });
    if (json) stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
    assertGood(report);
    sayGood(report, { teller, typed });
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    const left = place.keep === undefined ? 'Nothing is left of it.' : `What there is of the notebook is in "${place.keep}".`;
    // A terminal shows ^C on the line that we are on.
    process.stderr.write(`${process.stderr.isTTY ? '\n' : ''}notebridge: The demo was stopped (${error.message}). ${left}\n`);
    process.exitCode = error.exitCode;
  }
}

function assertGood({ ok, steps }: DemoReport): void {
  if (ok) return;
  const { name, detail = '' } = steps.at(-1) ?? {};
  throw new Error(
    `The demo failed at step ${steps.length}, "${name}": ${detail.replace(/\.$/, '')}. Try it again; if it fails again, report it with this line.`,
  );
}

function sayGood(
  { steps, notebook, notShown }: DemoReport,
  { teller, typed }: { teller: Teller; typed: DemoCommandOptions['typed'] },
): void {
  const seconds = steps.reduce((sum, { ms }) => sum + ms, 0) / 1000;
  teller.say(
    `Done: ${steps.length} steps in ${seconds.toFixed(1)} s, every result checked.`,
    notebook === undefined ? 'The notebook is removed again.' : `The notebook is kept: ${notebook}`,
  );
  if (notShown !== undefined) teller.say(notShown);
  teller.say(
    'Next, from any folder:',
    `  See it in a window    ${typed('demo', '--browser')}`,
    `  In your own Python    ${typed('notebook', notebook ?? 'work.ipynb', '--kernel', 'auto')}`,
    `  Add it to your agent  ${typed('setup', 'claude-code')}   (or claude-desktop, cursor, vscode, gemini, codex)`,
  );
}
