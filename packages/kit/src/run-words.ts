/** What agents read of runs: the same words for every kind of notebook, so that what they learnt of one holds for the next. */

/** Many agent hosts give a call up after 60 seconds. */
export const defaultWaitSeconds = 45;
/** Of `get_run`: short of what hosts and proxies allow for one call. */
export const defaultPollSeconds = 25;
export const maxWaitSeconds = 3600;

export interface WaitSecondsSchema {
  type: 'integer';
  minimum: number;
  maximum: number;
  description: string;
}

export function waitSeconds(standard: number): WaitSecondsSchema {
  const description = `Seconds to wait for its end, default ${standard}; hosts may give up after 60.`;
  return { type: 'integer', minimum: 0, maximum: maxWaitSeconds, description };
}

export const outlivesText =
  'What takes longer goes on: the answer is {"status": "running", "run_id", "cellId", "outputs", "cursor"} then, and get_run has the rest.';

export const runIdText = 'The run_id that a run gave.';
export const cursorText = 'That of the last answer: only what came since is answered.';
export const waitForText = '"output": also more output.';

export const getRunText =
  'Waits for a run, whoever started it, and reads its outputs. Answers {"run_id", "cellId", "status", "seconds", "outputs", "cursor"}; "status" is "queued", "running", "ok", "error", "interrupted", "cancelled", "failed" or "unknown".';
export const listRunsText =
  'Lists the runs that go on, wait and have ended, newest first. Answers {"runs": [{"run_id", "cellId", "status", "started_by", "seconds"}]}.';
export const interruptRunText = 'Ends one run, whether it is running or waits; variables stay. Answers {"run_id", "status"}.';

/** The next step of a run that outlives its call. */
export const runningText =
  'It goes on. Call get_run with this run_id and cursor for the rest, or interrupt_run to end it. Do not run the cell again.';
export const forgottenText = 'too long ago, or it never began: read the cell with get_cells';
export const noSuchRunText = 'There is none of that id; list_runs names those that are known.';
export const earlierLifeText =
  'It belongs to another notebook, or to an earlier life of this one: then the process that held it has ended, and what became of the run is unknown. Look at the cell with get_cells before you run it again.';
/** Of a kernel that is no child of ours, what is known besides. */
export const stillBusyText =
  'Its kernel goes on, and runs code just now: perhaps that cell, whose output nobody takes down. Ask again until it is idle, or ask the person to interrupt it in JupyterLab.';
export const idleNowText =
  'Its kernel goes on, with its variables, and runs nothing now: the cell has ended. What it gave after that process had ended is not in the notebook.';
