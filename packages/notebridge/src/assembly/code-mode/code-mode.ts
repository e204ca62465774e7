import { messageOf } from '@notebridge/kit/message-of';
import type { SandboxMode } from '@notebridge/notebook/host';
import { CodeModeProvider } from '../../code-mode/code-mode-provider.js';
import { CodeExecutor } from '../../code-mode/execution/code-executor.js';
import type { CreateCodeKernel } from '../../code-mode/execution/code-kernel.js';
import type { CallTool } from '../../code-mode/execution/nested-calls.js';
import { RunningCode } from '../../code-mode/execution/running-code.js';
import type { KernelStartObserver } from '../../code-mode/kernel-starts.js';
import { ToolSearch } from '../../code-mode/search/tool-search.js';
import { SavedSkillStore } from '../../code-mode/skills/saved-skill-store.js';
import { SkillSaving } from '../../code-mode/skills/skill-saving.js';
import type { Tool } from '../../core/mcp.js';
import type { Principal } from '../../core/principal.js';
import { createKernelDoor } from '../../doors/kernel/kernel-door.js';
import type { Hub } from '../../hub.js';
import type { SavedSkills } from '../../skills/saved-skills.js';
import { savingTools, skillsServerName } from '../../skills/skill-tools.js';
import type { ConfigServers } from '../config-servers.js';
import type { HubGuard } from '../hub-guard.js';
import { loadNotebook } from '../load-notebook.js';
import type { Settings } from '../settings.js';
import { openTypeChecker } from './open-type-checker.js';
import { PrincipalPackages } from './principal-packages.js';
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
    mayList: (principal, { server }, tool) => mayList(principal, server, tool),
    mayListWhole: (principal, server) => mayList(principal, server, undefined),
    listerOf,
  });
  const callTool: CallTool = (call, options) => door.call(call, options);
  const packages = new PrincipalPackages({ servers, mayList, logger });
  const running = new RunningCode();
  const executor = new CodeExecutor({
    typeChecker: openTypeChecker(settings),
    ...{ limits: config.codeMode, logger, delegate, callTool, running, isShared, whileLive, kernelStarts },
    createKernel: createKernels({ sandbox, config, logger, stateDir: settings.stateDir }),
    packagesOf: (principal) => packages.of(principal),
    runInNotebook: hasNotebook ? createRunInNotebook(hub) : undefined,
  });
  const store = new SavedSkillStore(settings);
  const [save, remove] = savingTools;
  servers.setSkillShelf(new SkillSaving({ store, running, executor, tools: { save, remove } }));
  const skills: SavedSkills = {
    all: () => store.all(),
    maySee: (principal, skill) => store.maySee(principal, skill) && mayList(principal, skillsServerName, undefined),
  };
  const search = new ToolSearch({ servers, listerOf, logger, skills, resolveName: (name) => servers.provider.resolve(name) });
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

/** Pyodide in its sandbox, with no files of the machine and no network. Loaded when the first one is made. */
function createKernels({
  sandbox,
  config,
  logger,
  stateDir,
}: Pick<Settings, 'config' | 'logger' | 'stateDir'> & { sandbox: SandboxMode | undefined }): CreateCodeKernel {
  const { memoryMb } = config.codeMode;
  const maxDataBytes = memoryMb === 0 ? undefined : memoryMb * 1024 * 1024;
  return async (tools) => {
    const { createNodeKernel } = await loadNotebook(stateDir);
    return createNodeKernel({ tools, sandbox, maxDataBytes, givesFiles: true, logger });
  };
}
