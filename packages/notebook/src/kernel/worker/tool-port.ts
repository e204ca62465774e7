import type { PyodideAPI } from 'pyodide';
import type { Command, ToolCommand } from '../messages.js';
import type { Mailbox } from './mailbox.js';

/** `notebridge_kernel.Kernel`, as far as tools go. */
export interface PythonTools {
  connect_tools(port: object): void;
  take_of_tool(id: number, kind: 'event' | 'answer', text: string): void;
}

export interface ToolPortOptions {
  pyodide: PyodideAPI;
  python: PythonTools;
  mailbox: Mailbox;
}

/** On Python's path. `generated` in it is a link to a folder of one version. */
const folder = '/lib/notebridge_tools';
/** Who has imported an older version loads the rest of it from there. */
const keptVersions = 4;

/** Between Python and the tools of the host: the calls, and the package with the functions. */
export class ToolPort {
  readonly #options: ToolPortOptions;
  readonly #versions: string[] = [];
  #isOpen = false;
  #package: Extract<ToolCommand, { type: 'toolPackage' }>['package'] = { state: 'coming' };

  constructor(options: ToolPortOptions) {
    this.#options = options;
  }

  take(command: ToolCommand): void {
    if (command.type !== 'toolPackage')
      return this.#options.python.take_of_tool(command.id, command.type === 'toolEvent' ? 'event' : 'answer', command.text);
    this.#open();
    this.#install(command);
  }

  #open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    const { pyodide, python, mailbox } = this.#options;
    pyodide.FS.mkdirTree(folder);
    python.connect_tools(
      Object.assign(Object.create(null), {
        folder,
        canWait: mailbox.canWait,
        call: (id: number, server: string, tool: string, body: string, hears: boolean, cell: number) =>
          mailbox.post({
            ...{ type: 'toolCall', id: Number(id), server: `${server}`, tool: `${tool}`, body: `${body}`, hears: hears === true },
            cell: `${cell}`,
          }),
        cancel: (id: number) => mailbox.post({ type: 'toolCancel', id: Number(id) }),
        heard: (id: number) => mailbox.post({ type: 'toolHeard', id: Number(id) }),
        wait: (id: number, ms: number) => this.#wait(id, ms),
        waitForPackage: (ms: number) => this.#waitForPackage(ms),
      }),
    );
  }

  /** `e` or `a` and the text of an event or the answer; `i` for an interrupt; nothing if the time is over. */
  #wait(id: number, ms: number): string {
    const isOfCall = (next: Command) => (next.type === 'toolEvent' || next.type === 'toolAnswer') && next.id === id;
    const command = this.#options.mailbox.wait(isOfCall, ms);
    if (command === 'interrupted') return 'i';
    if (command?.type === 'toolEvent') return `e${command.text}`;
    return command?.type === 'toolAnswer' ? `a${command.text}` : '';
  }

  /** `there`; the reason if there is none; `i` for an interrupt; nothing if the time is over. */
  #waitForPackage(ms: number): string {
    const isPackage = (next: Command) => next.type === 'toolPackage';
    if (this.#package.state === 'coming' && this.#options.mailbox.canWait) {
      const command = this.#options.mailbox.wait(isPackage, ms);
      if (command === 'interrupted') return 'i';
      if (command?.type === 'toolPackage') this.#install(command);
    }
    if (this.#package.state === 'none') return this.#package.reason;
    return this.#package.state === 'there' ? 'there' : '';
  }

  /** Python stands still meanwhile: an import sees the old package or the new one. */
  #install({ package: next }: Extract<ToolCommand, { type: 'toolPackage' }>): void {
    this.#package = next;
    const { FS } = this.#options.pyodide;
    const link = `${folder}/generated`;
    if (FS.analyzePath(link, true).exists) FS.unlink(link);
    if (next.state !== 'there') return;
    const place = placeOf(next.version);
    if (!FS.analyzePath(place).exists) {
      for (const [path, text] of next.files) {
        FS.mkdirTree(`${place}/${path}`.slice(0, `${place}/${path}`.lastIndexOf('/')));
        FS.writeFile(`${place}/${path}`, text);
      }
    }
    FS.symlink(place, link);
    this.#forgetAllBut(next.version);
  }

  #forgetAllBut(version: string): void {
    const at = this.#versions.indexOf(version);
    if (at !== -1) this.#versions.splice(at, 1);
    this.#versions.push(version);
    while (this.#versions.length > keptVersions) removeTree(this.#options.pyodide.FS, placeOf(this.#versions.shift() ?? ''));
  }
}

/** Short: it stands in tracebacks. */
function placeOf(version: string): string {
  return `${folder}/.generated-${version.slice(0, 12)}`;
}

function removeTree(FS: PyodideAPI['FS'], path: string): void {
  for (const name of FS.readdir(path) as string[]) {
    if (name === '.' || name === '..') continue;
    const child = `${path}/${name}`;
    if (FS.isDir(FS.lstat(child).mode)) removeTree(FS, child);
    else FS.unlink(child);
  }
  FS.rmdir(path);
}
