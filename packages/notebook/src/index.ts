export type { JsonObject } from '@notebridge/protocol/json';
export type { ExecuteOptions, Execution, Kernel, KernelState } from './kernel/kernel.js';
export { type Actor, type Cell, type CellContent, type CellType, emptyNotebook, type Notebook } from './model/cell.js';
export {
  createDocument,
  createReplica,
  type DocumentEvent,
  type DocumentLimits,
  type EditOptions,
  type NewCell,
  type NotebookDocument,
  type PlacedCell,
} from './model/document.js';
export { NotebookError, type NotebookErrorCode, notebookErrors } from './model/errors.js';
export type { Journal, JournalAction, JournalEntry, JournalLimits, UndoOptions } from './model/journal.js';
export { isSameJson } from './model/json.js';
export { type NotebookLimits, type ParsedNotebook, parseNotebook, printNotebook } from './model/nbformat.js';
export type { Change, DocumentState, Operation } from './model/operation.js';
export type { DisplayDataOutput, ErrorOutput, ExecuteResultOutput, MimeBundle, Output, StreamOutput } from './model/output.js';
export type { OutputLimits } from './model/output-budget.js';
export type { OutputEdit } from './model/output-log.js';
export type { Run, RunOptions, RunResult, RunStatus } from './session/run-queue.js';
export { createNotebookSession, type NotebookSession, type SessionEvent, type SessionOptions } from './session/session.js';
export { createNotebookTools } from './tools/notebook-tools.js';
export type { ContentBlock, NotebookTool, ToolAnnotations, ToolContext, ToolOptions, ToolResult } from './tools/tool.js';
