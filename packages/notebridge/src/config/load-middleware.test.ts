import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadMiddlewareModules } from './load-middleware.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'notebridge-middleware-'));
});
afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const load = async (source: string, name = 'it.mjs') => {
  await writeFile(join(folder, name), source);
  return loadMiddlewareModules([name], folder);
};
const faultOf = async (source: string, name = 'it.mjs'): Promise<string> => {
  const error = await load(source, name).catch((thrown: unknown) => thrown);
  if (!(error instanceof BridgeError)) throw new Error(`expected a BridgeError, got ${String(error)}`);
  expect(error.code).toBe('bad_middleware');
  expect(error.data.file).toBe(join(folder, name));
  expect(error.message).not.toContain('\n');
  return error.message.replace(join(folder, name), 'F');
};

describe('loadMiddlewareModules', () => {
  it('returns nothing for no paths', async () => {
    expect(await loadMiddlewareModules([], folder)).toEqual([]);
  });

  it.each([
    ['an object', 'export default { onCallTool: (context, next) => next(context) }'],
    ['a function', 'export default () => ({ onCallTool: (context, next) => next(context) })'],
    ['an async function', 'export default async () => ({ onCallTool: (context, next) => next(context) })'],
    [
      'an instance of a class',
      'class Mine { name = "mine"; onCallTool(context, next) { return next(context) } }\nexport default new Mine()',
    ],
  ])('takes %s', async (_kind, source) => {
    const [middleware] = await load(source);
    expect(middleware?.onCallTool).toBeTypeOf('function');
  });

  it('keeps the order, and takes relative and absolute paths with spaces and umlauts', async () => {
    await mkdir(join(folder, 'a b ü'));
    await writeFile(join(folder, 'a b ü', 'one.mjs'), 'export default { name: "one", onMessage: (context, next) => next(context) }');
    await writeFile(join(folder, 'two.mjs'), 'export default { name: "two", onMessage: (context, next) => next(context) }');
    const loaded = await loadMiddlewareModules(['./a b ü/one.mjs', join(folder, 'two.mjs')], folder);
    expect(loaded.map((middleware) => middleware.name)).toEqual(['one', 'two']);
  });

  it.each([
    [
      'export const onCallTool = 1, other = 2',
      'Middleware "F" has no default export, but exports onCallTool, other. Export a middleware object',
    ],
    ['', 'has no default export, but exports nothing.'],
    ['export default 5', 'gives a number as its middleware.'],
    ['export default () => undefined', 'gives undefined as its middleware.'],
    ['export default null', 'gives null as its middleware.'],
    ['export default []', 'gives a list as its middleware.'],
    ['export default {}', 'gives an object without a hook. Give it at least one of onAdded, onMessage,'],
    ['export default { onToolCall() {} }', 'has a hook "onToolCall", which does not exist. Hooks are onAdded,'],
    ['export default { onCallTools() {} }', 'has a hook "onCallTools", which does not exist. Did you mean "onCallTool"?'],
    ['export default { on_list_tools() {} }', 'Did you mean "onListTools"?'],
    ['export default { onCallTool: "x" }', 'has a hook "onCallTool" that is a string. Make it a function.'],
    ['export default class { onCallTool() {} }', 'exports a class. Export an instance'],
    ['export default () => { throw new Error("no\\nluck") }', 'failed to make its middleware: no. Fix'],
    ['throw new Error("at once")', 'could not be loaded: at once.'],
    ['export default {', 'could not be loaded:'],
    ['import "not-installed-anywhere"; export default {}', "could not be loaded: Cannot find package 'not-installed-anywhere'"],
  ])('refuses %j', async (source, expected) => {
    expect(await faultOf(source)).toContain(expected);
  });

  it('refuses other kinds of file, and names what is missing', async () => {
    expect(await faultOf('export default {}', 'it.ts')).toContain('"F" is neither a .js nor a .mjs file. Compile it');
    await expect(loadMiddlewareModules(['none.mjs'], folder)).rejects.toThrow(`Middleware "${join(folder, 'none.mjs')}" does not exist.`);
    await mkdir(join(folder, 'sub.mjs'));
    await expect(loadMiddlewareModules(['sub.mjs'], folder)).rejects.toThrow('is not a file');
  });
});
