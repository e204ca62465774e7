import type { Logger } from '@notebridge/protocol/util/logger';
import { settlesWithin } from '@notebridge/protocol/util/settles-within';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, RandomIdGenerator, type Sampler, SamplingDecision, TraceIdRatioBasedSampler } from '@opentelemetry/sdk-trace';
import type { OtlpSettings } from '../config/otlp-settings.js';
import { BoundedNames } from './bounded-names.js';
import type { SpanMaking } from './call-spans.js';
import { CallSpans } from './call-spans.js';
import { type CallDurations, CallTelemetry, createDurations } from './call-telemetry.js';
import type { Telemetry } from './outgoing-calls.js';

/** How long one batch may take, with its retries. Milliseconds. */
const exportMs = 3000;
/** How long the end of the hub waits for the last batches. Milliseconds. */
const lastExportMs = 3000;
/** Spans that wait to be sent; further ones are dropped. */
const maxQueued = 2048;
/** Batches under way at once: at the end all that waits goes out together, beside one that may be on its way. */
const concurrencyLimit = 8;
/** More than the label sets that are made; what the SDK would do beyond is never needed. */
const cardinality = 4000;

export interface CreateOtlpOptions {
  settings: OtlpSettings;
  logger: Logger;
  /** Of Notebridge. */
  version: string;
}

/** Starts to gather and to send. Nothing of OpenTelemetry's is made global. */
export function createOtlp({ settings, logger, version }: CreateOtlpOptions): Telemetry {
  const { traces, metrics, endpoint } = settings;
  const resource = resourceFromAttributes({ 'service.name': 'notebridge', 'service.version': version });
  const { origin } = new URL(endpoint);
  const providers: { shutdown(): Promise<void> }[] = [];
  const optionsFor = (path: string) => ({
    url: toUrl(endpoint, path),
    headers: settings.headers,
    timeoutMillis: exportMs,
    concurrencyLimit,
  });
  const watched = (what: string) => ({ logger, what: `${what} to ${origin}`, timeoutMs: exportMs + 500 });

  const startTraces = (): CallSpans => {
    const room = createSpanRoom({ most: maxQueued, logger, origin });
    const exporter = watchExporter(new OTLPTraceExporter(optionsFor('v1/traces')), watched('Traces'));
    const batches = new BatchSpanProcessor({
      exporter: {
        export: (spans, onResult) => {
          room.free(spans.length);
          exporter.export(spans, onResult);
        },
        shutdown: () => exporter.shutdown(),
      },
      maxQueueSize: maxQueued,
      scheduledDelayMillis: settings.intervalMs,
      exportTimeoutMillis: exportMs + 1000,
    });
    providers.push({
      shutdown: () => {
        room.close();
        return batches.shutdown();
      },
    });
    const making: SpanMaking = {
      ids: new RandomIdGenerator(),
      sampler: whileRoom(room, new TraceIdRatioBasedSampler(settings.sampleRatio)),
      resource,
      instrumentationScope: { name: 'notebridge', version },
      onEnd: (span) => {
        if (room.take()) batches.onEnd(span);
      },
    };
    return new CallSpans(making, new BoundedNames());
  };

  const startMetrics = (): CallDurations => {
    const exporter = watchExporter(new OTLPMetricExporter(optionsFor('v1/metrics')), watched('Metrics'));
    const reader = new PeriodicExportingMetricReader({
      exporter,
      exportIntervalMillis: settings.intervalMs,
      exportTimeoutMillis: Math.min(exportMs + 1000, settings.intervalMs),
      cardinalityLimits: { default: cardinality },
    });
    const provider = new MeterProvider({ resource, readers: [reader] });
    providers.push(provider);
    return createDurations(provider.getMeter('notebridge', version));
  };

  const calls = new CallTelemetry({ spans: traces ? startTraces() : undefined, durations: metrics ? startMetrics() : undefined });
  let closing: Promise<unknown> | undefined;
  return {
    observer: calls,
    follow: calls.follow,
    close: async () => {
      closing ??= settlesWithin(Promise.allSettled(providers.map((provider) => provider.shutdown())), lastExportMs);
      await closing;
    },
  };
}

/**
 * The places in which spans wait to be sent, at most so many. Once they are taken, no new trace is begun: it would be made in vain, and what
 * arrives is then whole traces rather than parts of all. That is told of once, and at the end with the number. `origin`: where they are sent.
 */
function createSpanRoom({ most, logger, origin }: { most: number; logger: Logger; origin: string }) {
  let waiting = 0;
  let leftOut = 0;
  /** Whether there is a place. If not, what asked is counted as left out. */
  const admits = (): boolean => {
    if (waiting < most) return true;
    if (++leftOut === 1)
      logger.warn(
        `More traces than ${origin} takes: ${most} spans wait to be sent, and further traces are left out. "sampleRatio" makes them fewer.`,
      );
    return false;
  };
  return {
    admits,
    /** Takes a place for a span that has ended. False: there is none. */
    take: (): boolean => {
      if (!admits()) return false;
      waiting++;
      return true;
    },
    /** So many spans are on their way. */
    free: (count: number): void => {
      waiting -= count;
    },
    /** To be called once. */
    close: (): void => {
      if (leftOut > 0) logger.warn(`${leftOut} traces, or parts of them, were left out: they did not fit into memory.`);
    },
  };
}

/** Begins no trace that there is no room for. Those that callers record are not ours to refuse. */
function whileRoom(room: Pick<ReturnType<typeof createSpanRoom>, 'admits'>, sampler: Sampler): Sampler {
  return {
    shouldSample: (...asked) => {
      const result = sampler.shouldSample(...asked);
      if (result.decision === SamplingDecision.NOT_RECORD || room.admits()) return result;
      return { decision: SamplingDecision.NOT_RECORD };
    },
    toString: () => sampler.toString(),
  };
}

function toUrl(endpoint: string, path: string): string {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`;
  return url.href;
}

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
function watchExporter<Items, Watched extends Exporter<Items>>(
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
