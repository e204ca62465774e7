import { parseJson, toMarkedNumbers, unmarkJson } from '@notebridge/kit/exact-json';
import { ExactNumber, isJsonObject } from '@notebridge/kit/json';

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

/** Texts without any of these have no number that JavaScript prints differently. */
const mayBeOdd = /\d{16}|\d\.\d*0(?!\d)|\d[eE]|-0|0\.000000|\d\.\d{14}/;

/**
 * A `fetch` for a transport that reads and prints JSON with the engine's own means: numbers that it would change go through it as marked
 * texts. What is sent was marked with `toMarkedNumbers`; what is received is to be given to `fromMarkedNumbers`.
 */
export function createExactFetch(fetch: Fetch): Fetch {
  return async (url, init) => {
    const response = await fetch(url, typeof init?.body === 'string' ? { ...init, body: unmarkJson(init.body) } : init);
    const { body, ok, headers } = response;
    if (body === null || !ok) return response;
    const type = headers.get('content-type') ?? '';
    if (type.includes('text/event-stream'))
      return withBody(response, body.pipeThrough(new TextDecoderStream()).pipeThrough(markLines()).pipeThrough(new TextEncoderStream()));
    return type.includes('json') ? withBody(response, markText(await response.text())) : response;
  };
}

function markText(text: string): string {
  if (!mayBeOdd.test(text)) return text;
  try {
    return JSON.stringify(toMarkedNumbers(withPlainCode(parseJson(text))));
  } catch {
    // No JSON, or a part of one: for the transport to report.
    return text;
  }
}

/** The transport refuses an error whose code is no number for the engine. */
function withPlainCode(message: unknown): unknown {
  if (!isJsonObject(message) || !isJsonObject(message.error) || !(message.error.code instanceof ExactNumber)) return message;
  return { ...message, error: { ...message.error, code: Number(message.error.code) } };
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
