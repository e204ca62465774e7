import type { Formula } from './find-formulas.js';

/** What a laid-out text holds besides HTML. It stands in the text as an empty element whose `nb-part` names it. */
export type Part =
  /** `html`: KaTeX's own, missing for a formula that could not be laid out; then `fault` may say why. */
  | { readonly kind: 'formula'; readonly formula: Formula; readonly html?: string; readonly fault?: string }
  | { readonly kind: 'task'; readonly isDone: boolean; readonly label: string };

export interface LaidOut {
  /** Nobody has checked it. */
  readonly html: string;
  readonly parts: readonly Part[];
  /** With which each mark of a part begins. */
  readonly key: string;
}

/** Collects the parts of a text. `key` is one that the text cannot know, so that none of its own markup passes for a part. */
export class PartList {
  readonly parts: Part[] = [];
  readonly key: string;

  constructor(key: string) {
    this.key = key;
  }

  /** The element that stands for the part. */
  add(part: Part): string {
    const tag = part.kind === 'formula' && part.formula.isBlock ? 'div' : 'span';
    return `<${tag} nb-part="${this.key}-${this.parts.push(part) - 1}"></${tag}>`;
  }
}
