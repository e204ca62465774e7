import type { Run } from '../../session/run-queue.js';
import { el, setText } from '../dom.js';

const tickMs = 100;
/** What takes less is not worth a number. */
const shownFromMs = 100;

/** How long the last run of a cell took, or the one that goes on has taken by now. */
export class RunTime {
  readonly element = el('span', { class: 'run-time', hidden: true });
  #timer: ReturnType<typeof setInterval> | undefined;
  #runId: number | undefined;

  show(run: Run | undefined, durationMs: number | undefined): void {
    const isRunning = run?.state === 'running';
    if (isRunning && run.id === this.#runId) return;
    clearInterval(this.#timer);
    this.#runId = isRunning ? run.id : undefined;
    if (!isRunning) return this.#write(run ? undefined : durationMs);
    const { startedAt = Date.now() } = run;
    this.#write(Date.now() - startedAt);
    this.#timer = setInterval(() => {
      // A cell that is gone has no end to wait for.
      if (this.element.isConnected) this.#write(Date.now() - startedAt);
      else clearInterval(this.#timer);
    }, tickMs);
  }

  #write(ms: number | undefined): void {
    const isShown = ms !== undefined && ms >= shownFromMs;
    this.element.hidden = !isShown;
    if (!isShown) return;
    setText(this.element, describeTime(ms));
    this.element.title = `The last run took ${describeTime(ms)}`;
  }
}

/** "0.3 s", "12.3 s", "4:05 min", "2:03 h": what has room beside a cell. */
export function describeTime(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  const toText = (big: number, small: number): string => `${big}:${String(small).padStart(2, '0')}`;
  if (whole < 3600) return `${toText(Math.floor(whole / 60), whole % 60)} min`;
  return `${toText(Math.floor(whole / 3600), Math.floor((whole % 3600) / 60))} h`;
}
