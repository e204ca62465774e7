import type { JsonObject } from '../json.js';

/** What agents read of runs: the same tools and words for every kind of notebook, so that what they learnt of one holds for the next. */

/** Many agent hosts give a call up after 60 seconds. */
export const defaultWaitSeconds = 45;
/** Of `get_run`: short of what hosts and proxies allow for one call. */
export const defaultPollSeconds = 25;
export const maxWaitSeconds = 3600;

/** The JSON Schema of an argument by which callers say how long they wait. */
export function waitSeconds(standard: number) {
  const description = `Seconds to wait for its end, default ${standard}; hosts may give up after 60.`;
  return { type: 'integer', minimum: 0, maximum: maxWaitSeconds, description } as const;
}

export const outlivesText =
  'What takes longer goes on: the answer is {"status": "running", "run_id", "cellId", "outputs", "cursor"} then, and get_run has the rest.';

const runId = { type: 'string', description: 'The run_id that a run gave.' } as const;
const looks = { readOnlyHint: true, idempotentHint: true, openWorldHint: false } as const;

/** The tools about runs: what a tool of a notebook has, but for its answer. */
export const runTools = {
  get: {
    name: 'get_run',
    description:
      'Waits for a run, whoever started it, and reads its outputs. Answers {"run_id", "cellId", "status", "seconds", "outputs", "cursor"}; "status" is "queued", "running", "ok", "error", "interrupted", "cancelled", "failed" or "unknown".',
    properties: {
      run_id: runId,
      cursor: { type: 'string', description: 'That of the last answer: only what came since is answered.' },
      wait_seconds: waitSeconds(defaultPollSeconds),
      wait_for: { type: 'string', enum: ['end', 'output'], default: 'end', description: '"output": also more output.' },
    },
    required: ['run_id'],
    annotations: { title: 'Follow a run', ...looks },
  },
  list: {
    name: 'list_runs',
    description:
      'Lists the runs that go on, wait and have ended, newest first. Answers {"runs": [{"run_id", "cellId", "status", "started_by", "seconds"}]}.',
    properties: {},
    required: [],
    annotations: { title: 'List the runs', ...looks },
  },
  interrupt: {
    name: 'interrupt_run',
    description: 'Ends one run, whether it is running or waits; variables stay. Answers {"run_id", "status"}.',
    properties: { run_id: runId },
    required: ['run_id'],
    annotations: { title: 'Interrupt a run', readOnlyHint: false, destructiveHint: true, openWorldHint: false },
  },
} as const;

/** Runs that `list_runs` names. */
export const maxListed = 50;

/** What an agent reads of a run, without its outputs. */
export function describeRun({
  runId,
  cellId,
  status,
  by,
  startedAt,
  durationMs,
}: {
  /** As agents call it. */
  runId: string;
  cellId: string;
  status: string;
  by: JsonObject;
  /** Milliseconds since 1970. Undefined: it has not begun, or nobody knows when. */
  startedAt: number | undefined;
  /** Undefined until it has ended. */
  durationMs: number | undefined;
}): JsonObject {
  const elapsedMs = durationMs ?? (startedAt === undefined ? undefined : Math.max(0, Date.now() - startedAt));
  const seconds = elapsedMs === undefined ? {} : { seconds: Math.round(elapsedMs / 100) / 10 };
  return { run_id: runId, cellId, status, started_by: by, ...seconds };
}

/** The next step of a run that outlives its call. */
export const runningText =
  'It goes on. Call get_run with this run_id and cursor for the rest, or interrupt_run to end it. Do not run the cell again.';
export const wrongCursorText = 'cursor has to be that of an earlier answer, as it was';
export const forgottenText = 'too long ago, or it never began: read the cell with get_cells';
export const noSuchRunText = 'There is none of that id; list_runs names those that are known.';
export const earlierLifeText =
  'It belongs to another notebook, or to an earlier life of this one: then the process that held it has ended, and what became of the run is unknown. Look at the cell with get_cells before you run it again.';
/** Of a kernel that is no child of ours, what is known besides. */
export const stillBusyText =
  'Its kernel goes on, and runs code just now: perhaps that cell, whose output nobody takes down. Ask again until it is idle, or ask the person to interrupt it in JupyterLab.';
export const idleNowText =
  'Its kernel goes on, with its variables, and runs nothing now: the cell has ended. What it gave after that process had ended is not in the notebook.';
