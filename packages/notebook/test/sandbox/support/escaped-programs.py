"""What code of a kernel tries in the sandbox: it has Python, a shell, all programs of the system, and machine code by ctypes."""

import ctypes, errno, json, multiprocessing, os, shutil, signal, socket, stat, subprocess, sys, tempfile

host = json.loads(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
folder = os.getcwd()
found = {}


def attempt(name, act):
    try:
        found[name] = f"did: {act()}"
    except OSError as error:
        found[name] = errno.errorcode.get(error.errno, str(error))
    except Exception as error:
        found[name] = f"{type(error).__name__}: {error}"


def shell(command):
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    return f"{done.returncode} {done.stdout.strip()}"


def call(name, *args):
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(host["calls"][name]), *[ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args])
    if result == -1:
        raise OSError(ctypes.get_errno(), name)
    return result


def write(path):
    with open(path, "r+b") as file:
        file.write(b"spoilt")


def reopen(path):
    fd = os.open(path, os.O_RDONLY)
    with open(f"/proc/self/fd/{fd}", "r+b") as file:
        file.write(b"spoilt")


def dial(family, address):
    with socket.socket(family) as one:
        one.settimeout(5)
        one.connect(address)


# What it is for.
attempt("works identity", lambda: [os.getuid(), os.getgid(), socket.gethostname(), os.path.expanduser("~")])
attempt("works variables", lambda: sorted(os.environ))
attempt("works shell", lambda: shell("echo from a shell > $HOME/x && cat $HOME/x 2>/dev/null"))
attempt("works pool", lambda: multiprocessing.get_context("fork").Pool(2).map(abs, [-1, 2]))
attempt("works temporary", lambda: tempfile.NamedTemporaryFile().write(b"x"))
attempt("works read", lambda: open("data.csv").read())
attempt("works loopback", lambda: (lambda server: dial(socket.AF_INET, server.getsockname()))(socket.create_server(("127.0.0.1", 0))))
attempt("write folder", lambda: open("made here", "w").write("made"))

# Others' processes and places to talk to them.
attempt("processes", lambda: sorted(int(name) for name in os.listdir("/proc") if name.isdigit())[-1] < 100)
for pid in host["pids"]:
    attempt(f"no kill {pid}", lambda: os.kill(pid, 0))
    attempt(f"no environment {pid}", lambda: open(f"/proc/{pid}/environ").read())
attempt("no abstract", lambda: dial(socket.AF_UNIX, "\0" + host["abstract"]))
for path in host["sockets"]:
    attempt(f"no socket {path}", lambda: dial(socket.AF_UNIX, path))
for port in host["ports"]:
    attempt(f"no port {port}", lambda: dial(socket.AF_INET, ("127.0.0.1", port)))
    attempt(f"no port 6 {port}", lambda: dial(socket.AF_INET6, ("::1", port)))
for address in host["addresses"]:
    attempt(f"no address {address}", lambda: dial(socket.AF_INET, (address, host["ports"][0])))
attempt("no name", lambda: socket.getaddrinfo("example.org", 443))
attempt("no packets", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW))
attempt("no raw", lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
attempt("no vsock", lambda: socket.socket(40, socket.SOCK_STREAM))
attempt("no audit", lambda: socket.socket(16, socket.SOCK_RAW, 9))

# Files of the machine.
for path in host["secrets"]:
    attempt(f"no secret {path}", lambda: open(path).read())
    attempt(f"no secret by shell {path}", lambda: subprocess.check_output(["cat", path], stderr=subprocess.DEVNULL))
for path in host["unseen"]:
    attempt(f"list {path}", lambda: sorted(os.listdir(path)))
for path in host["readonly"]:
    attempt(f"no write {path}", lambda: write(path))
    attempt(f"no reopen {path}", lambda: reopen(path))
    attempt(f"no chmod {path}", lambda: os.chmod(path, 0o777))
    attempt(f"no touch {path}", lambda: os.utime(path))
    attempt(f"no truncate {path}", lambda: os.truncate(path, 0))
    attempt(f"no unlink {path}", lambda: os.unlink(path))
    attempt(f"no rename {path}", lambda: os.rename(path, path + ".moved"))
    attempt(f"no link {path}", lambda: os.link(path, os.path.join(folder, "a second name")))
    attempt(f"no attribute {path}", lambda: os.setxattr(path, "user.x", b"x"))
for path in ("/dev/null", "/dev/zero", "/dev/tty", "/dev/urandom"):
    attempt(f"no chmod {path}", lambda: os.chmod(path, 0o600))
    attempt(f"no chown {path}", lambda: os.chown(path, 65534, 65534))
    attempt(f"no touch {path}", lambda: os.utime(path))
for path in ("/x", "/dev/x", "/etc/x", "/usr/x", "/run/x", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/proc/1/oom_score_adj"):
    attempt(f"no write {path}", lambda: open(path, "w").write("x"))
for path in ("/dev/sda", "/dev/vda", "/dev/mem", "/dev/kmsg", "/dev/fuse", "/proc/kcore", "/proc/kmsg", "/sys/kernel", "/sys/fs/cgroup"):
    attempt(f"no open {path}", lambda: os.open(path, os.O_RDONLY))
attempt("no root of 1", lambda: os.listdir("/proc/1/root/etc/ssh"))
attempt("no cwd of 1", lambda: os.listdir("/proc/1/cwd/../../../../../../home"))

# Powers.
MS_REMOUNT, MS_BIND = 32, 4096
attempt("no remount", lambda: call("mount", None, b"/usr", None, MS_REMOUNT | MS_BIND, None))
attempt("no mount", lambda: call("mount", b"/", b"/tmp", None, MS_BIND, None))
attempt("no umount", lambda: call("umount2", host["covered"].encode(), 2))
attempt("no mount by program", lambda: subprocess.check_call(["mount", "--bind", "/usr", "/tmp"], stderr=subprocess.DEVNULL))
attempt("no namespace", lambda: call("unshare", 0x10000000))
attempt("no namespace by clone", lambda: call("clone", 0x10000000 | 17, 0, 0, 0, 0))
attempt("no namespace by program", lambda: subprocess.check_call(["unshare", "--user", "true"], stderr=subprocess.DEVNULL))
attempt("no trace", lambda: call("ptrace", 16, 1, 0, 0))
attempt("no memory of 1", lambda: open("/proc/1/mem", "r+b").read(1))
attempt("no setns", lambda: call("setns", os.open("/proc/1/ns/mnt", os.O_RDONLY), 0))
attempt("no root", lambda: os.setuid(0))
attempt("no root by program", lambda: subprocess.check_call(["su", "-c", "true"], stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, timeout=10))
attempt("no memory file", lambda: os.memfd_create("x"))
attempt("no uring", lambda: call("io_uring_setup", 8, None))
attempt("no covered renamed", lambda: os.rename(host["covered"], host["covered"] + ".moved"))
attempt("no covered removed", lambda: os.rmdir(host["covered"]))
attempt("no covered written", lambda: open(os.path.join(host["covered"], "x"), "w"))
attempt("no kill of 1", lambda: os.kill(1, 0) or open("/proc/1/comm", "w").write("x"))

# In a folder of the host, files that act outside as whoever owns them; and in one of its own, the same.
for place in (folder, "/tmp"):
    mine = os.path.join(place, "mine")
    attempt(f"file {place}", lambda: shutil.copy("/bin/true", mine))
    for mode in (0o4755, 0o2755, 0o6777):
        attempt(f"no setuid {place} {mode:o}", lambda: os.chmod(mine, mode))
        attempt(f"no setuid by fd {place} {mode:o}", lambda: os.fchmod(os.open(mine, os.O_RDONLY), mode))
        attempt(f"no setuid by shell {place} {mode:o}", lambda: subprocess.check_call(["chmod", f"{mode:o}", mine], stderr=subprocess.DEVNULL))
        attempt(f"no setuid born {place} {mode:o}", lambda: os.open(mine + "2", os.O_CREAT | os.O_WRONLY, mode))
        attempt(f"no setuid tmpfile {place} {mode:o}", lambda: os.open(place, os.O_TMPFILE | os.O_WRONLY, mode))
        attempt(f"no setuid by fchmodat2 {place} {mode:o}", lambda: call("fchmodat2", -100, mine.encode(), mode, 0))
    how = (ctypes.c_uint64 * 3)(os.O_CREAT | os.O_WRONLY, 0o4755, 0)
    attempt(f"no openat2 {place}", lambda: call("openat2", -100, (mine + "3").encode(), how, 24))
    attempt(f"no setgid folder {place}", lambda: call("mkdirat", -100, (mine + "4").encode(), 0o2755))
    attempt(f"no capability {place}", lambda: os.setxattr(mine, "security.capability", bytes.fromhex("0100000201000000000000000000000000000000")))
    for kind in (stat.S_IFCHR, stat.S_IFBLK):
        attempt(f"no device {place} {kind:o}", lambda: os.mknod(mine + "5", kind | 0o666, os.makedev(1, 3)))
attempt("link", lambda: os.symlink(host["outside"], "way out"))
attempt("no way out", lambda: open("way out").read())
attempt("no hard link", lambda: os.link("/bin/true", "second"))
print(json.dumps(found))
