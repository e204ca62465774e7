// Takes as much as it gets, of what the argument names, and tells how much that was.
import { fork } from 'node:child_process';
import fs from 'node:fs';

const [, program = '', kind = ''] = process.argv;

/** @type {{ [kind: string]: () => void }} */
const kinds = {
  memory() {
    const kept = [];
    for (;;) {
      kept.push(Buffer.alloc(16 * 1024 * 1024, 1));
      fs.writeSync(1, `${kept.length * 16}\n`);
    }
  },
  webAssembly() {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 65536 });
    for (;;) {
      const before = memory.grow(256);
      new Uint8Array(memory.buffer).fill(1, before * 65536);
      fs.writeSync(1, `${memory.buffer.byteLength / 2 ** 20}\n`);
    }
  },
  processes() {
    let started = 0;
    for (let count = 0; count < 1000; count++)
      try {
        fork(program, ['processes']).unref();
        started++;
      } catch {
        // Refused.
      }
    fs.writeSync(1, `${started}\n`);
    process.exit(0);
  },
  disk() {
    let written = 0;
    for (const folder of ['/', '/tmp', '/dev/shm', '/dev', '/var/tmp', '/run', process.cwd(), '/proc', '/proc/self'])
      try {
        const file = fs.openSync(`${folder}/filler`, 'w');
        for (let count = 0; count < 1024; count++) written += fs.writeSync(file, Buffer.alloc(1024 * 1024));
      } catch {
        // Not there, then.
      }
    fs.writeSync(1, `${written}\n`);
  },
  files() {
    let open = 0;
    try {
      for (;;) {
        fs.openSync(program, 'r');
        open++;
      }
    } catch {
      fs.writeSync(1, `${open}\n`);
    }
  },
};
kinds[kind]?.();
