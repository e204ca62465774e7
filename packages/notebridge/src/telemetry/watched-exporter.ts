import type { Logger } from '@notebridge/kit/logger';

/** What an exporter of OpenTelemetry says of one batch: 0 for success. */
interface ExportResult {
  code: number;
  error?: Error;
}

interface Exporter<Items> {
  export(items: Items, onResult: (result: ExportResult) => void): void;
}

/** Says of a collector that it is away, and that it is back: once each, however many batches fail. */
export class CollectorWatch {
  readonly #logger: Logger;
  readonly #what: string;
  #isAway = false;

  /** `what`: what is sent there, and where. */
  constructor(logger: Logger, what: string) {
    this.#logger = logger;
    this.#what = what;
  }

  note(failure: string | undefined): void {
    const isAway = failure !== undefined;
    if (isAway === this.#isAway) return;
    this.#isAway = isAway;
    if (isAway)
      this.#logger.warn(`${this.#what} cannot be sent. Calls go on; what does not fit into memory is dropped.`, { error: failure });
    else this.#logger.info(`${this.#what} are sent again.`);
  }
}

/** The longest text of a collector that goes into the log. */
const maxReason = 200;

/** Has each batch of the exporter end within the time, and tells the watch how. Returns the exporter. */
export function watchExporter<Items, Watched extends Exporter<Items>>(
  exporter: Watched & Exporter<Items>,
  { watch, timeoutMs }: { watch: CollectorWatch; timeoutMs: number },
): Watched {
  const send = exporter.export.bind(exporter);
  exporter.export = (items, onResult) => {
    let isOver = false;
    const end = (result: ExportResult): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      watch.note(result.code === 0 ? undefined : reasonOf(result.error));
      onResult(result);
    };
    // A collector that sends a byte now and then keeps the exporter waiting for ever.
    const timer = setTimeout(() => end({ code: 1, error: new Error(`No answer within ${timeoutMs} ms`) }), timeoutMs).unref();
    try {
      send(items, end);
    } catch (error) {
      end({ code: 1, error: error instanceof Error ? error : new Error(String(error)) });
    }
  };
  return exporter;
}

function reasonOf(error: (Error & { code?: unknown }) | undefined): string {
  if (error === undefined) return 'unknown';
  const code = typeof error.code === 'number' ? `HTTP ${error.code}` : String(error.code ?? '');
  return [code, error.message]
    .filter((part) => part !== '')
    .join(': ')
    .slice(0, maxReason);
}
