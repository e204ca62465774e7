// What is left when all test files have ended: their own check has run by then, unless their process died before it.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { endProcess, processesFrom, seesAllProcesses } from './processes.mjs';

/**
 * One line for each process and each entry that a run has left; the processes are ended.
 * @param {string} folder The temporary folder of the run, in which each test file had one of its own.
 * @returns {string[]}
 */
export function leftAfterRun(folder) {
  const living = seesAllProcesses ? processesFrom(folder, new Set()) : [];
  for (const each of living) endProcess(each);
  return [
    ...living.map(({ pid, command }) => `process ${pid} (${command.slice(0, 200)})`),
    ...left(folder).map((name) => `temporary file or folder ${join(folder, name)}, of a test file that was stopped or died`),
  ];
}

/**
 * An empty folder is that of a file whose tests were all skipped: no hook of it runs.
 * @param {string} folder
 */
function left(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory() && readdirSync(join(folder, entry.name)).length === 0 ? [] : [entry.name],
  );
}

/** What the check of a test file does not see on this system; empty where it sees all. */
export function notChecked() {
  if (seesAllProcesses) return '';
  return `left behind: on ${process.platform}, processes that lost their parent, and the ports of other processes, are not looked for.\n`;
}
