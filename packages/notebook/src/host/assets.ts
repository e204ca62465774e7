import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, relative, sep } from 'node:path';
import { ignore } from '@notebridge/protocol/util/errno';

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

/** Placeholder for this answer's nonce in our pages: for the styles that an editor adds. */
const noncePlaceholder = '__NONCE__';

/** What every page is kept from, whatever it may load. */
const apart = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** Without the UI the window would stay empty for no visible reason. */
const missing = 'The notebook’s window is not built. Run: npm run build\n';

/** The page in which scripts of outputs run. */
export const sandboxedPath = '/sandboxed.html';

/**
 * It has no origin, whoever opens it, and no network: nothing is loaded but what stands in it, or in `data:` and `blob:` addresses. Markup
 * becomes elements by its own policy only (`ui/sandboxed/confine.ts`). Charts compile what they draw, so code from text is allowed.
 */
const sandboxed = [
  'sandbox allow-scripts',
  "default-src 'none'",
  "script-src 'unsafe-inline' 'unsafe-eval' data: blob:",
  "style-src 'unsafe-inline'",
  'img-src data: blob:',
  'font-src data:',
  'media-src data: blob:',
  "worker-src 'none'",
  "child-src 'none'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'self'",
  "require-trusted-types-for 'script'",
  'trusted-types default',
];

export const sandboxedHeaders: Record<string, string> = headersOf(sandboxed);

/** The page in which widgets are shown: the same, but that no code runs in it than its own, whatever a kernel has it show. */
const widgetsPath = '/widgets.html';

/** The nonce is of this one answer. */
function widgetsHeaders(nonce: string): Record<string, string> {
  const own: { readonly [directive: string]: string } = {
    'script-src': `'nonce-${nonce}'`,
    // What an Output widget shows goes through the sanitiser.
    'trusted-types': 'default dompurify',
  };
  return headersOf(
    sandboxed.map((directive) => {
      const [name = ''] = directive.split(' ', 1);
      return own[name] === undefined ? directive : `${name} ${own[name]}`;
    }),
  );
}

function headersOf(policy: readonly string[]): Record<string, string> {
  return {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': policy.join('; '),
    'x-dns-prefetch-control': 'off',
    ...apart,
  };
}

/** Answers a GET or HEAD whose `Host` has been checked. */
export type AnswerAsset = (request: IncomingMessage, response: ServerResponse, path: string) => Promise<void>;

/** The files of the UI. Only what was there when it was listed is ever served, so no path can lead out of the folder. */
export async function serveAssets(folder: string): Promise<AnswerAsset> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  // Links may lead anywhere, and files of unknown type are not meant to be served.
  const paths = entries
    .filter((entry) => entry.isFile() && extname(entry.name) in types)
    .map((entry) => join(entry.parentPath, entry.name));
  const files = new Map(paths.map((path) => [`/${relative(folder, path).split(sep).join('/')}`, path]));
  const load = keepRead();
  return async (request, response, path) => {
    const isIndex = path === '/' || path === '/index.html';
    const file = files.get(isIndex ? '/index.html' : path);
    const asset = file === undefined ? undefined : await load(file).catch(ignore);
    if (file === undefined || !asset)
      return void send(request, response, { status: isIndex ? 503 : 404, body: isIndex ? missing : 'Not found\n' });
    const type = types[extname(file)] ?? 'application/octet-stream';
    if (path === sandboxedPath) return send(request, response, { status: 200, headers: sandboxedHeaders, body: asset.bytes });
    if (extname(file) === '.html') return sendPage(request, response, asset.bytes, path === widgetsPath ? widgetsHeaders : pageHeaders);
    const headers = { 'content-type': type, etag: asset.etag, 'cache-control': 'no-cache', ...policies(undefined) };
    const isKnown = request.headers['if-none-match']?.split(',').some((etag) => etag.trim() === asset.etag);
    send(request, response, isKnown ? { status: 304, headers } : { status: 200, headers, body: asset.bytes });
  };
}

/** Read on first use, and kept: a build in the meantime must not mix two versions. */
function keepRead(): (file: string) => Promise<{ bytes: Buffer; etag: string }> {
  const read = new Map<string, Promise<{ bytes: Buffer; etag: string }>>();
  return (file) => {
    const known = read.get(file);
    if (known !== undefined) return known;
    const loading = readFile(file).then((bytes) => ({ bytes, etag: `"${createHash('sha256').update(bytes).digest('base64url')}"` }));
    read.set(file, loading);
    loading.catch(() => read.delete(file));
    return loading;
  };
}

interface Answer {
  status: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

function sendPage(
  request: IncomingMessage,
  response: ServerResponse,
  bytes: Buffer,
  toHeaders: (nonce: string) => Record<string, string>,
): void {
  const nonce = randomBytes(16).toString('base64');
  const body = bytes.toString('utf8').replaceAll(noncePlaceholder, nonce);
  send(request, response, { status: 200, headers: toHeaders(nonce), body });
}

function pageHeaders(nonce: string): Record<string, string> {
  return { 'content-type': types['.html'] ?? '', 'cache-control': 'no-store', ...policies(nonce) };
}

/** Every answer says what a page made of it may do: next to nothing. */
export function send(request: IncomingMessage, response: ServerResponse, { status, headers, body = '' }: Answer): void {
  const defaults = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store', ...policies(undefined) };
  response.writeHead(status, { ...defaults, ...headers, ...(status === 304 ? {} : { 'content-length': Buffer.byteLength(body) }) });
  response.end(request.method === 'HEAD' || status === 304 ? undefined : body);
}

function policies(nonce: string | undefined): Record<string, string> {
  const styles = nonce === undefined ? "'self'" : `'self' 'nonce-${nonce}'`;
  const content = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src ${styles}`,
    "img-src data: blob: 'self'",
    "font-src 'self'",
    // One page of ours, which can reach nothing (`sandboxed`).
    "frame-src 'self'",
    "connect-src 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    // What an output wants to show goes through the sanitiser, or nowhere.
    "require-trusted-types-for 'script'",
    'trusted-types dompurify notebridge-thread',
  ];
  return {
    'content-security-policy': content.join('; '),
    ...apart,
  };
}
