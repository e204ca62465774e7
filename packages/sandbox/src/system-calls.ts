/**
 * System calls that a kernel has no use for, by their numbers of linux/x86_64 and linux/aarch64 (undefined: there is none).
 * Each is a way to another process, to the kernel's configuration, or to memory that no limit counts.
 */
export type CallNumbers = readonly [x64: number | undefined, arm64: number | undefined];

export const refusedCalls: { readonly [name: string]: CallNumbers } = {
  // Namespaces and mounts.
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  sethostname: [170, 161],
  setdomainname: [171, 162],
  // Other processes, and their memory.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  kcmp: [312, 272],
  pidfd_send_signal: [424, 424],
  pidfd_open: [434, 434],
  pidfd_getfd: [438, 438],
  // Keys of the user's session are inherited, whatever the namespace.
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // Large parts of the kernel that only rarely a program needs.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  fanotify_init: [300, 262],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  lookup_dcookie: [212, 18],
  personality: [135, 92],
  modify_ldt: [154, undefined],
  uselib: [134, undefined],
  ustat: [136, undefined],
  sysfs: [139, undefined],
  _sysctl: [156, undefined],
  nfsservctl: [180, 42],
  move_pages: [279, 239],
  migrate_pages: [256, 238],
  // The machine itself.
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  syslog: [103, 116],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  iopl: [172, undefined],
  ioperm: [173, undefined],
  vhangup: [153, 58],
  // Memory that the limit on data does not count.
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  shmget: [29, 194],
  shmat: [30, 196],
  shmctl: [31, 195],
  msgget: [68, 186],
  semget: [64, 190],
  mq_open: [240, 180],
};

/** Refused besides, to a program that starts no other ones. `clone` makes threads too, see seccomp.ts. */
export const refusedWithoutPrograms: { readonly [name: string]: CallNumbers } = {
  fork: [57, undefined],
  vfork: [58, undefined],
};

/**
 * Calls whose arguments decide where files may be written: which argument has the mode of a new file, or that of an old one. With
 * `flagsAt` the mode counts only if the flags make a file.
 */
export const callsWithMode: { readonly [name: string]: { numbers: CallNumbers; modeAt: number; flagsAt?: number } } = {
  chmod: { numbers: [90, undefined], modeAt: 1 },
  fchmod: { numbers: [91, 52], modeAt: 1 },
  fchmodat: { numbers: [268, 53], modeAt: 2 },
  fchmodat2: { numbers: [452, 452], modeAt: 2 },
  creat: { numbers: [85, undefined], modeAt: 1 },
  open: { numbers: [2, undefined], modeAt: 2, flagsAt: 1 },
  openat: { numbers: [257, 56], modeAt: 3, flagsAt: 2 },
  mkdir: { numbers: [83, undefined], modeAt: 1 },
  mkdirat: { numbers: [258, 34], modeAt: 2 },
  mknod: { numbers: [133, undefined], modeAt: 1 },
  mknodat: { numbers: [259, 33], modeAt: 2 },
};

/** Its mode is out of the filter's sight; callers without it use `openat`. */
export const openat2: CallNumbers = [437, 437];

/** Calls whose arguments decide. */
export const judgedCalls = {
  clone: [56, 220],
  clone3: [435, 435],
  socket: [41, 198],
  mmap: [9, 222],
  ioctl: [16, 29],
} satisfies { [name: string]: CallNumbers };

/** `mseal`, of Linux 6.10: the last one that was looked at. What is newer is not there for a kernel. */
export const lastKnownCall = 462;
