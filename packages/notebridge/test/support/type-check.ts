import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { onTestFinished } from 'vitest';

/** A folder that is removed when the test ends, with these files in it. */
export function folderOf(files: ReadonlyMap<string, string> = new Map()): string {
  const folder = mkdtempSync(join(tmpdir(), 'notebridge-types-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** What `tsc --strict` says of these files, the declarations that they import checked as well: one line each. */
export function typeFaults(files: string[]): string[] {
  const program = ts.createProgram(files, {
    strict: true,
    noEmit: true,
    skipLibCheck: false,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
    types: [],
  });
  return ts.getPreEmitDiagnostics(program).map((fault) => {
    const text = ts.flattenDiagnosticMessageText(fault.messageText, ' ');
    const { file, start = 0 } = fault;
    return file === undefined ? text : `${file.fileName}:${file.getLineAndCharacterOfPosition(start).line + 1} ${text}`;
  });
}
