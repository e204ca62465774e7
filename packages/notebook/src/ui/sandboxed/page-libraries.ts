import type { Libraries } from '../outputs/chart-libraries.js';

let libraries: Libraries = { code: {}, addresses: {} };
const brought = new Set<string>();

/** Gives the page what stands in for scripts of other servers: before anything of an output is put in. */
export function bringLibraries(given: Libraries): void {
  libraries = given;
}

/** Maps of Plotly load their ground by its name from the network, and are not drawn without one: an empty one stands for each. */
const noFeatures = { type: 'GeometryCollection', geometries: [] };
const layers = ['coastlines', 'land', 'ocean', 'lakes', 'rivers', 'countries', 'subunits'];
const blankGround = { type: 'Topology', arcs: [], objects: Object.fromEntries(layers.map((layer) => [layer, noFeatures])) };
Object.assign(globalThis, { PlotlyGeoAssets: { topojson: new Proxy({}, { get: () => blankGround }) } });

/** Runs the library now, unless it has run already. */
export function runLibrary(name: string): void {
  const script = document.createElement('script');
  script.textContent = codeOnce(name);
  document.head.append(script);
}

/** Where the code stands that is loaded in place of this address. Others stay as they are, and the policy refuses them. */
export function localAddress(address: string): string {
  const name = nameAt(address);
  return name === undefined ? address : URL.createObjectURL(new Blob([codeOnce(name)], { type: 'text/javascript' }));
}

/** Scripts that markup would load become scripts that stand in it, so that they run in the order in which they are written. */
export function inlineScripts(fragment: DocumentFragment): void {
  for (const script of fragment.querySelectorAll('script[src]')) {
    const name = nameAt(script.getAttribute('src') ?? '');
    if (name === undefined) continue;
    const inline = document.createElement('script');
    inline.textContent = codeOnce(name);
    script.replaceWith(inline);
  }
}

function nameAt(address: string): string | undefined {
  const { addresses } = libraries;
  return Object.hasOwn(addresses, address) ? addresses[address] : undefined;
}

/** Many addresses may be one library, which runs once. */
function codeOnce(name: string): string {
  if (brought.has(name)) return '';
  brought.add(name);
  return libraries.code[name] ?? '';
}
