import { isJsonObject, type JsonObject } from '@notebridge/protocol/json';
import type { MimeBundle } from '../model/output.js';

/** A chart that an output holds as data. */
export interface Chart {
  readonly kind: 'plotly' | 'vega' | 'vega-lite';
  readonly type: string;
  readonly spec: JsonObject;
}

const plotlyType = 'application/vnd.plotly.v1+json';
/** Altair 6 writes `.json` where others write `+json`. */
const vegaType = /^application\/vnd\.vega(lite)?\.v\d+[+.]json$/;

/** Undefined for a bundle without a chart. */
export function chartOf(bundle: MimeBundle): Chart | undefined {
  for (const [type, spec] of Object.entries(bundle)) {
    const vega = vegaType.exec(type);
    if (!isJsonObject(spec) || (type !== plotlyType && !vega)) continue;
    return { kind: vega ? (vega[1] ? 'vega-lite' : 'vega') : 'plotly', type, spec };
  }
  return undefined;
}
