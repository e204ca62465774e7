import { numberWithin, sharedOptions } from '../command-options.js';
import { defineCommand, type OptionsOf, option } from '../define-command.js';
import { askOwner } from '../hub/hub-request.js';
import { ownHub } from '../hub/own-hub.js';
import { abortOnSignal } from '../process-life.js';
import { paint, printJsonLine } from '../terminal.js';
import { toTextLine } from '../terminal-logger.js';

const typed = [
  option('-f, --follow', 'go on with what comes, until Ctrl-C'),
  option('--server <name>', 'only lines of this server, and about it'),
  option('--call <id>', 'only lines about this call, by its id in the audit'),
  option('--level <level>', 'least level that is shown', { choices: ['info', 'warn', 'error'] }),
  option('-n, --lines <number>', 'how many of the last lines', {
    default: 200,
    parse: numberWithin(1, 2000, 'It must be a whole number from 1 to 2000.'),
  }),
  sharedOptions.json,
];

/** `notebridge logs`: the last lines of the running hub's log. */
export const logsCommand = defineCommand({ typed, run: showLogs });

/** The hub answers at once, or within 25 s if there is nothing new. Milliseconds. */
const timeoutMs = 40_000;

/** Prints the last lines; with `follow` also those that come, until a signal. Rejects with `closed` without a hub, or when it ends. */
async function showLogs({ follow = false, server, call, level, lines, json = false }: OptionsOf<typeof typed>): Promise<void> {
  const hub = await ownHub();
  const signal = follow ? abortOnSignal() : new AbortController().signal;
  const query = new URLSearchParams({ limit: String(lines) });
  for (const [name, value] of Object.entries({ server, call, level })) if (value !== undefined) query.set(name, value);
  const printNext = async (): Promise<void> => {
    const { lines: found, last } = await askOwner<'Log'>(hub, `/logs?${query}`, { timeoutMs, signal });
    for (const { time, level: own, msg: message, fields, ...rest } of found) {
      if (json) printJsonLine({ ...rest, level: own, time, ...fields, msg: message });
      else process.stdout.write(`${toTextLine({ level: own, message, fields, time: new Date(time) }, paint)}\n`);
    }
    query.set('after', String(last));
  };
  if (!follow) return printNext();
  while (!signal.aborted) {
    await printNext().catch((error: unknown) => {
      if (!signal.aborted) throw error;
    });
  }
}
