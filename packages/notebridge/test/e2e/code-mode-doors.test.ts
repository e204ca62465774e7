import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CodeAgent, codeDoors } from '../support/code-mode.js';
import { coreAndDeep } from '../support/core-and-deep.js';
import { installedServer } from '../support/served-hub.js';

const slow = 240_000;

for (const { cells, tags } of coreAndDeep(codeDoors, ({ name }) => name === 'HTTP, modern')) {
  describe.each(cells)('code mode over $name', { tags }, ({ open, hasSession }) => {
    let folder: string;
    let agent: CodeAgent;
    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
      mkdirSync(join(folder, 'data'));
      for (const name of ['a', 'b', 'c']) writeFileSync(join(folder, 'data', `${name}.txt`), name.repeat(10));
      const servers = {
        everything: installedServer('everything'),
        filesystem: installedServer('filesystem', [join(folder, 'data')]),
        memory: installedServer('memory', [], { env: { MEMORY_FILE_PATH: join(folder, 'memory.jsonl') }, expose: 'direct' }),
      };
      agent = await open({ folder, servers });
    }, slow);
    afterAll(async () => {
      await agent[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    });

    it('lists three tools in place of those of the servers, and leaves those that the config exposes', { tags: ['P-386'] }, async () => {
      const names = await agent.names();
      expect(names).toEqual(expect.arrayContaining(['search_tools', 'describe_tools', 'execute_code', 'memory__read_graph']));
      expect(names.filter((name) => /^(everything|filesystem)__/.test(name))).toEqual([]);
    });

    it('answers the last expression, and what was printed', { tags: ['deep'] }, async () => {
      expect(await agent.execute({ code: 'print("hello")\n20 + 22' })).toMatchObject({
        status: 'ok',
        result: '42',
        calls: 0,
        isError: false,
      });
      expect((await agent.execute({ code: 'print("hello")\n20 + 22' })).texts).toEqual(expect.arrayContaining(['hello\n', '42']));
    });

    it('runs a task over several servers whose result is that of direct calls', { tags: ['P-387'] }, async () => {
      const code = `
import asyncio
from generated.mcp.filesystem import list_directory, read_text_file
from generated.mcp.everything import get_sum
from generated.mcp.memory import create_entities
names = sorted(line.split(" ", 1)[1] for line in (await list_directory(path="${join(folder, 'data')}"))["content"].splitlines())
texts = [read["content"] for read in await asyncio.gather(*(read_text_file(path=f"${join(folder, 'data')}/{name}") for name in names))]
total = await get_sum(a=len(texts[0]), b=len(texts[1]) + len(texts[2]))
await create_entities(entities=[{"name": name, "entityType": "file", "observations": [text]} for name, text in zip(names, texts)])
total`;
      const { status, result, calls, texts } = await agent.execute({ code });
      expect({ status, calls, texts }).toMatchObject({ status: 'ok', calls: 6 });
      expect(String(result)).toContain('30');
      const direct = await agent.callTool('memory__read_graph', {});
      const names = ((direct.structuredContent as JsonObject).entities as JsonObject[]).map(({ name, observations }) => [
        name,
        observations,
      ]);
      expect(names).toEqual(['a', 'b', 'c'].map((name) => [`${name}.txt`, [name.repeat(10)]]));
    });

    it('keeps variables for the next call', { tags: ['deep', 'P-388'] }, async () => {
      const first = await agent.execute({ code: 'kept = 7', ...(hasSession ? {} : { session: 'new' }) });
      const again = hasSession ? {} : { session: first.session };
      expect(await agent.execute({ code: 'kept * 6', ...again })).toMatchObject({ status: 'ok', result: '42' });
      const other = await agent.execute({ code: 'kept', session: 'new' });
      expect(other).toMatchObject({ status: 'error', isError: true });
      expect(other.texts.join()).toContain("name 'kept' is not defined");
      expect(other.session).toMatch(/^[\w-]{22}$/);
      expect(await agent.execute({ code: 'kept = 1', session: other.session })).toMatchObject({ status: 'ok', session: other.session });
      expect(await agent.execute({ code: 'kept', ...again })).toMatchObject({ result: '7' });
    });

    it('shows images as blocks', { tags: ['deep'] }, async () => {
      const code =
        'from generated.mcp.everything import get_tiny_image\n[block for block in await get_tiny_image() if "Image" in type(block).__name__][0]';
      const { images, texts } = await agent.execute({ code });
      expect(images).toMatchObject([{ type: 'image', mimeType: 'image/png' }]);
      expect(texts.join()).toContain('image block 1 of this result');
    });

    it('says of code that fails the line, and what it had called before', { tags: ['deep', 'P-389'] }, async () => {
      const code = 'from generated.mcp.everything import echo\nawait echo(message="sent")\nraise ValueError("oh")';
      const { status, texts, isError, calls } = await agent.execute({ code });
      expect({ status, isError, calls }).toEqual({ status: 'error', isError: true, calls: 1 });
      expect(texts[0]).toContain('----> 3 raise ValueError("oh")');
      expect(texts.at(-1)).toBe(
        'Tool calls before that; what they did stands, unless the line says that it was not made:\n- everything.echo: ok',
      );
    });

    it('answers a run_id for what takes longer, and its end to who comes back for it', { tags: ['deep', 'P-390'] }, async () => {
      const started = await agent.execute({ code: 'import asyncio\nawait asyncio.sleep(1.5)\n"done"', wait_seconds: 0 });
      expect(started).toMatchObject({ status: 'running', isError: false });
      const ended = await agent.execute({ run_id: started.runId });
      expect(ended).toMatchObject({ status: 'ok', result: "'done'" });
      expect(await agent.execute({ run_id: started.runId })).toEqual(ended);
    });
  });
}
