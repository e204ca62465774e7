import { createReadStream, statSync } from 'node:fs';
import { BridgeError } from '@notebridge/protocol/core/errors';
import { createLineChannel } from '@notebridge/protocol/rpc/line-channel';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { quote } from '@notebridge/protocol/util/quote';
import { ownVersion } from '@notebridge/system/files/own-files';
import { ownStdio } from '@notebridge/system/processes/own-stdio';
import { Player, type ReplayReport } from '../../recording/player.js';
import { type Recording, readRecording, unreadable } from '../../recording/read-recording.js';
import { chooseLink, describeLink } from '../../recording/recorded-links.js';
import { maxRecordingBytes } from '../../recording/recording-format.js';
import { toScript } from '../../recording/script.js';
import { defineCommand, type OptionsOf, option } from '../define-command.js';
import { untilSignal } from '../process-life.js';
import { printTable, toDuration } from '../terminal.js';
import { onOneLine } from '../terminal-logger.js';

const options = [
  option('--link <name>', 'which connection of the recording is served (default: what the agent saw, else the only one)'),
  option('--timing <how>', 'answer at once, or with the pauses of the recording', { choices: ['fast', 'recorded'], default: 'fast' }),
  option('--strict', 'exit with 1 if the client did not do what was recorded'),
  option('--list', 'print what is in the file, and serve nothing'),
];

/** `notebridge replay`: a recorded server, served again. */
export const replayCommand = defineCommand({ arguments: [['<file>', 'what "notebridge record" has written']], options, run: runReplay });

/** Longest line, in UTF-16 units: a message of the largest size, and what stands around it. */
const maxLineLength = 80 * 1024 * 1024;
/** Divergences that are printed. */
const maxPrinted = 20;

/** Serves a recording until the client goes or a signal comes. Rejects with `bad_recording` or `bad_usage`. */
async function runReplay(file: string, { link, timing, strict, list }: OptionsOf<typeof options>): Promise<void> {
  const recording = await openRecording(file);
  for (const gap of recording.gaps) say(gap);
  if (list) return printLinks(recording);
  const { name, entries } = chooseLink(recording, link, file);
  const channel = createLineChannel({
    ...ownStdio(),
    maxMessageLength: maxLineLength,
    onUnreadable: (error) => say(`A line of the client was skipped: ${messageOf(error)}`),
  });
  const player = new Player({ script: toScript(entries), channel, timing });
  await Promise.race([player.closed, untilSignal()]);
  const { report } = player;
  printReport(report, name);
  if (strict && report.divergences.length > 0) process.exitCode = 1;
}

function openRecording(file: string): Promise<Recording> {
  let size: number;
  try {
    size = statSync(file).size;
  } catch (error) {
    throw unreadable(file, error);
  }
  if (size > maxRecordingBytes)
    throw new BridgeError('bad_recording', `${quote(file)} has ${size} bytes; a recording of up to ${maxRecordingBytes} can be replayed.`);
  return readRecording(createReadStream(file), { file, version: ownVersion(), maxLineLength });
}

function printLinks({ header, links }: Recording): void {
  const rows = [...links].map(([name, entries]) => {
    const { sessions, requests, messages, eras, lastedMs } = describeLink(entries);
    return [name, eras.join(', '), String(sessions), String(requests), String(messages), toDuration(lastedMs)];
  });
  process.stdout.write(`${onOneLine(`Recorded on ${header.date} by Notebridge ${header.version}.`)}\n`);
  printTable(['LINK', 'ERA', 'SESSIONS', 'REQUESTS', 'MESSAGES', 'TIME'], rows);
}

function printReport({ recorded, replayed, divergences }: ReplayReport, link: string): void {
  const different =
    divergences.length === 0 ? 'Nothing differed from the recording' : `${divergences.length} differences from the recording`;
  say(`Replayed ${replayed} of ${recorded} requests of "${link}". ${different}${divergences.length === 0 ? '.' : ':'}`);
  for (const divergence of divergences.slice(0, maxPrinted)) say(`  ${divergence}`);
  if (divergences.length > maxPrinted) say(`  … and ${divergences.length - maxPrinted} more.`);
}

/** A recording may be a stranger's: nothing of it moves the cursor. */
function say(text: string): void {
  process.stderr.write(`notebridge: ${onOneLine(text)}\n`);
}
