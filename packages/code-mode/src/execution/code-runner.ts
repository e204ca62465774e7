import type { Layer } from '@notebridge/notebook/host';
import type { Output } from '@notebridge/notebook/outputs';
import type { ParentCall } from '@notebridge/protocol/core/call-context';
import type { DelegateRights } from '@notebridge/protocol/core/delegate-rights';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { principalKey } from '@notebridge/protocol/core/principal';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { whenAborted } from '@notebridge/protocol/util/when-aborted';
import type { CodeFault } from '../type-check/sure-faults.js';
import type { CheckResult, TypeChecker } from '../type-check/type-checker.js';
import type { ExecutionOutcome, ExecutionStatus } from './answer.js';
import { CodeClock } from './code-clock.js';
import type { CodeExecution } from './code-execution.js';
import type { CodeKernel } from './code-kernel.js';
import type { CodeModeLimits } from './code-mode-limits.js';
import { ExecutionOutputs } from './execution-outputs.js';
import { mostFiles } from './file-blocks.js';
import { type CallCount, type CallTool, NestedCalls, type RunningCode } from './nested-calls.js';

export interface CodeRunnerOptions {
  limits: CodeModeLimits;
  delegate: DelegateRights;
  callTool: CallTool;
  /** Knows what runs, while it runs. */
  running: RunningCode;
  /** Left out: code is not checked before it runs. */
  typeChecker?: TypeChecker | undefined;
  logger: Logger;
}

export interface RunRequest {
  execution: Pick<CodeExecution, 'signal' | 'callId' | 'parent' | 'progress' | 'calls' | 'mayHaveRun'>;
  kernel: CodeKernel;
  code: string;
  seconds: number;
  /** It is the test of a skill: its calls are those of the execution that saves it. Left out: it is none. */
  testOf?: CallCount;
}

/** Runs the code of one execution in an interpreter, with rights of its own, within its bounds. Rejects with `kernel_failed` where none starts. */
export async function runExecution(request: RunRequest, options: CodeRunnerOptions): Promise<ExecutionOutcome> {
  const { execution, kernel, code, seconds, testOf } = request;
  const [isTest, count] = [testOf !== undefined, testOf ?? { made: 0 }];
  const { limits, delegate, callTool, running, typeChecker, logger } = options;
  const started = startKernel(kernel, execution);
  // It goes on during the check, and is looked at after it.
  started.catch(() => {});
  const { faults, note } = typeChecker === undefined || isTest ? unchecked : await checkCode(request, typeChecker);
  const layers = await started;
  if (execution.signal.aborted) return neverRan;
  if (faults.length > 0) return toRefusal(faults);
  const { principal } = kernel.user;
  const label = `execute_code ${execution.callId}`;
  const rights = delegate([principal], { label, calls: limits.calls });
  running.set(principalKey(rights.principal), { caller: principal, isTest, count });
  const late = new AbortController();
  const clock = new CodeClock({ ms: seconds * 1000, askedMs: limits.askedSeconds * 1000, onLate: () => late.abort() });
  const calls = new NestedCalls({
    ...{ limits, rights, callTool, count },
    noRights: () => delegate([principal], { label, calls: 0 }),
    parent: withClock(execution.parent, clock),
    onProgress: (line) => execution.progress(line),
  });
  execution.calls = () => calls.made;
  const log = new ExecutionOutputs(limits.outputBytes);
  const signal = AbortSignal.any([execution.signal, late.signal]);
  // Before the code notices it: what it would call next is not called any more.
  signal.addEventListener('abort', () => calls.end(), { once: true });
  const notes = [...(note === undefined ? [] : [note]), ...(kernel.hasToldLayers ? [] : describeMissing(layers))];
  kernel.hasToldLayers = true;
  const end = (status: ExecutionStatus, more: Partial<ExecutionOutcome> = {}): ExecutionOutcome => ({
    ...{ status, outputs: log.outputs, calls: calls.made, records: calls.records },
    ...more,
    notes: [...notes, ...(more.notes ?? [])],
  });
  execution.mayHaveRun = true;
  try {
    const { status } = await kernel.run(code, calls, {
      onOutput: (output, displayId) => log.put(output, displayId),
      onUpdate: (displayId, output) => log.update(displayId, output),
      onClear: (wait) => log.clear(wait),
      signal,
    });
    const isLate = late.signal.aborted;
    clock.end();
    const written = isTest || execution.signal.aborted ? undefined : await takeWritten(kernel, limits.outputBytes);
    if (!isLate) return end(status, written);
    return end('timeout', {
      ...written,
      notes: [...(written?.notes ?? []), describeTimeout({ seconds, clock }, limits)],
      errorCode: 'timeout',
    });
  } catch (error) {
    logger.warn('The interpreter of an execution died.', { call_id: execution.callId, error: messageOf(error) });
    const note = `The Python died while the code ran, and its variables are gone. The code was not run again: the next call begins a new one. (${messageOf(error)})`;
    return end('died', { notes: [note], errorCode: 'kernel_failed' });
  } finally {
    clock.end();
    calls.end();
    running.delete(principalKey(rights.principal));
  }
}

const neverRan: ExecutionOutcome = {
  status: 'interrupted',
  outputs: [],
  calls: 0,
  records: [],
  notes: ['It was cancelled before it began.'],
};

const unchecked: Pick<CheckResult, 'faults' | 'note'> = { faults: [] };

/** Checks code against the tools that whose Python it is may call. Never rejects. */
async function checkCode({ execution, kernel, code }: RunRequest, typeChecker: TypeChecker): Promise<typeof unchecked> {
  if (kernel.mayBePatched) return unchecked;
  const { packages, principal } = kernel.user;
  const checked = await typeChecker.check({ code, packages, principalKey: principalKey(principal), signal: execution.signal });
  if (checked.faults.length === 0) kernel.mayBePatched = checked.mayPatch;
  return checked;
}

function toRefusal(faults: readonly CodeFault[]): ExecutionOutcome {
  const lines = faults.flatMap(({ line, text, source, signature }) => [
    `line ${line}: ${text}`,
    `    ${source}`,
    ...(signature === undefined ? [] : [`    the tool: ${signature}`]),
  ]);
  const evalue = 'Nothing was run: a type check found errors in the code before it began.';
  const output = { output_type: 'error', ename: 'TypeCheckError', evalue, traceback: [`TypeCheckError: ${evalue}`, ...lines] };
  return { status: 'error', outputs: [output as Output], calls: 0, records: [], notes: [] };
}

/** Its clock stands while a person is asked: about a call that has to be approved, and by a server in the middle of one. */
function withClock({ callId, caller, asker, pauseClock: pauseOuter }: ParentCall, clock: CodeClock): ParentCall {
  // Code that tests a skill runs in the course of other code, whose clock stands as well.
  const pauseClock = (): (() => void) => {
    const all = [clock.pause(), pauseOuter?.()];
    return () => {
      for (const goOn of all) goOn?.();
    };
  };
  if (asker?.ask === undefined) return { callId, caller, asker, pauseClock };
  const { clientCapabilities, ask } = asker;
  const askPaused: typeof ask = async (during, question, options) => {
    if (question.method !== 'elicitation/create') return ask(during, question, options);
    const goOn = pauseClock();
    try {
      return await ask(during, question, options);
    } finally {
      goOn();
    }
  };
  return { callId, caller, asker: { clientCapabilities, ask: askPaused }, pauseClock };
}

function describeTimeout({ seconds, clock }: { seconds: number; clock: CodeClock }, limits: CodeModeLimits): string {
  const stood = Math.round(clock.stoodMs / 1000);
  const asked = stood === 0 ? '' : ` ${stood} s in which a person was asked are not counted.`;
  return `The code was interrupted after ${seconds} s, of ${limits.seconds} s that it may have at most.${asked}`;
}

/** Files that the code has written. */
async function takeWritten(kernel: CodeKernel, maxBytes: number): Promise<Pick<ExecutionOutcome, 'written' | 'notes'>> {
  try {
    return { written: await kernel.takeWritten({ maxFiles: mostFiles, maxBytes }), notes: [] };
  } catch (error) {
    return { written: undefined, notes: [`What the code has written into /out is not in this answer: ${messageOf(error)}.`] };
  }
}

/** Who cancels meanwhile does not wait for it. */
async function startKernel(kernel: CodeKernel, { signal }: Pick<CodeExecution, 'signal'>): Promise<readonly Layer[]> {
  try {
    const started = kernel.open();
    await Promise.race([started, whenAborted(signal)]);
    if (signal.aborted) {
      started.catch(() => {});
      return [];
    }
    return (await started).layers ?? [];
  } catch (error) {
    throw new BridgeError('kernel_failed', `No Python could be started, so nothing was run: ${messageOf(error)}`, { cause: error });
  }
}

function describeMissing(layers: readonly Layer[]): string[] {
  return layers
    .filter(({ active }) => !active)
    .map(
      ({ name, text, fix }) =>
        `Between this code and the machine, the layer "${name}" is not active: ${text}.${fix === undefined ? '' : ` ${fix}`}`,
    );
}
