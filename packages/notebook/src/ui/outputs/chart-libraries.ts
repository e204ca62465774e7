/** What pages load from elsewhere, and a sandboxed page is given instead, since it has no network. */
export interface Libraries {
  /** Code by the name of its library. */
  readonly code: { readonly [name: string]: string };
  /** The name of the library by each address that the pages name. */
  readonly addresses: { readonly [address: string]: string };
}

/** Files beside the window, by the library's name. */
const files = { plotly: 'chart-plotly.js', vega: 'chart-vega.js', leaflet: 'chart-leaflet.js' } as const;
type Bundled = keyof typeof files;

/** By the end of the address: many servers have the same files. Versions are not compared. */
const known: readonly (readonly [pattern: RegExp, name: Bundled | 'nothing'])[] = [
  [/\/plotly(?:\.js)?[\w.@-]*(?:\/[\w./-]*)?$/, 'plotly'],
  [/\/vega(?:-lib|-lite|-embed)?(?:@[\w.-]+|\/[\d.]+\/[\w.-]+\.js)[\w./-]*$/, 'vega'],
  [/\/(?:leaflet(?:-src)?(?:\.min)?|leaflet\.awesome-markers|jquery-[\d.]+(?:\.min|\.slim)*)\.js$/, 'leaflet'],
  // Buttons and boxes of pages around a map, and none in it.
  [/\/bootstrap[\w.-]*\.js$/, 'nothing'],
];

const addressPattern = /https?:\/\/[^\s"'`<>\\)]{4,300}/g;
const loading = new Map<string, Promise<string>>();

/** The libraries that these pages load, and those that are asked for by name. */
export async function librariesOf(pages: readonly string[], names: readonly Bundled[] = []): Promise<Libraries> {
  const addresses: { [address: string]: string } = {};
  for (const page of pages) {
    for (const [address] of page.matchAll(addressPattern)) {
      const name = libraryAt(address);
      if (name !== undefined) addresses[address] = name;
    }
  }
  const wanted = new Set([...names, ...Object.values(addresses)]);
  const code = await Promise.all([...wanted].map(async (name) => [name, await codeOf(name)] as const));
  return { code: Object.fromEntries(code), addresses };
}

/** Whether something stands in for what is at the address. */
export function libraryAt(address: string): string | undefined {
  const path = address.replace(/[?#].*$/, '');
  return known.find(([pattern]) => pattern.test(path))?.[1];
}

function codeOf(name: string): Promise<string> {
  const file = Object.hasOwn(files, name) ? files[name as Bundled] : undefined;
  if (file === undefined) return Promise.resolve('');
  let code = loading.get(file);
  if (code === undefined) {
    code = fetch(file).then((answer) => (answer.ok ? answer.text() : Promise.reject(new Error(`its library (${file}) is missing`))));
    loading.set(file, code);
    // Asked for again by the next chart.
    code.catch(() => loading.delete(file));
  }
  return code;
}
