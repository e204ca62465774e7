import { messageOf } from '@notebridge/kit/message-of';
import type { SandboxMode } from '@notebridge/notebook/host';
import { CodeModeProvider } from '../../code-mode/code-mode-provider.js';
import { CodeExecutor } from '../../code-mode/execution/code-executor.js';
import type { RunningCode } from '../../code-mode/execution/nested-calls.js';
import type { KernelStartObserver } from '../../code-mode/kernel-starts.js';
import { ToolSearch } from '../../code-mode/search/tool-search.js';
import { SavedSkillStore } from '../../code-mode/skills/saved-skill-store.js';
import { createSkillShelf } from '../../code-mode/skills/skill-saving.js';
import { TypeChecker } from '../../code-mode/type-check/type-checker.js';
import { BridgeError } from '../../core/errors.js';
import type { Tool } from '../../core/mcp.js';
import { createKernelDoor } from '../../doors/kernel/kernel-door.js';
import type { Hub } from '../../hub.js';
import { findTypeChecker } from '../../processes/type-checker-program.js';
import { skillsServerName } from '../../skills/skill-tools.js';
import type { ConfigServers } from '../config-servers.js';
import type { LazyGuard } from '../lazy-guard.js';
import { loadNotebook } from '../load-notebook.js';
import type { Settings } from '../settings.js';
import { keepPackages } from './principal-packages.js';
import { createRunInNotebook } from './run-in-notebook.js';

export interface CodeModeOptions {
  settings: Settings;
  hub: Hub;
  servers: ConfigServers;
  guard: LazyGuard;
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
  const { mayList, listerOf, delegate, whileLive } = guard;
  const door = createKernelDoor({
    ...{ hub, servers, limits: { maxResultBytes: config.limits.maxResultBytes } },
    mayList: (principal, { server }, tool) => mayList(principal, server, tool),
    mayListWhole: (principal, server) => mayList(principal, server, undefined),
    listerOf,
  });
  const packages = keepPackages({ servers, mayList, logger });
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

/** What checks code before it runs; undefined where the config does not want it, or no checker is installed. Throws `bad_config` if it must be there. */
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
