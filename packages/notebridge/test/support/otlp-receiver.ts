import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as it arrived. Ids are hexadecimal. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentId: string;
  traceState: string;
  name: string;
  kind: 'server' | 'client' | 'other';
  isError: boolean;
  attributes: Attributes;
  links: string[];
}

/** One data point of a histogram. */
export interface ReceivedDuration {
  metric: string;
  unit: string;
  count: number;
  sum: number;
  bounds: number[];
  attributes: Attributes;
}

type Attributes = Record<string, string | number | boolean>;

/** A collector that decodes what OTLP over HTTP sends, by the field numbers of opentelemetry-proto 1.x. */
export class OtlpReceiver implements AsyncDisposable {
  readonly spans: ReceivedSpan[] = [];
  /** Of the last export: they are cumulative. */
  durations: ReceivedDuration[] = [];
  /** All bodies, to look for what must not be in them. */
  bytes = '';
  readonly headers: IncomingMessage['headers'][] = [];
  requests = 0;
  readonly #server: Server;

  private constructor(answer: (response: ServerResponse) => void) {
    this.#server = createServer((request, response) => {
      this.requests++;
      this.headers.push(request.headers);
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        this.#take(request.url ?? '', Buffer.concat(chunks));
        answer(response);
      });
    });
  }

  /** `answer`: what it does with a request. Default: it takes it. */
  static async start(answer = (response: ServerResponse): unknown => response.end()): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver(answer);
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** The one span of this name and kind. */
  span(kind: ReceivedSpan['kind'], name: string): ReceivedSpan {
    const [span, ...more] = this.spans.filter((each) => each.kind === kind && each.name === name);
    if (span === undefined || more.length > 0)
      throw new Error(`Not one ${kind} span "${name}": ${JSON.stringify(this.spans.map((each) => [each.kind, each.name]))}`);
    return span;
  }

  #take(url: string, body: Buffer): void {
    this.bytes += body.toString('latin1');
    if (url === '/v1/traces') this.spans.push(...spansIn(body));
    else if (url === '/v1/metrics') this.durations = durationsIn(body);
    else throw new Error(`Sent to ${url}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

/** The fields of a message, by number: numbers for varints and 64 bits (read as asked), bytes for the rest. */
type Fields = Map<number, Buffer[]>;

function fieldsOf(bytes: Buffer): Fields {
  const fields: Fields = new Map();
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes[at++] ?? 0;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  const taken = (length: number): Buffer => {
    if (at + length > bytes.length) throw new Error('Not protobuf: it ends too soon.');
    at += length;
    return bytes.subarray(at - length, at);
  };
  while (at < bytes.length) {
    const tag = varint();
    const [field, wire] = [Math.floor(tag / 8), tag % 8];
    const value =
      wire === 0 ? numberBytes(varint()) : wire === 1 ? taken(8) : wire === 2 ? taken(varint()) : taken(wire === 5 ? 4 : Number.NaN);
    fields.set(field, [...(fields.get(field) ?? []), value]);
  }
  return fields;
}

function numberBytes(value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleLE(value);
  return bytes;
}

const each = (fields: Fields, field: number): Buffer[] => fields.get(field) ?? [];
const hex = (fields: Fields, field: number): string => each(fields, field)[0]?.toString('hex') ?? '';
const text = (fields: Fields, field: number): string => each(fields, field)[0]?.toString() ?? '';
const double = (fields: Fields, field: number): number => each(fields, field)[0]?.readDoubleLE() ?? 0;
const within = (bytes: Buffer, ...path: number[]): Fields[] =>
  path.reduce((messages, field) => messages.flatMap((message) => each(message, field).map(fieldsOf)), [fieldsOf(bytes)]);

function attributesOf(fields: Fields, field: number): Attributes {
  return Object.fromEntries(
    each(fields, field).map((bytes) => {
      const pair = fieldsOf(bytes);
      const [value = new Map()] = each(pair, 2).map(fieldsOf);
      // AnyValue: 1 a text, 2 a boolean, 3 a whole number, 4 a double.
      if (value.has(1)) return [text(pair, 1), text(value, 1)];
      return [text(pair, 1), value.has(2) ? double(value, 2) === 1 : double(value, value.has(3) ? 3 : 4)];
    }),
  );
}

function spansIn(body: Buffer): ReceivedSpan[] {
  return within(body, 1, 2, 2).map((span) => {
    const kind = double(span, 6);
    return {
      traceId: hex(span, 1),
      spanId: hex(span, 2),
      traceState: text(span, 3),
      parentId: hex(span, 4),
      name: text(span, 5),
      kind: kind === 2 ? 'server' : kind === 3 ? 'client' : 'other',
      attributes: attributesOf(span, 9),
      links: each(span, 13).map((link) => hex(fieldsOf(link), 1)),
      isError: each(span, 15).some((status) => double(fieldsOf(status), 3) === 2),
    };
  });
}

function durationsIn(body: Buffer): ReceivedDuration[] {
  return within(body, 1, 2, 2).flatMap((metric) =>
    each(metric, 9).flatMap((histogram) =>
      each(fieldsOf(histogram), 1).map((bytes) => {
        const point = fieldsOf(bytes);
        const bounds = each(point, 7)[0] ?? Buffer.alloc(0);
        return {
          metric: text(metric, 1),
          unit: text(metric, 3),
          count: Number(each(point, 4)[0]?.readBigUInt64LE() ?? 0n),
          sum: double(point, 5),
          bounds: Array.from({ length: bounds.length / 8 }, (_, index) => bounds.readDoubleLE(index * 8)),
          attributes: attributesOf(point, 9),
        };
      }),
    ),
  );
}
