import { tmpdir } from 'node:os';
import { expect } from 'vitest';
import { ToolSearch } from '../../src/code-mode/search/tool-search.js';
import type { ToolResult } from '../../src/core/mcp.js';
import { createContext } from './create-context.js';
import { installedServer } from './served-hub.js';
import { fixtureConfig, openUpstreams } from './upstreams.js';

/** What the guide to code mode shows: the answers of the real search, over the tools of a real server. */
export const codeModeRuns: Record<string, (code: string) => Promise<void>> = {
  'code-mode-search': async (code) => {
    const { search, context } = open();
    expect(textOf(await search.search({ query: 'change the content of a file', limit: 2 }, context))).toBe(code);
  },
  'code-mode-describe': async (code) => {
    const { search, context } = open();
    expect(textOf(await search.describe({ tools: ['fs.search_files'] }, context))).toBe(code);
  },
};

function open() {
  const { upstreams } = openUpstreams([fixtureConfig('', [], { name: 'fs', ...installedServer('filesystem', [tmpdir()]) })]);
  return { search: new ToolSearch({ servers: upstreams, mayList: () => true, listMs: 60_000 }), context: createContext('tools/call') };
}

function textOf({ content = [] }: ToolResult): string {
  return content.map(({ text }) => String(text)).join('\n');
}
