/** Serves the kernel, Pyodide and the test page as the hub will: cross-origin isolated, nothing from elsewhere, no eval. */
import { createReadStream, existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stop, transform } from 'esbuild';
import type { BuiltKernel } from './built-kernel.js';

const types: { [extension: string]: string } = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
};
const isolation = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-embedder-policy': 'require-corp',
  'cross-origin-resource-policy': 'same-origin',
};
const policy = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; connect-src 'self'";
const html =
  '<!doctype html><title>kernel</title><link rel="icon" href="data:,"><script type="module" src="/test/kernel-page.js"></script>';

export async function servePage(built: BuiltKernel, { isolated = true } = {}) {
  const roots: [string, URL][] = [
    ['/kernel/', built.folder],
    ['/protocol/', new URL('../protocol/', built.folder)],
    ['/pyodide/', built.files.indexUrl],
    ['/stdlib.zip', built.files.stdlibUrl],
    ['/test/', new URL('./', import.meta.url)],
  ];
  const server = createServer(async (request, response) => {
    const path = new URL(request.url ?? '/', 'http://page').pathname;
    const headers = { 'content-security-policy': policy, ...(isolated ? isolation : {}) };
    if (path === '/') return response.writeHead(200, { ...headers, 'content-type': 'text/html' }).end(html);
    const [prefix, root] = roots.find(([begin]) => path.startsWith(begin)) ?? [];
    const file = root && fileURLToPath(new URL(path.slice(prefix?.length), root));
    if (!file) return response.writeHead(404, headers).end();
    const type = { 'content-type': types[extname(file)] ?? 'application/octet-stream' };
    if (existsSync(file)) return createReadStream(file).pipe(response.writeHead(200, { ...headers, ...type }));
    const typescript = file.replace(/\.js$/, '.ts');
    if (!existsSync(typescript)) return response.writeHead(404, headers).end();
    const { code } = await transform(await readFile(typescript, 'utf8'), { loader: 'ts' });
    return response.writeHead(200, { ...headers, ...type }).end(code);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await stop();
    },
  };
}
