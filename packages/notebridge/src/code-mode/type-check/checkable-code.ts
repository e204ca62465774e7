import type { CheckedPackage } from '@notebridge/bindings';

/** Longer code is not looked at. UTF-16 units. */
const mostCharacters = 100_000;
/** A line of a magic, or of a shell: no Python, but the kernel takes it. */
const magicLine = /^[ \t]*(?:[A-Za-z_][\w., ]*=[ \t]*)?[%!?]|^[ \t]*[A-Za-z_][\w.]*\?{1,2}[ \t]*$/m;
/** What gives names another meaning than the one they were imported with, or makes some that are nowhere written. */
const patching =
  /\b(?:setattr|delattr|exec|eval|globals|locals|vars|__import__|__dict__|__builtins__|builtins|importlib|sys\.modules|sys\.path|sys\.meta_path|mock|monkeypatch|set_tool_caller|runpy|ctypes)\b/;

/** Whether there is anything in the code that a check could find: only what is imported in it has types. */
export function isCheckable(code: string): boolean {
  return /\bgenerated\b/.test(code) && code.length <= mostCharacters && !code.includes('\0') && !magicLine.test(code);
}

/** Whether code may change what the tools' functions are: then types say nothing any more, of it and of what comes after it. */
export function mayPatch(code: string, tools: CheckedPackage['tools'] | undefined): boolean {
  if (patching.test(code)) return true;
  const names = new Set([...(tools?.values() ?? [])].map(({ name }) => name));
  for (const [, name = ''] of code.matchAll(/\.([A-Za-z_]\w*)[ \t]*(?::[^=\n]{0,200})?=(?!=)/g)) if (names.has(name)) return true;
  return false;
}
