import { keepEnd } from '../../sandbox/start-program.js';
import type { Layer } from '../layers.js';
import { within } from '../within.js';
import { type Frame, readFrames, toFrameBytes } from './jupyter-frames.js';
import { type Launched, type LaunchOptions, launchHelper } from './jupyter-process.js';

export interface HelperEvents {
  onFrame: (frame: Frame) => void;
  /** It ended by itself, or never began. */
  onExit: (reason: string) => void;
}

/** The program that stands between us and the kernel. */
export interface Helper {
  /** What stands between the code and the machine; empty until it was launched. */
  readonly layers: readonly Layer[];
  send(header: object, parts?: readonly Uint8Array[]): void;
  /** It waits while too many bytes of output are under way. */
  acknowledge(bytes: number): void;
  /** Ends it and the kernel, whatever they do; `now`: without asking the kernel first. Harmless when they have ended. */
  end(now: boolean): Promise<void>;
}

/** Far below what may be under way, or the helper would wait for ever. */
const acknowledgeEvery = 64 * 1024;
/** The kernel that is asked gets a second of it to end by itself; see helper.py. */
const endTimeoutMs = 4000;
const killTimeoutMs = 2000;
const maxErrorCharacters = 2000;

export function openHelper(options: LaunchOptions, events: HelperEvents): Helper {
  let launched: Launched | undefined;
  let started: { pid: number; folder: string } | undefined;
  let isEnding = false;
  let taken = 0;
  const early: Buffer[] = [];

  const write = (frame: Buffer): void => {
    if (launched) launched.child.stdin.write(frame);
    else early.push(frame);
  };
  const take = (frame: Frame): void => {
    const { type, pid, folder } = frame.header;
    if (type === 'started') started = { pid: Number(pid), folder: String(folder) };
    else events.onFrame(frame);
  };
  const open = async (): Promise<void> => {
    const begun = await launchHelper(options);
    if (isEnding) return void begun.child.kill('SIGKILL');
    launched = begun;
    const { child } = begun;
    const exited = watch(begun, options.python, events.onExit);
    const fail = (reason: string): void => {
      events.onExit(reason);
      child.kill('SIGKILL');
    };
    readFrames(child.stdout, holdUntil(begun.inspect, take, fail), fail);
    for (const frame of early.splice(0)) write(frame);
    await exited;
    if (started) begun.cleanUp(started);
    await begun.gone;
  };
  const exited = open().catch((error: unknown) => events.onExit(error instanceof Error ? error.message : String(error)));

  return {
    get layers() {
      return launched?.layers ?? [];
    },
    send: (header, parts) => write(toFrameBytes(header, parts)),
    acknowledge(bytes) {
      taken += bytes;
      if (taken < acknowledgeEvery) return;
      write(toFrameBytes({ type: 'acknowledge', count: taken }));
      taken = 0;
    },
    async end(now) {
      isEnding = true;
      // Its end of file is what ends it also when we are killed.
      launched?.child.stdin.end(toFrameBytes({ type: 'shutdown', now }));
      const isGone = await within(
        endTimeoutMs,
        exited.then(() => true),
      );
      if (isGone) return;
      launched?.child.kill('SIGKILL');
      await within(killTimeoutMs, exited);
    },
  };
}

/** Frames are read once the process was checked, which is when it has loaded and sends the first one. */
function holdUntil(inspect: () => Promise<void>, take: (frame: Frame) => void, onFault: (reason: string) => void): (frame: Frame) => void {
  const held: Frame[] = [];
  let isInspected = false;
  const pass = () => {
    isInspected = true;
    for (const frame of held.splice(0)) take(frame);
  };
  return (frame) => {
    if (isInspected) return take(frame);
    if (held.push(frame) === 1) inspect().then(pass, (error: Error) => onFault(error.message));
  };
}

/** Returns a promise of its end. */
function watch({ child, breach }: Launched, python: string, onExit: (reason: string) => void): Promise<void> {
  const errors = keepEnd(child.stderr, maxErrorCharacters);
  // It went away while we wrote: `close` says so.
  child.stdin.on('error', () => {});
  return new Promise((resolve) => {
    child.on('error', (error) => {
      onExit(`"${python}" cannot be run (${error.message}). Choose another Python, or make its environment anew`);
      resolve();
    });
    child.on('close', (code, signal) => {
      const why = breach?.();
      if (why !== undefined) onExit(`it was ended: ${why}. Restart the kernel`);
      onExit(`the program between Notebridge and the kernel ended with ${signal ?? `code ${code}`}${errors() && `: ${errors()}`}`);
      resolve();
    });
  });
}
