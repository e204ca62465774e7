import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

type Purpose = 'new' | 'old' | 'link';

/** Distinguishes the names of this process from those of an earlier one with its number, as every hub in a container has. */
const ownMark = randomBytes(4).toString('hex');
let made = 0;

/** The names beside a published folder that are ours: `.generated-<hash>`, and `.generated-new-<pid>-<random>` while something is made. */
export class PublishedNames {
  readonly parent: string;
  readonly #name: string;
  readonly #pid: number;

  /** `pid`: of this process. */
  constructor(parent: string, name: string, pid: number) {
    this.parent = parent;
    this.#name = name;
    this.#pid = pid;
  }

  get path(): string {
    return join(this.parent, this.#name);
  }

  version(contentHash: string, extra?: string): string {
    return `.${this.#name}-${contentHash.slice(0, 16)}${extra === undefined ? '' : `-${extra}`}`;
  }

  isVersion(name: string): boolean {
    return name.startsWith(`.${this.#name}-`) && /^[0-9a-f]{16}(-[0-9a-f]{4})?$/.test(name.slice(this.#name.length + 2));
  }

  temporary(purpose: Purpose): string {
    return join(this.parent, `.${this.#name}-${purpose}-${this.#pid}-${ownMark}${(made++ % 65_536).toString(16).padStart(4, '0')}`);
  }

  /** What a name says that `temporary` made; undefined for any other. `isOwn`: this process made it. */
  temporaryOf(name: string): { purpose: Purpose; pid: number; isOwn: boolean } | undefined {
    if (!name.startsWith(`.${this.#name}-`)) return undefined;
    const [, purpose, pid, mark] = /^(new|old|link)-(\d+)-([0-9a-f]{8})[0-9a-f]{4}$/.exec(name.slice(this.#name.length + 2)) ?? [];
    return purpose === undefined
      ? undefined
      : { purpose: purpose as Purpose, pid: Number(pid), isOwn: Number(pid) === this.#pid && mark === ownMark };
  }
}
