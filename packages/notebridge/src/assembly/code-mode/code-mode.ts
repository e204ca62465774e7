import { CodeModeProvider } from '@notebridge/code-mode/code-mode-provider';
import { CodeExecutor } from '@notebridge/code-mode/execution/code-executor';
import type { ToolPackages } from '@notebridge/code-mode/execution/code-kernel';
import type { KernelStartObserver } from '@notebridge/code-mode/execution/kernel-starts';
import type { RunningCode } from '@notebridge/code-mode/execution/nested-calls';
import { SavedSkillStore } from '@notebridge/code-mode/saved-skills/saved-skill-store';
import { createSkillShelf } from '@notebridge/code-mode/saved-skills/skill-saving';
import { ToolSearch } from '@notebridge/code-mode/search/tool-search';
import { skillsServerName } from '@notebridge/code-mode/skills/skill-tools';
import { TypeChecker } from '@notebridge/code-mode/type-check/type-checker';
import type { SandboxMode } from '@notebridge/notebook/host';
import { BridgeError } from '@notebridge/protocol/core/errors';
import type { Tool } from '@notebridge/protocol/core/mcp';
import { type Principal, principalKey } from '@notebridge/protocol/core/principal';
import { keepLatest } from '@notebridge/protocol/util/keep-latest';
import type { Logger } from '@notebridge/protocol/util/logger';
import { messageOf } from '@notebridge/protocol/util/message-of';
import { findTypeChecker } from '@notebridge/system/processes/type-checker-program';
import { createKernelDoor } from '../../doors/kernel/kernel-door.js';
import type { Hub } from '../../hub.js';
import { KeptPackage } from '../code-tools/kept-package.js';
import type { ConfigServers } from '../config-servers.js';
import type { HubGuard } from '../hub-guard.js';
import { loadNotebook } from '../load-notebook.js';
import type { Settings } from '../settings.js';
import { createRunInNotebook } from './run-in-notebook.js';

export interface CodeModeOptions {
  settings: Settings;
  hub: Hub;
  servers: ConfigServers;
  guard: HubGuard;
  tools: readonly Tool[];
  hasNotebook: boolean;
  /** Callers come over HTTP, too: the owner is not alone. */
  isShared: boolean;
  sandbox: SandboxMode | undefined;
  /** Undefined: nobody counts them. */
  kernelStarts: KernelStartObserver | undefined;
}

/** The three tools of code mode, joined with what they work on. */
export interface OpenCodeMode {
  provider: CodeModeProvider;
  endSession(sessionId: string): void;
  close(): Promise<void>;
}

export function openCodeMode(options: CodeModeOptions): OpenCodeMode {
  const { settings, hub, servers, guard, tools, hasNotebook, isShared, sandbox, kernelStarts } = options;
  const { logger, config } = settings;
  const { delegate, whileLive } = guard;
  const { listerOf } = guard.admission;
  const mayList = (principal: Principal, server: string, tool: Tool | undefined): boolean => listerOf(principal)(server, tool);
  const door = createKernelDoor({
    ...{ hub, servers, limits: { maxResultBytes: config.limits.maxResultBytes } },
    listerOf,
  });
  const packages = keepPackages({ servers, guard, logger });
  const running: RunningCode = new Map();
  const { memoryMb } = config.codeMode;
  const maxDataBytes = memoryMb === 0 ? undefined : memoryMb * 1024 * 1024;
  const executor = new CodeExecutor({
    typeChecker: openTypeChecker(settings),
    ...{ limits: config.codeMode, logger, delegate, running, isShared, whileLive, kernelStarts },
    callTool: (call, options) => door.call(call, options),
    // Pyodide in its sandbox, with no files of the machine and no network. Loaded when the first one is made.
    createKernel: async (kernelTools) => {
      const { createNodeKernel } = await loadNotebook(settings.stateDir);
      return createNodeKernel({ tools: kernelTools, sandbox, maxDataBytes, givesFiles: true, logger });
    },
    packagesOf: packages.of,
    runInNotebook: hasNotebook ? createRunInNotebook(hub) : undefined,
  });
  const store = new SavedSkillStore(settings);
  servers.setSkillShelf(createSkillShelf({ store, running, executor }));
  const search = new ToolSearch({
    ...{ servers, listerOf, logger },
    skillsOf: (principal) => (mayList(principal, skillsServerName, undefined) ? store.knownTo(principal) : []),
    resolveName: (name) => servers.provider.resolve(name),
  });
  return {
    provider: new CodeModeProvider({ tools, search, executor, answerTimeoutMs: config.limits.answerTimeoutMs }),
    endSession: (sessionId) => {
      executor.endSession(sessionId).catch((error: unknown) => logger.warn('An interpreter did not end.', { error: messageOf(error) }));
    },
    close: async () => {
      search.close();
      await executor.close();
      await packages.close();
    },
  };
}

/** Packages that are kept up to date. Who comes back after so many others has one made anew. */
const mostPackages = 50;

const nothing = 'no tool can be called by this agent: no MCP servers are configured, or its grant allows none (search_tools lists them)';

/** For each principal the functions that its code may import: those of the tools that it may call. */
function keepPackages({ servers, guard, logger }: Pick<CodeModeOptions, 'servers' | 'guard'> & { logger: Logger }) {
  const byKey = new Map<string, KeptPackage>();
  const open = (principal: Principal): KeptPackage =>
    new KeptPackage({
      ...{ servers, logger, nothing, what: 'code' },
      mayShow: (server, tool) => guard.admission.listerOf(principal)(server, tool),
      inputOf: async (gather) => {
        const input = await gather();
        return input.servers.length === 0 && !input.skills ? undefined : input;
      },
    });
  return {
    of: (principal: Principal): ToolPackages => {
      // The owner and anonymous callers see the same.
      const key = principal.kind === 'grant' ? principalKey(principal) : '';
      const own = byKey.get(key) ?? open(principal);
      for (const dropped of keepLatest(byKey, [key, own], mostPackages)) void dropped.close();
      return own;
    },
    /** Closing twice is harmless. */
    close: async (): Promise<void> => {
      await Promise.all([...byKey.values()].map((own) => own.close()));
    },
  };
}

/** The type checker of code before it runs; undefined where the config does not want it, or no checker is installed. Throws `bad_config` if it must be there. */
function openTypeChecker({ config, env, logger }: Pick<Settings, 'config' | 'env' | 'logger'>): TypeChecker | undefined {
  const { typeCheck, typeCheckMs: waitMs, idleMinutes } = config.codeMode;
  if (typeCheck === 'off') return undefined;
  const configDir = config.file === undefined ? undefined : config.baseDir;
  const program = findTypeChecker({ configDir, path: env.PATH, cwd: process.cwd() });
  if (program !== undefined) return new TypeChecker({ program, logger, idleMs: idleMinutes * 60_000, waitMs });
  if (typeCheck === 'auto') return undefined;
  const where = config.file === undefined ? '' : `${config.file}: `;
  throw new BridgeError(
    'bad_config',
    `${where}"notebridge.codeMode.typeCheck" is "require", and no type checker is installed beside Notebridge, beside this file or on the PATH. Install one (npm install --global pyright), or choose "auto".`,
  );
}
