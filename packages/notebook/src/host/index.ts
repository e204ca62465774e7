export type { KernelTools, ToolCall, ToolCallOptions, ToolPackage } from '../kernel/kernel-tools.js';
export type { ToolAccess } from '../viewer/protocol.js';
export { HostError, type HostErrorCode, hostErrors } from './host-error.js';
export type { Logger } from './logger.js';
export { createNotebookHost, NotebookHost, type NotebookHostOptions } from './notebook-host.js';
export type { NotebookTools } from './notebook-tools.js';
export type { SaveTiming } from './save-timer.js';
export type { LinkLimits } from './viewer-link.js';
