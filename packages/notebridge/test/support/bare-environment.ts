/** What a program of a test cannot do without: where commands are, and the folder for temporary files that is looked at afterwards. */
export function bareEnvironment(): Record<string, string> {
  const { PATH = '', TMPDIR } = process.env;
  return { PATH, ...(TMPDIR === undefined ? {} : { TMPDIR }) };
}
