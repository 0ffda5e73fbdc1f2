"""What lies between an agent and its collector: a TCP relay that can be cut, held, or deaf one way."""
import socket
import threading


class Relay:
    """`mode`: "pass"; "cut" (nobody gets through, connections end); "hold" (nothing moves); "up" and "down" (what
    goes to the collector, or comes from it, does not move)."""

    def __init__(self, target_port):
        self.target_port = target_port
        self.mode, self.over = "pass", False
        self.lock, self.sockets = threading.Condition(), set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.accepts = threading.Thread(target=self.accept, daemon=True)
        self.accepts.start()

    def set(self, mode):
        with self.lock:
            self.mode = mode
            if mode == "cut":
                self.end_all()
            self.lock.notify_all()

    def close(self):
        # Closed before the thread has left accept(), the number would be the next relay's.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.accepts.join()
        with self.lock:
            self.over = True
            self.listener.close()
            self.end_all()
            self.lock.notify_all()

    def end_all(self):
        for each in self.sockets:
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                if self.mode == "cut":
                    raise OSError
                far = socket.create_connection(("127.0.0.1", self.target_port), timeout=5)
                far.settimeout(None)
            except OSError:
                near.close()
                continue
            with self.lock:
                self.sockets |= {near, far}
            threading.Thread(target=self.pump, args=(near, far, "up"), daemon=True).start()
            threading.Thread(target=self.pump, args=(far, near, "down"), daemon=True).start()

    def moves(self, way):
        return self.over or self.mode in ("pass", "cut") or (self.mode in ("up", "down") and self.mode != way)

    def pump(self, source, sink, way):
        try:
            while data := source.recv(65536):
                with self.lock:
                    self.lock.wait_for(lambda: self.moves(way))
                sink.sendall(data)
        except OSError:
            pass
        with self.lock:
            self.sockets.discard(source)
        for each in (source, sink):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        source.close()
