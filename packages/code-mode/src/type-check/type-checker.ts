import type { CheckedPackage } from '@notebridge/bindings';
import { keepLatest } from '@notebridge/protocol/util/keep-latest';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import { Slots } from '@notebridge/protocol/util/slots';
import type { CheckedView } from './checker-process.js';
import { KeptChecker, type TypeCheckerOptions } from './kept-checker.js';
import { type CodeFault, findSureFaults, isPatch } from './sure-faults.js';

/** What code may import, as it is checked. */
export interface CheckablePackages {
  /** Waits until it is known. Undefined: there is nothing to import. The same object, the same package. */
  checkable(signal: AbortSignal): Promise<CheckablePackage | undefined>;
}

export type CheckablePackage = () => Promise<CheckedPackage>;

export interface CheckRequest {
  code: string;
  packages: CheckablePackages;
  /** On whose behalf: what one of them sends keeps no other waiting for long. */
  principalKey: string;
  /** Ends the waiting. */
  signal: AbortSignal;
}

/** `faults`: the code must not run. */
export interface CheckResult {
  faults: readonly CodeFault[];
  /** Why it was not checked, if the agent should know. */
  note?: string | undefined;
  /** It may change what the tools' functions are: what runs after it in the same Python cannot be checked. */
  mayPatch: boolean;
}

interface Caller {
  /** Its checks, one after the other: it waits for itself. */
  slots: Slots;
  /** Not checked before: its code took too long. */
  blockedUntil: number;
  timeouts: number;
  /** It has been told that code runs unchecked. */
  isTold: boolean;
}

const mostCallers = 1000;
const mostViews = 8;
/** After code that took too long, that of the same caller is not checked for so long; doubled each time. Milliseconds. */
const blockMs = 5000;
const longestBlockMs = 600_000;

/** Longer code is not looked at. UTF-16 units. */
const mostCharacters = 100_000;
/** A line of a magic, or of a shell: no Python, but the kernel takes it. */
const magicLine = /^[ \t]*(?:[A-Za-z_][\w., ]*=[ \t]*)?[%!?]|^[ \t]*[A-Za-z_][\w.]*\?{1,2}[ \t]*$/m;
/** What gives names another meaning than the one they were imported with, or makes some that are nowhere written. */
const patching =
  /\b(?:setattr|delattr|exec|eval|globals|locals|vars|__import__|__dict__|__builtins__|builtins|importlib|sys\.modules|sys\.path|sys\.meta_path|mock|monkeypatch|set_tool_caller|runpy|ctypes)\b/;

/** Checks code against the tools that its principal may call. Whatever goes wrong here, the code runs. */
export class TypeChecker {
  readonly #options: TypeCheckerOptions;
  readonly #checker: KeptChecker;
  readonly #turns = new Slots(1);
  readonly #callers = new Map<string, Caller>();
  readonly #views = new Map<CheckablePackage, Promise<CheckedView>>();
  readonly #opened = new WeakSet<CheckablePackages>();
  readonly #closing = new AbortController();

  constructor(options: TypeCheckerOptions) {
    this.#options = options;
    this.#checker = new KeptChecker(options);
  }

  /** Code will come: nobody shall wait until the checker has started. Does not wait for it. */
  prepare(): void {
    this.#checker.get().catch(() => {});
  }

  /** Never rejects. */
  async check(request: CheckRequest): Promise<CheckResult> {
    const { code, principalKey, signal } = request;
    const { logger, waitMs } = this.#options;
    const unchecked: CheckResult = { faults: [], mayPatch: mayPatch(code, undefined) };
    if (!isCheckable(code)) {
      // What comes next may be.
      this.#openView(request.packages);
      return unchecked;
    }
    const caller = this.#callerOf(principalKey);
    if (Date.now() < caller.blockedUntil) return unchecked;
    const waiting = new AbortController();
    const work = caller.slots.run(() => this.#check(request, waiting.signal));
    const isInTime = await settlesWithin(work, waitMs, signal);
    waiting.abort();
    try {
      const result = isInTime ? await work : undefined;
      if (result !== undefined) {
        Object.assign(caller, { timeouts: 0, isTold: false });
        return result;
      }
      work.catch(() => {});
      if (signal.aborted) return { faults: [], mayPatch: true };
      return { ...unchecked, ...noteOnce(caller, `its check took longer than ${waitMs / 1000} s`) };
    } catch (error) {
      logger.debug('Code was not checked.', { error: messageOf(error) });
      return { ...unchecked, ...noteOnce(caller, 'the type checker is not there just now') };
    }
  }

  /** Ends the checker. Closing twice is harmless. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#checker.close();
  }

  /** Once for each that has code run. Does not wait for it. */
  #openView(packages: CheckablePackages): void {
    if (this.#opened.has(packages)) return;
    this.#opened.add(packages);
    const open = async (): Promise<void> => {
      const source = await packages.checkable(this.#closing.signal);
      if (source === undefined || this.#closing.signal.aborted) return;
      const [view, process] = await Promise.all([this.#viewOf(source), this.#checker.get()]);
      await this.#turns.run(() => process.open(view));
    };
    open().catch((error: unknown) => this.#options.logger.debug('The type checker was not prepared.', { error: messageOf(error) }));
  }

  /** Undefined: nobody waits for it any more. */
  async #check({ code, packages, principalKey, signal }: CheckRequest, waiting: AbortSignal): Promise<CheckResult | undefined> {
    const source = await packages.checkable(waiting);
    if (waiting.aborted) return undefined;
    if (source === undefined) return { faults: [], mayPatch: mayPatch(code, undefined) };
    const view = await this.#viewOf(source);
    if (mayPatch(code, view.tools)) return { faults: [], mayPatch: true };
    const process = await this.#checker.get();
    return this.#turns.run(async () => {
      if (waiting.aborted || process.isOver) return undefined;
      await process.open(view);
      if (waiting.aborted) return undefined;
      const onLate = (): void => {
        if (!signal.aborted) this.#block(principalKey);
      };
      waiting.addEventListener('abort', onLate, { once: true });
      try {
        const result = await process.check(view, code, async (checked): Promise<CheckResult> => {
          if (checked.diagnostics.some(isPatch)) return { faults: [], mayPatch: true };
          return { faults: await findSureFaults(code, checked, { tools: view.tools, waiting }), mayPatch: false };
        });
        this.#checker.succeeded();
        return result;
      } finally {
        waiting.removeEventListener('abort', onLate);
      }
    });
  }

  #viewOf(source: CheckablePackage): Promise<CheckedView> {
    const view = this.#views.get(source) ?? source().then((made) => this.#checker.addView(made));
    // One that failed is tried again.
    view.catch(() => this.#views.delete(source));
    for (const dropped of keepLatest(this.#views, [source, view], mostViews))
      dropped.then((each) => this.#checker.removeView(each)).catch(() => {});
    return view;
  }

  #callerOf(key: string): Caller {
    const caller = this.#callers.get(key) ?? { slots: new Slots(1), blockedUntil: 0, timeouts: 0, isTold: false };
    keepLatest(this.#callers, [key, caller], mostCallers);
    return caller;
  }

  /** Its code was in the checker's hands and took too long: others come first for a while. */
  #block(key: string): void {
    const caller = this.#callerOf(key);
    caller.blockedUntil = Date.now() + Math.min(blockMs * 2 ** caller.timeouts, longestBlockMs);
    caller.timeouts++;
  }
}

/** Why code ran unchecked is said once, until a check has worked again. */
function noteOnce(caller: Caller, why: string): Pick<CheckResult, 'note'> {
  const isTold = caller.isTold;
  caller.isTold = true;
  return isTold ? {} : { note: `The code ran without a type check: ${why}.` };
}

/** Whether there is anything in the code that a check could find: only what is imported in it has types. */
function isCheckable(code: string): boolean {
  return /\bgenerated\b/.test(code) && code.length <= mostCharacters && !code.includes('\0') && !magicLine.test(code);
}

/** Whether code may change what the tools' functions are: then types say nothing any more, of it and of what comes after it. */
function mayPatch(code: string, tools: CheckedPackage['tools'] | undefined): boolean {
  if (patching.test(code)) return true;
  const names = new Set([...(tools?.values() ?? [])].map(({ name }) => name));
  for (const [, name = ''] of code.matchAll(/\.([A-Za-z_]\w*)[ \t]*(?::[^=\n]{0,200})?=(?!=)/g)) if (names.has(name)) return true;
  return false;
}
