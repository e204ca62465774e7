import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { SandboxMode } from '@notebridge/notebook/host';
import { DemoAgent } from './demo-agent.js';
import { type DemoFilesystem, findFilesystem, withoutFilesystem } from './filesystem.js';
import { packageFolder, packageVersion } from './own-package.js';
import { type DemoPlace, setUpPlace } from './place.js';
import { type PlayOptions, playSteps, type StepReport } from './steps.js';
import { type StoryOptions, tellStory } from './story.js';
import type { Teller } from './teller.js';

export interface DemoOptions {
  /** Shows the notebook in a browser window. */
  browser: boolean;
  /** An empty folder, for all that the demo writes; its creator removes it. */
  folder: string;
  /** Where the notebook is kept; nothing is there yet. Undefined: nowhere. */
  keep: string | undefined;
  /** Default: `auto`. */
  sandbox?: SandboxMode;
  teller: Teller;
  /** Stops the demo; while a person looks at the window, it ends the look. */
  signal: AbortSignal;
  /** The terminal of a person who looks at the window until they press Enter. Undefined: no wait. */
  person: NodeJS.ReadStream | undefined;
}

export interface DemoReport {
  ok: boolean;
  steps: StepReport[];
  /** Where the notebook is kept, as far as it came. */
  notebook?: string;
  /** What this machine lacks for a step that was left out. */
  notShown?: string;
}

/** All steps together; a person's look is not counted. */
const budgetMs = 60_000;

/** A person has to see each change in the window. Milliseconds. */
const paceMs = 1200;

/** What is left running after a stop or a failure ends within this, or is killed. Milliseconds. */
const lastTimeoutMs = 1500;

/**
 * Plays the demo: starts a Notebridge as an agent host does, and works with it. Rejects with the signal's reason; a step that failed is in
 * the report.
 */
export async function runDemo(options: DemoOptions): Promise<DemoReport> {
  const filesystem = findFilesystem();
  const servers = filesystem === undefined ? {} : { filesystem: { command: filesystem.command, args: filesystem.args } };
  const place = await setUpPlace(options, { env: process.env, servers });
  options.teller.title('Notebridge demo: an agent works in a notebook. Python comes with the package; no network, no account.');
  const program = fileURLToPath(new URL('bin/notebridge.js', packageFolder));
  // The same everywhere: the Python that comes with us, whatever else is here; and held by the agent's own process, so that nothing is
  // left behind when it ends.
  const sandbox = ['--sandbox', options.sandbox ?? 'auto'];
  const how = ['--kernel', 'pyodide', '--standalone'];
  const start = (args: readonly string[]): DemoAgent =>
    new DemoAgent(process.execPath, [program, 'stdio', ...sandbox, ...args], { env: place.env, onUse: options.teller.onUse });
  const agent = start(['--notebook', place.notebook, ...how]);
  const others: DemoAgent[] = [];
  const startAgent = (args: readonly string[]): DemoAgent => {
    const other = start(['--notebook', 'none', ...args]);
    others.push(other);
    return other;
  };
  try {
    const steps = await play({ agent, startAgent }, { place, filesystem }, options);
    return {
      ok: steps.every(({ ok }) => ok),
      steps,
      ...(options.keep === undefined ? {} : { notebook: place.notebook }),
      ...(filesystem === undefined ? { notShown: withoutFilesystem } : {}),
    };
  } finally {
    await Promise.all([agent, ...others].map((each) => each.close(lastTimeoutMs)));
  }
}

async function play(
  { agent, startAgent }: Pick<StoryOptions, 'agent' | 'startAgent'>,
  { place, filesystem }: { place: DemoPlace; filesystem: DemoFilesystem | undefined },
  { browser, teller, signal, person }: DemoOptions,
): Promise<StepReport[]> {
  const look = browser ? person : undefined;
  let isThere = true;
  void agent.ended.then(() => {
    isThere = false;
  });
  const canStillRead = (): boolean => isThere && !signal.aborted;
  const { steps, lastStep } = tellStory({
    agent,
    startAgent,
    place,
    filesystem,
    version: packageVersion(),
    showsWindow: browser,
    canStillRead,
  });
  const bounds: PlayOptions = { budgetMs, signal, listener: teller };
  const reports = await playSteps(
    steps,
    look === undefined ? bounds : { ...bounds, pause: () => wait(paceMs, undefined, { signal }).catch(() => {}) },
  );
  if (reports.some(({ ok }) => !ok)) return reports;

  if (look !== undefined) {
    teller.say('Look at the window, and change what you like. Enter ends the demo.');
    await Promise.race([once(look, 'data'), once(look, 'end'), once(signal, 'abort'), agent.ended]);
  }
  const leftMs = reports.reduce((left, { ms }) => left - ms, budgetMs);
  // A person who ends the look with Ctrl-C wants to see its end.
  const stop = look !== undefined && signal.aborted ? new AbortController().signal : signal;
  return [...reports, ...(await playSteps([lastStep], { ...bounds, budgetMs: leftMs, signal: stop }))];
}
