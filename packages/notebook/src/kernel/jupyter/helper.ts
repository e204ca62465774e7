import { inPortions, openProgram } from '../child-program.js';
import type { Layer } from '../layers.js';
import { within } from '../within.js';
import { type Frame, readFrames, toFrameBytes } from './jupyter-frames.js';
import { type LaunchOptions, launchHelper } from './jupyter-process.js';

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

/** The kernel that is asked gets a second of it to end by itself; see helper.py. */
const endTimeoutMs = 4000;
const killTimeoutMs = 2000;

export function openHelper(options: LaunchOptions, { onFrame, onExit }: HelperEvents): Helper {
  let started: { pid: number; folder: string } | undefined;
  const program = openProgram({
    launch: () => launchHelper(options),
    read: readFrames,
    onMessage(frame: Frame) {
      const { type, pid, folder } = frame.header;
      if (type === 'started') started = { pid: Number(pid), folder: String(folder) };
      else onFrame(frame);
    },
    onExit,
    reasons: {
      noStart: (fault) => `"${options.python}" cannot be run (${fault}). Choose another Python, or make its environment anew`,
      breach: (bound) => `it was ended: ${bound}. Restart the kernel`,
      end: (code, signal, said) => `the program between Notebridge and the kernel ended with ${signal ?? `code ${code}`}${said}`,
    },
  });
  const cleanUp = async (): Promise<void> => {
    if (started) program.launched?.cleanUp(started);
    await program.launched?.gone;
  };
  const exited = program.exited.then(cleanUp).catch(() => {});
  const send: Helper['send'] = (header, parts) => program.write(toFrameBytes(header, parts));
  return {
    get layers() {
      return program.launched?.layers ?? [];
    },
    send,
    acknowledge: inPortions((count) => send({ type: 'acknowledge', count })),
    async end(now) {
      // Its end of file is what ends it also when we are killed.
      program.launched?.child.stdin.end(toFrameBytes({ type: 'shutdown', now }));
      if (!program.launched) program.kill();
      const isGone = await within(
        endTimeoutMs,
        exited.then(() => true),
      );
      if (isGone) return;
      program.kill();
      await within(killTimeoutMs, exited);
    },
  };
}
