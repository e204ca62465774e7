import { otherLabel } from './bounded-labels.js';
import type { CallSubject } from './conventions.js';

/**
 * Keeps the names of spans and the labels of metrics few: those of tools that have answered, and no more than `most`. A caller or a server
 * that makes up names makes no new ones.
 */
export class BoundedNames {
  readonly #most: number;
  readonly #known = new Set<string>();

  constructor(most = 2000) {
    this.#most = most;
  }

  /** The subject, or `other` in place of its names once all places are taken. `of`: what is told apart besides the names. */
  bound(subject: CallSubject, outcome: string, of = ''): CallSubject {
    const { method, server, tool } = subject;
    if (server === undefined && tool === undefined) return subject;
    const name = keyOf(subject, '');
    const key = of === '' ? name : keyOf(subject, of);
    if (this.#known.has(key)) return subject;
    const isReal = hasAnswered(outcome) || this.#known.has(name);
    if (isReal && this.#known.size < this.#most) {
      this.#known.add(name).add(key);
      return subject;
    }
    return { method, server: server && otherLabel, tool: tool && otherLabel };
  }
}

/** No two subjects have the same: where the name of the server ends is told by its length. */
function keyOf({ method, server, tool }: CallSubject, of: string): string {
  return `${of}\n${method}\n${server?.length}\n${server}${tool === undefined ? '' : `\n${tool}`}`;
}

/** What was refused, or went wrong on its way, may be about a tool that does not exist. */
function hasAnswered(outcome: string): boolean {
  return outcome === 'ok' || outcome === 'asked' || outcome === 'tool_error';
}
