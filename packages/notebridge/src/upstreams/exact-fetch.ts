import { fromMarkedNumbers, parseJson, toMarkedNumbers, unmarkJson } from '@notebridge/protocol/exact-json';
import { isJsonObject } from '@notebridge/protocol/json';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Texts without any of these have no number that JavaScript prints differently, and no error. */
const mayBeOdd = /\d{16}|\d\.\d*0(?!\d)|\d[eE]|-0|0\.000000|\d\.\d{14}|"error"/;

/** Where an error travels whole. Unguessable, so that no peer can write there. */
const carrier = crypto.randomUUID();

/**
 * A `fetch` for a transport that reads and prints JSON with the engine's own means, and takes of an error no more than it knows: numbers
 * that it would change, and errors, go through it as something that it leaves alone. What is sent was marked with `toMarkedNumbers`;
 * what is received is to be given to `fromTransport`.
 */
export function createExactFetch(fetch: Fetch): Fetch {
  return async (url, init) => {
    const response = await fetch(url, typeof init?.body === 'string' ? { ...init, body: unmarkJson(init.body) } : init);
    const { body, headers } = response;
    if (body === null) return response;
    const type = headers.get('content-type') ?? '';
    if (type.includes('text/event-stream'))
      return withBody(response, body.pipeThrough(new TextDecoderStream()).pipeThrough(markLines()).pipeThrough(new TextEncoderStream()));
    return type.includes('json') ? withBody(response, markText(await response.text())) : response;
  };
}

/** A message as the server sent it. */
export function fromTransport(message: unknown): unknown {
  const unmarked = fromMarkedNumbers(message);
  if (!isJsonObject(unmarked) || !isJsonObject(unmarked.error)) return unmarked;
  const { data } = unmarked.error;
  return isJsonObject(data) && carrier in data ? { ...unmarked, error: data[carrier] } : unmarked;
}

function markText(text: string): string {
  if (!mayBeOdd.test(text)) return text;
  try {
    const value = parseJson(text);
    return JSON.stringify(toMarkedNumbers(Array.isArray(value) ? value.map(carryError) : carryError(value)));
  } catch {
    // No JSON, or a part of one: for the transport to report.
    return text;
  }
}

/** The transport drops unknown keys of an error, and refuses one whose code is no number for the engine. */
function carryError(message: unknown): unknown {
  if (!isJsonObject(message) || !isJsonObject(message.error)) return message;
  return { ...message, error: { code: 0, message: '', data: { [carrier]: message.error } } };
}

/** Of an event stream only whole lines are passed on: nothing in them has a meaning before. */
function markLines(): TransformStream<string, string> {
  let begun: string[] = [];
  return new TransformStream({
    transform: (chunk, controller) => {
      const end = Math.max(chunk.lastIndexOf('\n'), chunk.lastIndexOf('\r')) + 1;
      if (end > 0) controller.enqueue(markEvents(begun.join('') + chunk.slice(0, end)));
      if (end > 0) begun = [];
      begun.push(chunk.slice(end));
    },
    flush: (controller) => controller.enqueue(begun.join('')),
  });
}

function markEvents(text: string): string {
  if (!mayBeOdd.test(text)) return text;
  return text.replace(/^data: ?(.+)$/gm, (_, data: string) => `data: ${markText(data)}`);
}

function withBody({ status, statusText, headers }: Response, body: ConstructorParameters<typeof Response>[0]): Response {
  const kept = [...headers].filter(([name]) => !['content-length', 'content-encoding'].includes(name));
  return new Response(body, { status, statusText, headers: kept });
}
