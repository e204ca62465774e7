#!/usr/bin/env node
// @ts-check
// Serves the example page on loopback. Any web server will do: the page is plain files, and the library is one of them.
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

/** @type {Record<string, [file: string, type: string]>} */
const files = {
  '/': ['index.html', 'text/html; charset=utf-8'],
  '/page.css': ['page.css', 'text/css; charset=utf-8'],
  '/board.js': ['board.js', 'text/javascript; charset=utf-8'],
  '/page.js': ['page.js', 'text/javascript; charset=utf-8'],
  '/page.min.js': ['../../packages/page/dist/page.min.js', 'text/javascript; charset=utf-8'],
};

// What a page with such a policy has to allow is `connect-src`: the socket, and the question why it cannot be opened.
const headers = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; connect-src ws://localhost:* http://localhost:*; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
};

/**
 * @param {object} [options]
 * @param {number} [options.port] Any free one by default.
 * @param {Record<string, string>} [options.replaced] Texts that are served in place of files, by path.
 */
export async function serveExample({ port = 0, replaced = {} } = {}) {
  const server = createServer(async (request, response) => {
    const path = (request.url ?? '/').replace(/\?.*/, '');
    const [file, type] = files[path] ?? [];
    if (file === undefined || request.method !== 'GET') return void response.writeHead(404, headers).end();
    try {
      const body = replaced[path] ?? (await readFile(new URL(file, import.meta.url)));
      response.writeHead(200, { ...headers, 'content-type': type }).end(body);
    } catch {
      response.writeHead(404, headers).end(`${file} is not there. Run: npm run build\n`);
    }
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(undefined));
  });
  const address = server.address();
  const origin = `http://localhost:${typeof address === 'object' && address !== null ? address.port : port}`;
  const close = () =>
    new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  return { origin, close };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { origin } = await serveExample({ port: Number(process.argv[2] ?? 5173) });
  console.log(`The drawing board is at ${origin}/

Let your agent in:  notebridge --allow-origin ${origin}
Then tell it:       "open ${origin}/ with open_colab_browser_connection, and draw a house"`);
}
