import { describe, expect, it } from 'vitest';
import { RouteTable } from './route-table.js';

function createTable(): RouteTable {
  const table = new RouteTable();
  table.add({ method: ['GET', 'HEAD'], url: '/a.json' });
  table.add({ method: 'POST', url: '/:server/tools/:tool' });
  table.add({ method: 'GET', url: '/all/tools/in.tar.gz' });
  table.add({ method: 'GET', url: '/docs/*', schema: { hide: true } });
  return table;
}

describe('RouteTable', () => {
  it.each([
    ['/a.json', ['GET', 'HEAD', 'OPTIONS']],
    ['/a.json?x', ['GET', 'HEAD', 'OPTIONS']],
    ['/axjson', []],
    ['/a/tools/b', ['OPTIONS', 'POST']],
    ['/a/tools/', []],
    // Written out, it is no tool of a server.
    ['/all/tools/in.tar.gz', ['GET', 'OPTIONS']],
    ['/a/tools/b/c', []],
    ['/docs/x/y', ['GET', 'OPTIONS']],
  ])('knows the methods of %s', (path, methods) => {
    expect(createTable().methodsAt(path)).toEqual(methods);
  });

  it('says which methods there are for another one, and what there is for another path', () => {
    expect(createTable().refuse('PUT', '/a.json')).toMatchObject({ status: 405, headers: ['allow', 'GET, HEAD, OPTIONS'] });
    expect(createTable().refuse('GET', '/nothing')).toMatchObject({
      status: 404,
      detail: expect.stringContaining('GET /a.json, GET /all/tools/in.tar.gz, POST /:server/tools/:tool.'),
    });
  });
});
