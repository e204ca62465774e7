import { fileURLToPath } from 'node:url';
import { pythonWith, runPython } from '../../../../scripts/python-env.mjs';

const probe = fileURLToPath(new URL('./nbformat_probe.py', import.meta.url));

let python: Promise<string> | undefined;

/** Installs nbformat, if it is not there yet: for a `beforeAll` that has more time than a test. */
export function preparePython(): Promise<string> {
  python ??= pythonWith(['nbformat']);
  return python;
}

/** The time that `preparePython` may take on a slow line. */
export const pythonTimeoutMs = 5 * 60_000;

/** What Python's nbformat says of each text: undefined if it is a valid notebook. `strict` counts as a fault what it would only mend. */
export async function pythonVerdicts(texts: readonly string[], { strict = true } = {}): Promise<(string | undefined)[]> {
  const answers = await ask('verdict', texts, strict ? ['--strict'] : []);
  return answers.map((answer) => answer ?? undefined);
}

/** Whether Jupyter opens each text, whatever it says of it then. */
export async function pythonOpens(texts: readonly string[]): Promise<boolean[]> {
  return (await ask('opened', texts, [])).map((answer) => answer === null);
}

/** Each text as Python's nbformat writes it after reading it. */
export async function pythonRewritten(texts: readonly string[]): Promise<string[]> {
  return (await ask('rewritten', texts, [])).map(String);
}

async function ask(question: string, texts: readonly string[], options: readonly string[]): Promise<(string | null)[]> {
  return JSON.parse(
    await runPython(await preparePython(), [probe, ...options], { input: JSON.stringify(texts.map((text) => [question, text])) }),
  );
}
