import { type Command, Option } from 'commander';
import { type CallCommandOptions, runCall } from '../client/run-call.js';
import { addOptions, sharedOptions } from '../command-options.js';
import { asTyped } from '../own-command.js';

/** `notebridge call`: one call of a tool from a shell. */
export function callCommand(command: Command): void {
  const { config, standalone, json } = sharedOptions;
  command
    .argument('<server>', 'see: notebridge servers')
    .argument('<tool>', 'see: notebridge tools SERVER')
    .argument('[arguments...]', `'{"key": "value"}', key=value …, @FILE, or - for JSON on stdin`)
    .addHelpText('after', () => asTyped('\nFor example: notebridge call fs read_text_file path=/etc/hostname'));
  addOptions(command, [
    new Option('-o, --output <file>', 'write the result there: an image or other data as it is, else the text'),
    json(),
    config(),
    standalone(),
  ]).action((server: string, tool: string, words: string[], options: CallCommandOptions) => runCall({ server, tool }, words, options));
}
