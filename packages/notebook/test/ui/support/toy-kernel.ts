import { Listeners } from '@notebridge/protocol/util/listeners';
import type { Completions, ExecuteOptions, Execution, Kernel, KernelState } from '../../../src/kernel/kernel.js';
import type { Layer } from '../../../src/kernel/layers.js';
import type { MimeBundle, Output } from '../../../src/model/output.js';

/** What a test's cell does, by the word with which its source begins. */
export type Scenes = { readonly [word: string]: (rest: string) => readonly Output[] };

/**
 * A kernel that knows a few words: `print`, `fail`, `ask` and `secret` (questions), `elicit` (what the server "github" asks: its params), `wait` (until it is interrupted or `finish` is called), and the scenes of a
 * test. It counts and interrupts like a real one; what it computes is of no interest to a window.
 */
export class ToyKernel implements Kernel {
  readonly info = { name: 'python3', displayName: 'Python', language: 'python', version: '3.13' };
  layers: readonly Layer[] | undefined;
  readonly #listeners = new Listeners<KernelState>();
  readonly #scenes: Scenes;
  #state: KernelState = 'starting';
  #count = 0;
  #end: ((status: Execution['status']) => void) | undefined;

  constructor(scenes: Scenes = {}) {
    this.#scenes = scenes;
  }

  get state(): KernelState {
    return this.#state;
  }

  async start(): Promise<void> {
    this.#become('idle');
  }

  async execute(source: string, { onOutput, onInput, asker, signal = new AbortController().signal }: ExecuteOptions): Promise<Execution> {
    this.#become('busy');
    const executionCount = ++this.#count;
    let status: Execution['status'] = 'ok';
    for (const line of source.split('\n')) {
      const [word = '', rest = ''] = [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1)];
      const scene = this.#scenes[word];
      for (const output of scene?.(rest) ?? []) onOutput(output);
      if (word === 'print') onOutput({ output_type: 'stream', name: 'stdout', text: `${rest}\n` });
      if (word === 'elicit') {
        const question = { method: 'elicitation/create', params: JSON.parse(rest) };
        const interrupted = new AbortController();
        this.#end = () => interrupted.abort();
        const answer = await asker?.ask(question, { server: 'github', signal: interrupted.signal, timeoutMs: 60_000 });
        onOutput({ output_type: 'stream', name: 'stdout', text: `${JSON.stringify(answer)}\n` });
      }
      if (word === 'wait')
        status = await new Promise((resolve) => {
          this.#end = resolve;
        });
      if (word === 'ask' || word === 'secret') {
        const answer = await onInput?.({ prompt: rest, password: word === 'secret' }, signal);
        if (answer !== undefined) onOutput({ output_type: 'stream', name: 'stdout', text: `${answer}\n` });
        else {
          onOutput({ output_type: 'error', ename: 'EOFError', evalue: 'refused', traceback: ['EOFError: refused'] });
          status = 'error';
        }
      }
      if (word === 'fail') {
        onOutput({ output_type: 'error', ename: 'ValueError', evalue: rest, traceback: [`\u001b[31mValueError\u001b[0m: ${rest}`] });
        status = 'error';
      }
      if (status !== 'ok') break;
    }
    this.#become('idle');
    return { status, executionCount };
  }

  /** Ends a `wait` as if the code had come to its end. */
  finish(): void {
    this.#end?.('ok');
  }

  async interrupt(): Promise<void> {
    this.#end?.('interrupted');
  }

  /** Knows its words. */
  async complete(code: string, position: number): Promise<Completions> {
    const start = position - (/\w*$/.exec(code.slice(0, position))?.[0].length ?? 0);
    const typed = code.slice(start, position);
    return { matches: ['print', 'fail', 'wait'].filter((word) => word.startsWith(typed)), start, end: position };
  }

  async inspect(code: string, position: number, detail: 0 | 1 = 0): Promise<MimeBundle | undefined> {
    const word = /\w*$/.exec(code.slice(0, position))?.[0] ?? '';
    const source = detail === 1 ? '\nSource: a word of this kernel' : '';
    return word === 'print' ? { 'text/plain': `print TEXT: writes it${source}` } : undefined;
  }

  async restart(): Promise<void> {
    this.#end?.('interrupted');
    this.#count = 0;
    this.#become('starting');
    this.#become('idle');
  }

  async close(): Promise<void> {
    this.#end?.('interrupted');
    this.#become('dead');
  }

  onState(listener: (state: KernelState) => void): () => void {
    return this.#listeners.add(listener);
  }

  #become(state: KernelState): void {
    this.#state = state;
    this.#listeners.emit(state);
  }
}
