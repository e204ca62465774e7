import { parseMessage } from '@notebridge/protocol/core/wire';
import { describe, expect, it } from 'vitest';
import { parseChangeCall } from './change-call.js';

const parse = (name: string, args: string): unknown =>
  parseChangeCall(
    parseMessage(`{"name":${name.startsWith('{') ? name : `"${name}"`},"arguments":${args}}`) as Parameters<typeof parseChangeCall>[0],
  );

describe('parseChangeCall', () => {
  it('reads the calls of the five tools, numbers of Python too', () => {
    expect(parse('add_code_cell', '{"cellIndex":1.0,"language":"r","code":"c"}')).toEqual({
      tool: 'add_code_cell',
      cellIndex: 1,
      source: 'c',
      language: 'r',
    });
    expect(parse('add_text_cell', '{"cellIndex":0,"content":""}')).toMatchObject({ tool: 'add_text_cell', source: '' });
    expect(parse('update_cell', '{"cellId":"x","content":"c"}')).toEqual({ tool: 'update_cell', cellId: 'x', source: 'c' });
    expect(parse('move_cell', '{"cellId":"x","cellIndex":7}')).toEqual({ tool: 'move_cell', cellId: 'x', cellIndex: 7 });
    expect(parse('delete_cell', '{"cellId":"x"}')).toEqual({ tool: 'delete_cell', cellId: 'x' });
  });

  it.each([
    ['run_code_cell', '{"cellId":"x"}'],
    ['constructor', '{}'],
    ['{"toString":1,"valueOf":2}', '{}'],
    ['update_cell', '{"cellId":"x","content":"c","more":1}'],
    ['update_cell', '{"cellId":"x"}'],
    ['update_cell', '{"cellId":1,"content":"c"}'],
    ['move_cell', '{"cellId":"x","cellIndex":-1}'],
    ['move_cell', '{"cellId":"x","cellIndex":0.5}'],
    ['move_cell', '{"cellId":"x","cellIndex":1e400}'],
    ['delete_cell', 'null'],
    ['delete_cell', '["x"]'],
    ['add_text_cell', '{"content":"c"}'],
  ])('leaves %s with %s alone', (name, args) => {
    expect(parse(name, args)).toBeUndefined();
  });
});
