import { createLineChannel } from '@notebridge/protocol/rpc/line-channel';
import { errnoOf } from '@notebridge/protocol/util/errno';
import type { Environment } from '@notebridge/system/processes/environment';
import { adviceOnWritten, writtenBy } from '@notebridge/system/processes/written-rule';
import type { ServerConfig } from '../config/server-config.js';
import type { Link, LinkOptions, OpenLink } from './link.js';
import { StartFault, wentAway } from './unavailable.js';

/** The way to a server that its config asks for. */
export const openLink: OpenLink = async (config, options) => {
  if (config.transport === 'stdio') return openStdioLink(config, options);
  assertNamedOutside([config.ca, config.auth?.privateKey]);
  const { openHttpLink } = await import('./http-link.js');
  return openHttpLink(config, options);
};

/** Throws a `StartFault` for keys and certificates of a server that code in a sandbox could have written: at each start, for the folder may be given later. */
function assertNamedOutside(paths: readonly (string | undefined)[]): void {
  for (const path of paths.filter((each) => each !== undefined)) {
    const written = writtenBy(path);
    if (written === undefined) continue;
    const message = `it is not called: code in a sandbox may write to "${written}", where its "${path}" lies. ${adviceOnWritten(written)}`;
    throw new StartFault(message, { lasting: true });
  }
}

type StdioConfig = Pick<Extract<ServerConfig, { transport: 'stdio' }>, 'name' | 'command' | 'args' | 'env' | 'cwd'>;
/** `inherited`: as `ServerProcess` takes it. */
type StdioLinkOptions = Pick<LinkOptions, 'onStderrLine' | 'maxMessageLength' | 'onUnreadable'> & { inherited?: Environment };

/** After a program's end its last output may still be in the pipe, and after the end of its output its exit code on the way. */
const lastWordsMs = 200;

/** Starts a program that is an MCP server, and connects to its stdin and stdout. Rejects with a `StartFault`. */
export async function openStdioLink(config: StdioConfig, options: StdioLinkOptions): Promise<Link> {
  const { ServerProcess } = await import('@notebridge/system/processes/server-process');
  const { command, args, env, cwd } = config;
  const { onStderrLine, maxMessageLength, onUnreadable, inherited } = options;
  const program = new ServerProcess({ command, args, env, inherited, cwd, onStderrLine });
  if (program.pid === undefined) throw new StartFault((await program.ended).words, { lasting: true });

  const { output: input, input: output } = program;
  let exit: string | undefined;
  let fault: string | undefined;
  let isSilent = false;
  const end = (): void => channel.incoming.close(wentAway(config.name, exit ?? fault ?? 'it closed its output'));
  const endWhenKnown = (): void => {
    if (exit !== undefined && isSilent) end();
    else setTimeout(end, lastWordsMs);
  };
  const onEnd = (error: Error | undefined): void => {
    // A pipe that breaks says less than the exit code that is on its way.
    fault = errnoOf(error) === undefined ? error?.message : undefined;
    isSilent = true;
    endWhenKnown();
  };
  const channel = createLineChannel({ input, output, maxMessageLength, onUnreadable, onEnd });
  void program.ended.then(({ words }) => {
    exit = words;
    endWhenKnown();
  });
  const close = (): Promise<void> => {
    channel.outgoing.close();
    return program.stop();
  };
  return { channel, pid: program.pid, close };
}
