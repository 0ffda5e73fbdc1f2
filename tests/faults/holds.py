"""A stand-in for the service that holds nodes, which watches over what it is asked."""
import http.server
import json
import threading
import time


class Holds(http.server.ThreadingHTTPServer):
    """Serves the webhook back-end of fathom-cordon. `verdicts`() are the ids that the collector tells now, None while
    it is silent; `made` are the holds that were carried out, `wrong` the rules that one of them broke."""
    SLACK_S = 3  # between a look of ours and one of fathom-cordon, on a busy machine

    def __init__(self, nodes, verdicts, fresh_s):
        self.nodes = {name: {"name": name, "withheld": False, "healthy": True, "owner": ""} for name in nodes}
        self.verdicts, self.fresh_s = verdicts, fresh_s
        self.made, self.wrong, self.told, self.over = [], [], {}, threading.Event()
        self.lock = threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                with outer.lock:
                    self.reply(200, {"nodes": list(outer.nodes.values())})

            def do_POST(self):
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                self.reply(*outer.take(self.path, asked))

            def reply(self, code, words):
                text = json.dumps(words).encode()
                self.send_response(code)
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        super().__init__(("127.0.0.1", 0), Handler)
        self.handle_error = lambda *_: None  # whoever asked was killed
        self.threads = [threading.Thread(target=target, daemon=True) for target in (self.serve_forever, self.look)]
        for thread in self.threads:
            thread.start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def look(self):
        while not self.over.wait(0.2):
            for verdict in self.verdicts() or ():
                self.told[verdict] = time.monotonic()

    def take(self, path, asked):
        node = self.nodes[asked["node"]]
        with self.lock:
            if path != "/hold":
                if node["owner"] == asked["action"]:
                    node.update(withheld=False, owner="")
                return 200, {}
            if node["owner"] == asked["action"]:
                return 200, {}  # the same once more: nothing is done
            if any(held["node"] == asked["node"] for held in self.made):
                self.wrong.append(f"{asked['node']} was held twice")
            unseen_s = time.monotonic() - self.told.get(asked["verdict"], 0)
            if unseen_s > self.fresh_s + self.SLACK_S:
                self.wrong.append(f"{asked['node']} was held on a verdict that was not told for {unseen_s:.1f} s")
            if node["owner"]:
                return 409, {}
            node.update(withheld=True, owner=asked["action"])
            self.made.append(asked)
            return 200, {}

    def close(self):
        self.over.set()
        self.shutdown()
        for thread in self.threads:
            thread.join()
        self.server_close()
