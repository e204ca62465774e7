import { BridgeError } from '@notebridge/protocol/core/errors';
import { messageOf } from '@notebridge/protocol/util/message-of';
import type { Config } from '../../config/config.js';
import { describeFault, type Fault } from '../../config/fault.js';
import { loadConfig, userConfigFile } from '../../config/load-config.js';
import { loadMiddlewareModules } from '../../config/load-middleware.js';
import { type Check, failedCheck, note, ok } from './check.js';

/** Reads the config as every command does; each fault in it is one of ours. */
export async function checkConfig(file: string | undefined): Promise<{ config: Config | undefined; checks: Check[] }> {
  let config: Config;
  try {
    config = await loadConfig({ file, env: process.env });
  } catch (error) {
    return { config: undefined, checks: faultsOf(error) };
  }
  if (config.file === undefined) {
    const next = `To offer the tools of MCP servers, name them in ${userConfigFile(process.env)}; see docs/config.md.`;
    return { config, checks: [note('config', 'there is none, and none is needed for notebooks.', next)] };
  }
  const disabled = config.servers.filter((server) => server.disabled).length;
  const count = `${config.servers.length} servers${disabled === 0 ? '' : `, ${disabled} of them disabled`}`;
  const checks = [ok('config', `${config.file}: ${count}`), ...config.warnings.map((warning) => note('config', warning))];
  try {
    const modules = await loadMiddlewareModules(config.middleware, config.baseDir);
    if (modules.length > 0) checks.push(ok('middleware', `${modules.length} modules load`));
  } catch (error) {
    checks.push(failedCheck('middleware', messageOf(error), 'Fix the module, or take it out of "notebridge.middleware".'));
  }
  return { config, checks };
}

function faultsOf(error: unknown): Check[] {
  const { file, faults } = error instanceof BridgeError ? error.data : {};
  if (typeof file !== 'string' || !Array.isArray(faults)) return [failedCheck('config', messageOf(error), 'Fix the file.')];
  return (faults as Fault[]).map((found) => {
    if (found.line === undefined) return failedCheck('config', `${file}: the file ${found.found}.`, found.next);
    const text = describeFault(file, found);
    return failedCheck('config', text.slice(0, text.length - found.next.length).trimEnd(), found.next);
  });
}
