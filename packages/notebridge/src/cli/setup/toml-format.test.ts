// @module-tag P-010

import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { type MergeRequest, mergeEntry } from './merge.js';
import { tomlFormat } from './toml-format.js';

const request: MergeRequest = {
  file: 'F',
  container: ['mcp_servers'],
  entry: { command: 'npx', args: ['-y', 'notebridge'], tool_timeout_sec: 3600 },
};
const merge = (text: string) => mergeEntry(tomlFormat, text, request);
const table = '[mcp_servers.notebridge]\ncommand = "npx"\nargs = [ "-y", "notebridge" ]\ntool_timeout_sec = 3600\n';

describe('tomlFormat', () => {
  it('fills an empty file', () => {
    expect(merge('')).toMatchObject({ text: table, change: 'added' });
  });

  it('appends a table and keeps every byte above it', () => {
    const text =
      '# mine\nmodel = "x"   # odd\nbig = 9223372036854775807\nwhen = 2024-01-01T00:00:00Z\n\n[mcp_servers.other]\ncommand = "a"';
    const merged = merge(text);
    expect(merged).toMatchObject({ text: `${text}\n\n${table}`, change: 'added' });
    expect(merge(merged.text).change).toBe('unchanged');
  });

  it('keeps Windows line ends', () => {
    expect(merge('a = 1\r\n').text).toBe(`a = 1\r\n\r\n${table.replaceAll('\n', '\r\n')}`);
  });

  it('leaves an entry alone that starts the same program, however it is written', () => {
    for (const text of [
      '[mcp_servers.notebridge]\ncommand = "npx"\nargs = ["-y", "notebridge", "--no-browser"]\ntool_timeout_sec = 5\n',
      'mcp_servers = { notebridge = { command = "npx", args = ["-y", "notebridge"] } }\n',
      'mcp_servers.notebridge.command = "npx"\nmcp_servers.notebridge.args = ["-y", "notebridge"]\n',
    ]) {
      expect(merge(text)).toMatchObject({ text, change: 'unchanged' });
    }
  });

  it('updates command and args of an old table, over several lines, and nothing else', () => {
    const text =
      '[ mcp_servers . "notebridge" ] # ours\n# how\n"command" = "node"\nargs = [\n  "/old.js", # old\n  "[x]",\n]\ntool_timeout_sec = 5 # short\n\n[mcp_servers.notebridge.env]\nA = "b"\n[z]\nargs = 1\n';
    const merged = merge(text);
    expect(merged.change).toBe('updated');
    expect(merged.text).toBe(
      '[ mcp_servers . "notebridge" ] # ours\n# how\ncommand = "npx"\n# old\nargs = [ "-y", "notebridge", "[x]" ]\ntool_timeout_sec = 5 # short\n\n[mcp_servers.notebridge.env]\nA = "b"\n[z]\nargs = 1\n',
    );
  });

  it('adds args that an old table lacks', () => {
    const merged = merge('[mcp_servers.notebridge]\ncommand = "npx"\n[z]\nargs = 1\n');
    expect(parse(merged.text)).toEqual({ mcp_servers: { notebridge: { command: 'npx', args: ['-y', 'notebridge'] } }, z: { args: 1 } });
  });

  it.each([
    ['a = 1\nb = [\n', 'F:3:1: The file is not TOML: '],
    [
      'mcp_servers = { other = { command = "x" } }',
      'is written in a way that cannot be edited safely. Nothing was changed. Add the server "notebridge" by hand',
    ],
    ['mcp_servers.notebridge.command = "old"', 'cannot be edited safely'],
    ['[mcp_servers]\nnotebridge = { command = "old" }', 'cannot be edited safely'],
    ['text = """\n[mcp_servers.notebridge]\n"""\nmcp_servers.notebridge.command = "old"', 'cannot be edited safely'],
    ['[mcp_servers.notebridge]\nurl = "http://x"', 'has a server "notebridge" of another kind'],
    ['mcp_servers = 1', 'is not an object of servers'],
  ])('refuses %j', (text, message) => {
    expect(() => merge(text)).toThrow(message);
  });
});
