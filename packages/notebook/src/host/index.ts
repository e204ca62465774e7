export type { Logger } from '@notebridge/protocol/util/logger';
export { type KernelBounds, lookAtBounds } from '@notebridge/sandbox/control-groups';
export type { FolderAccess, RunPlace, SandboxMode } from '@notebridge/sandbox/spec';
export { heedWrittenFolders, type WrittenFolders } from '@notebridge/sandbox/written-folders';
export { createJupyterKernel, type JupyterKernel, type JupyterKernelOptions } from '../kernel/jupyter/jupyter-kernel.js';
export type { CommMessage, KernelComms } from '../kernel/jupyter-protocol/kernel-comms.js';
export type { ExecuteOptions, Execution, Kernel } from '../kernel/kernel.js';
export type {
  CodeAsker,
  KernelTools,
  ServerQuestion,
  ServerQuestionOptions,
  ToolCall,
  ToolCallOptions,
  ToolPackage,
} from '../kernel/kernel-tools.js';
export { describeLayerState as describeState, type Layer } from '../kernel/layers.js';
export { createNodeKernel, type NodeKernelOptions } from '../kernel/node-kernel.js';
export { lookAtSandbox } from '../kernel/open-sandbox.js';
export type { WhyLeftOut, Written, WrittenBounds, WrittenFile } from '../kernel/written-files.js';
export type { FolderTrust, KernelDecision } from '../kernels/choose-kernel.js';
export { type KernelOverview, lookAtKernels, toUsableKernel, type UsableKernelOptions } from '../kernels/find-usable.js';
export type { FoundKernel } from '../kernels/found-kernel.js';
export type { KernelChoice } from '../kernels/kernel-choice.js';
export type { KernelOptions } from '../kernels/notebook-kernels.js';
export { HostError, type HostErrorCode, hostErrors } from '../session/host-error.js';
export type { LeaseState, ToolAccess } from '../viewer/protocol.js';
export { cellIdsIn, trustedOutputsIn, windowSeatsIn } from './kept-files.js';
export { createNotebookHost, NotebookHost } from './notebook-host.js';
export type { NotebookHostOptions } from './notebook-host-options.js';
export type { SaveTiming } from './save-timer.js';
export type { LeaseDesk, NotebookTools } from './viewer-actions.js';
export type { LinkLimits } from './viewer-link.js';
