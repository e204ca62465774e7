import type { KernelChoice } from '@notebridge/notebook/host';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { openedLifeMs } from '@notebridge/system/net/entry-codes';
import type { Command } from 'commander';
import type { BuiltInNotebook } from '../../assembly/notebooks/built-in/open-built-in.js';
import type { NotebookSetup, OpenedNotebook } from '../../assembly/notebooks/open-notebook.js';
import { openAddress } from '../../identity/open-address.js';
import { hubOptions } from '../command-options.js';
import { defineCommand, type OptionsOf, option } from '../define-command.js';
import { asTyped } from '../own-command.js';
import { assertFolder, createOwnNotebridge, serveAgent, toNamedLog } from '../own-notebridge.js';
import { untilSignal } from '../process-life.js';
import { withoutControls } from '../terminal-logger.js';
import { newTypedCode } from './code.js';

/** `notebridge notebook`: the built-in notebook, for a person or an agent host. */
export function notebookCommand(command: Command): void {
  defineCommand({
    arguments: [['[file]', 'an .ipynb file, made if it is not there (default: a notebook in memory)']],
    typed,
    options: hubOptions,
    run: runNotebook,
  })(command);
  for (const option of command.options) if (ofPages.has(option.long ?? '')) option.hideHelp();
}

/** What is about other notebooks; understood, since a host may give every command the same arguments, and of no use to one who reads. */
const ofPages = new Set(['--notebook', '--list', '--no-journal', '--outputs', '--allow-edits']);

const typed = [
  option('--headless', 'open no window'),
  option('--browser', 'open a window, also with --headless'),
  option('--read-only', 'agents may look, and change or run nothing'),
];

/** `browser`: `--browser`, `--no-browser`, or neither. */
type NotebookCommandOptions = OptionsOf<typeof typed> & Omit<OptionsOf<typeof hubOptions>, 'browser'>;

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
async function runNotebook(file: string | undefined, options: NotebookCommandOptions): Promise<void> {
  const isAttended = process.stdin.isTTY;
  assertFolder(file, 'The notebook');
  const wantsWindow = options.browser ?? !options.headless;
  const kernel = options.kernel ?? (isAttended && !options.headless ? 'auto' : undefined);
  if (isAttended && kernel === 'auto') {
    const { startWithUv } = await import('../notebook/start-with-uv.js');
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
      createLogger: toNamedLog('notebook', options),
      notebook: async (setup) => {
        const found = await openNotebook(setup, file, options);
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

/** What runs the code of a notebook, for the person at the terminal, and what would be better: lines. */
export function describeChoice({ displayName, reason, isolation, proposal, notice }: KernelChoice): string[] {
  const lines = [`Its code runs in ${displayName}: ${reason}.`, isolation];
  if (proposal) lines.push(`${proposal.question} Answer in the window, or start with: --kernel ${proposal.id}`);
  if (notice !== null) lines.push(notice);
  return lines.map((line) => asTyped(withoutControls(line)));
}

/** In this process, or where it is open already; for an agent in a process that outlives it. */
async function openNotebook(
  setup: NotebookSetup,
  file: string | undefined,
  { readOnly, standalone }: NotebookCommandOptions,
): Promise<ShownNotebook> {
  const named = { file, readOnly };
  if (standalone) {
    const { openBuiltIn } = await import('../../assembly/notebooks/built-in/open-built-in.js');
    return toShown(await openBuiltIn(setup, named));
  }
  const { isHeldElsewhere, openJoined } = await import('../../assembly/notebooks/built-in/open-joined.js');
  const { isTTY } = process.stdin;
  if (isTTY && (file === undefined || !(await isHeldElsewhere(setup, file)))) {
    const { openShared } = await import('../../assembly/notebooks/built-in/share-built-in.js');
    return toShown(await openShared(setup, named));
  }
  const howAgain = isTTY ? 'Press Enter to open it again, with a new kernel; Ctrl-C ends this command.' : undefined;
  const opened = await openJoined(setup, { ...named, howAgain });
  const newWindow: ShownNotebook['newWindow'] = async (how) => {
    const { url, path } = await opened.joined.newWindow(how);
    return { url, path: async () => path };
  };
  return { opened, newWindow, isElsewhere: true, isWindowBack: async () => false };
}

function toShown(opened: BuiltInNotebook): ShownNotebook {
  const { host, writeAddress: path } = opened;
  const newWindow: ShownNotebook['newWindow'] = async (how) => ({ url: host.newUrl(how?.opens === true ? openedLifeMs : undefined), path });
  return { opened, newWindow, isElsewhere: false, isWindowBack: () => host.windowIsBack(), kernelChoice: host.kernelChoice };
}

async function show(notebook: ShownNotebook, file: string | undefined): Promise<void> {
  const elsewhere = notebook.isElsewhere && process.stdin.isTTY ? ' (open in another process already)' : '';
  process.stderr.write(`${file ?? 'A notebook in memory'}${elsewhere}: ${await newAddress(notebook)}\n`);
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
      process.stderr.write(`${await newAddress(notebook)}\n`);
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
async function newAddress(notebook: ShownNotebook): Promise<string> {
  const { url, path } = await notebook.newWindow();
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
