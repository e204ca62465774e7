import { messageOf } from '@notebridge/kit/message-of';
import { ownStdio } from '../../processes/own-stdio.js';
import type { Recorder } from '../../recording/recorder.js';
import { relayChannels } from '../../recording/relay-channels.js';
import { createLineChannel } from '../../rpc/line-channel.js';
import { openStdioLink } from '../../upstreams/open-link.js';
import type { Redacting } from '../../util/redactor.js';
import { untilSignal } from '../process-life.js';
import { sayRecorded } from './open-recorder.js';

/** Longest message, in UTF-16 units. */
const maxMessageLength = 64 * 1024 * 1024;

/**
 * Starts an MCP server and stands between it and who started us: every message passes as it came, and is recorded. The server has our
 * environment, since we stand in its place, but for what leads to code that a sandbox could have written. Rejects if it cannot be started, or ended by itself.
 */
export async function recordCommandLine(
  { command, args }: { command: string; args: string[] },
  { recorder, redactor }: { recorder: Recorder; redactor: Redacting },
): Promise<void> {
  const say = (text: string): void => void process.stderr.write(`${redactor.redactOurs(text)}\n`);
  const onUnreadable = (error: Error): void => say(`notebridge: A line was skipped, and not handed on: ${messageOf(error)}`);
  const config = { name: command, command, args, env: {}, cwd: undefined };
  try {
    const server = await openStdioLink(config, { inherited: process.env, maxMessageLength, onUnreadable, onStderrLine: say }).catch(
      (error: unknown) => {
        throw new Error(`"${command}" is not started: ${messageOf(error)}`, { cause: error });
      },
    );
    try {
      const agent = createLineChannel({ ...ownStdio(), maxMessageLength, onUnreadable });
      const relayed = relayChannels(recorder.record(agent, { name: 'agent', we: 'server' }), server.channel);
      const end = await Promise.race([relayed, untilSignal()]);
      if (end?.gone === 'server') throw end.error ?? new Error(`"${command}" ended.`);
    } finally {
      await server.close();
    }
  } finally {
    recorder.close();
    sayRecorded(recorder);
  }
}
