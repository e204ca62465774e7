import { expect } from 'vitest';
import type { Execution } from '../../../src/kernel/kernel.js';
import type { Output } from '../../../src/model/output.js';
import type { KernelHarness } from './kernel-harness.js';

export interface Ran extends Execution {
  outputs: Output[];
  /** All of stdout, and all of stderr. */
  stdout: string;
  stderr: string;
  /** `text/plain` of the result. */
  result: string | undefined;
  error: Extract<Output, { output_type: 'error' }> | undefined;
  updates: { displayId: string; output: Output }[];
  cleared: boolean[];
}

type Runs = Pick<KernelHarness, 'kernel'>;

/** Runs a cell to its end and looks at every output as nbformat does. */
export function runCell(harness: Runs, source: string, signal?: AbortSignal): Promise<Ran> {
  return watchCell(harness, source, { signal });
}

/** Runs a cell, and interrupts it once it has shown so much: however busy the machine is, it has begun by then, and has not ended. */
export function interruptWhen(harness: Runs, source: string, isShown: (outputs: Output[]) => boolean): Promise<Ran> {
  const controller = new AbortController();
  const onShown = (outputs: Output[]): void => {
    if (isShown(outputs)) controller.abort();
  };
  return watchCell(harness, source, { signal: controller.signal, onShown });
}

interface Watched {
  signal?: AbortSignal | undefined;
  /** Called with all outputs so far, after each. */
  onShown?: (outputs: Output[]) => void;
}

async function watchCell({ kernel }: Runs, source: string, { signal, onShown }: Watched): Promise<Ran> {
  const outputs: Output[] = [];
  const updates: Ran['updates'] = [];
  const cleared: boolean[] = [];
  const execution = await kernel.execute(source, {
    onOutput(output) {
      outputs.push(output);
      onShown?.(outputs);
    },
    onUpdate: (displayId, output) => updates.push({ displayId, output }),
    onClear: (wait) => cleared.push(wait),
    ...(signal ? { signal } : {}),
  });
  for (const output of outputs) assertNbformat(output);
  const text = (name: string) =>
    outputs.map((output) => (output.output_type === 'stream' && output.name === name ? output.text : '')).join('');
  const result = outputs.find((output) => output.output_type === 'execute_result');
  return {
    ...execution,
    outputs,
    stdout: text('stdout'),
    stderr: text('stderr'),
    result: result?.output_type === 'execute_result' ? (result.data['text/plain'] as string) : undefined,
    error: outputs.find((output) => output.output_type === 'error'),
    updates,
    cleared,
  };
}

const keysOf = {
  stream: ['name', 'output_type', 'text'],
  display_data: ['data', 'metadata', 'output_type'],
  execute_result: ['data', 'execution_count', 'metadata', 'output_type'],
  error: ['ename', 'evalue', 'output_type', 'traceback'],
};

/** The keys of the nbformat 4.5 schema and no others, and mime bundles of texts (or JSON where the type says so). */
function assertNbformat(output: Output): void {
  expect(Object.keys(output).sort()).toEqual(keysOf[output.output_type]);
  if (output.output_type === 'stream') expect(output.name).toMatch(/^std(out|err)$/);
  if (output.output_type !== 'display_data' && output.output_type !== 'execute_result') return;
  for (const [mimeType, content] of Object.entries(output.data))
    if (!mimeType.endsWith('json')) expect(content, mimeType).toBeTypeOf('string');
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what is removed
export const plain = (text: string) => text.replace(/\x1b\[[\d;]*m/g, '');
