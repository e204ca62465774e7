import type { ViewerAction } from '../../viewer/protocol.js';
import { outputHost } from './host-requests.js';

/** What pages load from elsewhere, and a sandboxed page is given instead, since it has no network. */
export interface Libraries {
  /** Code by the name of its library. */
  readonly code: { readonly [name: string]: string };
  /** The name of the library by each address that the pages name. */
  readonly addresses: { readonly [address: string]: string };
}

/** Files beside the window, by the library's name. */
const files = { plotly: 'chart-plotly.js', vega: 'chart-vega.js', leaflet: 'chart-leaflet.js', d3: 'chart-d3.js' } as const;
type Bundled = keyof typeof files;

/** By the end of the address: many servers have the same files. Versions are not compared. */
const known: readonly (readonly [pattern: RegExp, name: Bundled | 'kernel' | 'nothing'])[] = [
  [/\/plotly(?:\.js)?[\w.@-]*(?:\/[\w./-]*)?$/, 'plotly'],
  [/\/vega(?:-lib|-lite|-embed)?(?:@[\w.-]+|\/[\d.]+\/[\w.-]+\.js)[\w./-]*$/, 'vega'],
  [/\/(?:leaflet(?:\.awesome-markers|\.markercluster|[._-]heat)?(?:-src)?(?:\.min)?|jquery-[\d.]+(?:\.min|\.slim)*)\.js$/, 'leaflet'],
  // The third version alone: keys of maps are drawn with it, and later ones are other libraries.
  [/\/d3(?:\/3\.[\d.]+\/d3|\.v3)(?:\.min)?\.js$/, 'd3'],
  [/\/(?:bokeh(?:-[a-z]+)?-\d[\w.]*|vis-network(?:\.min)?)\.js$/, 'kernel'],
  // Buttons and boxes of pages around a map, and none in it.
  [/\/bootstrap[\w.-]*\.js$/, 'nothing'],
];

const addressPattern = /https?:\/\/[^\s"'`<>\\)]{4,300}/g;
const loading = new Map<string, Promise<string>>();

/** The libraries that these pages load, and those that are asked for by name. */
export async function librariesOf(pages: readonly string[], names: readonly Bundled[] = []): Promise<Libraries> {
  const addresses: { [address: string]: string } = {};
  const hasFormulas = pages.some((page) => page.includes('$$'));
  for (const page of pages) {
    for (const [address] of page.matchAll(addressPattern)) {
      const name = libraryAt(address);
      // The largest file of Bokeh is for formulas alone.
      if (name !== undefined) addresses[address] = /\/bokeh-mathjax-/.test(address) && !hasFormulas ? 'nothing' : name;
    }
  }
  const wanted = new Set([...names, ...Object.values(addresses)]);
  const code = await Promise.all([...wanted].map(async (name) => [name, await codeOf(name)] as const));
  return { code: Object.fromEntries(code), addresses };
}

const scriptTag = /<script\b[^>]{0,500}?\ssrc\s*=\s*["']?(https?:\/\/[^\s"'<>]{4,300})/gi;

/** The addresses of scripts that the page loads, and for which nothing stands in. */
export function missingLibraries(page: string): string[] {
  const addresses = [...page.matchAll(scriptTag)].map(([, address = '']) => address);
  return [...new Set(addresses)].filter((address) => libraryAt(address) === undefined);
}

/** What stands in for what is at the address; for libraries of the kernel's packages each address is a name of its own. */
function libraryAt(address: string): string | undefined {
  const path = address.replace(/[?#].*$/, '');
  const name = known.find(([pattern]) => pattern.test(path))?.[1];
  return name === 'kernel' ? address : name;
}

function codeOf(name: string): Promise<string> {
  if (name === 'nothing') return Promise.resolve('');
  let code = loading.get(name);
  if (code === undefined) {
    code = Object.hasOwn(files, name) ? fetchFile(files[name as Bundled]) : readOfKernel({ do: 'readLibrary', address: name });
    loading.set(name, code);
    // Asked for again by the next chart.
    code.catch(() => loading.delete(name));
  }
  return code;
}

async function fetchFile(file: string): Promise<string> {
  const answer = await fetch(file);
  if (!answer.ok) throw new Error(`its library (${file}) is missing`);
  return answer.text();
}

/** The text of a file that the kernel can read. */
export async function readOfKernel(action: Extract<ViewerAction, { do: 'readLibrary' | 'readPage' }>): Promise<string> {
  const base64 = (await outputHost.request(action)) as string;
  return new TextDecoder().decode(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
}
