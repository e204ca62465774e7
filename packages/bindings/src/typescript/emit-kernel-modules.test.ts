// @module-tag P-480

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import type { BindingsInput, Emitter } from '../model.js';
import { emitKernelModules } from './emit-kernel-modules.js';
import { emitTypeScript } from './emit-typescript.js';

const odd = ['plain', 'my-tool', 'class', '7up', 'größe', 'a\nb', '*/ alert(1) /*'];
const tools = odd.map((name) => ({ name, inputSchema: {}, description: '*/' }));
const input: BindingsInput = {
  servers: ['my files', 'my-files', 'con'].map((name) => ({ name, description: undefined, tools })),
  skills: true,
  hubUrl: undefined,
};

async function load(emit: Emitter) {
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-kernel-modules-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  const { files } = await emit(input);
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return { files, module: await import(pathToFileURL(join(folder, 'index.js')).href) };
}

it('has the names of the TypeScript package, and nothing that reaches a network, a file or a type', async () => {
  const [kernel, package_] = [await load(emitKernelModules), await load(emitTypeScript)];
  const namesOf = ({ module }: Awaited<ReturnType<typeof load>>) =>
    Object.fromEntries([module, ...Object.values(module.mcp), module.skills].map((part, at) => [at, Object.keys(part as object)]));
  expect(namesOf(kernel)).toEqual(namesOf(package_));
  expect([...kernel.files.keys()].filter((path) => !path.endsWith('.js'))).toEqual([]);
  expect([...kernel.files.values()].join('\n')).not.toMatch(/\bfetch\(|getBuiltinModule|process\.env|from 'node:/);
  expect([...package_.files.keys()].filter((path) => path.includes('_kernel'))).toEqual([]);
});

it('calls what the kernel gives, with the arguments, results, progress and errors of the package', async () => {
  const asked: unknown[] = [];
  const answers = [
    { success: true, result: { a: 1 } },
    { success: false, error: 'No.', error_code: 'denied', result: null, is_error: false },
  ].map((answer) => JSON.stringify(answer));
  type Options = { signal: AbortSignal; onEvent?: (line: string) => void };
  const call = async (server: string, tool: string, body: string, { onEvent, signal }: Options) => {
    asked.push([server, tool, body]);
    onEvent?.('{"event":"progress","progress":1,"message":"half"}');
    const answer = answers.shift();
    return answer ?? new Promise<string>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }));
  };
  Object.defineProperty(globalThis, '$notebridge', { value: { call }, configurable: true });
  onTestFinished(() => void Reflect.deleteProperty(globalThis, '$notebridge'));
  const { module } = await load(emitKernelModules);
  const seen: unknown[] = [];
  const [first = {}] = Object.values(module.mcp) as { [name: string]: (args?: object, options?: object) => Promise<unknown> }[];
  expect(await first.my_tool?.({ x: 'y' }, { onProgress: (progress: unknown) => seen.push(progress) })).toEqual({ a: 1 });
  expect(asked).toEqual([['my files', 'my-tool', '{"arguments":{"x":"y"}}']]);
  expect(seen).toEqual([{ progress: 1, message: 'half' }]);
  await expect(first.plain?.()).rejects.toMatchObject({ name: 'ToolError', code: 'denied', tool: 'plain' });
  await expect(first.plain?.({}, { timeoutMs: 10 })).rejects.toMatchObject({ code: 'timeout' });
  await expect(first.plain?.(['no'])).rejects.toMatchObject({ code: 'invalid_arguments' });
  expect(() => module.configure({ url: 'http://127.0.0.1:1' })).toThrow(/nothing to configure/);
});
