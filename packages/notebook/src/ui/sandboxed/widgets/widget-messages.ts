import type { WidgetModelState, WidgetNews } from '../../../viewer/widgets.js';

export type Theme = 'light' | 'dark';

/** From the window to the page of widgets. */
export type ToWidgets =
  /** The models are those that the one which is shown needs; none: it is not there any more. */
  | { readonly type: 'show'; readonly modelId: string; readonly models: readonly WidgetModelState[]; readonly theme: Theme }
  | { readonly type: 'theme'; readonly theme: Theme }
  | { readonly type: 'news'; readonly news: readonly WidgetNews[] }
  /** Answers `find`. */
  | { readonly type: 'found'; readonly modelId: string; readonly models: readonly WidgetModelState[] }
  /** The kernel has dealt with the call of this number. `fault` is for the person. */
  | { readonly type: 'handled'; readonly call: number; readonly fault?: string };

/** From the page of widgets to the window. */
export type FromWidgets =
  | { readonly type: 'find'; readonly modelId: string }
  /** What a person did. Buffers are base64. */
  | {
      readonly type: 'call';
      readonly call: number;
      readonly commId: string;
      readonly data: { readonly [key: string]: unknown };
      readonly buffers: readonly string[];
    };
