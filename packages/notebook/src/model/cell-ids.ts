/** A new cell id as nbformat makes them: eight hexadecimal digits. Only has to be unlike the others of its notebook. */
export function createCellId(isTaken: (id: string) => boolean): string {
  for (;;) {
    const id = toHex(Math.floor(Math.random() * 2 ** 32));
    if (!isTaken(id)) return id;
  }
}

/**
 * An id for a cell of a file that has none. Made from the cell's place and text, so that the same file read again gives the
 * same ids, and a merge with what is open finds the cells that belong together.
 */
export function deriveCellId(seed: string, isTaken: (id: string) => boolean): string {
  for (let salt = 0; ; salt++) {
    const id = toHex(hash(`${salt}:${seed}`));
    if (!isTaken(id)) return id;
  }
}

/** FNV-1a with 32 bits. */
function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193);
  return value >>> 0;
}

function toHex(value: number): string {
  return value.toString(16).padStart(8, '0');
}
