import { openedLifeMs } from '@notebridge/kit/entry-codes';
import { messageOf } from '@notebridge/kit/message-of';
import type { KernelChoice } from '@notebridge/notebook/host';
import type { BuiltInNotebook } from '../../assembly/notebooks/built-in/open-built-in.js';
import type { NotebookSetup, OpenedNotebook } from '../../assembly/notebooks/open-notebook.js';
import { openAddress } from '../../identity/open-address.js';
import type { HubCommandOptions } from '../command-options.js';
import { newTypedCode } from '../hub/print-code.js';
import { describeChoice } from '../kernels/describe-choice.js';
import { assertFolder, createOwnNotebridge } from '../own-notebridge.js';
import { untilSignal } from '../process-life.js';
import { serveAgent } from '../serve-agent.js';

export interface NotebookCommandOptions extends Omit<HubCommandOptions, 'browser'> {
  /** `--browser`, `--no-browser`, or neither. */
  browser?: boolean;
  headless?: boolean;
  readOnly?: boolean;
}

/** A notebook that this command shows to the person. */
interface ShownNotebook {
  opened: OpenedNotebook;
  /** The address of one more window. */
  newWindow(how?: { opens: boolean }): Promise<{ url: string; path: () => Promise<string> }>;
  /** Another process holds it: it goes on when this one ends. */
  isElsewhere: boolean;
  /** A window that was open before comes back by itself. */
  isWindowBack(): Promise<boolean>;
  /** What runs its code; undefined where another process knows. */
  kernelChoice?: KernelChoice | undefined;
}

/** On a terminal, serves windows until Ctrl-C; started by an agent host, serves the agent too, and ends with it. */
export async function runNotebook(file: string | undefined, options: NotebookCommandOptions): Promise<void> {
  const isAttended = process.stdin.isTTY;
  assertFolder(file, 'The notebook');
  const wantsWindow = options.browser ?? !options.headless;
  const kernel = options.kernel ?? (isAttended && !options.headless ? 'auto' : undefined);
  if (isAttended && kernel === 'auto') {
    const { startWithUv } = await import('./start-with-uv.js');
    const exitCode = await startWithUv(file);
    if (exitCode !== undefined) {
      process.exitCode = exitCode;
      return;
    }
  }
  let shown: ShownNotebook | undefined;
  const bridge = await createOwnNotebridge(
    // Nobody is there to be asked where there is no window.
    { ...options, browser: options.browser !== false, kernel },
    {
      command: 'notebook',
      notebook: async (setup) => {
        const open = isAttended ? openForPerson : openForAgent;
        const found = await open(setup, { file, readOnly: options.readOnly, isStandalone: options.standalone === true });
        shown = found;
        const showing = show(found, file);
        // An agent's first answer does not wait for a window.
        if (isAttended) await showing;
        if (wantsWindow) showing.then(() => showFirstWindow(found)).catch(() => {});
        else showing.catch(() => {});
        return isAttended ? withMoreWindows(found, wantsWindow) : found.opened;
      },
    },
  );
  if (!isAttended) return serveAgent(bridge);
  // Before a word is printed: who reads that Ctrl-C ends it may press it at once.
  const signal = untilSignal();
  try {
    await bridge.start();
    for (const line of shown?.kernelChoice ? describeChoice(shown.kernelChoice) : []) process.stderr.write(`${line}\n`);
    const end = shown?.isElsewhere ? 'end this command; the notebook goes on' : 'end it; everything is saved';
    process.stderr.write(`Press Enter for another window, Ctrl-C to ${end}.\n`);
    const { asked, ended } = shown?.opened ?? {};
    // `ended` is for the agent of this process, and here there is none; of a notebook elsewhere it says that it cannot be opened.
    const others = [asked, shown?.isElsewhere ? ended : undefined].filter((end) => end !== undefined);
    await Promise.race([signal, ...others]);
  } finally {
    await bridge.close();
  }
}

interface OpenOptions {
  file: string | undefined;
  readOnly: boolean | undefined;
  isStandalone: boolean;
}

/** In this process, or where it is open already. */
async function openForPerson(setup: NotebookSetup, { file, readOnly, isStandalone }: OpenOptions): Promise<ShownNotebook> {
  if (isStandalone) return openHere(setup, { file, readOnly });
  if (file !== undefined) {
    const { isHeldElsewhere } = await import('../../assembly/notebooks/built-in/open-joined.js');
    if (await isHeldElsewhere(setup, file)) return openElsewhere(setup, { file, readOnly });
  }
  const { openShared } = await import('../../assembly/notebooks/built-in/share-built-in.js');
  const opened = await openShared(setup, { file, readOnly });
  return toShown(opened);
}

async function openForAgent(setup: NotebookSetup, { isStandalone, ...options }: OpenOptions): Promise<ShownNotebook> {
  return isStandalone ? openHere(setup, options) : openElsewhere(setup, options);
}

async function openHere(setup: NotebookSetup, options: Pick<OpenOptions, 'file' | 'readOnly'>): Promise<ShownNotebook> {
  const { openBuiltIn } = await import('../../assembly/notebooks/built-in/open-built-in.js');
  return toShown(await openBuiltIn(setup, options));
}

function toShown(opened: BuiltInNotebook): ShownNotebook {
  const { host, writeAddress: path } = opened;
  const newWindow: ShownNotebook['newWindow'] = async (how) => ({ url: host.newUrl(how?.opens === true ? openedLifeMs : undefined), path });
  return { opened, newWindow, isElsewhere: false, isWindowBack: () => host.windowIsBack(), kernelChoice: host.kernelChoice };
}

async function openElsewhere(setup: NotebookSetup, options: Pick<OpenOptions, 'file' | 'readOnly'>): Promise<ShownNotebook> {
  const { openJoined } = await import('../../assembly/notebooks/built-in/open-joined.js');
  const howAgain = process.stdin.isTTY ? 'Press Enter to open it again, with a new kernel; Ctrl-C ends this command.' : undefined;
  const opened = await openJoined(setup, { ...options, howAgain });
  const newWindow: ShownNotebook['newWindow'] = async (how) => {
    const { url, path } = await opened.joined.newWindow(how);
    return { url, path: async () => path };
  };
  return { opened, newWindow, isElsewhere: true, isWindowBack: async () => false };
}

async function show(notebook: ShownNotebook, file: string | undefined): Promise<void> {
  const { url, path } = await notebook.newWindow();
  const elsewhere = notebook.isElsewhere && process.stdin.isTTY ? ' (open in another process already)' : '';
  process.stderr.write(`${file ?? 'A notebook in memory'}${elsewhere}: ${await addressOf(url, path)}\n`);
}

/** A second one beside that of before would be in the way. */
async function showFirstWindow(notebook: ShownNotebook): Promise<void> {
  if (await notebook.isWindowBack()) process.stderr.write('The window that was open before goes on.\n');
  else await showWindow(notebook);
}

/** Opens another window for each line that the person enters. */
function withMoreWindows(notebook: ShownNotebook, wantsWindow: boolean): OpenedNotebook {
  const another = async (): Promise<void> => {
    try {
      const { url, path } = await notebook.newWindow();
      process.stderr.write(`${await addressOf(url, path)}\n`);
      if (wantsWindow) await showWindow(notebook);
    } catch (error) {
      process.stderr.write(`notebridge: ${messageOf(error)}\n`);
    }
  };
  process.stdin.on('data', another);
  return {
    ...notebook.opened,
    close: async () => {
      process.stdin.off('data', another).pause();
      await notebook.opened.close();
    },
  };
}

/** The address holds the token: a terminal may show it, and a log or an agent's host, which keep what we write, may not. */
async function addressOf(url: string, path: () => Promise<string>): Promise<string> {
  if (process.stderr.isTTY) return `${url}\n  As another user, or through a proxy or forwarded port, type the code ${newTypedCode()}`;
  try {
    return `the address of its window stands in "${await path()}", which only you can read.`;
  } catch (error) {
    return `its window has an address that only a terminal is shown. ${messageOf(error)}`;
  }
}

/** What kept a browser from opening, as it was said: not again at each line that the person enters. */
let saidHint: string | undefined;

async function showWindow(notebook: ShownNotebook): Promise<void> {
  const { url } = await notebook.newWindow({ opens: true });
  const outcome = await openAddress(url);
  if (outcome.opened || outcome.hint === saidHint) return;
  saidHint = outcome.hint;
  process.stderr.write(`No browser was opened. ${outcome.hint}\n`);
}
