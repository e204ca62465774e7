import { membersOf } from '../raw-json.js';

/** How a mirror is reached by its bridge, or by a test without one. */
export interface MirrorOptions {
  /** Its URIs begin with it. */
  name: string;
  era: 'legacy' | 'modern';
  /** The answers, as raw text, to messages that bring a number in `_meta.mirror`. */
  answers: readonly string[];
}

const none = '"error":{"code":-32601,"message":"Method not found","data":{"x":1.0}}';
const badParams = (why: string): string => `"error":{"code":-32602,"message":"${why}","data":{"x":1.50}}`;

/**
 * A server that knows nothing and tells all: it answers each message, as raw text, by what it was sent, so that one answer shows what
 * became of a message on both ways. The same message has the same answer always. It is written without any part of what it tests.
 */
export class Mirror {
  readonly #options: MirrorOptions;

  constructor(options: MirrorOptions) {
    this.#options = options;
  }

  /** The whole answer to one message; undefined for what has none. */
  answer(text: string): string | undefined {
    const id = membersOf(text).get('id');
    const members = this.answerMembers(text);
    return members === undefined ? undefined : `{"jsonrpc":"2.0","id":${id},${members}}`;
  }

  /** `"result":…` or `"error":…`. */
  answerMembers(text: string): string | undefined {
    const message = membersOf(text);
    const method = textOf(message.get('method'));
    if (!message.has('id') || method === undefined) return undefined;
    const answer = this.#answer(method, message.get('params') ?? '{}');
    return this.#options.era === 'modern' ? stamped(method, answer) : answer;
  }

  #answer(method: string, text: string): string {
    const params = text.trim().startsWith('{') ? membersOf(text) : new Map<string, string>();
    const marker = objectOf(params.get('_meta')).get('mirror');
    const scripted = marker === undefined ? undefined : this.#options.answers[Number(textOf(marker))];
    if (scripted !== undefined) return scripted;
    const list = this.#listOf(method);
    if (list !== undefined) return toPage(list, params.get('cursor'));
    switch (method) {
      case 'initialize':
        return `"result":{"protocolVersion":${params.get('protocolVersion')},"capabilities":${capabilities},"serverInfo":{"name":"mirror","version":"1"}}`;
      case 'server/discover':
        return `"result":{"supportedVersions":["2026-07-28"],"capabilities":${capabilities}}`;
      case 'ping':
      case 'logging/setLevel':
      case 'resources/subscribe':
      case 'resources/unsubscribe':
        return '"result":{}';
      case 'tools/call':
        if (params.get('name') !== '"odd"') return badParams('Unknown tool');
        return `"result":{"content":[{"type":"text","text":"t","x":1.0}],"seen":${text}}`;
      case 'prompts/get':
        if (params.get('name') !== '"ask"') return badParams('Unknown prompt');
        return `"result":{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"t"}}],"seen":${text}}`;
      case 'resources/read':
        if (textOf(params.get('uri'))?.startsWith(`${this.#options.name}:`) !== true)
          return '"error":{"code":-32002,"message":"Resource not found","data":{"uri":"a:b"}}';
        return `"result":{"contents":[{"uri":"a:b","mimeType":"text/plain","text":"t","x":1.0}],"seen":${text}}`;
      case 'completion/complete':
        if (!params.has('argument')) return badParams('No argument');
        return `"result":{"completion":{"values":["a","b"],"total":2.0,"hasMore":false,"x":1.0},"seen":${text}}`;
      default:
        return none;
    }
  }

  /** Two pages of each list, with all that items may have, and more. */
  #listOf(method: string): { key: string; pages: string[] } | undefined {
    const { name } = this.#options;
    const shown =
      '"title":"Tïtle","icons":[{"src":"data:,","mimeType":"image/png","sizes":["48x48","any"],"theme":"dark","x":1.0}],"_meta":{"a/b":12345678901234567890}';
    const annotations = '"annotations":{"audience":["user","assistant"],"priority":0.50,"lastModified":"2026-01-01T00:00:00Z","x":[1.0]}';
    switch (method) {
      case 'tools/list': {
        const schema = '"inputSchema":{"type":"object","properties":{"a":{"default":1.0,"maximum":1e400}},"$defs":{"x":{"const":-0}}}';
        const hints = '"annotations":{"title":"T","readOnlyHint":true,"idempotentHint":false,"openWorldHint":true,"x":1.0}';
        return {
          key: 'tools',
          pages: [
            `{"name":"odd",${schema},${shown},${hints},"outputSchema":{"type":"object","x":1.0},"x":1.0}`,
            `{"name":"second",${schema}},{"name":"third","description":"d\\u0000",${schema},"execution":{"z":0}}`,
          ],
        };
      }
      case 'resources/list':
        return {
          key: 'resources',
          pages: [
            `{"uri":"${name}:/one","name":"one",${shown},${annotations},"size":12345678901234567890,"x":1.0}`,
            `{"uri":"${name}:/two","name":"two"}`,
          ],
        };
      case 'resources/templates/list':
        return {
          key: 'resourceTemplates',
          pages: [
            `{"uriTemplate":"${name}:/{one}","name":"t1",${shown},${annotations},"x":1.0}`,
            `{"uriTemplate":"${name}:/{two}/x","name":"t2"}`,
          ],
        };
      case 'prompts/list':
        return {
          key: 'prompts',
          pages: [
            `{"name":"ask","description":"d",${shown},"arguments":[{"name":"a","title":"A","required":true,"x":1.0}],"x":1.0}`,
            '{"name":"second"}',
          ],
        };
      default:
        return undefined;
    }
  }
}

const capabilities = '{"tools":{"listChanged":true},"prompts":{},"resources":{"subscribe":true},"completions":{},"logging":{}}';

function toPage({ key, pages }: { key: string; pages: string[] }, cursor: string | undefined): string {
  if (cursor === undefined) return `"result":{"${key}":[${pages[0]}],"nextCursor":"page 2"}`;
  return cursor === '"page 2"' ? `"result":{"${key}":[${pages[1]}]}` : badParams('Invalid cursor');
}

/** A result of the modern era, which says of itself that it is one. */
function stamped(method: string, answer: string): string {
  if (!answer.startsWith('"result":{') || answer.includes('"resultType"')) return answer;
  const cached = /^(.*\/list|resources\/read|server\/discover)$/.test(method) ? '"ttlMs":0,"cacheScope":"private",' : '';
  return answer.replace('"result":{', `"result":{"resultType":"complete",${cached}`).replace(',}', '}');
}

function textOf(text: string | undefined): string | undefined {
  return text?.startsWith('"') ? (JSON.parse(text) as string) : undefined;
}

function objectOf(text: string | undefined): Map<string, string> {
  return text?.trim().startsWith('{') ? membersOf(text) : new Map<string, string>();
}
