import type { Execution, Output } from '../kernel.js';
import type { Report, ToolCommand } from '../messages.js';
import type { SignalReceiver } from '../shared-signals.js';
import { OutputPump } from '../worker/output-pump.js';
import { prepareCode } from './prepare-code.js';
import { Realm, type Running } from './realm.js';
import { ToolModules } from './tool-modules.js';
import { type Place, toErrorOutput, toSyntaxOutput } from './traceback.js';

export interface CodeEngineOptions {
  post: (report: Report) => void;
  signals: SignalReceiver;
  /** Of all that code holds. */
  maxBytes: number;
}

/** One execution, from its code to its end. */
interface Run extends Place {
  readonly count: number;
  hasResult: boolean;
  running: Running | undefined;
  /** What came of the code itself; what it has begun may go on. */
  outcome: { status: Execution['status']; result?: Output } | undefined;
  readonly calls: Set<number>;
  readonly timers: Map<number, { timer: NodeJS.Timeout; isInterval: boolean }>;
  isScheduled: boolean;
  /** Nothing of it is heard any more. */
  isStopped: boolean;
  wait: NodeJS.Timeout | undefined;
}

/** So long jobs run before messages of the host are looked at. */
const sliceMs = 20;
const jobsAtOnce = 50;
/** What the code has begun and not awaited may take so long to end. */
const lingerMs = 5000;
/** So long loops of the background are ended one after the other. */
const drainMs = 1000;
const packageMs = 30_000;
const mostTimers = 10_000;

/** Runs code, one execution at a time: all of it in QuickJS, nothing in here. */
export class CodeEngine {
  readonly #post: (report: Report) => void;
  readonly #signals: SignalReceiver;
  readonly #pump: OutputPump;
  readonly #modules = new ToolModules();
  readonly #encoder = new TextEncoder();
  #realm!: Realm;
  #run: Run | undefined;
  /** The guest does something of ours, which is short, and must be done. */
  #isOurs = false;

  private constructor({ post, signals }: CodeEngineOptions) {
    this.#post = post;
    this.#signals = signals;
    this.#pump = new OutputPump({ post, signals });
  }

  static async open(options: CodeEngineOptions): Promise<CodeEngine> {
    const engine = new CodeEngine(options);
    engine.#realm = await Realm.open({
      maxBytes: options.maxBytes,
      isInterrupted: () => engine.#isInterrupted(),
      onMessage: (text) => engine.#hear(text),
      loadModule: (name) => engine.#modules.load(name),
      resolveModule: (from, name) => engine.#modules.resolve(from, name),
    });
    return engine;
  }

  execute(count: number, source: string): void {
    this.#signals.keepInterruptOf(count);
    this.#pump.begin(count);
    const run: Run = {
      ...{ count, source, fileName: `code-${count}`, hasResult: false, running: undefined, outcome: undefined },
      ...{ calls: new Set(), timers: new Map(), isScheduled: false, isStopped: false, wait: undefined },
    };
    this.#run = run;
    if (this.#modules.isComing && /\bgenerated\b/.test(source)) run.wait = setTimeout(() => this.#begin(run), packageMs);
    else this.#begin(run);
  }

  /** Its flag is set already: this reaches code that waits. */
  interrupt(count: number): void {
    if (this.#run?.count === count) this.#advance(this.#run);
  }

  take(command: ToolCommand): void {
    const run = this.#run;
    if (command.type === 'toolPackage') {
      this.#modules.take(command.package);
      if (run !== undefined && run.running === undefined) this.#begin(run);
      return;
    }
    if (run === undefined || !run.calls.has(command.id)) return;
    if (command.type === 'toolAnswer') run.calls.delete(command.id);
    this.#realm.call(command.type === 'toolAnswer' ? 'takeAnswer' : 'takeEvent', command.id, command.text);
    this.#advance(run);
  }

  #isInterrupted(): boolean {
    // While code computes nothing else runs here: what it has printed would wait.
    this.#pump.tick();
    return !this.#isOurs && (this.#run?.isStopped === true || this.#signals.isInterrupted());
  }

  #begin(run: Run): void {
    clearTimeout(run.wait);
    run.wait = undefined;
    if (this.#run !== run || run.running !== undefined) return;
    try {
      const { code, hasResult } = prepareCode(run.source);
      run.hasResult = hasResult;
      run.running = this.#realm.run(code, run.fileName);
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'SyntaxError') throw error;
      this.#show(toSyntaxOutput(error, run));
      return this.#end(run, { status: 'error' });
    }
    this.#advance(run);
  }

  /** Runs what can run, and looks where the code is. */
  #advance(run: Run): void {
    if (this.#run !== run || run.isScheduled) return;
    const untilMs = performance.now() + sliceMs;
    let hasMore = run.running !== undefined;
    while (hasMore && !this.#signals.isInterrupted() && performance.now() < untilMs) hasMore = this.#realm.runJobs(jobsAtOnce);
    this.#pump.tick();
    if (this.#signals.isInterrupted()) return this.#stop(run);
    if (run.running === undefined) return;
    run.outcome ??= this.#outcomeOf(run, run.running);
    // To show a value may take code.
    if (this.#signals.isInterrupted()) return this.#stop(run);
    const { outcome } = run;
    const isWaiting = run.calls.size > 0 || [...run.timers.values()].some(({ isInterval }) => !isInterval || outcome === undefined);
    if (outcome !== undefined && (outcome.status !== 'ok' || (!hasMore && !isWaiting))) return this.#end(run, outcome);
    if (outcome !== undefined) run.wait ??= setTimeout(() => this.#end(run, outcome), lingerMs);
    else if (!hasMore && !isWaiting) return this.#endStuck(run);
    if (!hasMore) return;
    run.isScheduled = true;
    setImmediate(() => {
      run.isScheduled = false;
      this.#advance(run);
    });
  }

  #outcomeOf(run: Run, running: Running): Run['outcome'] {
    const found = running.state;
    if (found.state === 'pending') return undefined;
    if (found.state === 'rejected') {
      this.#show(toErrorOutput(this.#realm.tell('describe', found.error), run));
      found.error.dispose();
      return { status: 'error' };
    }
    const data = run.hasResult ? readData(this.#realm.tell('show', found.value)) : undefined;
    found.value.dispose();
    if (data === undefined) return { status: 'ok' };
    return { status: 'ok', result: { output_type: 'execute_result', data, metadata: {}, execution_count: run.count } };
  }

  #endStuck(run: Run): void {
    const message = 'The code awaits a promise that nothing settles any more: no call of a tool and no timer is under way.';
    this.#show(toErrorOutput(JSON.stringify({ name: 'Error', message }), run));
    this.#end(run, { status: 'error' });
  }

  /** Was interrupted. Code that goes on all the same gets no end: the kernel is restarted then. */
  #stop(run: Run): void {
    const found = run.running?.state;
    const told = found?.state === 'rejected' ? this.#realm.tell('describe', found.error) : undefined;
    if (found?.state === 'rejected') found.error.dispose();
    else if (found?.state === 'fulfilled') found.value.dispose();
    const stack = /"stack":("(?:[^"\\]|\\.)*")/.exec(told ?? '')?.[1] ?? '""';
    const text = toErrorOutput(`{"name":"Interrupted","message":"The code was interrupted.","stack":${stack}}`, run);
    if (!this.#quieten(run)) return;
    this.#show(text);
    this.#finish(run, { status: 'interrupted' });
  }

  #end(run: Run, outcome: NonNullable<Run['outcome']>): void {
    if (this.#run !== run) return;
    const left = run.calls.size;
    const isQuiet = this.#quieten(run);
    if (left > 0) this.#print('stderr', `[${left} tool calls that the code did not await were cancelled at its end: await them]\n`);
    this.#finish(run, outcome);
    if (!isQuiet) this.#post({ type: 'dead', reason: 'what the code left in the background did not end' });
  }

  /** Ends what it has begun. False: it goes on. */
  #quieten(run: Run): boolean {
    run.isStopped = true;
    clearTimeout(run.wait);
    for (const id of run.calls) this.#post({ type: 'toolCancel', id });
    for (const { timer } of run.timers.values()) clearTimeout(timer);
    run.calls.clear();
    run.timers.clear();
    const untilMs = performance.now() + drainMs;
    let hasMore = this.#realm.runJobs(jobsAtOnce);
    while (hasMore && performance.now() < untilMs) hasMore = this.#realm.runJobs(jobsAtOnce);
    this.#isOurs = true;
    this.#realm.call('forget');
    this.#isOurs = false;
    return !hasMore;
  }

  #finish(run: Run, { status, result }: NonNullable<Run['outcome']>): void {
    run.running?.dispose();
    this.#run = undefined;
    this.#pump.end(result === undefined ? { status } : { status, result }, result === undefined ? 0 : JSON.stringify(result).length);
    this.#signals.takeInterrupt();
  }

  #show(output: Output): void {
    this.#pump.show({ output }, JSON.stringify(output).length);
  }

  #print(name: 'stdout' | 'stderr', text: string): void {
    this.#pump.write(name, this.#encoder.encode(text));
  }

  /** Code may have got hold of the channel: whatever it says is its own, and nothing in here relies on it. */
  #hear(text: string): void {
    const run = this.#run;
    const message = readList(text);
    if (run === undefined || run.isStopped || message === undefined) return;
    const [kind, first, ...rest] = message;
    if (kind === 'print') return this.#print(first === 'stderr' ? 'stderr' : 'stdout', String(rest[0] ?? ''));
    if (kind === 'display') {
      const data = readData(JSON.stringify(first));
      if (data !== undefined) this.#show({ output_type: 'display_data', data, metadata: {} });
      return;
    }
    const id = Number(first);
    if (!Number.isSafeInteger(id) || id < 0) return;
    if (kind === 'call') this.#call(run, id, rest);
    else if (kind === 'timer') this.#setTimer(run, id, { ms: Number(rest[0]), isInterval: rest[1] === true });
    else if (kind === 'clear') this.#clearTimer(run, id);
    else if (kind === 'heard') this.#post({ type: 'toolHeard', id });
    else if (kind === 'cancel' && run.calls.delete(id)) this.#post({ type: 'toolCancel', id });
  }

  #call(run: Run, id: number, [server, tool, body, hears]: readonly unknown[]): void {
    run.calls.add(id);
    const [to, name, text] = [server, tool, body].map((each) => String(each ?? '')) as [string, string, string];
    this.#post({ type: 'toolCall', id, server: to, tool: name, body: text, hears: hears === true, cell: String(run.count) });
  }

  #setTimer(run: Run, id: number, { ms, isInterval }: { ms: number; isInterval: boolean }): void {
    if (run.timers.size >= mostTimers || run.timers.has(id)) return;
    const fire = () => {
      run.timers.delete(id);
      this.#realm.call('fire', id);
      this.#advance(run);
    };
    run.timers.set(id, { timer: setTimeout(fire, Number.isFinite(ms) ? ms : 0), isInterval });
  }

  #clearTimer(run: Run, id: number): void {
    clearTimeout(run.timers.get(id)?.timer);
    run.timers.delete(id);
  }
}

function readList(text: string): unknown[] | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** A mime bundle of texts; undefined for what is none, as where there is no value. */
function readData(text: string | undefined): { [mimeType: string]: string } | undefined {
  try {
    const value: unknown = JSON.parse(text ?? '{"text/plain":"[a value that cannot be shown]"}');
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    return Object.fromEntries(Object.entries(value).map(([type, shown]) => [type, String(shown)]));
  } catch {
    return undefined;
  }
}
