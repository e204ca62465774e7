/** A line of `/proc/PID/mountinfo` (proc_pid_mountinfo(5)). */
export interface MountPoint {
  path: string;
  /** Which file system, and which folder of it. */
  device: string;
  root: string;
  isReadOnly: boolean;
  /** The kind of the file system. */
  fileSystem: string;
  /** Of the file system itself, as in `size=100k`. */
  options: string[];
}

export function parseMounts(text: string): MountPoint[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [front = '', back = ''] = line.split(' - ');
      const [, , device = '', root = '', path = '', mount = ''] = front.split(' ');
      const [fileSystem = '', , options = ''] = back.split(' ');
      return {
        path: unescapeOctal(path),
        root: unescapeOctal(root),
        device,
        isReadOnly: mount.split(',').includes('ro'),
        fileSystem,
        options: options.split(','),
      };
    });
}

export function unescapeOctal(text: string): string {
  return text.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(Number.parseInt(octal, 8)));
}
