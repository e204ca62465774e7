import { BridgeError, type ErrorCode } from '@notebridge/protocol/core/errors';
import { didYouMean } from '@notebridge/protocol/util/did-you-mean';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import { ownVersion } from '@notebridge/system/files/own-files';
import { stateDir } from '@notebridge/system/processes/state-dir';
import { shellWord } from '@notebridge/system/starts/shell-word';
import { Command, CommanderError, Option } from 'commander';
import { heedRecord } from '../identity/heed-record.js';
import { hubVariable } from '../identity/hub-name.js';
import { type CommandName, commandDescriptions } from './command-names.js';
import { parseHubName } from './command-options.js';
import { stdioCommand } from './commands/stdio.js';
import { asTyped, commandHelp } from './own-command.js';

/** Faults of the caller, not of the work: exit code 2. */
const usageCodes = new Set<ErrorCode>(['bad_usage', 'bad_config', 'bad_middleware', 'bad_notebook', 'bad_recording']);

/** What adds options and work to each command, loaded only when it is called: an agent waits for `stdio`. */
const loaders: Readonly<Record<CommandName, () => Promise<(command: Command) => void>>> = {
  stdio: async () => stdioCommand,
  serve: async () => (await import('./commands/serve.js')).serveCommand,
  status: async () => (await import('./commands/status.js')).statusCommand,
  console: async () => (await import('./commands/console.js')).consoleCommand,
  code: async () => (await import('./commands/code.js')).codeCommand,
  logs: async () => (await import('./commands/logs.js')).logsCommand,
  servers: async () => (await import('./commands/servers.js')).serversCommand,
  tools: async () => (await import('./commands/tools.js')).toolsCommand,
  call: async () => (await import('./commands/call.js')).callCommand,
  login: async () => (await import('./commands/login.js')).loginCommand,
  logout: async () => (await import('./commands/logout.js')).logoutCommand,
  grant: async () => (await import('./commands/grant.js')).grantCommand,
  grants: async () => (await import('./commands/grants.js')).grantsCommand,
  approvals: async () => (await import('./commands/approvals.js')).approvalsCommand,
  doctor: async () => (await import('./commands/doctor.js')).doctorCommand,
  skills: async () => (await import('./commands/skills.js')).skillsCommand,
  generate: async () => (await import('./commands/generate.js')).generateCommand,
  demo: async () => (await import('./commands/demo.js')).demoCommand,
  notebook: async () => (await import('./commands/notebook.js')).notebookCommand,
  kernels: async () => (await import('./commands/kernels.js')).kernelsCommand,
  ps: async () => (await import('./commands/ps.js')).psCommand,
  stop: async () => (await import('./commands/stop.js')).stopCommand,
  release: async () => (await import('./commands/release.js')).releaseCommand,
  broker: async () => (await import('./commands/broker.js')).brokerCommand,
  record: async () => (await import('./commands/record.js')).recordCommand,
  replay: async () => (await import('./commands/replay.js')).replayCommand,
  setup: async () => (await import('./commands/setup.js')).setupCommand,
};
const commandNames = Object.keys(loaders) as CommandName[];

async function main(argv: string[]): Promise<void> {
  heedRecord(stateDir());
  const program = new Command('notebridge')
    .description('The two-way bridge between AI agents and notebooks, over the Model Context Protocol')
    .version(ownVersion())
    .option('--verbose', 'show where an error came from')
    .addOption(
      new Option('--hub <name>', 'the hub to talk to, where several of yours run; "notebridge ps" lists them')
        .env(hubVariable)
        .argParser(parseHubName),
    )
    .on('option:hub', (name: string) => {
      process.env[hubVariable] = name;
    })
    .configureHelp({ subcommandTerm: (command) => command.name(), showGlobalOptions: true })
    .exitOverride()
    .configureOutput({
      writeErr: (text) => process.stderr.write(asTyped(text)),
      outputError: (text, write) => write(text.replace(/^error: /, 'notebridge: ')),
    })
    .addHelpText('after', startHelp)
    .addHelpText('afterAll', commandHelp)
    .showHelpAfterError('Run "notebridge --help" to see what there is.');
  // A person who types the bare name wants to know what it is; an agent host never has a terminal here.
  const isBare = argv.length === 0 && process.stdin.isTTY;
  const wantsHelp = isBare || argv.some((word) => ['help', '-h', '--help'].includes(word));
  for (const name of commandNames) {
    const isDefault = name === 'stdio';
    const isCalled = isDefault || argv.includes(name);
    // Help names all of them, and loads none of the others.
    if (!isCalled && !wantsHelp) continue;
    // A broker is started by other commands, and by no person.
    const command = program.command(name, { isDefault, hidden: name === 'broker' }).description(commandDescriptions[name]);
    if (!isDefault) command.showHelpAfterError(`Run "notebridge ${name} --help" to see what there is.`);
    if (isCalled) (await loaders[name]())(command);
  }

  assertCommand(argv);
  if (isBare) return program.outputHelp();
  await program.parseAsync(argv, { from: 'user' });
}

/** What a newcomer types first. */
const startHelp = (): string =>
  [
    '',
    'Start here:',
    asTyped('  notebridge demo                 see what it does'),
    asTyped('  notebridge notebook work.ipynb  a notebook of your own, in your browser'),
    asTyped('  notebridge setup claude-code    add it to your agent, which starts it itself'),
  ].join('\n');

/** Commander would take an unknown command for an argument of the default one. */
function assertCommand([word, ...others]: readonly string[]): void {
  const known = [...commandNames, 'help'];
  if (word === undefined || word.startsWith('-') || known.includes(word)) return;
  if (word.endsWith('.ipynb'))
    throw new BridgeError(
      'bad_usage',
      `${quote(word)} is a notebook, and no command says what to do with it. To open it in a window: notebridge notebook ${[word, ...others].map((each) => shellWord(each)).join(' ')}`,
    );
  const meant = didYouMean(word, known);
  throw new BridgeError(
    'bad_usage',
    `There is no command "${word}".${meant === undefined ? '' : ` Did you mean "${meant}"?`} Run "notebridge --help" to see what there is.`,
  );
}

function report(error: unknown, isVerbose: boolean): number {
  // Commander has said it already.
  if (error instanceof CommanderError) {
    if (error.code === 'commander.excessArguments') process.stderr.write(orderHint(argv));
    return error.exitCode === 0 ? 0 : 2;
  }
  process.stderr.write(`notebridge: ${asTyped(messageOf(error))}\n`);
  if (isVerbose && error instanceof Error) process.stderr.write(`${error.stack}\n`);
  return error instanceof BridgeError && usageCodes.has(error.code) ? 2 : 1;
}

/** Options before the command are taken for those of the default one. */
function orderHint(words: readonly string[]): string {
  const at = words.findIndex((word) => Object.hasOwn(commandDescriptions, word));
  if (at < 1 || !words[0]?.startsWith('-')) return '';
  const ordered = [words[at] ?? '', ...words.slice(0, at), ...words.slice(at + 1)];
  return asTyped(`The command comes first: notebridge ${ordered.map((word) => shellWord(word)).join(' ')}\n`);
}

const argv = process.argv.slice(2);
// A line for a full disk, or for a terminal that has gone, is lost: the program must not end by it.
process.stderr.on('error', () => {});
try {
  await main(argv);
} catch (error) {
  process.exitCode = report(error, argv.includes('--verbose'));
}
// What was written goes out first; then nothing left over can hold the process.
process.stdout.write('', () => process.stderr.write('', () => process.exit()));
