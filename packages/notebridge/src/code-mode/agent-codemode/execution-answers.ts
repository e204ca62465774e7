import { stripVTControlCharacters } from 'node:util';
import { isJsonObject, type JsonObject } from '@notebridge/kit/json';
import type { Output } from '@notebridge/notebook/outputs';
import { tryJson } from '../../util/try-json.js';
import type { ExecutionOutcome } from '../execution/answer.js';
import { resultOf } from '../execution/execution-outputs.js';

/** Characters of each text of an answer. */
const most = 100_000;

/** What came of an execution, member by member as `execute_code` of agent-codemode has it; `result` is ours, its library has it too. */
export function answerOfCode(outcome: ExecutionOutcome): JsonObject {
  const { status, outputs, notes } = outcome;
  const failure = outputs.findLast(({ output_type }) => output_type === 'error');
  // Code that ends its script has not failed.
  const exit = failure?.ename === 'SystemExit' ? exitCodeIn(failure.evalue) : null;
  const executionOk = status === 'ok' || status === 'error';
  const codeError = failure === undefined || exit !== null || !executionOk ? null : describe(failure);
  const executionError = executionOk ? null : [`The code did not run to its end (${status}).`, ...notes].join(' ');
  const error = executionError ?? (exit !== null && exit !== 0 ? `Process exited with code: ${exit}` : codeError);
  return {
    success: executionOk && codeError === null && (exit ?? 0) === 0,
    execution_ok: executionOk,
    execution_error: executionError,
    code_error: codeError,
    exit_code: exit,
    stdout: printed(outputs, 'stdout'),
    stderr: printed(outputs, 'stderr'),
    error,
    result: resultOf(outputs, most) ?? null,
  };
}

/** The same of a skill, which says itself in one line of JSON what came of it. */
export function answerOfSkill(outcome: ExecutionOutcome): JsonObject {
  const answer = answerOfCode(outcome);
  const done = answer.success === true ? tryJson(String(answer.stdout).trim().split('\n').at(-1) ?? '') : undefined;
  if (!isJsonObject(done)) return { ...answer, result: null, output: answer.stdout };
  const { code_error: failure, exit_code: exitCode } = done;
  const codeError = isJsonObject(failure) ? `${String(failure.traceback)}` : null;
  return {
    success: done.success === true,
    execution_ok: done.execution_ok === true,
    execution_error: done.execution_error ?? null,
    code_error: codeError,
    exit_code: exitCode === 0 ? null : exitCode,
    result: done.result ?? null,
    stdout: done.stdout,
    stderr: done.stderr,
    output: done.stdout,
    error: done.error ?? null,
  };
}

function printed(outputs: readonly Output[], name: string): string {
  const texts = outputs.flatMap((output) => (output.output_type === 'stream' && output.name === name ? [output.text].flat() : []));
  const text = texts.join('');
  return text.length <= most ? text : `${text.slice(0, most)}\n[${text.length - most} characters left out here]`;
}

function describe({ ename, evalue, traceback }: Output): string {
  const lines = Array.isArray(traceback) ? stripVTControlCharacters(traceback.join('\n')) : '';
  return `${lines === '' ? '' : `${lines}\n`}${String(ename)}: ${String(evalue)}`;
}

function exitCodeIn(value: unknown): number {
  const text = String(value ?? '');
  if (text === '' || text === 'None') return 0;
  return /^-?\d+$/.test(text) ? Number(text) : 1;
}
