import { dirname } from 'node:path';
import { reasonOf, remedyOf } from '@notebridge/protocol/util/errno';
import { type Logger, silentLogger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Redactor } from '@notebridge/protocol/util/redactor';
import { ensurePrivateDir } from '@notebridge/system/files/private-file';
import { RotatingFile } from '@notebridge/system/files/rotating-file';
import { ownUserId } from '@notebridge/system/processes/own-user';
import { type AuditEntry, type GrantChange, type RefusedEntry, toAuditLine, toGrantLine, toRefusedLine } from './audit-line.js';

export interface AuditLogOptions {
  /** Its folder is made with mode 0700 if absent. Several processes may append to one file. */
  path: string;
  redactor: Pick<Redactor, 'redactDeeply' | 'redactOurs'>;
  logger?: Logger;
  /** Arguments as they were sent, secrets taken out, besides their hash. Default false. */
  logArguments?: boolean;
  /** Default 10 MiB, then `<path>.1` … `<path>.5`. */
  maxBytes?: number;
  /** Full files that are kept. Default 5. */
  keep?: number;
  /**
   * Gets each line too, without its line break and in the order of the file, also where the file cannot be written. It must return at once;
   * what it throws is reported once, and keeps nothing else. Default: nobody.
   */
  onLine?: ((line: string) => void) | undefined;
}

/** What has a line of its own. */
type Entry = AuditEntry | RefusedEntry | GrantChange;

/** Calls are written before there are more of them than this, so that a stuck loop fills no memory. */
const maxWaiting = 1000;

/** Between two writes, at least. A system call for every turn of a busy loop was a quarter of what a call costs. Milliseconds. */
const writeEveryMs = 10;

/**
 * One JSON line per call, appended to a private file by one synchronous system call: at the end of the turn of the event loop in
 * which the call ended, or together with others if there was a write in the last 10 ms. So a killed process loses the lines of
 * 10 ms at most. It never stops a call: what cannot be written is counted, reported once, and named by a line of its own when
 * writing works again.
 */
export class AuditLog {
  readonly #options: AuditLogOptions;
  readonly #logger: Logger;
  #file: RotatingFile | undefined;
  /** Calls whose lines are made when they are written: made one after the other they cost half. */
  #waiting: Entry[] = [];
  #lost = 0;
  #isScheduled = false;
  #isClosed = false;
  #isFailing = false;
  #isHandingOnFailing = false;
  #writtenAt = Number.NEGATIVE_INFINITY;

  constructor(options: AuditLogOptions) {
    this.#options = options;
    this.#logger = options.logger ?? silentLogger;
  }

  /** Opens the file before its first line, so that what is wrong with it is reported now. Never throws. */
  open(): void {
    if (this.#isClosed) return;
    try {
      this.#file ??= this.#openFile();
    } catch (error) {
      this.#fail(error);
    }
  }

  /** Records a call, a refused attempt, or that a grant was given, renewed or ended. Never throws. */
  add(entry: Entry): void {
    if (this.#isClosed) return;
    if (this.#waiting.push(entry) >= maxWaiting) return this.flush();
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    const waitMs = this.#writtenAt + writeEveryMs - performance.now();
    if (waitMs <= 0) setImmediate(this.flush);
    else setTimeout(this.flush, waitMs);
  }

  /** Writes what waits, at once. Never throws. */
  readonly flush = (): void => {
    this.#isScheduled = false;
    // Lost lines are reported even if no call comes any more.
    if (this.#waiting.length === 0 && this.#lost === 0) return;
    this.#writtenAt = performance.now();
    const count = this.#waiting.length;
    const lines = this.#takeLines();
    try {
      this.#file ??= this.#openFile();
      const gap = this.#lost === 0 ? [] : [JSON.stringify({ time: new Date().toISOString(), lost_lines_at_most: this.#lost })];
      this.#file.append([...gap, ...lines, ''].join('\n'));
      if (this.#isFailing) this.#recover();
    } catch (error) {
      this.#lost += count;
      this.#fail(error);
    }
    if (this.#options.onLine !== undefined) this.#handOn(lines, this.#options.onLine);
  };

  /** Writes what waits and closes the file. Closing twice is harmless. */
  close(): void {
    if (this.#isClosed) return;
    this.flush();
    this.#isClosed = true;
    if (this.#lost > 0) this.#logger.error(`Up to ${this.#lost} lines are missing at the end of the audit "${this.#options.path}".`);
    this.#file?.close();
  }

  #handOn(lines: readonly string[], onLine: (line: string) => void): void {
    for (const line of lines) {
      try {
        onLine(line);
      } catch (error) {
        if (!this.#isHandingOnFailing) this.#logger.error(`Lines of the audit cannot be handed on: ${messageOf(error)}. Calls go on.`);
        this.#isHandingOnFailing = true;
      }
    }
  }

  /** Each without its line break, which would have a secret be looked for in every spelling that it may have over several lines. */
  #takeLines(): string[] {
    const { redactor } = this.#options;
    const waiting = this.#waiting;
    this.#waiting = [];
    const lines: string[] = [];
    for (const entry of waiting) {
      try {
        lines.push(redactor.redactOurs(this.#toLine(entry)));
      } catch (error) {
        const call = 'context' in entry ? { call_id: entry.context.callId } : {};
        this.#logger.error(`A call could not be recorded in the audit: ${messageOf(error)}`, call);
      }
    }
    return lines;
  }

  #toLine(entry: Entry): string {
    if ('context' in entry) return toAuditLine(entry, this.#options);
    return 'event' in entry ? toGrantLine(entry) : toRefusedLine(entry);
  }

  #openFile(): RotatingFile {
    const { path, maxBytes, keep } = this.#options;
    ensurePrivateDir(dirname(path), { uid: ownUserId() });
    return new RotatingFile({ path, ...(maxBytes === undefined ? {} : { maxBytes }), ...(keep === undefined ? {} : { keep }) });
  }

  #fail(error: unknown): void {
    if (!this.#isFailing)
      this.#logger.error(`The audit "${this.#options.path}" cannot be written: ${reasonOf(error)}. Calls go on. ${remedyOf(error)}`);
    this.#isFailing = true;
  }

  #recover(): void {
    if (this.#lost > 0) this.#logger.warn(`The audit "${this.#options.path}" is written again; up to ${this.#lost} lines are missing.`);
    this.#isFailing = false;
    this.#lost = 0;
  }
}
