"""The few frames of HTTP/2 that a rude agent needs: a connection, streams, and their reset.

    connection = http2.Connection("127.0.0.1:7071"); connection.open_and_reset(100)   or "unix:/PATH"
"""
import socket
import struct

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEADERS, RESET, SETTINGS, PING = 1, 3, 4, 6
CONNECT = "/fathom.v1.AgentService/Connect"


def frame(kind, flags, stream, body):
    return struct.pack(">I", len(body))[1:] + struct.pack(">BBI", kind, flags, stream) + body


def literal(name, value):
    """A header as HPACK writes it that keeps no table."""
    return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


def call(path):
    return b"".join(literal(name, value) for name, value in (
        (":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "a"),
        ("content-type", "application/grpc"), ("te", "trailers")))


class Connection:
    def __init__(self, address, timeout=10):
        if address.startswith("unix:"):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(timeout)
            self.socket.connect(address.removeprefix("unix:"))
        else:
            host, port = address.rsplit(":", 1)
            self.socket = socket.create_connection((host, int(port)), timeout)
            self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.next = 1
        try:
            self.socket.sendall(PREFACE + frame(SETTINGS, 0, 0, b""))
        except OSError:
            self.socket.close()
            raise

    def open(self, path=CONNECT):
        """Begins a stream and says nothing on it."""
        self.socket.sendall(frame(HEADERS, 4, self.next, call(path)))
        self.next += 2

    def open_and_reset(self, count, path=CONNECT):
        header, text = call(path), []
        for _ in range(count):
            text.append(frame(HEADERS, 4, self.next, header) + frame(RESET, 0, self.next, struct.pack(">I", 8)))
            self.next += 2
        self.socket.sendall(b"".join(text))

    def answer_pings(self):
        """Goes on until the other side closes."""
        text = b""
        try:
            while part := self.socket.recv(65536):
                text += part
                while len(text) >= 9 and len(text) >= 9 + (size := int.from_bytes(text[:3], "big")):
                    if text[3] == PING and not text[4] & 1:
                        self.socket.sendall(frame(PING, 1, 0, text[9:9 + size]))
                    text = text[9 + size:]
        except OSError:
            pass

    def close(self):
        self.socket.close()
