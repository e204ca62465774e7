/**
 * A seccomp filter as bytes: a program of classic BPF that Linux runs at each system call of a kernel. It is what bounds the
 * number of processes, since a limit (`RLIMIT_NPROC`) does not hold for root, and it keeps large parts of Linux out of reach.
 */
import {
  type CallNumbers,
  callsWithMode,
  judgedCalls,
  lastKnownCall,
  openat2,
  refusedCalls,
  refusedWithoutPrograms,
} from './system-calls.js';

interface Machine {
  /** `AUDIT_ARCH_…` of linux/audit.h. */
  auditArch: number;
  /** Where its numbers stand in `CallNumbers`. */
  column: 0 | 1;
}

const machines: { readonly [arch: string]: Machine } = {
  x64: { auditArch: 0xc000003e, column: 0 },
  arm64: { auditArch: 0xc00000b7, column: 1 },
};

// Offsets in `struct seccomp_data`; the lower half of an argument comes first on both machines.
const numberAt = 0;
const archAt = 4;
const argumentAt = (index: number) => 16 + 8 * index;

const load = (offset: number): Instruction => [0x20, 0, 0, offset];
const answer = (verdict: number): Instruction => [0x06, 0, 0, verdict];
const isEqual = (value: number, ifNot: number): Instruction => [0x15, 0, ifNot, value];
const isOther = (value: number, ifNot: number): Instruction => [0x15, ifNot, 0, value];
const isAbove = (value: number, ifNot: number): Instruction => [0x25, 0, ifNot, value];
const hasAnyBit = (bits: number, ifNot: number): Instruction => [0x45, 0, ifNot, bits];
const skip = (steps: number): Instruction => [0x05, 0, 0, steps];
const keepBits = (bits: number): Instruction => [0x54, 0, 0, bits];

/** Code, steps to skip if true, steps to skip if false, value. */
type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number];

const allow = 0x7fff0000;
const endProcess = 0x80000000;
const fail = (errno: number) => 0x00050000 | errno;
const EPERM = 1;
const ENOSYS = 38;
const EAFNOSUPPORT = 97;

const CLONE_THREAD = 0x10000;
/** All of `CLONE_NEW…` that `clone` knows. */
const newNamespaces = 0x7e020000;
/** `O_CREAT`, and what `O_TMPFILE` has besides `O_DIRECTORY`. */
const makesFile = 0x400040;
/** Set-user-id and set-group-id: a file with them, in a folder of the host, would act there as its owner. */
const changesUser = 0o6000;
const S_IFMT = 0o170000;
/** Character and block devices. */
const devices = [0o020000, 0o060000];
const MAP_SHARED_ANONYMOUS = 0x21;
/** Push characters into a terminal's input. */
const terminalInput = [0x5412, 0x541c];
/** Unix, IPv4, IPv6: others (vsock, netlink, packets) know no network namespace, or are a way into much code of Linux. */
const socketFamilies = [1, 2, 10];
/** Of netlink: what ZeroMQ asks for the network interfaces, which are those of its own namespace. */
const AF_NETLINK = 16;
const NETLINK_ROUTE = 0;

/** Undefined on a machine whose numbers we do not have. With `programs` it may start others, and make files, which stay what they are. */
export function createSeccompFilter(arch: string, { programs }: { programs: boolean }): Buffer | undefined {
  const machine = machines[arch];
  if (!machine) return undefined;
  const { auditArch, column } = machine;
  const on = (numbers: CallNumbers, then: Instruction[]): Instruction[] => {
    const number = numbers[column];
    return number === undefined ? [] : [isEqual(number, then.length), ...then];
  };
  return toBytes([
    load(archAt),
    isOther(auditArch, 1),
    answer(endProcess),
    load(numberAt),
    // Also what is called by the numbers of x32, which begin at 0x40000000.
    isAbove(lastKnownCall, 1),
    answer(fail(ENOSYS)),
    ...Object.values({ ...refusedCalls, ...(programs ? {} : refusedWithoutPrograms) }).flatMap((numbers) =>
      on(numbers, [answer(fail(EPERM))]),
    ),
    // A caller that gets this tries again with `clone`, whose flags can be read here.
    ...on(judgedCalls.clone3, [answer(fail(ENOSYS))]),
    ...on(judgedCalls.clone, [
      load(argumentAt(0)),
      ...(programs
        ? [hasAnyBit(newNamespaces, 1), answer(fail(EPERM)), answer(allow)]
        : [hasAnyBit(CLONE_THREAD, 1), answer(allow), answer(fail(EPERM))]),
    ]),
    ...(programs ? judgeFiles(on) : []),
    ...on(judgedCalls.socket, [
      load(argumentAt(0)),
      ...socketFamilies.flatMap((family) => [isEqual(family, 1), answer(allow)]),
      ...(programs ? [isEqual(AF_NETLINK, 3), load(argumentAt(2)), isEqual(NETLINK_ROUTE, 1), answer(allow)] : []),
      answer(fail(EAFNOSUPPORT)),
    ]),
    // The memory of many processes is counted by us, and shared memory with it: watch.ts.
    ...(programs
      ? []
      : on(judgedCalls.mmap, [
          load(argumentAt(3)),
          keepBits(MAP_SHARED_ANONYMOUS),
          isEqual(MAP_SHARED_ANONYMOUS, 1),
          answer(fail(EPERM)),
          answer(allow),
        ])),
    ...on(judgedCalls.ioctl, [
      load(argumentAt(1)),
      ...terminalInput.flatMap((request) => [isEqual(request, 1), answer(fail(EPERM))]),
      answer(allow),
    ]),
    answer(allow),
  ]);
}

/** No device, and no file that acts as its owner: in a folder of the host it would be one outside as well. */
function judgeFiles(on: (numbers: CallNumbers, then: Instruction[]) => Instruction[]): Instruction[] {
  const calls = Object.entries(callsWithMode).flatMap(([name, { numbers, modeAt, flagsAt }]) =>
    on(numbers, [
      ...(flagsAt === undefined ? [] : [load(argumentAt(flagsAt)), hasAnyBit(makesFile, 1), skip(1), answer(allow)]),
      load(argumentAt(modeAt)),
      hasAnyBit(changesUser, 1),
      answer(fail(EPERM)),
      ...(name.startsWith('mknod') ? [keepBits(S_IFMT), ...devices.flatMap((kind) => [isEqual(kind, 1), answer(fail(EPERM))])] : []),
      answer(allow),
    ]),
  );
  return [...on(openat2, [answer(fail(ENOSYS))]), ...calls];
}

/** `struct sock_filter`, in the byte order of both machines. */
function toBytes(program: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(8 * program.length);
  for (const [index, [code, ifTrue, ifFalse, value]] of program.entries()) {
    bytes.writeUInt16LE(code, 8 * index);
    bytes.writeUInt8(ifTrue, 8 * index + 2);
    bytes.writeUInt8(ifFalse, 8 * index + 3);
    bytes.writeUInt32LE(value >>> 0, 8 * index + 4);
  }
  return bytes;
}
