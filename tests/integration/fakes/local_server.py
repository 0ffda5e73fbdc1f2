"""An HTTP server in the test's own process, on a port of its own, that says nothing of who hung up."""
import http.server
import threading


class Handler(http.server.BaseHTTPRequestHandler):
    def reply(self, code, body):
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class LocalServer(http.server.ThreadingHTTPServer):
    """Answers by `handler` from the moment on in which it is made."""

    def __init__(self, handler):
        super().__init__(("127.0.0.1", 0), handler)
        self.handle_error = lambda *_: None
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"127.0.0.1:{self.server_address[1]}"

    @property
    def url(self):
        return f"http://{self.address}"

    def close(self):
        self.shutdown()
        self.server_close()
