"""A server with OpenAI's interface whose answers are a function of the request, and which fails as it is told: with a status,
slowly, with half an answer, or not at all. It keeps every request that it has answered whole."""

import collections
import contextlib
import hashlib
import http.server
import json
import threading
import time

WORDS = ["yes", "no", "often", "never", "some", "many", "warm", "able"]


def text_of(body):
    """What the server answers: words drawn by a hash of all that decides an answer."""
    decides = {key: value for key, value in body.items() if key != "model"}
    digest = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).digest()
    return " ".join(WORDS[byte % len(WORDS)] for byte in digest[: max(1, min(3, body["max_tokens"]))])


def pieces_of(text):
    """Tokens of a text: a word with the blank before it."""
    pieces, word = [], ""
    for letter in text:
        if letter in " \n" and word.strip():
            pieces.append(word)
            word = ""
        word += letter
    return [*pieces, word] if word else pieces


def logprob_of(piece):
    return -1 - hashlib.sha256(piece.encode()).digest()[0] / 64


def reply_of(path, body, model=None):
    """`model`: from a text to the log-probability of each of its tokens as [(token, number)], and to its next token."""
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    head = {"model": body["model"] + "-made", "system_fingerprint": "fp_1", "usage": usage}
    if path.endswith("/chat/completions"):
        message = {"role": "assistant", "content": text_of(body)}
        return {**head, "choices": [{"index": 0, "message": message, "finish_reason": "length"}]}
    if model is not None and "logprobs" in body:
        scored = model(body["prompt"])
        shown = [*scored[0], scored[1]] if body.get("echo") else [scored[1]]
        text = scored[1][0]
        return {**head, "usage": {**usage, "completion_tokens": 1}, "choices": [{"text": text, "logprobs": {
            "tokens": [token for token, _ in shown], "token_logprobs": [number for _, number in shown]}}]}
    if body.get("echo"):
        tokens = [*pieces_of(body["prompt"]), " more"]
        numbers = [None, *map(logprob_of, tokens[1:])]
        return {**head, "usage": {**usage, "completion_tokens": 1},
                "choices": [{"text": body["prompt"] + " more", "logprobs": {"tokens": tokens, "token_logprobs": numbers}}]}
    if "logprobs" in body:  # one new token
        return {**head, "choices": [{"text": " warm", "logprobs": {"tokens": [" warm"], "token_logprobs": [logprob_of(" warm")]}}]}
    return {**head, "choices": [{"index": 0, "text": text_of(body), "finish_reason": "stop"}]}


class Server:
    """`faults`: names of what goes wrong, one for each request in turn, over and over: ok, status 429, status 500, slow, cut,
    drop, page, and "echo STATUS N": a body of JSON with the header Authorization behind N other letters."""

    def __init__(self, faults=("ok",), key=None, pause=0.0, model=None):
        self.faults, self.key, self.pause, self.model = faults, key, pause, model
        self.is_there = True  # connections that are open outlive the one that listens
        self.lock = threading.Lock()
        self.seen = 0
        self.answered = collections.Counter()  # whole answers by request
        self.bodies = []
        self.most_at_once = self.at_once = 0

    def next_fault(self):
        with self.lock:
            self.seen += 1
            return self.faults[(self.seen - 1) % len(self.faults)]


def handler_of(server):
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments):
            pass

        def send(self, status, text, headers=()):
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(data)))
            for name, value in headers:
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self):
            listed = {"object": "list", "data": [{"id": "made", "owned_by": "tests"}]}
            self.send(200, json.dumps(listed)) if self.path.endswith("/models") else self.send(404, "{}")

        def do_POST(self):
            raw = self.rfile.read(int(self.headers["Content-Length"]))
            with server.lock:
                server.at_once += 1
                server.most_at_once = max(server.most_at_once, server.at_once)
            try:
                self.answer(raw)
            finally:
                with server.lock:
                    server.at_once -= 1

        def answer(self, raw):
            if server.key is not None and self.headers["Authorization"] != "Bearer " + server.key:
                said = self.headers["Authorization"]
                self.send(401, json.dumps({"error": {"message": f"wrong key: {said}"}}))
                return
            fault = server.next_fault()
            body = json.loads(raw)
            time.sleep(server.pause)
            if fault == "status 429":
                self.send(429, '{"error": {"message": "too many"}}', [("Retry-After", "1")])
            elif fault.startswith("status"):
                self.send(int(fault.split()[1]), '{"error": {"message": "this model\'s maximum context length is 9"}}')
            elif fault.startswith("echo"):
                _, status, before = fault.split()
                said = "x" * int(before) + self.headers["Authorization"]
                self.send(int(status), json.dumps({"error": {"message": said}}))
            elif fault == "page":
                self.send(200, "<html>a proxy's page</html>")
            elif fault == "drop" or not server.is_there:
                self.close_connection = True
            else:
                time.sleep(1.5 if fault == "slow" else 0)
                text = json.dumps(reply_of(self.path, body, server.model))
                if fault == "cut":
                    self.send(200, text[: len(text) // 2])
                    return
                with server.lock:
                    server.bodies.append((self.path, body))
                self.send(200, text)
                with server.lock:
                    server.answered[raw] += 1

    return Handler


@contextlib.contextmanager
def running(server, port=0):
    """The port on which it listens."""
    class Http(http.server.ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

        def handle_error(self, request, client_address):  # a client that was killed
            pass

    server.is_there = True
    with Http(("127.0.0.1", port), handler_of(server)) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield listening.server_address[1]
        finally:
            server.is_there = False
            listening.shutdown()
            thread.join()
