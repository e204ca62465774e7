// @module-tag P-010

import { describe, expect, it } from 'vitest';
import { jsonFormat } from './json-format.js';
import { type MergeRequest, mergeEntry } from './merge.js';

const request: MergeRequest = {
  file: 'F',
  container: ['servers'],
  entry: { type: 'stdio', command: 'npx', args: ['-y', 'notebridge'] },
};
const merge = (text: string) => mergeEntry(jsonFormat, text, request);

describe('jsonFormat', () => {
  it.each(['', ' \n', '{}', '{}\n'])('fills %j', (text) => {
    const merged = merge(text);
    expect(merged.change).toBe('added');
    expect(JSON.parse(merged.text)).toEqual({ servers: { notebridge: request.entry } });
    expect(merged.text).toMatch(/^\{\n {2}"servers": \{\n {4}"notebridge": \{\n/);
  });

  it('keeps comments, order, trailing commas and the way of indenting', () => {
    const text =
      '// mine\r\n{\r\n\t"other": [1,2],\t// odd spacing\r\n\t"servers": {\r\n\t\t/* first */\r\n\t\t"a": { "command": "a" }, // last\r\n\t},\r\n\t"z": {"x":1},\r\n}\r\n';
    const merged = merge(text);
    for (const kept of [
      '// mine\r\n',
      '"other": [1,2],\t// odd spacing\r\n',
      '/* first */',
      '"a": { "command": "a" }',
      '// last',
      '"z": {"x":1},\r\n}\r\n',
    ]) {
      expect(merged.text).toContain(kept);
    }
    expect(merged.text).toContain('\r\n\t\t"notebridge": {\r\n\t\t\t"type": "stdio",\r\n');
    expect(merged.text.replaceAll('\r\n', '')).not.toContain('\n');
    expect(merge(merged.text)).toMatchObject({ text: merged.text, change: 'unchanged' });
  });

  it('leaves an entry alone that starts the same program, with whatever options behind', () => {
    const text = '{"servers":{"notebridge":{"command":"npx","args":["-y","notebridge","--config","x"],"env":{"A":"b"}}}}';
    expect(merge(text)).toMatchObject({ text, change: 'unchanged' });
  });

  it('updates command and args of an old entry, and nothing else in it', () => {
    const text =
      '{\n  "servers": {\n    "notebridge": {\n      "command": "node", // old\n      "env": { "A": "b" },\n      "args": ["/old.js"]\n    }\n  }\n}\n';
    const merged = merge(text);
    expect(merged.change).toBe('updated');
    expect(merged.text).toContain('"command": "npx", // old\n      "env": { "A": "b" },');
    expect(merged.text).toContain('"-y"');
    expect(merged.text).not.toContain('/old.js');
  });

  it('adds args that an old entry lacks', () => {
    const merged = merge('{"servers":{"notebridge":{"command":"npx"}}}');
    expect(JSON.parse(merged.text)).toEqual({ servers: { notebridge: { command: 'npx', args: ['-y', 'notebridge'] } } });
  });

  it.each([
    ['{\n "a": 1\n "b": 2 }', 'F:3:2: The file is not JSON: a text stands there. Put a comma before it.'],
    ['{ "a": 1, "a": 2 }', 'F:1:11: "a" is given twice.'],
    ['[]', 'F: The file is not an object. Nothing was changed. Fix the file, then run this again.'],
    ['{ "servers": [] }', 'F: The file has a "servers" that is not an object of servers. Nothing was changed. Fix it'],
    ['{ "servers": null }', 'has a "servers" that is not an object of servers.'],
    ['{ "servers": { "notebridge": { "url": "http://x" } } }', 'has a server "notebridge" of another kind, without a "command".'],
    ['{ "servers": { "notebridge": "x" } }', 'has a server "notebridge" of another kind'],
  ])('refuses %j', (text, message) => {
    expect(() => merge(text)).toThrow(message);
  });
});
