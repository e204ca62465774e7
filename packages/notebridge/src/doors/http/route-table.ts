import type { Authenticator } from './authenticator.js';
import type { HttpContext } from './http-context.js';
import { type Refusal, refuse } from './refusal.js';

/** A route of an app. */
export interface HttpRoute {
  /** HEAD is named where it is answered. OPTIONS is answered for every route. */
  methods: readonly string[];
  /** `:name` stands for one segment. A path without names comes before one that fits by its form. */
  path: string;
  /** Answers the request, which keeps the rules of the app. What it throws is answered too, as an error of the request. */
  handle: (context: HttpContext) => void | Promise<void>;
  /** Requires authentication, before `handle`. */
  authenticator?: Authenticator | undefined;
  /** Gives the id of each request. Default: the caller's, or a random one. */
  nextId?: (() => string) | undefined;
  /** Default: `{"detail":…}`. */
  printRefusal?: ((refusal: Refusal) => string) | undefined;
  /** Headers that an allowed page may send, and that it may read besides the usual ones. */
  requestHeaders?: string | undefined;
  exposedHeaders?: string | undefined;
  /** Answered also while the hub ends: it says how the hub is, or looks itself at what belongs to a call that runs. */
  isAnsweredToTheEnd?: boolean | undefined;
  /** A part of a page that is not worth naming. */
  isHidden?: boolean | undefined;
}

export interface RouteMatch {
  route: HttpRoute;
  /** What stands in the path for the names of the route, in order; undefined if it is not encoded correctly. */
  params: readonly string[] | undefined;
}

const none: readonly string[] = [];

/** The routes of an app: which one a path has, and for those who ask for something else, which ones there are. */
export class RouteTable {
  readonly #exact = new Map<string, RouteMatch>();
  readonly #patterns: { pattern: RegExp; route: HttpRoute }[] = [];
  readonly #all: HttpRoute[] = [];

  add(route: HttpRoute): void {
    this.#all.push(route);
    if (route.path.includes(':')) this.#patterns.push({ pattern: toPattern(route.path), route });
    else this.#exact.set(route.path, { route, params: none });
  }

  /** The route of a path, whatever the method. */
  match(path: string): RouteMatch | undefined {
    const exact = this.#exact.get(path);
    if (exact !== undefined) return exact;
    for (const { pattern, route } of this.#patterns) {
      const found = pattern.exec(path);
      if (found !== null) return { route, params: decodeAll(found) };
    }
    return undefined;
  }

  /** Why there is no answer at a path: what there is. */
  refuse(): Refusal {
    const listed = this.#all.filter(({ isHidden }) => isHidden !== true);
    const names = listed.map(({ path, methods }) => `${methods.filter((name) => name !== 'HEAD').join('|')} ${path}`);
    return refuse(404, `Nothing is served at this path. There is: ${names.sort().join(', ')}.`);
  }
}

/** What a route answers, sorted. */
export function methodsOf({ methods }: HttpRoute): string[] {
  return [...methods, 'OPTIONS'].sort();
}

/** Why a route does not answer: which methods it has. */
export function refuseMethod(method: string, route: HttpRoute): Refusal {
  const names = methodsOf(route).join(', ');
  return refuse(405, `${method} is not answered here, only ${names}.`, ['allow', names]);
}

function toPattern(path: string): RegExp {
  const escaped = path.replace(/[.+*?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/:[^/]+/g, '([^/]+)')}$`);
}

/** Names are decoded once. */
function decodeAll(found: RegExpExecArray): string[] | undefined {
  const params: string[] = [];
  try {
    for (let at = 1; at < found.length; at++) {
      const name = found[at] ?? '';
      params.push(name.includes('%') ? decodeURIComponent(name) : name);
    }
    return params;
  } catch {
    return undefined;
  }
}
