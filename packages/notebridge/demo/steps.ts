/** What came of one step. `detail` says what was seen, or why the step failed. */
export interface StepReport {
  name: string;
  ok: boolean;
  /** Milliseconds. */
  ms: number;
  detail: string;
}

export interface Step {
  /** One word, for programs. */
  name: string;
  /** One line, for people. */
  title: string;
  /** Does the step, checks it, and says in a few words what was seen. Rejects if anything is not as it has to be. */
  play: () => Promise<string>;
}

/** Is notified of the steps. */
export interface StepListener {
  onBegin(step: Step): void;
  onEnd(report: StepReport): void;
}

export interface PlayOptions {
  /** All steps together may take this long. Milliseconds. */
  budgetMs: number;
  /** Ends the play; its reason is thrown. */
  signal: AbortSignal;
  listener: StepListener;
  /** What is waited for before a step; its time is not counted. */
  pause?: (next: Step) => Promise<void>;
}

/** Plays the steps one after the other until one fails. Rejects with the signal's reason if it is aborted. */
export async function playSteps(steps: readonly Step[], { budgetMs, signal, listener, pause }: PlayOptions): Promise<StepReport[]> {
  const reports: StepReport[] = [];
  let leftMs = budgetMs;
  for (const step of steps) {
    await pause?.(step);
    signal.throwIfAborted();
    listener.onBegin(step);
    const beganMs = performance.now();
    const outcome = await inTime(step, { leftMs, budgetMs, signal }).then(
      (detail) => ({ ok: true, detail }),
      (error: unknown) => ({ ok: false, detail: error instanceof Error ? error.message : String(error) }),
    );
    signal.throwIfAborted();
    const { ok, detail } = outcome;
    const report = { name: step.name, ok, ms: Math.round(performance.now() - beganMs), detail };
    reports.push(report);
    listener.onEnd(report);
    if (!report.ok) break;
    leftMs -= report.ms;
  }
  return reports;
}

interface Bounds extends Pick<PlayOptions, 'budgetMs' | 'signal'> {
  leftMs: number;
}

async function inTime(step: Step, { leftMs, budgetMs, signal }: Bounds): Promise<string> {
  signal.throwIfAborted();
  let timer: NodeJS.Timeout | undefined;
  let abort = (): void => {};
  const stopped = new Promise<never>((_, reject) => {
    const late = new Error(`expected the whole demo within ${budgetMs / 1000} s; found this step unfinished by then`);
    timer = setTimeout(reject, Math.max(0, leftMs), late);
    abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort);
  });
  try {
    return await Promise.race([step.play(), stopped]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
