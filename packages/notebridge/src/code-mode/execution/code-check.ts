import type { Output } from '@notebridge/notebook/outputs';
import { principalKey } from '../../core/principal.js';
import type { CodeFault } from '../type-check/sure-faults.js';
import type { TypeChecker } from '../type-check/type-checker.js';
import type { ExecutionOutcome } from './answer.js';
import type { CodeExecution } from './code-execution.js';
import type { CodeKernel } from './code-kernel.js';

/** What a check has found, before the code runs. */
export interface CodeCheck {
  /** Left out: the code may run. */
  refusal?: Omit<ExecutionOutcome, 'session'> | undefined;
  notes: readonly string[];
}

export interface CheckCodeRequest {
  execution: Pick<CodeExecution, 'signal'>;
  kernel: CodeKernel;
  code: string;
  /** The start of its Python, which goes on meanwhile. What it rejects with is not looked at here. */
  started: Promise<unknown>;
}

/** Checks code against the tools that whose Python it is may call. Never rejects. */
export async function checkCode({ execution, kernel, code, started }: CheckCodeRequest, typeChecker: TypeChecker): Promise<CodeCheck> {
  started.catch(() => {});
  const { packages, principals } = kernel;
  const [principal] = principals;
  if (packages === undefined || principal === undefined || kernel.mayBePatched) return { notes: [] };
  const request = { code, packages, principalKey: principalKey(principal), signal: execution.signal };
  const { faults, note, mayPatch } = await typeChecker.check(request);
  if (faults.length > 0) return { refusal: toRefusal(faults), notes: [] };
  kernel.mayBePatched = mayPatch;
  return { notes: note === undefined ? [] : [note] };
}

function toRefusal(faults: readonly CodeFault[]): Omit<ExecutionOutcome, 'session'> {
  const lines = faults.flatMap(({ line, text, source, signature }) => [
    `line ${line}: ${text}`,
    `    ${source}`,
    ...(signature === undefined ? [] : [`    the tool: ${signature}`]),
  ]);
  const evalue = 'Nothing was run: a type check found errors in the code before it began.';
  const output = { output_type: 'error', ename: 'TypeCheckError', evalue, traceback: [`TypeCheckError: ${evalue}`, ...lines] };
  return { status: 'error', outputs: [output as Output], calls: 0, records: [], notes: [] };
}
