import { Command, Option } from 'commander';
import { sharedOptions } from '../command-options.js';
import { type ConfigPlace, hosts, type Scope } from '../setup/hosts.js';
import { projectOf } from '../setup/project-of.js';

/** What the command sees of the process that it runs in. */
export interface SetupTerminal extends ConfigPlace {
  print(text: string): void;
}

interface SetupCommandOptions {
  scope?: Scope;
  write?: boolean;
  json?: boolean;
  notebook?: string;
  kernel?: string;
  files?: string;
  allowNet: string[];
  codeMode?: true;
  url?: string | true;
}

/** `notebridge setup HOST`: prints how an agent host starts us, or with `--write` puts it into the host's own config. */
export function setupCommand(terminal: SetupTerminal = ownTerminal()): Command {
  return new Command('setup')
    .description("print an agent host's config for Notebridge, or merge it into the host's file")
    .argument('[host]', hosts.map((host) => host.name).join(', '))
    .option(
      '--notebook <where>',
      'what its agents work in: an .ipynb file (written as a whole path), "jupyter[=ADDRESS]", "local" or "colab"',
    )
    .option(
      '--kernel <which>',
      'what runs the code of that file: see "notebridge kernels"; a path is written whole, and needs ipykernel in it',
    )
    .addOption(sharedOptions.files())
    .addOption(sharedOptions.allowNet())
    .addOption(sharedOptions.codeMode())
    .option('--url [address]', 'connect to a hub that serves, in place of starting one (default: the hub that you run)')
    .addOption(
      new Option(
        '--scope <scope>',
        'for which projects: "local" for this one (Claude Code, where it is the default), "project" for this one in a file of it, "user" for all',
      ).choices(['local', 'project', 'user']),
    )
    .option('--write', "merge it into the host's file; the old file is kept beside it")
    .option('--json', 'print a JSON object, for scripts')
    .action(async (host: string | undefined, { write = false, json = false, ...named }: SetupCommandOptions) => {
      // Loaded only now: the parsers of the hosts' formats must not slow down the start of other commands.
      const [{ setup }, { describeSetup }] = await Promise.all([import('../setup/setup.js'), import('../setup/describe-setup.js')]);
      const report = await setup({ host, write, ...named, env: terminal.env, platform: terminal.platform, project: terminal.project });
      terminal.print(json ? `${JSON.stringify(report, undefined, 2)}\n` : describeSetup(report));
    });
}

function ownTerminal(): SetupTerminal {
  return { env: process.env, platform: process.platform, project: projectOf(process.cwd()), print: (text) => process.stdout.write(text) };
}
