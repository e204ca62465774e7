import type { Commands } from './commands.js';
import { exportAsHtml, exportAsScript } from './export/exports.js';
import { showHelp } from './frame/dialogs.js';
import type { MenuItem } from './frame/menu.js';
import { showNotebooks } from './frame/notebooks-dialog.js';
import { toggleTheme } from './frame/theme.js';
import type { Store } from './state/store.js';

/** What can be done with the whole notebook. */
export function notebookMenu(store: Store, commands: Commands, toggleOutline: () => void): readonly MenuItem[] {
  const isOff = store.offReason !== undefined;
  return [
    { text: 'New or open…', act: () => showNotebooks(commands), isOff: isOff || store.file.kind === 'none' },
    { text: 'Find and replace', keys: 'Ctrl F', act: () => commands.find() },
    { text: 'Outline', act: toggleOutline },
    { text: 'Line numbers', keys: 'Shift L', act: () => commands.toggleLineNumbers('all'), isChecked: commands.areLinesNumbered() },
    { text: 'Run all above', act: () => commands.runAll('above'), isOff, begins: true },
    { text: 'Run this one and all below', act: () => commands.runAll('below'), isOff },
    { text: 'Restart and run all…', act: () => commands.restartAndRunAll(), isOff },
    { text: 'Clear all outputs', act: () => commands.clearAllOutputs(), isOff },
    { text: 'Export as a script', act: () => exportAsScript(store), begins: true },
    { text: 'Export as HTML', act: () => exportAsHtml(store) },
    { text: 'Light or dark', act: toggleTheme, begins: true },
    { text: 'Keyboard help', keys: '?', act: showHelp },
  ];
}

/** What can be done with the selected cells, beside the tools that stand there. */
export function cellMenu(store: Store, commands: Commands): readonly MenuItem[] {
  const isOff = store.offReason !== undefined;
  return [
    { text: 'Cut', keys: 'X', act: () => commands.cut(), isOff },
    { text: 'Copy', keys: 'C', act: () => commands.copy() },
    { text: 'Paste below', keys: 'V', act: () => commands.paste(), isOff },
    { text: 'Paste above', keys: 'Shift V', act: () => commands.paste('above'), isOff },
    { text: 'Split at the cursor', keys: 'Ctrl Shift −', act: () => commands.split(), isOff, begins: true },
    { text: 'Merge', keys: 'Shift M', act: () => commands.merge(), isOff },
    { text: 'Take back the last step', keys: 'Z', act: () => commands.undoStep(), isOff },
    { text: 'Run all above', act: () => commands.runAll('above'), isOff, begins: true },
    { text: 'Run this one and all below', act: () => commands.runAll('below'), isOff },
    { text: 'Documentation at the cursor', keys: 'Shift Tab', act: () => commands.documentHere(), isOff, begins: true },
    { text: 'Line numbers', keys: 'L', act: () => commands.toggleLineNumbers('cell') },
  ];
}
