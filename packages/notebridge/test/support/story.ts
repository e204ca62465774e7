import type { JsonObject } from '@notebridge/protocol/json';
import { expect } from 'vitest';
import type { Program } from './program.js';

/** How one kind of notebook differs from the others for whoever writes cells in it. */
export interface StoryPlace {
  program: Program;
  /** Code that shows a PNG of more than a megabyte. */
  picture: string;
}

type Content = { type: string; text?: string; data?: string; mimeType?: string };
interface Answer {
  value: JsonObject & { outputs?: JsonObject[] };
  content: Content[];
  isError: boolean;
}

/** What one answer may have, images apart: see docs/notebook.md. */
const maxCharacters = 20_000;
/** What is around the outputs in an answer: names, ids, notes. */
const aroundCharacters = 2_000;

/** An agent's afternoon in a notebook: the same calls, with the same answers, wherever the notebook is. */
export async function tellStory({ program, picture }: StoryPlace): Promise<void> {
  const ask = async (name: string, args: JsonObject = {}): Promise<Answer> => {
    const { result, error } = (await program.callTool(name, args)) as { result: { content: Content[]; isError?: boolean }; error: unknown };
    expect(error, `${name}: ${JSON.stringify(error)}`).toBeUndefined();
    const [{ text = '' } = {}] = result.content;
    return { value: JSON.parse(text.startsWith('{') ? text : '{}'), content: result.content, isError: result.isError === true };
  };
  const call = async (name: string, args: JsonObject = {}): Promise<Answer> => {
    const answer = await ask(name, args);
    expect(answer.isError, `${name}: ${JSON.stringify(answer.content).slice(0, 2000)}`).toBe(false);
    return answer;
  };
  const addCode = async (code: string): Promise<string> => {
    const { value } = await call('add_code_cell', { cellIndex: 99, language: 'python', code });
    return String(value.newCellId);
  };
  const sources = async (): Promise<string[]> => {
    const { value } = await call('get_cells');
    return (value.cells as { source: string | string[] }[]).map(({ source }) => [source].flat().join(''));
  };

  // Writing and running.
  await call('add_text_cell', { cellIndex: 0, content: '# A story' });
  const sum = await addCode('print(sum(range(10)))');
  expect(textOf((await call('run_code_cell', { cellId: sum })).value.outputs)).toContain('45');
  await call('update_cell', { cellId: sum, content: 'print(sum(range(4)))' });
  expect(textOf((await call('run_code_cell', { cellId: sum })).value.outputs)).toContain('6');

  // An error is an output, without colours, and the next cell runs.
  const wrong = await addCode('raise ValueError("on purpose")');
  const failed = await call('run_code_cell', { cellId: wrong });
  expect(failed.value.outputs).toContainEqual(expect.objectContaining({ output_type: 'error', ename: 'ValueError' }));
  expect(JSON.stringify(failed.value)).not.toContain('\\u001b');

  // A run that outlives its call goes on, piece by piece, and is ended.
  const long = await addCode('import time\nfor number in range(3000):\n    print("line", number)\n    time.sleep(0.1)');
  const begun = await call('run_code_cell', { cellId: long, wait_seconds: 2 });
  expect(begun.value).toMatchObject({ status: 'running', run_id: expect.any(String), cellId: long });
  const { run_id } = begun.value;
  let [seen, { cursor }] = [textOf(begun.value.outputs), begun.value];
  for (let piece = 0; piece < 3; piece++) {
    const { value } = await call('get_run', { run_id, cursor, wait_seconds: 10, wait_for: 'output' });
    expect(value.status).toBe('running');
    seen += textOf(value.outputs);
    cursor = value.cursor;
  }
  const lines = seen.match(/line \d+/g) ?? [];
  expect(lines.length).toBeGreaterThan(1);
  expect(lines).toEqual(lines.map((_, number) => `line ${number}`));
  expect((await call('list_runs')).value.runs).toContainEqual(expect.objectContaining({ run_id, status: 'running' }));
  await call('interrupt_run', { run_id });
  const ended = await call('get_run', { run_id, wait_seconds: 20 });
  expect(ended.value).toMatchObject({ run_id, status: 'interrupted' });
  expect(textOf((await call('run_code_cell', { cellId: sum })).value.outputs)).toContain('6');

  // Much text: its head and tail, and the rest by asking.
  const much = await addCode('for number in range(20000):\n    print("row", number)');
  const fitted = await call('run_code_cell', { cellId: much });
  const said = textOf(fitted.value.outputs);
  expect(said).toContain('row 0\n');
  expect(said).toContain('row 19999');
  expect(JSON.stringify(fitted.value).length).toBeLessThanOrEqual(maxCharacters + aroundCharacters);
  const middle = await call('get_output', { cellId: much, from: 120_000 });
  expect(JSON.stringify(middle.value)).toContain('row 1');
  expect(JSON.stringify(middle.value).length).toBeLessThanOrEqual(maxCharacters + aroundCharacters);

  // A large picture: one to look at, whole.
  const drawn = await addCode(picture);
  const shown = await call('run_code_cell', { cellId: drawn });
  const images = shown.content.filter(({ type }) => type === 'image');
  expect(images).toHaveLength(1);
  const bytes = Buffer.from(images[0]?.data ?? '', 'base64');
  expect(bytes.length).toBeLessThan(1_000_000);
  expect(isWhole(bytes, images[0]?.mimeType)).toBe(true);
  expect(JSON.stringify(shown.value).length).toBeLessThanOrEqual(maxCharacters + aroundCharacters);

  // Order, and taking back.
  const before = await sources();
  await call('move_cell', { cellId: sum, cellIndex: 0 });
  expect((await sources())[0]).toBe('print(sum(range(4)))');
  await call('undo_last_change');
  expect(await sources()).toEqual(before);
  await call('delete_cell', { cellId: much });
  expect(await sources()).toEqual(before.filter((source) => !source.includes('20000')));

  // What is not there is said, and nothing is lost by it.
  expect((await ask('run_code_cell', { cellId: 'no-such-cell' })).isError).toBe(true);
  expect((await ask('get_run', { run_id: 'no-such-run' })).isError).toBe(true);
}

function textOf(outputs: readonly JsonObject[] | undefined): string {
  return (outputs ?? []).map(({ text }) => [text ?? ''].flat().join('')).join('');
}

/** A PNG or JPEG from its first byte to its last. */
function isWhole(bytes: Buffer, mimeType: string | undefined): boolean {
  if (mimeType === 'image/png') return bytes.subarray(1, 4).toString() === 'PNG' && bytes.subarray(-8, -4).toString() === 'IEND';
  return mimeType === 'image/jpeg' && bytes.readUInt16BE(0) === 0xffd8 && bytes.readUInt16BE(bytes.length - 2) === 0xffd9;
}
