import { resolve } from 'node:path';
import { bindingLanguages } from '@notebridge/bindings';
import { Command, Option } from 'commander';
import { addOptions, sharedOptions } from '../command-options.js';
import type { GenerateOptions } from '../generate/run-generate.js';
import { asTyped } from '../own-command.js';

/** `notebridge generate`: the tools as functions in a language. */
export function generateCommand(): Command {
  const { config, standalone, json } = sharedOptions;
  const command = new Command('generate')
    .description('write a package with a typed function for every tool, for code that imports it')
    .addHelpText('after', () => asTyped('\nFor example: notebridge generate --lang python --out ./generated'));
  return addOptions(command, [
    new Option('--lang <language>', 'the language of the package').choices(bindingLanguages).default('python'),
    new Option('--out <dir>', 'the folder that becomes the package').makeOptionMandatory().argParser((dir) => resolve(dir)),
    new Option('--watch', 'stay, and write it again whenever the tools change'),
    json(),
    config(),
    standalone(),
  ]).action(async (options: GenerateOptions) => {
    const { runGenerate } = await import('../generate/run-generate.js');
    await runGenerate(options);
  });
}
