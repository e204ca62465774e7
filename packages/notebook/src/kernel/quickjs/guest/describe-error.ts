import { show } from './show.js';

/** Of what was thrown, texts alone: whatever it is, and whatever its getters do. */
export interface DescribedError {
  name: string;
  message: string;
  stack: string;
  /** Of an error that has one, as those of tools. */
  code?: string;
}

const maxCharacters = 20_000;
const maxCauses = 5;

/** Never throws. */
export function describeError(thrown: unknown): DescribedError {
  try {
    if (!(thrown instanceof Error)) return { name: 'Thrown', message: cut(show(thrown)), stack: '' };
    const code = (thrown as { code?: unknown }).code;
    return {
      name: cut(thrown.name) || 'Error',
      message: `${cut(thrown.message)}${causesOf(thrown)}`.trim(),
      stack: cut(thrown.stack),
      ...(typeof code === 'string' && code !== '' ? { code: cut(code) } : {}),
    };
  } catch {
    return { name: 'Error', message: 'an error that cannot be read was thrown', stack: '' };
  }
}

function causesOf(error: Error): string {
  let text = '';
  let { cause } = error;
  for (let count = 0; count < maxCauses && cause !== undefined && cause !== null; count++) {
    text += `\ncaused by ${cause instanceof Error ? `${cut(cause.name)}: ${cut(cause.message)}` : cut(show(cause))}`;
    cause = cause instanceof Error ? cause.cause : undefined;
  }
  const { errors } = error as { errors?: unknown };
  if (!Array.isArray(errors)) return text;
  for (let at = 0; at < errors.length && at < maxCauses; at++) text += `\n- ${cut(show(errors[at]))}`;
  return text;
}

function cut(value: unknown): string {
  return typeof value === 'string' ? value.slice(0, maxCharacters) : value === undefined ? '' : show(value).slice(0, maxCharacters);
}
