/** Bounds of the code that agents run (`notebridge.codeMode`). Every one is a whole number. */
export const defaultCodeModeLimits = {
  /** Seconds that one execution may run; then it is interrupted. A call can ask for less. */
  seconds: 120,
  /** Seconds for which the clock of one execution stands while people are asked, all together; then it goes on. */
  askedSeconds: 3600,
  /** Tool calls of one execution; one more is refused to the code as an error. */
  calls: 1000,
  /** Tool calls of one execution under way at once; others wait for their turn. */
  parallelCalls: 16,
  /** Bytes of output of one execution that are kept for its answer: of what is printed the beginning and the end. */
  outputBytes: 1_048_576,
  /** Characters of code; longer code is refused. */
  codeCharacters: 200_000,
  /** Memory of one Python, in MiB, where it is in a sandbox of the operating system; 0: three quarters of the machine's, 5 GiB at most. */
  memoryMb: 0,
  /** Interpreters at once, those that are kept ready included. An idle one makes room, of who has most; when none is idle a call is refused. */
  kernels: 8,
  /** Minutes after which a session that nobody uses ends, and its variables with it. */
  idleMinutes: 30,
  /** Milliseconds that code waits for its type check; then it runs unchecked. */
  typeCheckMs: 2000,
};

export type CodeModeLimits = typeof defaultCodeModeLimits;

/** Whether code is type-checked before it runs: where a checker is installed, never, or always. */
export const typeCheckModes = ['auto', 'off', 'require'] as const;

export type TypeCheckMode = (typeof typeCheckModes)[number];

/** Said to whoever still asks for the tools of PyPI's `agent-codemode` in place of our own. */
export const noOtherTools =
  'The tools of agent-codemode are no longer offered by their names: code mode lists search_tools, describe_tools and execute_code';
