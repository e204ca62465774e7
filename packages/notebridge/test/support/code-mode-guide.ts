import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { ToolSearch } from '@notebridge/code-mode/search/tool-search';
import type { ToolResult } from '@notebridge/protocol/core/mcp';
import { createCodeMode } from 'notebridge';
import { expect } from 'vitest';
import { writeTaskFolder } from '../../../../bench/code-mode/tasks/task-folder.mjs';
import { bareEnvironment } from './bare-environment.js';
import { createContext } from './create-context.js';
import { openModernAgent } from './http-agent.js';
import { Program } from './program.js';
import { installedServer, ServedHub } from './served-hub.js';
import { fixtureConfig, openUpstreams } from './upstreams.js';

let answered = '';

/** What the guide to code mode shows: the answers of the real program, over the tools of real servers. */
export const codeModeRuns: Record<string, (code: string) => Promise<void>> = {
  'code-mode-search': async (code) => {
    const { search, context } = open();
    expect(textOf(await search.search({ query: 'change the content of a file', limit: 2 }, context))).toBe(code);
  },
  'code-mode-describe': async (code) => {
    const { search, context } = open();
    expect(textOf(await search.describe({ tools: ['fs.search_files'] }, context))).toBe(code);
  },
  'code-mode-host': async (code) => {
    const { args } = JSON.parse(code).mcpServers.notebridge as { args: string[] };
    await using program = await Program.open({ args });
    expect(JSON.stringify((await program.request('tools/list')).result)).toContain('"execute_code"');
  },
  'code-mode-serve': async (code) => {
    await using hub = await ServedHub.start({ args: code.split(' ').slice(2) });
    const { result } = await openModernAgent(hub, () => hub.ownerToken)('tools/list');
    expect(JSON.stringify(result)).toContain('"execute_code"');
  },
  /** The snippet below it is its answer. */
  'code-mode-task': async (code) => {
    const folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
    writeTaskFolder(folder);
    const config = join(folder, 'mcp.json');
    writeFileSync(config, JSON.stringify({ mcpServers: { filesystem: installedServer('filesystem', [join(folder, 'data')]) } }));
    const codeMode = await createCodeMode({ config, stateDir: join(folder, 'state'), env: { ...bareEnvironment(), HOME: folder } });
    const result = await codeMode.call('execute_code', { code: code.replace('/home/you', folder) });
    await codeMode.close();
    rmSync(folder, { recursive: true, force: true });
    expect(result.structuredContent).toMatchObject({ status: 'ok', calls: 9 });
    answered = String(result.content?.[0]?.text);
  },
  'code-mode-answer': async (code) => {
    expect(code).toBe(answered);
  },
  'code-mode-file': async (code) => {
    const folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
    const codeMode = await createCodeMode({ stateDir: folder, env: { ...bareEnvironment(), HOME: folder } });
    const { content } = await codeMode.call('execute_code', { code });
    await codeMode.close();
    rmSync(folder, { recursive: true, force: true });
    expect(content).toContainEqual({
      type: 'resource',
      resource: { uri: 'sandbox://out/report.csv', mimeType: 'text/csv', text: 'name,count\napp-1.log,40\n' },
    });
  },
  'code-mode-type-check': async (code) => {
    const folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
    const config = join(folder, 'mcp.json');
    const notebridge = { codeMode: { typeCheck: 'require', typeCheckMs: 60_000 } };
    writeFileSync(config, JSON.stringify({ mcpServers: { filesystem: installedServer('filesystem', [folder]) }, notebridge }));
    const codeMode = await createCodeMode({ config, stateDir: join(folder, 'state'), env: { ...bareEnvironment(), HOME: folder } });
    const lines = ['names = ["a.txt", "b.txt"]', '', 'logs = [await read_text_file(file=name) for name in names]'];
    const result = await codeMode.call('execute_code', {
      code: ['from generated.mcp.filesystem import read_text_file', ...lines].join('\n'),
    });
    await codeMode.close();
    rmSync(folder, { recursive: true, force: true });
    expect(result.structuredContent).toMatchObject({ status: 'error', calls: 0 });
    expect(result.content?.[0]?.text).toBe(code);
  },
  'code-mode-library': async (code) => {
    const folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
    writeFileSync(join(folder, 'mcp.json'), '{ "mcpServers": {} }');
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(fileURLToPath(new URL('../../', import.meta.url)), join(folder, 'node_modules/notebridge'));
    writeFileSync(join(folder, 'library.mjs'), code);
    const env = { ...bareEnvironment(), HOME: folder };
    const { stdout } = await promisify(execFile)(process.execPath, ['library.mjs'], { cwd: folder, env });
    rmSync(folder, { recursive: true, force: true });
    expect(stdout).toBe("[ 'search_tools', 'describe_tools', 'execute_code' ] 42\n");
  },
};

function open() {
  const { upstreams } = openUpstreams([fixtureConfig('', [], { name: 'fs', ...installedServer('filesystem', [tmpdir()]) })]);
  return {
    search: new ToolSearch({ servers: upstreams, listerOf: () => () => true, listMs: 60_000 }),
    context: createContext('tools/call'),
  };
}

function textOf({ content = [] }: ToolResult): string {
  return content.map(({ text }) => String(text)).join('\n');
}
