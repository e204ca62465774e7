"""Takes as much as it gets, of what the argument names, and tells how much that was."""

import ctypes, mmap, os, socket, sys, threading, time

kind = sys.argv[1]


def tell(number):
    os.write(1, f"{number}\n".encode())


if kind == "processes":
    # Far more than are allowed, and no more than a machine survives if nothing ends them.
    for _ in range(11):
        try:
            os.fork()
        except OSError:
            pass
    time.sleep(60)
elif kind == "forks that leave":
    # Each is the child of none that could be found by its parent.
    if os.fork():
        time.sleep(60)
    for _ in range(400):
        if os.fork():
            os._exit(0)
        os.setsid()
        for _ in range(4):
            if os.fork() == 0:
                time.sleep(60)
elif kind == "threads":
    # Or memory is what ends it.
    threading.stack_size(64 << 10)
    while True:
        thread = threading.Thread(target=time.sleep, args=(60,), daemon=True)
        try:
            thread.start()
        except RuntimeError:
            time.sleep(0.1)
elif kind == "memory":
    kept = []
    try:
        while True:
            kept.append(b"x" * (16 << 20))
            tell(len(kept) * 16)
    except MemoryError:
        tell(len(kept) * 16)
elif kind in ("memory of many", "shared memory"):
    # Each stays below what one may have.
    for _ in range(8):
        if os.fork() == 0:
            size = 160 << 20
            if kind == "shared memory":
                held = mmap.mmap(-1, size)
                for at in range(0, size, 4096):
                    held[at] = 1
            else:
                held = b"x" * size
            time.sleep(60)
            os._exit(0)
    time.sleep(60)
elif kind == "disk":
    for folder in ("/tmp", "/run/home", "/dev/shm", "/", "/dev", "/run", "/proc", os.getcwd()):
        written = 0
        try:
            with open(f"{folder}/filler", "wb", buffering=0) as file:
                while written < 1 << 28:
                    written += file.write(bytes(1 << 20))
        except OSError:
            pass
        tell(written)
elif kind == "files":
    kept = []
    try:
        while True:
            kept.append(os.open("/usr", os.O_RDONLY))
    except OSError:
        tell(len(kept))
elif kind == "orphans":
    # Shells leave children behind; somebody has to wait for them.
    for _ in range(200):
        pid = os.fork()
        if pid == 0:
            if os.fork() == 0:
                os._exit(0)
            os._exit(0)
        os.waitpid(pid, 0)
    time.sleep(0.3)
    tell(sum(name.isdigit() for name in os.listdir("/proc")))
elif kind == "memory that nobody has mapped":
    # Linux keeps a mapping's pages as long as one of them is mapped, and counts for a process what is.
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    size = 64 << 20
    for _ in range(16):
        start = libc.mmap(None, size, 3, mmap.MAP_SHARED | mmap.MAP_ANONYMOUS, -1, 0)
        ctypes.memset(start, 1, size)
        libc.munmap(start + 4096, size - 4096)
    tell(16 * 64)
    time.sleep(5)
elif kind == "buffers of sockets":
    for _ in range(3):
        if os.fork() == 0:
            break
    kept = []
    for _ in range(1900):
        pair = socket.socketpair()
        for end in pair:
            end.setblocking(False)
            try:
                while True:
                    end.send(bytes(100_000))
            except OSError:
                pass
        kept.append(pair)
    tell(1)
    time.sleep(5)
