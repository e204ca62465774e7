import { withLastLines } from '@notebridge/protocol/util/with-last-lines';

const keptLines = 20;

/** The last lines of a server's stderr: what a person needs to see when it does not start. */
export class LastLines {
  #lines: string[] = [];

  add(line: string): void {
    this.#lines.push(line);
    if (this.#lines.length > keptLines) this.#lines.shift();
  }

  clear(): void {
    this.#lines = [];
  }

  /** `what`, followed by the lines if there are any. */
  appendTo(what: string): string {
    return withLastLines(what, this.#lines);
  }
}
