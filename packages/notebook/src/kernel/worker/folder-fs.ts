/**
 * The notebook's folder as a file system of Emscripten's: each question goes to the host, nothing is kept but the piece of a file that was
 * read last. So code sees what is there now, and this process can read none of it by itself. To read only.
 */
import type { PyodideAPI } from 'pyodide';
import type { HostPort, HostReply } from './host-port.js';

/** Where code finds the folder of the notebook, and begins. */
export const folderInside = '/notebook';

type Kind = 'f' | 'd' | 'l' | 'o';

/** As Emscripten keeps them; `id` is unique. */
interface Node {
  readonly id: number;
  /** Of a folder that is being listed: what stood in it. */
  kinds?: ReadonlyMap<string, Kind>;
  isListing?: true;
  /** What the host has just said of it, for the same step of Python's. */
  said?: Stats;
  readonly name: string;
  readonly parent: Node;
  mode: number;
  mount: object;
  node_ops: object;
  stream_ops: object;
}

interface Stream {
  readonly fd: number;
  node: Node;
  readonly flags: number;
  position: number;
  /** The same object in all duplicates of a descriptor. */
  readonly shared: { handle?: number; users?: number };
  /** The piece of the file that was read last. */
  piece?: { at: number; data: Uint8Array };
}

interface Stats {
  readonly kind: Kind;
  readonly size: number;
  readonly mtimeMs: number;
  readonly executable: boolean;
  readonly ino: number;
}

/** What this uses of Emscripten's file system besides its documented part. */
interface Insides {
  FSNode: new (parent: Node | null, name: string, mode: number, device: number) => Node;
  ErrnoError: new (errno: number) => Error;
  closeStream(fd: number): void;
}

/** Numbers of WASI, which Emscripten uses. */
const errnos: { readonly [name: string]: number } = {
  EACCES: 2,
  EBADF: 8,
  EINTR: 27,
  EINVAL: 28,
  EIO: 29,
  EISDIR: 31,
  EMFILE: 33,
  ENAMETOOLONG: 37,
  ENFILE: 41,
  ENOENT: 44,
  ENOTDIR: 54,
  EOVERFLOW: 61,
  EROFS: 69,
  ETIMEDOUT: 73,
};
const modeOf: { readonly [kind in Kind]: number } = { f: 0o100444, d: 0o040555, l: 0o120777, o: 0o010444 };

/** Of one question: the way there, and a disk that sleeps. */
const answerTimeoutMs = 60_000;
/** Read at once, also where Python asks for less: a question takes as long as reading some hundred kilobytes. */
const pieceBytes = 256 * 1024;
const maxPieceBytes = 1024 * 1024;
const writing = 0o3;

/** Why the host refused a path, for the words of an error. */
export type TellRefusal = (path: string) => string;

/** Mounts it at `folderInside`. */
export function mountFolder({ FS }: PyodideAPI, host: HostPort): TellRefusal {
  const { FSNode, ErrnoError, closeStream } = FS as unknown as Insides;
  const refusal = { path: '', why: '' };
  let listed: { path: string; kinds: ReadonlyMap<string, Kind> } | undefined;
  const fault = (errno: string) => new ErrnoError(errnos[errno] ?? 29);

  const ask = (request: { op: string; path?: string; [key: string]: unknown }): HostReply => {
    if (request.path === refusal.path) refusal.why = '';
    const id = host.begin('files', JSON.stringify(request));
    const reply = host.wait(id, answerTimeoutMs);
    if (reply !== undefined && reply !== 'interrupted') {
      const { errno, why } = reply.value;
      if (errno === undefined && reply.value.error === undefined) return reply;
      if (request.path !== undefined) Object.assign(refusal, { path: request.path, why: typeof why === 'string' ? why : '' });
      throw fault(String(errno));
    }
    host.cancel('files', id);
    throw fault(reply === 'interrupted' ? 'EINTR' : 'ETIMEDOUT');
  };
  const toAttributes = (stats: Stats) => {
    const time = new Date(stats.mtimeMs);
    return {
      dev: 1,
      ino: stats.ino,
      mode: modeOf[stats.kind] | (stats.kind === 'f' && stats.executable ? 0o111 : 0),
      nlink: 1,
      uid: 0,
      gid: 0,
      rdev: 0,
      size: stats.size,
      atime: time,
      mtime: time,
      ctime: time,
      blksize: pieceBytes,
      blocks: Math.ceil(stats.size / 512),
    };
  };
  const lookAt = ({ shared }: Stream) => ask({ op: 'stat', handle: shared.handle }).value as unknown as Stats;
  const look = (path: string) => ask({ op: 'look', path }).value as unknown as Stats;
  /** Emscripten looks at each entry of a folder that it lists, which is not asked for one by one. It skips what gives this errno. */
  const kindListed = (folder: Node, name: string): Kind => {
    if (listed?.path === pathOf(folder)) folder.kinds ??= listed.kinds;
    const kind = folder.kinds?.get(name);
    if (kind === undefined) throw fault('EINVAL');
    return kind;
  };
  /** Emscripten keeps no node of it: each way to a file is asked for anew. */
  const toNode = (parent: Node | null, name: string, kind: Kind): Node =>
    Object.assign(new FSNode(parent, name, modeOf[kind], 0), { node_ops: nodeOps, stream_ops: kind === 'd' ? folderOps : fileOps });

  const nodeOps = Object.freeze({
    lookup(parent: Node, given: string): Node {
      const name = `${given}`;
      if (parent.isListing) return toNode(parent, name, kindListed(parent, name));
      const folder = pathOf(parent);
      const said = look(folder === '' ? name : `${folder}/${name}`);
      return Object.assign(toNode(parent, name, said.kind), { said });
    },
    getattr(node: Node) {
      const { said } = node;
      delete node.said;
      return toAttributes(said ?? look(pathOf(node)));
    },
    readlink: (node: Node) => `${folderInside}/${String(ask({ op: 'target', path: pathOf(node) }).value.target)}`,
    readdir(node: Node): string[] {
      const path = pathOf(node);
      const { names, kinds } = ask({ op: 'list', path }).value as { names: string; kinds: string };
      const all = names === '' ? [] : names.split('/');
      listed = { path, kinds: new Map(all.map((name, at) => [name, kinds[at] as Kind])) };
      return ['.', '..', ...all];
    },
    setattr: () => {
      throw fault('EROFS');
    },
  });
  const fileOps = Object.freeze({
    open(stream: Stream): void {
      try {
        if ((stream.flags & writing) !== 0) throw fault('EROFS');
        stream.shared.handle = Number(ask({ op: 'open', path: pathOf(stream.node) }).value.handle);
        stream.shared.users = 1;
      } catch (error) {
        // Emscripten forgets a stream only once it was open.
        closeStream(stream.fd);
        throw error;
      }
    },
    getattr: (stream: Stream) => toAttributes(lookAt(stream)),
    read(stream: Stream, buffer: Uint8Array, offset: number, length: number, position: number): number {
      const { piece } = stream;
      let data = piece && position >= piece.at ? piece.data.subarray(position - piece.at) : undefined;
      if (!data?.length && length > 0) {
        // Who reads on from where the last piece ended will want more.
        const isOn = piece !== undefined && position === piece.at + piece.data.length;
        const size = isOn ? maxPieceBytes : Math.min(Math.max(length, pieceBytes), maxPieceBytes);
        ({ data } = ask({ op: 'read', handle: stream.shared.handle, at: position, length: size }));
        stream.piece = { at: position, data };
      }
      const part = (data ?? new Uint8Array(0)).subarray(0, length);
      buffer.set(part, offset);
      return part.length;
    },
    llseek(stream: Stream, offset: number, whence: number): number {
      const from = whence === 1 ? stream.position : whence === 2 ? lookAt(stream).size : 0;
      if (from + offset < 0) throw fault('EINVAL');
      return from + offset;
    },
    dup({ shared }: Stream): void {
      shared.users = (shared.users ?? 0) + 1;
    },
    close(stream: Stream): void {
      const { shared } = stream;
      delete stream.piece;
      shared.users = (shared.users ?? 0) - 1;
      // Nobody waits for that, also where an interrupt is under way.
      if (shared.users === 0) host.begin('files', JSON.stringify({ op: 'close', handle: shared.handle }));
    },
  });
  const folderOps = Object.freeze({
    open(stream: Stream): void {
      // A node of its own: that of the folder above all is everybody's.
      const { parent, name, mount } = stream.node;
      stream.node = Object.assign(toNode(parent === stream.node ? null : parent, name, 'd'), { mount, isListing: true });
    },
    llseek: (stream: Stream, offset: number, whence: number) => (whence === 1 ? stream.position : 0) + offset,
  });

  FS.mkdirTree(folderInside);
  FS.mount({ mount: () => toNode(null, '/', 'd') } as never, {}, folderInside);
  return Object.freeze((path: string) => (`${path}` === refusal.path ? refusal.why : ''));
}

/** Below the folder, by names alone. */
function pathOf(node: Node): string {
  const names: string[] = [];
  for (let at = node; at.parent !== at; at = at.parent) names.unshift(at.name);
  return names.join('/');
}
