import { readFileSync } from 'node:fs';

/** The file that holds the address of the notebook's window, from what the program or its tool says; undefined if it does not. */
export function windowFileIn(text: string): string | undefined {
  return /in "([^"]+window-\d+(?:-\d+)?\.url)"/.exec(text)?.[1];
}

/** The address of the notebook's window, as a person finds it. */
export function windowUrlIn(text: string): string {
  const file = windowFileIn(text);
  return file === undefined ? '' : readFileSync(file, 'utf8').trim();
}
