"""How many sockets of this process belong to a network."""
import os

TABLES = ("tcp", "tcp6", "udp", "udp6")
INODE = 9  # column of /proc/net/tcp and its kin


def network_sockets():
    ours = set()
    for number in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            continue
        if target.startswith("socket:["):
            ours.add(target[len("socket:["):-1])
    return sum(line.split()[INODE] in ours for table in TABLES for line in _lines(table))


def _lines(table):
    try:
        with open(f"/proc/self/net/{table}") as file:
            return file.read().splitlines()[1:]
    except OSError:
        return []
