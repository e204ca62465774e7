import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { SkillFolder } from '@notebridge/code-mode/skills/skill-folder';
import { createSkillsServer, type SkillsServer, type SkillsServerOptions } from '@notebridge/code-mode/skills/skills-server';
import { Cancellation } from '@notebridge/protocol/core/cancellation';
import type { ToolResult } from '@notebridge/protocol/core/mcp';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterEach, beforeEach, expect, onTestFinished } from 'vitest';
import { createContext } from './create-context.js';

/** A folder for skills, fresh for each test, inside another one. */
export interface SkillsPlace {
  base: string;
  root: string;
  /** Writes a file below `root`. */
  write(path: string, text: string | Uint8Array): Promise<void>;
  /** Writes the SKILL.md of a skill, with more lines in its head. */
  writeSkill(name: string, more?: string, folder?: string): Promise<void>;
  /** The folder as the config would give it: trusted. */
  source(options?: Partial<SkillFolder>): SkillFolder;
  /** The server over it, closed after the test. */
  serve(options?: Partial<SkillsServerOptions>): SkillsServer;
}

export function useSkillsPlace(): SkillsPlace {
  const place: SkillsPlace = {
    base: '',
    root: '',
    async write(path, text) {
      const file = join(place.root, path);
      await mkdir(dirname(file), { recursive: true });
      await writeFile(file, text);
    },
    writeSkill: (name, more = '', folder = name) =>
      place.write(join(folder, 'SKILL.md'), `---\nname: ${name}\ndescription: Does ${name}.\n${more}---\n# How to ${name}\n`),
    source: (options = {}) => ({ path: place.root, trusted: true, timeoutMs: 20_000, env: {}, ...options }),
    serve(options = {}) {
      const server = createSkillsServer({ folders: [place.source()], ...options });
      onTestFinished(() => server.close());
      return server;
    },
  };
  beforeEach(async () => {
    place.base = await realpath(await mkdtemp(join(tmpdir(), 'notebridge-skills-')));
    place.root = join(place.base, 'skills');
    await mkdir(place.root);
  });
  afterEach(() => rm(place.base, { recursive: true, force: true }));
  return place;
}

export async function callSkills(
  server: SkillsServer,
  name: string,
  args: JsonObject = {},
  cancellation = new Cancellation(),
): Promise<ToolResult> {
  const message = { name, arguments: args };
  return (await server.request('tools/call', message, createContext('tools/call', message, { cancellation }))) as ToolResult;
}

/** What code in a kernel gets: the structured content, a lone `result` unwrapped. */
export function resultOf(result: ToolResult): unknown {
  expect(result.isError, JSON.stringify(result.content)).toBeUndefined();
  const { structuredContent } = result;
  return Object.keys(structuredContent ?? {}).join() === 'result' ? structuredContent?.result : structuredContent;
}

export function faultOf(result: ToolResult): { code: unknown; text: string } {
  expect(result.isError).toBe(true);
  return { code: result._meta?.['notebridge/error_code'], text: String(result.content?.[0]?.text) };
}
