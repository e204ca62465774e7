/** The one way out of QuickJS: a list of texts, numbers and flags. */
export type Send = (...message: unknown[]) => void;
