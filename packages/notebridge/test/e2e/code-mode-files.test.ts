// @module-tag deep

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@notebridge/protocol/json';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CodeAgent, type CodeDoor, codeDoors } from '../support/code-mode.js';

const slow = 240_000;
const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

interface Answered {
  texts: string[];
  images: JsonObject[];
  /** What embedded resources hold. */
  files: JsonObject[];
}

async function run(agent: CodeAgent, args: JsonObject): Promise<Answered> {
  const { content } = await agent.callTool('execute_code', args);
  const blocks = content as JsonObject[];
  return {
    texts: blocks.filter(({ type }) => type === 'text').map(({ text }) => String(text)),
    images: blocks.filter(({ type }) => type === 'image'),
    files: blocks.filter(({ type }) => type === 'resource').map(({ resource }) => resource as JsonObject),
  };
}

describe.each(codeDoors)('files that code writes, over $name', ({ open }) => {
  let folder: string;
  let agent: CodeAgent;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
    agent = await open({ folder, servers: {} });
  }, slow);
  afterAll(async () => {
    await agent[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each([{}, { kernel: 'fresh' }])('come as blocks by what they are, with %o', { tags: ['P-456'], timeout: slow }, async (more) => {
    const code = `
import base64, os
open("/out/table.csv", "w").write("name,count\\nü,1\\n")
open("/out/dot.png", "wb").write(base64.b64decode("${dot}"))
os.makedirs("/out/deep")
open("/out/deep/data", "wb").write(bytes(range(256)))
open("/out/report.pdf", "wb").write(b"%PDF-1.4, as if it were a text")
"done"`;
    const { texts, images, files } = await run(agent, { code, ...more });
    expect(texts).toContain("'done'");
    expect(texts.find((text) => text.startsWith('/out/dot.png: '))).toMatch(/\[image block 1 of this result: 1×1 PNG, \d+ bytes\]$/);
    expect(images).toEqual([{ type: 'image', mimeType: 'image/png', data: dot }]);
    expect(files).toEqual([
      { uri: 'sandbox://out/table.csv', mimeType: 'text/csv', text: 'name,count\nü,1\n' },
      {
        uri: 'sandbox://out/deep/data',
        mimeType: 'application/octet-stream',
        blob: Buffer.from([...Array(256).keys()]).toString('base64'),
      },
      {
        uri: 'sandbox://out/report.pdf',
        mimeType: 'application/pdf',
        blob: Buffer.from('%PDF-1.4, as if it were a text').toString('base64'),
      },
    ]);
    expect(texts.join('\n')).not.toContain('Not in this answer');
  });
});

describe('files that code writes', () => {
  let folder: string;
  let agent: CodeAgent;
  const execute = (code: string) => run(agent, { code });
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'notebridge-test-'));
    agent = await (codeDoors[0] as CodeDoor).open({ folder, servers: {}, notebridge: { codeMode: { outputBytes: 65_536 } } });
    await execute('import os, shutil');
  }, slow);
  afterAll(async () => {
    await agent[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it('are answered once, and stay for code', { tags: ['P-456'] }, async () => {
    expect((await execute('open("/out/once.txt", "w").write("once")')).files).toMatchObject([{ text: 'once' }]);
    const later = await execute('import time\ntime.sleep(0.01)\nopen("/out/once.txt").read()');
    expect(later).toMatchObject({ files: [], texts: ["'once'"] });
  });

  it('come too with an error, and with code that ran too long', { tags: ['P-456'] }, async () => {
    const failed = await execute('open("/out/part.txt", "w").write("part")\n1/0');
    expect(failed.files).toMatchObject([{ text: 'part' }]);
    expect(failed.texts.join('\n')).toContain('ZeroDivisionError');
    const late = await run(agent, { code: 'open("/out/late.txt", "w").write("late")\nwhile True: pass', timeout_seconds: 1 });
    expect(late.files).toMatchObject([{ text: 'late' }]);
  });

  it('are whole or left out, and the answer says which and why', { tags: ['P-456'] }, async () => {
    const { files, texts } = await execute(`
open("/out/long.txt", "w").write("x" * 30_000)
open("/out/large.bin", "wb").write(bytes(70_000))
open("/out/small.txt", "w").write("small")`);
    expect(files).toMatchObject([{ uri: 'sandbox://out/small.txt', text: 'small' }]);
    const note = texts.at(-1) ?? '';
    expect(note).toMatch(/^Not in this answer, but still in \/out:\n/);
    expect(note).toContain('/out/long.txt (30000 characters): more text than this answer has room for; print a part of it');
    expect(note).toContain(
      '/out/large.bin (70000 bytes): more bytes than the files of one answer may have ("notebridge.codeMode.outputBytes")',
    );
  });

  it('share the room for text with what is printed', async () => {
    const { files, texts } = await execute('print("p" * 50_000)\nopen("/out/half.txt", "w").write("f" * 8_000)');
    expect(files.map(({ text }) => String(text).length)).toEqual([8000]);
    expect(texts.join('').length).toBeLessThan(11_000);
    expect(texts.join('')).toContain('characters left out here');
  });

  it('are few of ten thousand', { tags: ['P-457'] }, async () => {
    const { files, texts } = await execute(`
shutil.rmtree("/out")
os.makedirs("/out")
for n in range(10_000): open(f"/out/{n:05}", "w").write("x")`);
    expect(files).toHaveLength(20);
    expect(texts.at(-1)).toMatch(/one answer has 20 files at most\n- 1970 more\n- 8000 entries that were not looked at/);
    expect(texts.join('').length).toBeLessThan(2000);
    await execute('shutil.rmtree("/out")');
  });

  it('have names that lead nowhere else and hide nothing', { tags: ['P-457'] }, async () => {
    const { files, texts } = await execute(`
os.makedirs("/out", exist_ok=True)
for name in ("../outside", "/out/../outside2", "a b\\n- fake\\u202e", "%2e%2e", "ü?#.txt"):
    with open(os.path.join("/out", name), "w") as file: file.write(name)
os.symlink("/etc/passwd", "/out/passwd")
os.symlink("/", "/out/root")`);
    expect(files.map(({ uri }) => uri)).toEqual([
      'sandbox://out/%252e%252e',
      'sandbox://out/a%20b%0A-%20fake%E2%80%AE',
      'sandbox://out/%C3%BC%3F%23.txt',
    ]);
    for (const { uri } of files) expect(new URL(String(uri)).pathname.split('/')).toHaveLength(2);
    expect(texts.at(-1)).toContain('/out/passwd (11 bytes), /out/root (1 bytes): no file; links are not followed');
    const odd = await execute('open("/out/big\\n- x\\u202e", "wb").write(bytes(70_000))');
    expect(odd.texts.at(-1)?.split('\n')).toHaveLength(2);
    expect(odd.texts.at(-1)).not.toContain('\u202e');
  });

  it('a file that nobody answers for in time leaves the answer as it is', { tags: ['P-457'], timeout: slow }, async () => {
    const { texts } = await execute(`
import asyncio, time
async def compute():
    while True: pass
task = asyncio.ensure_future(compute())
# Its turn has come when this code ends.
time.sleep(0.1)
"done"`);
    expect(texts[0]).toBe("'done'");
    expect(texts.at(-1)).toBe('What the code has written into /out is not in this answer: Python has not answered.');
  });
});
