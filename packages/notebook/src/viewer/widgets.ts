/** What host and window say of widgets. Binary values are base64. */

/** The whole state of one model, or a part of it. */
export interface WidgetModelState {
  readonly commId: string;
  readonly state: { readonly [attribute: string]: unknown };
  /** Where each of the buffers stands in the state: the attribute first. */
  readonly bufferPaths: readonly (readonly (string | number)[])[];
  readonly buffers: readonly string[];
}

/** The `value` of `done` for `findWidget`: whether the kernel that lives has this model; `closed`: its code has closed it, so it shows nothing. */
export interface FoundWidget {
  readonly found: 'yes' | 'no' | 'closed' | 'noComms';
  /** What it shows now, where nothing lives. Undefined for one whose code knows that alone. */
  readonly text?: string;
}

/** The `value` of `done` for `openWidget`: the model, those it needs, and the links between them; none, if it is not there. */
export interface OpenedWidget {
  readonly models: readonly WidgetModelState[];
}

/** What happens to models that a window has opened. */
export type WidgetNews =
  /** `isRelayed`: somebody has set it in a window, which has told the kernel of all that follows from it. */
  | ({ readonly kind: 'update'; readonly isRelayed: boolean } & WidgetModelState)
  | { readonly kind: 'custom'; readonly commId: string; readonly content: unknown; readonly buffers: readonly string[] }
  | { readonly kind: 'close'; readonly commId: string }
  /** A new model that joins some of them. */
  | { readonly kind: 'link'; readonly commId: string; readonly joins: readonly string[] }
  /** The kernel has ended, or begins anew. */
  | { readonly kind: 'gone' };
