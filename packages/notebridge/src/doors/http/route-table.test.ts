import { describe, expect, it } from 'vitest';
import { methodsOf, RouteTable, refuseMethod } from './http-app.js';

function createTable(): RouteTable {
  const table = new RouteTable();
  const handle = (): void => {};
  table.add({ methods: ['GET', 'HEAD'], path: '/a.json', handle });
  table.add({ methods: ['POST'], path: '/:server/tools/:tool', handle });
  table.add({ methods: ['GET'], path: '/all/tools/in.tar.gz', handle });
  table.add({ methods: ['GET'], path: '/docs/x', handle, isHidden: true });
  return table;
}

describe('RouteTable', () => {
  it.each([
    ['/a.json', ['GET', 'HEAD', 'OPTIONS']],
    ['/axjson', undefined],
    ['/a/tools/b', ['OPTIONS', 'POST']],
    ['/a/tools/', undefined],
    // Written out, it is no tool of a server.
    ['/all/tools/in.tar.gz', ['GET', 'OPTIONS']],
    ['/a/tools/b/c', undefined],
    ['/docs/x', ['GET', 'OPTIONS']],
  ])('knows the methods of %s', (path, methods) => {
    const found = createTable().match(path);
    expect(found && methodsOf(found.route)).toEqual(methods);
  });

  it('decodes the names in a path once, and says where they are not encoded correctly', () => {
    expect(createTable().match('/a%2Fb/tools/%2525')?.params).toEqual(['a/b', '%25']);
    expect(createTable().match('/a/tools/%ff')).toMatchObject({ params: undefined });
  });

  it('says which methods there are for another one, and what there is for another path', () => {
    const { route } = createTable().match('/a.json') ?? {};
    expect(route && refuseMethod('PUT', route)).toMatchObject({ status: 405, headers: ['allow', 'GET, HEAD, OPTIONS'] });
    expect(createTable().refuse()).toMatchObject({
      status: 404,
      detail: expect.stringContaining('GET /a.json, GET /all/tools/in.tar.gz, POST /:server/tools/:tool.'),
    });
  });
});
