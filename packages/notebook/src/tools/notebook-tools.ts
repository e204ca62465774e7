import type { NotebookSession } from '../session/session.js';
import { addCodeCell, addTextCell, deleteCell, moveCell, undoLastChange, updateCell } from './edit-cells.js';
import { getRun, interruptRun, listRuns } from './follow-runs.js';
import { getCells } from './get-cells.js';
import { getOutput } from './get-output.js';
import { getNotebookInfo, interruptExecution, restartKernel } from './notebook-info.js';
import { runCode, runCodeCell } from './run-cells.js';
import { bindTool, describeTool, type NotebookTool, type ToolDefinition, type ToolDescription, type ToolOptions } from './tool.js';

/** A new tool is one object, and one line here. The first seven are Colab's, by name, arguments and results. */
const definitions: readonly ToolDefinition[] = [
  addCodeCell,
  addTextCell,
  deleteCell,
  getCells,
  moveCell,
  runCodeCell,
  updateCell,
  runCode,
  getOutput,
  getRun,
  listRuns,
  interruptRun,
  interruptExecution,
  restartKernel,
  getNotebookInfo,
  undoLastChange,
];

/** The tools that agents have in a session. */
export function createNotebookTools(session: NotebookSession, options: ToolOptions = {}): NotebookTool[] {
  return definitions.map((definition) => bindTool(definition, session, options));
}

/** The same tools, without a session. */
export function describeNotebookTools(): ToolDescription[] {
  return definitions.map(describeTool);
}
