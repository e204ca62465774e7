import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bareEnvironment } from './bare-environment.js';

/** A span as a real collector wrote it. */
export interface WrittenSpan {
  traceId: string;
  spanId: string;
  parentId: string;
  traceState: string;
  name: string;
  kind: string;
  startMs: number;
  endMs: number;
  attributes: Record<string, string>;
}

/** A real collector, which takes OTLP over HTTP and writes what it got. */
export class OtelCollector implements AsyncDisposable {
  readonly endpoint: string;
  readonly #child: ChildProcess;
  readonly #folder: string;
  readonly #heard: { text: string };

  private constructor(endpoint: string, { child, folder, heard }: { child: ChildProcess; folder: string; heard: { text: string } }) {
    this.endpoint = endpoint;
    this.#child = child;
    this.#folder = folder;
    this.#heard = heard;
  }

  static async start(program: string): Promise<OtelCollector> {
    const folder = mkdtempSync(join(tmpdir(), 'collector-'));
    const config = join(folder, 'config.json');
    // JSON is YAML.
    writeFileSync(config, JSON.stringify(settings));
    const child = spawn(program, ['--config', config], { env: bareEnvironment(), stdio: ['ignore', 'ignore', 'pipe'] });
    const heard = { text: '' };
    const endpoint = await new Promise<string>((resolve, reject) => {
      child.once('error', reject).once('exit', () => reject(new Error(heard.text)));
      child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
        heard.text += piece;
        const [, address] = /Starting HTTP server.*"endpoint": "([^"]+)"[^]*Everything is ready/.exec(heard.text) ?? [];
        if (address !== undefined) resolve(`http://${address}`);
      });
    });
    return new OtelCollector(endpoint, { child, folder, heard });
  }

  /** Ends it, so that all is written. */
  async stop(): Promise<WrittenSpan[]> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      const closed = once(this.#child, 'close');
      this.#child.kill('SIGTERM');
      await closed;
    }
    return spansIn(this.#heard.text);
  }

  /** All that it wrote, to look for what must not be in it. */
  get text(): string {
    return this.#heard.text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

const settings = {
  receivers: { otlp: { protocols: { http: { endpoint: '127.0.0.1:0' } } } },
  exporters: { debug: { verbosity: 'detailed' } },
  service: {
    // Its own would be offered at a port.
    telemetry: { metrics: { level: 'none' } },
    pipelines: { traces: { receivers: ['otlp'], exporters: ['debug'] } },
  },
};

/** In the form of the exporter `debug` with all details: a line `Name : value` for each field, and `-> name: Str(value)` for each attribute. */
function spansIn(text: string): WrittenSpan[] {
  const [, ...spans] = text.split(/^Span #\d+$/m);
  return spans.map((span) => {
    const field = (name: string): string => new RegExp(`^ +${name} *: (.*)$`, 'm').exec(span)?.[1]?.trim() ?? '';
    const time = (name: string): number => Date.parse(field(name).replace(/^(\S+) (\S+) .*/, '$1T$2Z'));
    const attributes = Array.from(span.matchAll(/^ +-> (\S+): \w+\((.*)\)$/gm), ([, name = '', value = '']) => [name, value]);
    return {
      traceId: field('Trace ID'),
      spanId: field('ID'),
      parentId: field('Parent ID'),
      traceState: field('TraceState'),
      name: field('Name'),
      kind: field('Kind'),
      startMs: time('Start time'),
      endMs: time('End time'),
      attributes: Object.fromEntries(attributes),
    };
  });
}
