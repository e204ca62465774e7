import { expect, it } from 'vitest';
import { ToolModules } from './tool-modules.js';

function offer(modules: ToolModules, version: string): void {
  const files = ['index.js', 'client.js', 'mcp/index.js', 'mcp/fs.js'].map((path) => [path, `${version} ${path}`] as const);
  modules.take({ state: 'there', version: version.repeat(12), files });
}

it('finds a module by every spelling of its name, in the newest version, and its neighbours in its own', () => {
  const modules = new ToolModules();
  expect(modules.isComing).toBe(true);
  offer(modules, 'a');
  for (const name of ['./generated/mcp/fs.js', 'generated/mcp/fs', '/generated/mcp/fs.ts'])
    expect(modules.load(modules.resolve('code-1', name)), name).toBe('a mcp/fs.js');
  for (const name of ['generated', './generated/', './generated/index.js'])
    expect(modules.load(modules.resolve('code-1', name))).toBe('a index.js');
  expect(modules.load(modules.resolve('code-1', 'generated/mcp'))).toBe('a mcp/index.js');
  const old = modules.resolve('code-1', 'generated/mcp/fs');
  offer(modules, 'b');
  expect(modules.load(modules.resolve('code-2', 'generated/client'))).toBe('b client.js');
  expect(modules.load(modules.resolve(old, '../client.js'))).toBe('a client.js');
  for (const version of ['c', 'd', 'e']) offer(modules, version);
  expect(() => modules.load(old)).toThrow(/not there yet/);
});

it.each([
  'node:fs',
  'fs',
  '../../etc/passwd',
  './generated/../../x',
  'https://example.com/x.js',
  'missing:a',
  '__proto__',
  'generated/__proto__',
])('has no module %j', (name) => {
  const modules = new ToolModules();
  offer(modules, 'a');
  expect(() => modules.load(modules.resolve('code-1', name))).toThrow(/There is no module/);
});

it('says why there is nothing to import', () => {
  const modules = new ToolModules();
  modules.take({ state: 'none', reason: 'no servers' });
  expect(() => modules.load(modules.resolve('code-1', 'generated/mcp/fs'))).toThrow('There is nothing to import: no servers');
});
