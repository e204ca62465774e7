import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { crc32 } from 'node:zlib';

export interface WheelOptions {
  name: string;
  version: string;
  /** Default `py3-none-any`. */
  tag?: string;
  needs?: string[];
  /** Text by path; default: a module of the package's name, with its version. */
  files?: { [path: string]: string };
}

export interface Wheel {
  filename: string;
  bytes: Buffer;
}

/** A wheel as installers take it: a zip archive, here of stored files. */
export function makeWheel({ name, version, tag = 'py3-none-any', needs = [], files }: WheelOptions): Wheel {
  const module = name.replaceAll('-', '_');
  const about = `${module}-${version}.dist-info`;
  const metadata = [
    'Metadata-Version: 2.1',
    `Name: ${name}`,
    `Version: ${version}`,
    ...needs.map((text) => `Requires-Dist: ${text}`),
    '',
    '',
  ];
  const all: { [path: string]: string } = {
    ...(files ?? { [`${module}/__init__.py`]: `version = "${version}"\n` }),
    [`${about}/METADATA`]: metadata.join('\n'),
    [`${about}/WHEEL`]: `Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: ${tag}\n`,
  };
  all[`${about}/RECORD`] = [...Object.keys(all), `${about}/RECORD`].map((path) => `${path},,`).join('\n');
  return { filename: `${module}-${version}-${tag}.whl`, bytes: zip(all) };
}

function zip(files: { [path: string]: string }): Buffer {
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let at = 0;
  for (const [path, text] of Object.entries(files)) {
    const name = Buffer.from(path);
    const data = Buffer.from(text);
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt32LE(checksum(data), 10);
    head.writeUInt32LE(data.length, 14);
    head.writeUInt32LE(data.length, 18);
    head.writeUInt16LE(name.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), head, name, data]);
    const tail = Buffer.alloc(16);
    tail.writeUInt32LE(0o100644 * 65_536, 6);
    tail.writeUInt32LE(at, 10);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02'), Buffer.from([20, 3]), head, tail.subarray(0, 14), name]));
    locals.push(local);
    at += local.length;
  }
  const end = Buffer.alloc(18);
  end.writeUInt16LE(central.length, 4);
  end.writeUInt16LE(central.length, 6);
  end.writeUInt32LE(Buffer.concat(central).length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...locals, ...central, Buffer.from('PK\x05\x06'), end]);
}

/** Node 20.19 has no `crc32` of its own in every build. */
function checksum(data: Buffer): number {
  if (typeof crc32 === 'function') return crc32(data);
  let crc = ~0;
  for (const byte of data) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}

/** What an index says of a file besides its name. */
export interface Listed {
  wheel: Wheel | string;
  sha256?: string | null;
  python?: string;
  yanked?: boolean;
}

/** An index of packages on loopback, whose pages are JSON, or HTML below `/html`. */
export class PackageIndex {
  readonly asked: string[] = [];
  readonly #packages = new Map<string, Listed[]>();
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      const path = request.url ?? '';
      this.asked.push(path);
      const [, kind = '', name = ''] = /^\/(simple|html|files)\/([^/]+)/.exec(path) ?? [];
      const bytes = kind === 'files' ? this.#bytesOf(name) : undefined;
      if (bytes) return void response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(bytes);
      const listed = this.#packages.get(name);
      if (!listed || kind === 'files') return void response.writeHead(404).end();
      if (kind === 'html') return void response.writeHead(200, { 'content-type': 'text/html' }).end(listed.map(toLink).join('\n'));
      response.writeHead(200, { 'content-type': 'application/vnd.pypi.simple.v1+json' });
      response.end(JSON.stringify({ meta: { 'api-version': '1.0' }, name, files: listed.map(toEntry) }));
    });
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  add(name: string, ...listed: Listed[]): void {
    this.#packages.set(name, [...(this.#packages.get(name) ?? []), ...listed]);
  }

  /** A wheel that is as it should be. */
  addWheel(options: WheelOptions): void {
    this.add(options.name, { wheel: makeWheel(options) });
  }

  #bytesOf(filename: string): Buffer | undefined {
    for (const listed of this.#packages.values())
      for (const { wheel } of listed) if (typeof wheel !== 'string' && wheel.filename === filename) return wheel.bytes;
    return undefined;
  }
}

function describeListed({ wheel, sha256, python, yanked }: Listed) {
  const filename = typeof wheel === 'string' ? wheel : wheel.filename;
  const real = typeof wheel === 'string' ? 'a'.repeat(64) : createHash('sha256').update(wheel.bytes).digest('hex');
  return { filename, url: `../../files/${filename}`, sha256: sha256 === undefined ? real : sha256, python, yanked };
}

function toEntry(listed: Listed) {
  const { filename, url, sha256, python, yanked } = describeListed(listed);
  return { filename, url, hashes: sha256 === null ? {} : { sha256 }, 'requires-python': python ?? null, yanked: yanked ?? false };
}

function toLink(listed: Listed): string {
  const { filename, url, sha256, python, yanked } = describeListed(listed);
  const escaped = python?.replaceAll('>', '&gt;').replaceAll('<', '&lt;');
  return `<a href="${url}${sha256 === null ? '' : `#sha256=${sha256}`}"${escaped ? ` data-requires-python="${escaped}"` : ''}${yanked ? ' data-yanked=""' : ''}>${filename}</a><br/>`;
}
