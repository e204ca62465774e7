/** Code that cannot be run, as its author should read it. */
export class CodeError extends Error {
  readonly line: number;
  /** From 1. */
  readonly column: number;

  constructor(message: string, { line, column }: { line: number; column: number }) {
    super(message);
    this.name = 'SyntaxError';
    this.line = line;
    this.column = column;
  }
}
