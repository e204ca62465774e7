/** A program of ours with a kernel in it, on the other end of stdin and stdout: launched, inspected, read, and watched until it has ended. */
import type { Readable } from 'node:stream';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { SandboxedProcess } from '@notebridge/sandbox/spec';
import { keepEnd } from '@notebridge/sandbox/start-program';

export interface LaunchedProgram extends Pick<SandboxedProcess, 'child' | 'breach' | 'gone'> {
  /** Rejects if the process is not where it should be. Called when it has spoken; no code of a notebook runs before. Undefined: it may be anywhere. */
  inspect?: (() => Promise<void>) | undefined;
}

export interface ProgramOptions<Launched extends LaunchedProgram, Message> {
  launch: () => Promise<Launched>;
  /** Reads its messages. `onFault` is called once, and nothing afterwards. */
  read: (stdout: Readable, onMessage: (message: Message) => void, onFault: (reason: string) => void) => void;
  onMessage: (message: Message) => void;
  /** It ended by itself, or never began. */
  onExit: (reason: string) => void;
  /** The words of an end. */
  reasons: {
    noStart: (fault: string) => string;
    breach: (bound: string) => string;
    /** `said`: the last of its stderr, behind a colon. */
    end: (code: number | null, signal: string | null, said: string) => string;
  };
}

export interface ChildProgram<Launched extends LaunchedProgram> {
  /** Undefined until it was launched. */
  readonly launched: Launched | undefined;
  /** Resolves when it has ended. Never rejects. */
  readonly exited: Promise<void>;
  /** What is written before the launch comes first. */
  write(data: string | Uint8Array): void;
  /** It did what it may not do. */
  fail(reason: string): void;
  /** Ends it whatever it does, also where it is not launched yet. Harmless when it has ended. */
  kill(): void;
}

/** Far below what may be under way, or the program would wait for ever. */
const acknowledgeEvery = 64 * 1024;
const maxErrorCharacters = 2000;

export function openProgram<Launched extends LaunchedProgram, Message>(options: ProgramOptions<Launched, Message>): ChildProgram<Launched> {
  const { onMessage, onExit } = options;
  let launched: Launched | undefined;
  let isKilled = false;
  const early: (string | Uint8Array)[] = [];
  const kill = () => {
    isKilled = true;
    launched?.child.kill('SIGKILL');
  };
  const fail = (reason: string) => {
    onExit(reason);
    kill();
  };
  const open = async () => {
    const begun = await options.launch();
    if (isKilled) return void begun.child.kill('SIGKILL');
    launched = begun;
    const { child, inspect } = begun;
    const ended = watch(begun, options);
    options.read(child.stdout, inspect ? holdUntil(inspect, onMessage, fail) : onMessage, fail);
    for (const data of early.splice(0)) child.stdin.write(data);
    await ended;
  };
  return {
    get launched() {
      return launched;
    },
    exited: open().catch((error: unknown) => onExit(messageOf(error))),
    write(data) {
      if (launched) launched.child.stdin.write(data);
      else early.push(data);
    },
    fail,
    kill,
  };
}

/** What was taken is acknowledged in portions: each is a write. */
export function inPortions(acknowledge: (count: number) => void): (count: number) => void {
  let taken = 0;
  return (count) => {
    taken += count;
    if (taken < acknowledgeEvery) return;
    acknowledge(taken);
    taken = 0;
  };
}

/** Messages are read once the process was checked, which is when it has loaded and sends the first one. */
function holdUntil<Message>(
  inspect: () => Promise<void>,
  onMessage: (message: Message) => void,
  onFault: (reason: string) => void,
): (message: Message) => void {
  const held: Message[] = [];
  let isInspected = false;
  const pass = () => {
    isInspected = true;
    for (const message of held.splice(0)) onMessage(message);
  };
  return (message) => {
    if (isInspected) return onMessage(message);
    if (held.push(message) === 1) inspect().then(pass, (error: Error) => onFault(error.message));
  };
}

/** Returns a promise of its end. */
function watch({ child, breach }: LaunchedProgram, { onExit, reasons }: Pick<ProgramOptions<never, never>, 'onExit' | 'reasons'>) {
  const errors = keepEnd(child.stderr, maxErrorCharacters);
  // It went away while we wrote: `close` says so.
  child.stdin.on('error', () => {});
  return new Promise<void>((resolve) => {
    child.on('error', (error) => {
      onExit(reasons.noStart(error.message));
      resolve();
    });
    child.on('close', (code, signal) => {
      const bound = breach?.();
      if (bound !== undefined) onExit(reasons.breach(bound));
      onExit(reasons.end(code, signal, errors() && `: ${errors()}`));
      resolve();
    });
  });
}
