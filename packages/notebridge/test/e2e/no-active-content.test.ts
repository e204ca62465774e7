// @module-tag deep
// @module-tag P-358

import type { JsonObject } from '@notebridge/protocol/json';
import { expect, it } from 'vitest';
import { rawRequest, rawRequestOrHead } from '../support/raw-http.js';
import { ServedHub } from '../support/served-hub.js';
import { fixtureServer } from '../support/upstreams.js';

/** A page of our own origin may call: so nothing that others wrote may become one. */

const markup = '<script>alert(document.domain)</script>';
const servers = { calls: { command: process.execPath, args: [fixtureServer('calls.mjs'), '${HOME}/count'], description: markup } };
/** Files that we ship, the same for everybody; each is compared below. */
const isOurs = (path: string): boolean => /^\/(docs|connect|console)(\/|$)/.test(path);
const inert = /^(application\/(json|x-ndjson|gzip)|text\/event-stream)(;|$)/;

it('no route answers with anything that a browser would run, but for the pages that we ship', async () => {
  await using hub = await ServedHub.start({ servers, args: ['--notebook', 'colab', '--no-browser'] });
  const { port } = hub;
  const said = JSON.parse((await rawRequest(port, { target: '/nothing' })).body) as { detail: string };
  const listed = said.detail.slice(said.detail.indexOf('There is: ') + 10, -1).split(', ');
  expect(listed.length).toBeGreaterThan(12);
  const encoded = encodeURIComponent(markup);
  const bodies = ['{"arguments":{}}', markup, JSON.stringify({ jsonrpc: '2.0', id: markup, method: markup })];
  for (const route of [...listed, `GET /${encoded}`, `GET /<img/src=x>`, 'GET /docs', 'GET /connect']) {
    const [methods = '', path = ''] = route.split(' ');
    for (const method of methods.split('|')) {
      const targets = [path.replace(/:\w+/g, encoded), path.replace(':server', 'calls').replace(/:\w+/g, 'echo')];
      for (const target of targets.map((each) => `${each}?callback=${encoded}&html=${encoded}`)) {
        for (const accept of ['text/html', '*/*']) {
          for (const body of method === 'POST' ? bodies : [undefined]) {
            const json = { 'content-type': 'application/json', authorization: `Bearer ${hub.ownerToken}`, accept };
            const reply = await rawRequestOrHead(port, { method, target, headers: json, ...(body === undefined ? {} : { body }) });
            expect(reply.status, `${method} ${target}`).toBeGreaterThan(0);
            expect(reply.headers['x-content-type-options'], `${method} ${target}`).toBe('nosniff');
            expect(reply.headers['content-security-policy'], `${method} ${target}`).toContain("default-src 'none'");
            expect(reply.headers['content-security-policy'], `${method} ${target}`).not.toMatch(/script-src[^;]*unsafe/);
            if (reply.body === '') continue;
            if (isOurs(path)) expect(reply.body).not.toContain(markup);
            else expect(reply.headers['content-type'], `${method} ${target}: ${reply.body.slice(0, 200)}`).toMatch(inert);
          }
        }
      }
    }
  }
});

it('a tool, its description and its error reach a caller as JSON alone', async () => {
  await using hub = await ServedHub.start({ servers, args: ['--notebook', 'none'] });
  const { body, headers } = await rawRequest(hub.port, {
    method: 'POST',
    target: '/api/v1/mcp/proxy/calls/tools/echo',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${hub.ownerToken}`, accept: 'text/html' },
    body: JSON.stringify({ arguments: { text: markup } }),
  });
  expect(headers).toMatchObject({ 'content-type': expect.stringMatching(inert), 'x-content-type-options': 'nosniff' });
  expect(JSON.stringify(JSON.parse(body) as JsonObject)).toContain('script');
});
