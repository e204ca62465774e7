import { didYouMean } from '@notebridge/kit/did-you-mean';
import { isJsonObject } from '@notebridge/kit/json';
import type { PolicyReport } from '../../catalog/policy-report.js';
import { BridgeError } from '../../core/errors.js';
import { printMessage } from '../../core/wire.js';
import type { OwnerBody } from '../../doors/owner/owner-schemas.js';
import { quote } from '../../util/quote.js';
import { asTyped } from '../own-command.js';
import { type Paint, paintFor, toTable } from '../terminal.js';
import { withoutControls } from '../terminal-logger.js';
import { type ListOptions, noServersText } from './list-servers.js';
import { withSource } from './open-source.js';
import { approvalText, codeModeText } from './policy-text.js';
import { printPretty } from './print-value.js';

interface Wanted {
  server: string | undefined;
  tool: string | undefined;
}

/** Prints the tools of all servers, of one, or one tool with its input. Rejects with `unknown_server`, `unknown_tool`. */
export async function listTools({ server, tool }: Wanted, options: ListOptions): Promise<void> {
  const { hub, servers, policy } = await withSource(options, async (source) => ({
    hub: source.hub,
    servers: server === undefined ? await source.servers() : [await source.server(server)],
    policy: await source.policy(),
  }));
  const { stdout } = process;
  const paint = paintFor(stdout);
  const width = stdout.isTTY ? stdout.columns : undefined;
  const [first] = servers;
  if (tool !== undefined && first !== undefined) {
    const found = findTool(first, tool);
    return void stdout.write(options.json === true ? `${printMessage(found)}\n` : toToolText(first.name, found, { paint, policy }));
  }
  if (options.json === true) {
    const listed = servers.flatMap(({ name, tools }) => (tools ?? []).map((each) => ({ server: name, ...each })));
    return void stdout.write(`${printMessage({ tools: listed })}\n`);
  }
  if (servers.length === 0) return void stdout.write(`${noServersText({ hub, ...options })}\n`);
  const notes = [codeModeText(policy), ...(needApproval(servers) ? [approvalText(policy)] : [])].filter((text) => text !== '');
  stdout.write(`${toListText(servers, { paint, width })}${notes.map((text) => `\n${asTyped(text)}\n`).join('')}`);
}

function needApproval(servers: readonly OwnerBody<'Server'>[]): boolean {
  return servers.some(({ tools }) => tools?.some((tool) => tool.needs_approval) === true);
}

function findTool({ name, tools }: OwnerBody<'Server'>, wanted: string): OwnerBody<'Tool'> {
  const found = tools?.find((tool) => tool.name === wanted || tool.agent_name === wanted);
  if (found !== undefined) return found;
  const names = (tools ?? []).map((tool) => tool.name);
  const meant = didYouMean(wanted, names);
  const hint = meant === undefined ? `It has: ${names.join(', ') || 'none'}.` : `Did you mean "${meant}"?`;
  throw new BridgeError('unknown_tool', `"${name}" has no tool ${quote(wanted)}. ${hint}`);
}

/** Grouped by server; agents' names stand only where they are not `server__tool`. */
function toListText(servers: readonly OwnerBody<'Server'>[], { paint, width }: { paint: Paint; width: number | undefined }): string {
  return servers
    .map((server) => {
      const { name, tools, status, expose, names } = server;
      const count = tools === null ? `not known yet (${status}); ${asTyped(`see: notebridge tools ${name}`)}` : `${tools.length} tools`;
      const prefix = names === 'plain' ? '' : `${name}__`;
      const seen = expose === 'direct' ? `; agents call them ${prefix}TOOL` : '; not shown to agents';
      const rows = (tools ?? []).map((tool) => toRow(prefix, tool, expose === 'direct'));
      const table = toTable([], rows, { paint, width });
      return `${paint.bold(withoutControls(name))}  ${paint.dim(`${count}${tools === null ? '' : seen}`)}\n${table}`;
    })
    .join('\n');
}

function toRow(
  prefix: string,
  { name, agent_name: agentName, description, needs_approval: needsApproval }: OwnerBody<'Tool'>,
  isShown: boolean,
): string[] {
  const other = isShown && agentName !== `${prefix}${name}` ? `(agents: ${agentName ?? 'no name'}) ` : '';
  return [`  ${name}`, `${needsApproval ? '(asks) ' : ''}${other}${firstLine(description)}`].map(withoutControls);
}

function firstLine(text: string | null): string {
  return text?.trim().split('\n')[0] ?? '';
}

/** Descriptions are the server's words: none of their control characters reaches the terminal. */
function toToolText(
  server: string,
  { name, agent_name: agentName, description, input_schema: schema, output_schema: output, annotations, ...more }: OwnerBody<'Tool'>,
  { paint, policy }: { paint: Paint; policy: PolicyReport },
): string {
  const hints = isJsonObject(annotations)
    ? Object.entries(annotations)
        .filter(([, value]) => value === true)
        .map(([key]) => key.replace(/Hint$/, ''))
    : [];
  const parts = [
    `${paint.bold(withoutControls(`${server} ${name}`))}${agentName === null ? '' : paint.dim(`   for agents: ${agentName}`)}`,
    ...(hints.length === 0 ? [] : [paint.dim(`Says of itself: ${withoutControls(hints.join(', '))}`)]),
    ...(more.needs_approval ? [asTyped(approvalText(policy, 'Its calls'))] : []),
    ...(description === null ? [] : ['', withoutControls(description.trim())]),
    '',
    paint.dim('Input'),
    toParameters(schema, paint),
    ...(isJsonObject(output) ? ['', paint.dim('Output schema'), withoutControls(printPretty(output))] : []),
  ];
  return `${parts.join('\n')}\n`;
}

/** A parameter per line; what a line cannot say stands in `--json`. */
function toParameters(schema: unknown, paint: Paint): string {
  const properties = isJsonObject(schema) && isJsonObject(schema.properties) ? Object.entries(schema.properties) : [];
  if (properties.length === 0) return '  none';
  const required = isJsonObject(schema) && Array.isArray(schema.required) ? schema.required : [];
  return properties
    .map(([name, value]) => {
      const { type, enum: values, default: preset, description } = isJsonObject(value) ? value : {};
      const kind = Array.isArray(values) ? values.map((each) => printMessage(each)).join(' | ') : typeof type === 'string' ? type : 'any';
      const extra = [
        required.includes(name) ? 'required' : 'optional',
        ...(preset === undefined ? [] : [`default ${printMessage(preset)}`]),
      ].join(', ');
      const text = typeof description === 'string' ? `\n      ${withoutControls(description.trim()).replaceAll('\n', '\n      ')}` : '';
      return `  ${paint.bold(withoutControls(name))}  ${withoutControls(`${kind}, ${extra}`)}${text}`;
    })
    .join('\n');
}
