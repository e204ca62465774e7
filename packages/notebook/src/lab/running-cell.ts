import { RecentRuns } from '../kernel/recent-runs.js';
import type { RemoteExecution } from './remote-execution.js';
import type { SentCell } from './sent-cell.js';
import { watchExecution } from './watch-execution.js';

export interface RunningCellOptions {
  /** Of the kernel, whoever's cell it runs; undefined where it cannot be known now. */
  isBusy: () => Promise<boolean | undefined>;
  /** Called when nothing runs any more that we wait for. */
  onLost: (execution: RemoteExecution) => void;
}

/** The cell of ours that a kernel runs or has been sent. One at a time. */
export class RunningCell {
  readonly #options: RunningCellOptions;
  #running: { messageId: string; execution: RemoteExecution } | undefined;
  /** By their messages: what threads and tasks show later belongs to the cell that began them. */
  readonly #cells = new RecentRuns<string, RemoteExecution>();

  constructor(options: RunningCellOptions) {
    this.#options = options;
  }

  get execution(): RemoteExecution | undefined {
    return this.#running?.execution;
  }

  /** That of the message to which an answer belongs; it may have ended. */
  ofMessage(parentId: string): RemoteExecution | undefined {
    return this.#cells.get(parentId);
  }

  /** It is there until it ends. */
  set({ messageId }: Pick<SentCell, 'messageId'>, execution: RemoteExecution): void {
    this.#running = { messageId, execution };
    this.#cells.add(messageId, execution);
    const forget = (): void => {
      if (this.#running?.execution === execution) this.#running = undefined;
    };
    execution.ended.then(forget, forget);
    const { isBusy, onLost } = this.#options;
    void watchExecution(execution, isBusy, () => onLost(execution));
  }

  end(how: (execution: RemoteExecution) => void): void {
    const execution = this.#running?.execution;
    this.#running = undefined;
    if (execution) how(execution);
  }
}
