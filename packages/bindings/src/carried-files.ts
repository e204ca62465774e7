import { readdir, readFile } from 'node:fs/promises';

/** The files of a language's `runtime/` that every generated package contains unchanged: texts by path with `/`, sorted. */
export async function readRuntime(language: string, isWanted: (path: string) => boolean): Promise<Map<string, string>> {
  const folder = new URL(`./${language}/runtime/`, import.meta.url);
  const paths = (await readdir(folder, { recursive: true })).map((path) => path.replaceAll('\\', '/')).filter(isWanted);
  return new Map(await Promise.all(paths.sort().map(async (path) => [path, await readFile(new URL(path, folder), 'utf8')] as const)));
}

/** The version of Notebridge, which the manifest of a generated package names. */
export async function readVersion(): Promise<string> {
  const text = await readFile(new URL('../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
