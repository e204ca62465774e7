// @module-tag P-360

import { describe, expect, it } from 'vitest';
import { initialize, openMcpHttp } from '../support/mcp-http.js';

describe('a session over HTTP', () => {
  it('refuses a second initialize in a session, which goes on as it was', async () => {
    const { open, post, door } = await openMcpHttp();
    const session = await open({}, {}, '2025-06-18');
    const second = await session.post(initialize(9, '2025-11-25'), { 'mcp-protocol-version': undefined });
    expect([second.status, await second.json()]).toMatchObject([400, { id: 9, error: { code: -32600 } }]);
    expect((await session.request('ping')).status).toBe(200);
    // Of a session that is not its own it learns nothing, not even that it is there.
    const others = await post(initialize(9), { 'mcp-session-id': session.id, authorization: 'Bearer other' });
    expect([others.status, door.sessions]).toEqual([404, 1]);
    expect((await session.post([initialize(9)])).status).toBe(400);
  });

  it('refuses another MCP-Protocol-Version than it has agreed on, in each method', async () => {
    const { open } = await openMcpHttp();
    const session = await open({}, {}, '2025-06-18');
    for (const other of ['2025-11-25', '2025-03-26', '2026-07-28', '1999-01-01', '', '2025-06-18, 2025-06-18']) {
      const wrong = { 'mcp-protocol-version': other };
      expect((await session.post({ jsonrpc: '2.0', id: 2, method: 'ping' }, wrong)).status, other).toBe(400);
      // Modern agents have no GET and no DELETE at all.
      const status = other === '2026-07-28' ? 405 : 400;
      expect((await session.get(wrong)).status, other).toBe(status);
      expect((await session.delete(wrong)).status, other).toBe(status);
    }
    expect((await session.post({ jsonrpc: '2.0', id: 2, method: 'ping' }, { 'mcp-protocol-version': undefined })).status).toBe(200);
  });

  it.each(['2025-06-18', '2025-11-25'])('refuses a batch in a session of %s, which has none', async (version) => {
    const { open, recorder } = await openMcpHttp();
    const session = await open({}, {}, version);
    const seen = recorder.requests.length;
    const response = await session.post([{ jsonrpc: '2.0', id: 5, method: 'tools/call', params: { name: 'count' } }]);
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { id: 5, error: { code: -32600, message: expect.stringContaining(version) } },
    ]);
    expect((await session.post([{ jsonrpc: '2.0', method: 'notifications/roots/list_changed' }])).status).toBe(400);
    expect(recorder.requests).toHaveLength(seen);
  });
});
