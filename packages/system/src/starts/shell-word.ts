/** One word of a command line, to be pasted into a shell: of POSIX, or of Windows. */
export function shellWord(word: string, platform: string = process.platform): string {
  if (platform === 'win32') return /^[\w@%+=:,./~\\-]+$/.test(word) ? word : `"${word}"`;
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
