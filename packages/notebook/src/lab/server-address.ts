import { NotebookError } from '../model/errors.js';

/** What an address of Jupyter names: a server, and perhaps a notebook of it. */
export interface LabAddress {
  readonly baseUrl: string;
  /** In the address itself. */
  readonly token: string | undefined;
  readonly path: string | undefined;
}

/** Pages of Lab, and of Notebook 7; before them stands the base path, which may hold any of these words. */
const pages = [
  /^(.*?)\/(?:lab|doc)(?:\/workspaces\/[^/]+)?(?:\/tree(?:\/(.*))?)?\/?$/,
  /^(.*?)\/notebooks\/(.+)$/,
  /^(.*?)\/tree(?:\/(.*))?$/,
];

/**
 * Reads what people copy out of their browser: `http://localhost:8888/lab/tree/work.ipynb?token=…`, a base path, the path of a
 * JupyterHub user. Throws `bad_arguments` for what is no such address.
 */
export function parseLabAddress(text: string): LabAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol))
    throw bad(text, 'Give the address that the browser shows: http://localhost:8888/lab/tree/work.ipynb.');
  if (/^(.*\/)?hub(\/|$)/.test(url.pathname))
    throw bad(text, 'It is of JupyterHub itself. Open your own server, and give the address that it has: …/user/NAME/lab.');
  const [, base = url.pathname, path = ''] = pages.map((page) => page.exec(url.pathname)).find((match) => match !== null) ?? [];
  const decoded = decodePath(path, text).replace(/^RTC:/, '');
  return {
    baseUrl: `${url.origin}${base.endsWith('/') ? base : `${base}/`}`,
    token: url.searchParams.get('token') ?? undefined,
    path: decoded.endsWith('.ipynb') ? decoded : undefined,
  };
}

/** What a person opens, and by which a notebook of a server is known. */
export function toLabAddress(baseUrl: string, path: string): string {
  return new URL(`lab/tree/${path.split('/').map(encodeURIComponent).join('/')}`, baseUrl).href;
}

function decodePath(path: string, text: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw bad(text, 'Its path is not encoded as addresses are.');
  }
}

function bad(text: string, next: string): NotebookError {
  return new NotebookError(
    'bad_arguments',
    `"${text.replace(/\/\/[^/@\\]*@/, '//').replace(/[?#].*$/s, '')}" is no address of a Jupyter server. ${next}`,
  );
}
