"""Answers, inside of the process, what its main thread does: for where nobody may look from outside.

Only with FATHOM_INSIDE_STACKS=1, for it is one thread more. It waits in the kernel for a datagram at
FATHOM_SHM_DIR/<pid>.stacks (inside_stack.h of the agent), costs nothing until one comes, and then needs
Python's lock: where another thread never gives that up, there is no answer, and nothing happens.
"""
import os
import sys
import time

MAX_FRAMES, MAX_BYTES = 64, 16384
_answering = 0  # the process that has the thread: a fork has it no more


def start():
    """Once a process, when it makes its first group."""
    global _answering
    if os.environ.get("FATHOM_INSIDE_STACKS", "0") in ("", "0") or _answering == os.getpid():
        return
    _answering = os.getpid()
    try:
        _listen(os.path.join(os.environ.get("FATHOM_SHM_DIR") or "/dev/shm/fathom", f"{_answering}.stacks"))
    except Exception:
        pass  # no folder, or a path too long for a socket: the agent says that nobody answers


def _listen(path):
    import _thread  # threading's own would be seen by the job, and waited for at its end
    import atexit
    import socket
    import threading

    if os.path.lexists(path):  # of a process that had this number before
        os.unlink(path)
    asked = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    asked.bind(path)
    os.chmod(path, 0o600)
    os.register_at_fork(after_in_child=asked.close)
    atexit.register(_remove, path, os.getpid())
    _thread.start_new_thread(_answer, (asked, os.fstat(asked.fileno()).st_ino, threading.main_thread().ident))


def _remove(path, pid):
    try:
        if os.getpid() == pid:
            os.unlink(path)
    except OSError:
        pass


def _answer(asked, inode, thread):
    """Until the socket is closed, be it by a job that closes all its files."""
    dontwait = 0x40  # MSG_DONTWAIT
    try:
        while True:
            _, asker = asked.recvfrom(16)
            if os.fstat(asked.fileno()).st_ino != inode:
                return  # the number is another file's by now
            try:
                asked.sendto(_stack(thread), dontwait, asker)
            except (OSError, TypeError):
                pass  # who asked has gone, or left no address
    except Exception:
        pass


def _stack(thread):
    """As `py-spy dump` prints it, below the time for which this has held Python's lock at most."""
    began = time.monotonic_ns()
    frame, lines = sys._current_frames().get(thread), []
    while frame is not None and len(lines) < MAX_FRAMES:
        code = frame.f_code
        lines.append(f"    {code.co_name} ({os.path.basename(code.co_filename)}:{frame.f_lineno or 0})")
        frame = frame.f_back
    held = time.monotonic_ns() - began
    head = f'held {held}\nThread {os.getpid()} (inside): "MainThread"\n'
    return (head + "\n".join(lines)).encode("utf-8", "replace")[:MAX_BYTES]
