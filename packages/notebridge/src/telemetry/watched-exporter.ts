import type { Logger } from '@notebridge/kit/logger';

/** What an exporter of OpenTelemetry says of one batch: 0 for success. */
interface ExportResult {
  code: number;
  error?: Error;
}

interface Exporter<Items> {
  export(items: Items, onResult: (result: ExportResult) => void): void;
}

/** The longest text of a collector that goes into the log. */
const maxReason = 200;

/**
 * Has each batch of the exporter end within the time, and says of the collector that it is away, and that it is back: once each, however many
 * batches fail. `what`: what is sent, and where. Returns the exporter.
 */
export function watchExporter<Items, Watched extends Exporter<Items>>(
  exporter: Watched & Exporter<Items>,
  { logger, what, timeoutMs }: { logger: Logger; what: string; timeoutMs: number },
): Watched {
  const send = exporter.export.bind(exporter);
  let isAway = false;
  const note = (failure: string | undefined): void => {
    if (isAway === (failure !== undefined)) return;
    isAway = !isAway;
    if (isAway) logger.warn(`${what} cannot be sent. Calls go on; what does not fit into memory is dropped.`, { error: failure });
    else logger.info(`${what} are sent again.`);
  };
  exporter.export = (items, onResult) => {
    let isOver = false;
    const end = (result: ExportResult): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      note(result.code === 0 ? undefined : reasonOf(result.error));
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
