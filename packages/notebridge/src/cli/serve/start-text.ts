import type { ToolServer } from '../../core/tool-server.js';
import { ownVersion } from '../../state/own-files.js';
import { ownCommand } from '../own-command.js';
import type { Paint } from '../terminal.js';

export interface StartTextOptions {
  url: string;
  options: { auth: boolean; notebook: string; name?: string };
  servers: readonly ToolServer[];
  /** Where a window of the built-in notebook opens, once. It holds a token: for a terminal only. */
  windowUrl?: string | undefined;
  /** The name of the cluster, and of its hubs, this one first. Undefined: this hub is alone. */
  cluster?: { name: string; hubs: readonly string[]; isJoined: boolean } | undefined;
  /** Opens the console, once. As secret as the window's. */
  consoleAddress?: string | undefined;
  /** The code that is typed where an address is not enough. As secret as the addresses. */
  typedCode?: string | undefined;
  paint: Paint;
}

/** What a person reads after starting a hub: where it is, and how to use it. It has no secret in it but the addresses of window and console. */
export function toStartText({
  url,
  options: { auth, notebook, name },
  servers,
  windowUrl,
  consoleAddress,
  typedCode,
  cluster,
  paint,
}: StartTextOptions): string {
  const names = servers.map(({ name }) => name);
  const [first = 'SERVER'] = names;
  // Others of this user may run, or come.
  const command = name === undefined ? ownCommand() : `${ownCommand()} --hub ${name}`;
  const token = (options: string): string => (auth ? `$(${command} grant${options})` : 'none');
  const lines = [
    '',
    `${paint.bold(`Notebridge ${ownVersion()}`)} serves at ${paint.bold(url)}. Ctrl-C ends it.`,
    '',
    `  Servers       ${names.length === 0 ? 'none yet: name some in the config file' : names.join(', ')}`,
    ...(cluster === undefined ? [] : [`  Cluster       ${toClusterText(cluster)}`]),
    ...(notebook === 'none' ? [] : [`  Notebook      ${notebook}`]),
    ...(windowUrl === undefined ? [] : [`  Its window    ${windowUrl}`]),
    ...(consoleAddress === undefined
      ? []
      : [`  Its console   ${consoleAddress}`, `                ${paint.dim(`once, within 15 minutes; later: ${command} console`)}`]),
    ...(typedCode === undefined
      ? []
      : [`  Asked a code? ${typedCode} ${paint.dim(`(another user, a proxy, a forwarded port); later: ${command} code`)}`]),
    `  What is there ${paint.dim('$')} ${command} tools`,
    `  Call a tool   ${paint.dim('$')} ${command} call ${first} TOOL key=value`,
    `  From code     POST ${url}/api/v1/mcp/proxy/${first}/tools/TOOL`,
    `                ${paint.dim('$')} export NOTEBRIDGE_TOKEN=${token(' --ttl 8h')}`,
    `  For an agent  ${url}/mcp`,
    ...(auth ? [`                with "Authorization: Bearer ${token(' --agent --ttl 8h')}"`] : []),
    `  Described at  ${url}/docs`,
    '',
  ];
  return `${lines.join('\n')}\n`;
}

function toClusterText({ name, hubs: [self = '', ...others], isJoined }: NonNullable<StartTextOptions['cluster']>): string {
  if (!isJoined) return `${name}: not joined yet, as NATS was not reached; it goes on trying`;
  return `${name}: ${self} (this hub)${others.length === 0 ? ', alone so far' : `, ${others.join(', ')}`}`;
}
