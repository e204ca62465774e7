/** The views, in the order of the menu, by the first word of the address behind `#/`. */
export const views = [
  ['overview', 'Overview'],
  ['calls', 'Calls'],
  ['servers', 'Servers'],
  ['notebooks', 'Notebooks and agents'],
  ['hubs', 'Hubs'],
  ['try', 'Try out'],
  ['grants', 'Grants'],
  ['connect', 'Connect'],
] as const;

/** Those of who only watches. */
export const viewsOfWatchers: readonly string[] = ['overview', 'calls', 'servers', 'hubs'] satisfies ViewName[];

export type ViewName = (typeof views)[number][0];

export interface Route {
  view: ViewName;
  /** What of the view is shown: the id of a call, the name of a server and of its tool. */
  names: string[];
  query: URLSearchParams;
}

/** Anything that is no view is the overview. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  const [first = '', ...names] = path.split('/').map(decode);
  const view = views.find(([name]) => name === first)?.[0] ?? 'overview';
  return { view, names: names.filter((name) => name !== ''), query: new URLSearchParams(query) };
}

export function hrefOf(view: ViewName, ...names: string[]): string {
  return `#/${[view, ...names].map(encodeName).join('/')}`;
}

/** A name that others chose, as a part of an address. Half of a surrogate pair has no place in one: what has it is found nowhere. */
export function encodeName(name: string): string {
  return encodeURIComponent(name.replaceAll(/\p{Surrogate}/gu, '\ufffd'));
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
