/** Cuts a stream of text into lines of bounded length: what is longer comes in several. Returns the function that takes the chunks. */
export function createLineSplitter(maxLength: number, onLine: (line: string) => void): (chunk: string) => void {
  let started = '';
  return (chunk) => {
    const lines = (started + chunk).split(/\r?\n|\r/);
    started = lines.pop() ?? '';
    while (started.length > maxLength) {
      lines.push(started.slice(0, maxLength));
      started = started.slice(maxLength);
    }
    for (const line of lines) for (let from = 0; from < line.length; from += maxLength) onLine(line.slice(from, from + maxLength));
  };
}
