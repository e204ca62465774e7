// @module-tag P-200

import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { readLines } from './read-lines.js';

async function read(chunks: (string | Buffer)[]) {
  const values: unknown[] = [];
  const faults: string[] = [];
  const stream = new PassThrough();
  readLines(
    stream,
    (value) => values.push(value),
    (reason) => faults.push(reason),
  );
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  await new Promise((resolve) => stream.on('end', resolve));
  return { values, faults };
}

test('lines are put together from pieces, characters too', async () => {
  const bytes = Buffer.from('{"a":"é"}\n[1]\n');
  expect(await read([...bytes].map((byte) => Buffer.from([byte])))).toEqual({ values: [{ a: 'é' }, [1]], faults: [] });
});

test('a line that is not JSON is one fault, and nothing is read afterwards', async () => {
  const { values, faults } = await read(['1\noh\n2\n', '3\nno\n']);
  expect([values, faults.length]).toEqual([[1], 1]);
});

test('a line of very many values is refused before they are made', async () => {
  const before = process.memoryUsage().heapUsed;
  const { values, faults } = await read([`[${'[],'.repeat(20_000_000)}1]\n`]);
  expect([values, faults]).toEqual([[], ['it sent a report of more than 2000000 values']]);
  // As objects they would take more than a gigabyte.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(400 * 1024 * 1024);
});

test('a long text is one value, whatever stands in it', async () => {
  const text = '[,]{:}"\\'.repeat(1_000_000);
  const { values, faults } = await read([`${JSON.stringify({ a: text, b: '\\' })}\n`]);
  expect(faults).toEqual([]);
  expect((values as [{ a: string }])[0].a === text).toBe(true);
});
