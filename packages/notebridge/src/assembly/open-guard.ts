import { join } from 'node:path';
import type { Logger } from '@notebridge/kit/logger';
import type { Config } from '../config/config.js';
import type { CallContext } from '../core/call-context.js';
import type { Tool } from '../core/mcp.js';
import type { ToolAddress } from '../core/tool-address.js';
import { Admission } from '../grants/admission.js';
import { AuditLog } from '../grants/audit-log.js';
import type { GrantStore } from '../grants/grant-store.js';
import { createGuard, type Guard } from '../grants/guard.js';
import { notebookServer } from '../grants/guarded-methods.js';
import { Refusals } from '../grants/refusals.js';
import type { Redactor } from '../util/redactor.js';
import type { ConfigServers } from './config-servers.js';
import type { NotebookPlace } from './notebooks/notebook.js';

export interface OpenGuardOptions {
  store: GrantStore;
  /** Undefined where there are none. */
  servers?: ConfigServers | undefined;
  audit: Config['audit'];
  /** Of this user: where the audit stands unless the config says otherwise. */
  stateDir: string;
  logger: Logger;
  redactor: Redactor;
  /** Asked for the tools of the notebook with their annotations, for read-only grants. */
  place: NotebookPlace;
}

/** The outermost layer of a hub, and what it decides by. */
export interface OpenGuard {
  middleware: Guard;
  admission: Admission;
  /** Where who was not let in is taken down. */
  refusals: Refusals;
  /** Writes the last lines of the audit. Closing twice is harmless. */
  close(): void;
}

/** Joins grants, audit and names into the layer that every message passes first. */
export function openGuard(options: OpenGuardOptions): OpenGuard {
  const { store, servers, audit: settings, logger, redactor } = options;
  const admission = new Admission({ store });
  const audit = settings === false ? undefined : openAudit(settings, { ...options, logger, redactor });
  const middleware = createGuard({
    admission,
    audit,
    resolve: (name) => servers?.provider.addressOf(name),
    learn: (name, context) => servers?.provider.learn(name, context),
    serverOf: (kind, name) => servers?.provider.serverOf(kind, name),
    findTool: (address, context) => findTool(address, context, options),
  });
  const refusals = new Refusals({ audit, logger });
  const close = (): void => {
    refusals.close();
    audit?.close();
  };
  return { middleware, admission, refusals, close };
}

/** The file of the audit. */
function auditFile(audit: Exclude<Config['audit'], false>, stateDir: string): string {
  return audit.file ?? join(stateDir, 'audit.jsonl');
}

function openAudit(settings: Exclude<Config['audit'], false>, { stateDir, logger, redactor }: OpenGuardOptions): AuditLog {
  const { logArguments, maxBytes } = settings;
  return new AuditLog({ path: auditFile(settings, stateDir), redactor, logger, logArguments, maxBytes });
}

async function findTool(
  { server, tool }: ToolAddress,
  context: CallContext,
  { servers, place }: OpenGuardOptions,
): Promise<Tool | undefined> {
  const found = server === notebookServer ? await place.listTools(context) : await toolsOf(server, context, servers);
  return found?.find(({ name }) => name === tool);
}

async function toolsOf(name: string, context: CallContext, servers: ConfigServers | undefined): Promise<readonly Tool[] | undefined> {
  const server = servers?.get(name);
  return server?.knownTools ?? server?.listTools(context);
}
