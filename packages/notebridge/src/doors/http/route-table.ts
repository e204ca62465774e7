import { type Refusal, refuse } from './refusal.js';

interface Route {
  url: string;
  methods: Set<string>;
  pattern: RegExp;
  isListed: boolean;
}

/** What the app answers, for those who ask for something else: which routes there are, and which methods a path has. */
export class RouteTable {
  readonly #routes = new Map<string, Route>();

  /** `schema.hide`: a part of a page that is not worth naming. */
  add({ url, method, schema }: { url: string; method: string | string[]; schema?: unknown }): void {
    const isListed = !(typeof schema === 'object' && schema !== null && 'hide' in schema && schema.hide === true);
    const route = this.#routes.get(url) ?? { url, methods: new Set(), pattern: toPattern(url), isListed };
    this.#routes.set(url, route);
    for (const each of [method].flat()) route.methods.add(each);
  }

  /** The methods that a path has, sorted; empty where nothing is. */
  methodsAt(target: string): string[] {
    const path = target.split('?', 1)[0] ?? '';
    const exact = this.#routes.get(path);
    // A path that is written out is that and nothing else, though a pattern fits it too.
    const found = exact === undefined ? [...this.#routes.values()].filter(({ pattern }) => pattern.test(path)) : [exact];
    const methods = found.flatMap((route) => [...route.methods]);
    return methods.length === 0 ? [] : [...new Set([...methods, 'OPTIONS'])].sort();
  }

  /** Why there is no answer: 405 where another method has one, else 404 with what there is. */
  refuse(method: string, target: string): Refusal {
    const methods = this.methodsAt(target);
    if (methods.length > 0)
      return refuse(405, `${method} is not answered here, only ${methods.join(', ')}.`, ['allow', methods.join(', ')]);
    const listed = [...this.#routes.values()].filter(({ isListed }) => isListed);
    const names = listed.map(({ url, methods: each }) => `${[...each].filter((name) => name !== 'HEAD').join('|')} ${url}`);
    return refuse(404, `Nothing is served at this path. There is: ${names.sort().join(', ')}.`);
  }
}

/** Only the two forms that our routes use: `:name` for a segment, `*` for the rest. */
function toPattern(url: string): RegExp {
  const escaped = url.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/:[^/]+/g, '[^/]+').replace(/\*/g, '.*')}$`);
}
