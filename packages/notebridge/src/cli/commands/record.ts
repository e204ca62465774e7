import { Command, InvalidArgumentError, Option } from 'commander';
import { maxRecordingBytes } from '../../recording/recording-format.js';
import { addHubOptions, addOptions, collect } from '../command-options.js';
import { asTyped } from '../own-command.js';
import type { RecordOptions } from '../record/run-record.js';

/** `notebridge record`: a session that can be replayed. */
export function recordCommand(): Command {
  const command = new Command('record')
    .description('serve an agent like "stdio", or stand before another MCP server, and write all that is said to a file, without secrets')
    .argument('<file>', 'where to write; if it is there, the new one gets a number')
    .argument('[command...]', 'the command line of an MCP server, behind "--"')
    .addHelpText('after', () => asTyped('\nFor example: notebridge record bug.jsonl -- node server.js'));
  addOptions(command, [
    new Option('--server <name>', 'one server of the config alone, with its own names'),
    new Option('--max-size <size>', 'most that is written (10k, 64M; up to 256M); then recording stops, and the session goes on')
      .default(64 * 1024 * 1024, '64M')
      .argParser(parseSize),
    new Option('--force', 'replace the file if it is there'),
    new Option('--secret-env <name>', 'a variable whose value is a secret, besides those whose names say so (repeatable)')
      .default([], 'none')
      .argParser(collect),
  ]);
  return addHubOptions(command).action(async (file: string, words: string[], options: RecordOptions) => {
    const { runRecord } = await import('../record/run-record.js');
    await runRecord(file, words, options);
  });
}

const units = { '': 1, k: 1024, m: 1024 ** 2 };

function parseSize(text: string): number {
  const [, digits, unit = ''] = /^(\d+)([km]?)$/i.exec(text) ?? [];
  const bytes = Number(digits) * units[unit.toLowerCase() as keyof typeof units];
  if (digits === undefined || bytes < 1024 || bytes > maxRecordingBytes)
    throw new InvalidArgumentError('A size is a number of bytes, or one with k or M behind it; from 1k to 256M.');
  return bytes;
}
