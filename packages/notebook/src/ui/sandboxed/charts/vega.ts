import * as vega from 'vega';
import embed from 'vega-embed';
import * as vegaLite from 'vega-lite';

Object.assign(globalThis, { vega, vegaLite, vegaEmbed: embed });
