import type { Tool } from '@notebridge/protocol/core/mcp';
import { defaultWaitSeconds, maxWaitSeconds } from '@notebridge/protocol/runs/run-words';
import { choiceOf, numberOf, readArguments, textOf, wrongArgument } from '../search/read-arguments.js';
import type { CodeModeLimits } from './code-mode-limits.js';

export const executeCodeName = 'execute_code';

/** Every agent pays for these words before its first one. */
export function executeCodeTool({ seconds }: Pick<CodeModeLimits, 'seconds'>): Tool {
  return {
    name: executeCodeName,
    description:
      'Runs code that calls the tools. Answers printed text, the last expression, images, files in /out; after wait_seconds a run_id.',
    inputSchema: {
      type: 'object',
      properties: {
        code: { type: 'string' },
        run_id: { type: 'string', description: 'In place of code: waits on' },
        session: { type: 'string', description: 'Variables live here: as answered, or "new"' },
        kernel: { enum: ['pyodide', 'fresh'], description: 'fresh: no variables' },
        notebook: { type: 'string', description: 'Runs as a cell there: an id, or "selected"' },
        wait_seconds: { type: 'integer', minimum: 0, maximum: maxWaitSeconds, default: defaultWaitSeconds },
        timeout_seconds: { type: 'integer', minimum: 1, maximum: seconds, default: seconds },
        execution_id: { type: 'string', description: 'Yours; sent again, nothing runs twice' },
      },
      additionalProperties: false,
    },
    annotations: { title: 'Run code', readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  };
}

/** Code to run; the other form of the arguments, with `runId`, waits on for the answer of what runs already. */
export type CodeParams = Extract<ReturnType<typeof parseExecute>, { runId: undefined }>;

const maxIdLength = 200;

/** Throws `invalid_arguments` that names the argument. */
export function parseExecute(params: unknown, limits: Pick<CodeModeLimits, 'seconds' | 'codeCharacters'>) {
  const given = readArguments(params, executeCodeTool(limits).inputSchema);
  const waitSeconds = numberOf(given, 'wait_seconds', { least: 0, most: maxWaitSeconds }) ?? defaultWaitSeconds;
  const [code, runId] = [textOf(given, 'code'), textOf(given, 'run_id')];
  if (runId !== undefined) {
    if (code !== undefined) throw wrongArgument('"run_id" stands in place of "code": give one of the two.');
    return { runId, waitSeconds };
  }
  if (code === undefined) throw wrongArgument('"code" is missing: what to run, or "run_id" of what runs already.');
  if (code.length > limits.codeCharacters)
    throw wrongArgument(
      `"code" has ${code.length} characters, and at most ${limits.codeCharacters} are run at once ("notebridge.codeMode.codeCharacters"). Run it in parts: variables stay.`,
    );
  const session = textOf(given, 'session');
  const isFresh = choiceOf(given, 'kernel', ['pyodide', 'fresh']) === 'fresh';
  /** An id, or true for the selected one. */
  const notebook: string | true | undefined =
    given.notebook === true || given.notebook === 'selected' ? true : textOf({ notebook: given.notebook || undefined }, 'notebook');
  if (session !== undefined && isFresh) throw wrongArgument('"session" has variables, and a "fresh" kernel has none: give one of the two.');
  if (notebook !== undefined && (session !== undefined || isFresh))
    throw wrongArgument('"notebook" has a kernel of its own: give it without "session" and "kernel".');
  const executionId = textOf(given, 'execution_id');
  if (executionId !== undefined && executionId.length > maxIdLength)
    throw wrongArgument(`"execution_id" has ${executionId.length} characters, and at most ${maxIdLength} are kept.`);
  const most = limits.seconds;
  const timeoutSeconds = numberOf(given, 'timeout_seconds', { least: 1, most }) ?? most;
  return { runId: undefined, code, session, isFresh, notebook, waitSeconds, timeoutSeconds, executionId };
}
