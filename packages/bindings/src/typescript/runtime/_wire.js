import { failure } from './_errors.js';

/** The body of a call. @param {import('./_errors.js').Address} address @param {unknown} arguments_ */
export function encode(address, arguments_) {
  if (typeof arguments_ !== 'object' || arguments_ === null || Array.isArray(arguments_)) {
    throw failure(address, 'The arguments must be an object, one member for each parameter.', 'invalid_arguments');
  }
  try {
    return JSON.stringify({ arguments: arguments_ });
  } catch (cause) {
    throw failure(address, `The arguments cannot be sent as JSON: ${/** @type {Error} */ (cause).message}.`, 'invalid_arguments', {
      cause,
    });
  }
}

/** Progress as listeners get it. @param {any} event */
export function toProgress({ progress, total, message }) {
  return { progress, ...(typeof total === 'number' ? { total } : {}), ...(typeof message === 'string' ? { message } : {}) };
}

/** @param {string} text @returns {any} */
export function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
