/** QuickJS with one context, its bounds, and the code that it begins with. Nothing of the thread's own JavaScript is within its reach. */
import { readFile } from 'node:fs/promises';
import type { QuickJSContext, QuickJSHandle, QuickJSRuntime } from 'quickjs-emscripten-core';
import { newQuickJSWASMModuleFromVariant, newVariant, variant } from './quickjs.js';

export interface RealmOptions {
  /** Of all that code holds. */
  maxBytes: number;
  /** Asked often while code runs; true ends it with an error that code cannot catch. */
  isInterrupted: () => boolean;
  /** Receives what code sends, JSON as it has printed it, not checked. */
  onMessage: (text: string) => void;
  /** The source of a module. Throws where there is none. */
  loadModule: (name: string) => string;
  /** Of a name as it stands in an import, the module's full name. Never throws. */
  resolveModule: (from: string, name: string) => string;
}

/** `JS_EVAL_TYPE_GLOBAL | JS_EVAL_FLAG_ASYNC`: a script with `await` at the top. Its value is a promise. */
const asyncScript = 1 << 7;
const maxStackBytes = 256 * 1024;
const pageBytes = 64 * 1024;
/** As it was built for. */
const firstBytes = 16 * 1024 ** 2;

export type GuestFunction = 'takeAnswer' | 'takeEvent' | 'fire' | 'forget' | 'show' | 'describe';

export class Realm {
  readonly #runtime: QuickJSRuntime;
  readonly #context: QuickJSContext;
  readonly #guest: QuickJSHandle;

  private constructor(runtime: QuickJSRuntime, context: QuickJSContext, guest: QuickJSHandle) {
    this.#runtime = runtime;
    this.#context = context;
    this.#guest = guest;
  }

  static async open({ maxBytes, isInterrupted, onMessage, loadModule, resolveModule }: RealmOptions): Promise<Realm> {
    const wasmModule = await WebAssembly.compile(await readFile(new URL('./quickjs.wasm', import.meta.url)));
    // QuickJS cannot count what it holds in WebAssembly, so its own limit is none: the memory itself ends there.
    const wasmMemory = new WebAssembly.Memory({ initial: firstBytes / pageBytes, maximum: Math.floor(maxBytes / pageBytes) });
    const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(variant, { wasmModule, wasmMemory }));
    const runtime = quickjs.newRuntime();
    runtime.setMaxStackSize(maxStackBytes);
    runtime.setInterruptHandler(isInterrupted);
    runtime.setModuleLoader(loadModule, resolveModule);
    const context = runtime.newContext();
    const source = await readFile(new URL('./guest/open.js', import.meta.url), 'utf8');
    const opener = context.unwrapResult(context.evalCode(`${source};guest.open`, 'notebridge', { type: 'global' }));
    const send = context.newFunction('send', (text) => onMessage(context.getString(text)));
    const guest = context.unwrapResult(context.callFunction(opener, context.undefined, send));
    opener.dispose();
    send.dispose();
    return new Realm(runtime, context, guest);
  }

  /** Begins a script. What comes of it is a promise, also of one that does not compile. */
  run(code: string, fileName: string): Running {
    const result = this.#context.evalCode(code, fileName, asyncScript);
    return result.error === undefined ? new Running(this.#context, result.value) : new Running(this.#context, undefined, result.error);
  }

  /** Runs what promises have brought up, so many steps. Answers whether there is more. */
  runJobs(most: number): boolean {
    const result = this.#runtime.executePendingJobs(most);
    result.error?.dispose();
    return this.#runtime.hasPendingJob();
  }

  /** Calls what the guest gave us; what it throws is nobody's. */
  call(name: GuestFunction, ...args: readonly (string | number)[]): void {
    const handles = args.map((arg) => (typeof arg === 'number' ? this.#context.newNumber(arg) : this.#context.newString(arg)));
    this.#invoke(name, handles)?.dispose();
    for (const handle of handles) handle.dispose();
  }

  /** What the guest says of a value, JSON; undefined if even that fails. */
  tell(name: 'show' | 'describe', value: QuickJSHandle): string | undefined {
    const told = this.#invoke(name, [value]);
    if (told === undefined) return undefined;
    const text = this.#context.getString(told);
    told.dispose();
    return text;
  }

  #invoke(name: GuestFunction, args: readonly QuickJSHandle[]): QuickJSHandle | undefined {
    const method = this.#context.getProp(this.#guest, name);
    const result = this.#context.callFunction(method, this.#context.undefined, ...args);
    method.dispose();
    if (result.error === undefined) return result.value;
    result.error.dispose();
    return undefined;
  }
}

export type RunState = { state: 'pending' } | { state: 'fulfilled'; value: QuickJSHandle } | { state: 'rejected'; error: QuickJSHandle };

/** A script that was begun. */
class Running {
  readonly #context: QuickJSContext;
  readonly #promise: QuickJSHandle | undefined;
  readonly #error: QuickJSHandle | undefined;

  constructor(context: QuickJSContext, promise: QuickJSHandle | undefined, error?: QuickJSHandle) {
    this.#context = context;
    this.#promise = promise;
    this.#error = error;
  }

  /** The handles are the caller's, to be given back. */
  get state(): RunState {
    if (this.#error !== undefined) return { state: 'rejected', error: this.#error.dup() };
    if (this.#promise === undefined) return { state: 'pending' };
    const found = this.#context.getPromiseState(this.#promise);
    if (found.type === 'rejected') return { state: 'rejected', error: found.error };
    if (found.type === 'pending') return { state: 'pending' };
    // The value of an async script comes in an object of its own, so that a promise stays one.
    const value = this.#context.getProp(found.value, 'value');
    found.value.dispose();
    return { state: 'fulfilled', value };
  }

  dispose(): void {
    this.#promise?.dispose();
    this.#error?.dispose();
  }
}

export type { Running };
