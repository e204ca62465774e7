import { createHash } from 'node:crypto';
import type { Tool } from '@notebridge/protocol/core/mcp';
import type { ToolAddress } from '@notebridge/protocol/core/tool-address';
import { matchAny } from '@notebridge/protocol/util/name-patterns';
import type { ApprovalMode, UpstreamSettings } from '../../config/server-config.js';

/** What the config says of approvals. */
export interface ApprovalRules {
  approve: ApprovalMode;
  servers: readonly Pick<UpstreamSettings, 'name' | 'approve' | 'trusted' | 'tools'>[];
}

interface ServerRule {
  /** Digest of what the config says of the server. */
  entry: string;
  mode: ApprovalMode;
  isTrusted: boolean;
  isListed: (tool: string) => boolean;
}

/** Which calls of servers a person is asked about. */
export class ApprovalPolicy {
  /** False: no call is asked about. */
  readonly isOn: boolean;
  readonly #all: ServerRule;
  readonly #byServer = new Map<string, ServerRule>();

  /**
   * `own`: tools of ours, which nobody is asked about: the notebook's, those that a middleware adds, and code mode's. What code calls of
   * servers is asked about by itself.
   */
  constructor({ approve: all, servers }: ApprovalRules, own: readonly string[]) {
    this.#all = { entry: '', mode: all, isTrusted: true, isListed: () => false };
    for (const server of servers) {
      const { name, approve, trusted, tools } = server;
      const entry = createHash('sha256').update(JSON.stringify(server)).digest('base64');
      // Whoever names tools wants to be asked about them.
      const mode = approve ?? (all === 'none' && tools.approve !== undefined ? 'listed' : all);
      this.#byServer.set(name, { entry, mode, isTrusted: trusted !== false, isListed: matchAny(tools.approve ?? []) });
    }
    for (const name of own) this.#byServer.set(name, { entry: '', mode: 'none', isTrusted: true, isListed: () => false });
    this.isOn = [this.#all, ...this.#byServer.values()].some(({ mode }) => mode !== 'none');
  }

  /** False for a server whose tools may say of themselves what they like. */
  isTrusted(server: string): boolean {
    return this.#byServer.get(server)?.isTrusted ?? true;
  }

  /** Another text when the config says something else of the server: its command, say. */
  entryOf(server: string): string {
    return this.#ruleOf(server).entry;
  }

  /** Whether a call of the tool is asked about; `hints`: what it says of itself decides. */
  judge({ server, tool }: ToolAddress): 'yes' | 'no' | 'hints' {
    const { mode, isTrusted, isListed } = this.#ruleOf(server);
    if (mode === 'none') return 'no';
    // One that is not known yet may be any of them.
    if (tool === '' || isListed(tool)) return 'yes';
    if (mode === 'listed') return 'no';
    return isTrusted ? 'hints' : 'yes';
  }

  /** For `hints`. A tool that is not found, or says nothing of itself, may do anything. */
  isMeant({ server }: ToolAddress, tool: Tool | undefined): boolean {
    const { readOnlyHint, destructiveHint } = tool?.annotations ?? {};
    if (readOnlyHint === true) return false;
    return this.#ruleOf(server).mode === 'writes' || destructiveHint !== false;
  }

  /** Which calls of a server are asked about. */
  modeOf(server: string): ApprovalMode {
    return this.#ruleOf(server).mode;
  }

  /** Whether a call of this tool is asked about, for who knows the tool. */
  asksAbout(server: string, tool: Tool): boolean {
    const address = { server, tool: tool.name };
    const judged = this.judge(address);
    return judged === 'yes' || (judged === 'hints' && this.isMeant(address, tool));
  }

  #ruleOf(server: string): ServerRule {
    return this.#byServer.get(server) ?? this.#all;
  }
}
