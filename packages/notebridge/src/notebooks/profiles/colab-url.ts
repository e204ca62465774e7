const colab = 'https://colab.research.google.com';

/** Where pages of Colab connect from. */
export const colabOrigins: readonly string[] = [colab, 'https://colab.google.com'];

/** The links to a notebook that Colab opens, for texts. */
export const colabLinks = {
  short: `${colabOrigins.join(' or ')}, Google Drive, GitHub or Gist`,
  examples: `one of Colab (${colab}/drive/…), of a file on Google Drive (https://drive.google.com/file/d/…), of an .ipynb on GitHub (https://github.com/OWNER/REPO/blob/BRANCH/FILE.ipynb), or of a Gist with its user (https://gist.github.com/USER/ID)`,
};

/**
 * The address at which Colab shows a notebook, for a link to it: Colab's own, or one of Google Drive, GitHub or a Gist. The result is always on
 * an origin of Colab's and has no fragment, since a token is to stand there. Undefined for any other link. Browsers show addresses without
 * "https://", and people copy what they see.
 */
export function findColabUrl(link: string): string | undefined {
  const host = /^[^/:?#@]+(?=\/)/.exec(link)?.[0];
  const text = host !== undefined && isKnown(`https://${host.toLowerCase()}`) ? `https://${link}` : link;
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.username !== '' || url.password !== '') return undefined;
  // Not `url.origin`: that of a "blob:" URL is the origin inside.
  const origin = `${url.protocol}//${url.host}`;
  if (colabOrigins.includes(origin)) return `${origin}${url.pathname}${url.search}`;
  const path = Object.hasOwn(findPath, origin) ? findPath[origin]?.(url) : undefined;
  return path === undefined ? undefined : `${colab}${path}${accountOf(url)}`;
}

function isKnown(origin: string): boolean {
  return colabOrigins.includes(origin) || Object.hasOwn(findPath, origin);
}

/** The path at Colab, for links of each origin; undefined for one that names no notebook. */
const findPath: Record<string, (url: URL) => string | undefined> = {
  'https://drive.google.com': ofDrive,
  'https://github.com': ofGitHub,
  'https://www.github.com': ofGitHub,
  'https://raw.githubusercontent.com': ofRawGitHub,
  'https://gist.github.com': ofGist,
  'https://gist.githubusercontent.com': ofGist,
};

/** What may stand in a path at Colab as it is. */
const idPattern = /^[\w-]{10,128}$/;
const namePattern = /^[\w.-]{1,100}$/;

/** `/file/d/ID/view`, `/file/u/1/d/ID/edit`, `/open?id=ID`, `/uc?id=ID`. */
function ofDrive({ pathname, searchParams }: URL): string | undefined {
  const inPath = /^\/file(?:\/u\/\d+)?\/d\/([^/]+)/.exec(pathname)?.[1];
  const id = inPath ?? (/^\/(open|uc)$/.test(pathname) ? searchParams.get('id') : undefined);
  return id !== undefined && id !== null && idPattern.test(id) ? `/drive/${id}` : undefined;
}

/** `/OWNER/REPO/blob/REF/….ipynb`, and `raw`, `blame`, `edit` and `tree` in its place. */
function ofGitHub({ pathname }: URL): string | undefined {
  const [owner = '', repo = '', view = '', ...rest] = pathname.slice(1).split('/');
  return /^(blob|raw|blame|edit|tree)$/.test(view) ? toGitHubPath(owner, repo, rest) : undefined;
}

/** `/OWNER/REPO/REF/….ipynb`; `REF` is also written `refs/heads/main`. */
function ofRawGitHub({ pathname }: URL): string | undefined {
  const [owner = '', repo = '', ...rest] = pathname.slice(1).split('/');
  return toGitHubPath(owner, repo, rest);
}

function toGitHubPath(owner: string, repo: string, rest: readonly string[]): string | undefined {
  const isFullRef = rest[0] === 'refs' && (rest[1] === 'heads' || rest[1] === 'tags');
  const parts = isFullRef ? rest.slice(2) : rest;
  const isNotebook = parts.length >= 2 && parts.every((part) => part !== '') && /\.ipynb$/i.test(parts.at(-1) ?? '');
  if (!isNotebook || !namePattern.test(owner) || !namePattern.test(repo) || !parts.every(isPlainPart)) return undefined;
  return `/github/${owner}/${repo}/blob/${parts.join('/')}`;
}

/** `/USER/ID`, also with a file behind it: `/USER/ID/raw/REVISION/name.ipynb`. */
function ofGist({ pathname }: URL): string | undefined {
  const [user = '', id = '', ...rest] = pathname.slice(1).split('/');
  if (!namePattern.test(user) || !/^[0-9a-f]{20,64}$/.test(id)) return undefined;
  const file = rest.at(-1) ?? '';
  return /\.ipynb$/i.test(file) && isPlainPart(file) ? `/gist/${user}/${id}/${file}` : `/gist/${user}/${id}`;
}

/** False for what would be read as more than one part once it is decoded. */
function isPlainPart(part: string): boolean {
  try {
    const decoded = decodeURIComponent(part);
    return !/[/\\\p{C}]/u.test(decoded) && decoded !== '.' && decoded !== '..';
  } catch {
    return false;
  }
}

/** Which of the person's Google accounts the link is of: in the path of Drive, or in the query of both. */
function accountOf({ host, pathname, searchParams }: URL): string {
  const account = /^\/file\/u\/(\d+)\//.exec(pathname)?.[1] ?? searchParams.get('authuser') ?? '';
  return host === 'drive.google.com' && /^\d{1,2}$/.test(account) ? `?authuser=${account}` : '';
}
