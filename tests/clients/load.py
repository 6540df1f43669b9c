#!/usr/bin/env python3
"""load.py SPILLWAY_CLI MODEL [--seconds 60] [--clients 32] [--seed N], or load.py --url URL [--key KEY] [--pid PID] ...: many
clients at once ask spillway-cli serve, or a server that runs already, and not all of them mean well. Each answer is compared
with that to the same request alone; some clients go away in mid-answer, some send what is no request, some are slow. At the
end: what was asked, how long the first token took, and the server's memory over the time. Exit code 1: an answer was another
one, something was not answered as it should be, the server ended, or its memory grew by more than 2 % (10 % in less than five
minutes)."""
import argparse
import collections
import http.client
import json
import random
import re
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.parse

PATIENCE_S = 300
QUESTIONS = [
    "What is a KV cache?", "How do I move layers?", "What does the slider do?", "Was macht der Schieber?",
    "Which files open?", "Why is it slow?", "What happens when VRAM is full?", "How do I install it?",
    "What is prefill?", "Wie schnell ist mein Modell?", "Can I stop an answer?", "Where are my conversations?"]


class Wrong(Exception):
    """The server did not do what it should."""


# ---- what is asked: one request in four APIs ----

def openai_chat(question, tokens, sampling, stream):
    return "/v1/chat/completions", {"messages": question, "max_tokens": tokens, "stream": stream, **sampling}


def openai_completion(question, tokens, sampling, stream):
    return "/v1/completions", {"prompt": question[-1]["content"], "max_tokens": tokens, "stream": stream, **sampling}


def anthropic(question, tokens, sampling, stream):
    sampling = {name: value for name, value in sampling.items() if name != "seed"} if not sampling["temperature"] else sampling
    return "/v1/messages", {"messages": question, "max_tokens": tokens, "stream": stream, "model": "", **sampling}


def ollama(question, tokens, sampling, stream):
    return "/api/chat", {"messages": question, "stream": stream, "options": {"num_predict": tokens, **sampling}}


def text_of(path, answer):
    """The text of a whole answer, or of one part of a stream."""
    if path == "/v1/messages":
        if "content" in answer:
            return "".join(block.get("text", "") for block in answer["content"])
        return answer.get("delta", {}).get("text", "")
    if path == "/api/chat":
        return answer["message"]["content"]
    choice = answer["choices"][0] if answer["choices"] else {}
    said = choice.get("message") or choice.get("delta") or choice
    return said.get("content") or said.get("text") or ""


def made_questions(rng, many):
    """Requests of all kinds and lengths, greedy ones and ones with a seed, alone and as the next message of a conversation."""
    made = []
    for at in range(many):
        question = [{"role": "user", "content": rng.choice(QUESTIONS) + " " * (at % 3)}]
        if at % 4 == 3:
            question += [{"role": "assistant", "content": "It depends."}, {"role": "user", "content": rng.choice(QUESTIONS)}]
        sampling = {"temperature": 0} if at % 2 else {"temperature": 0.9, "seed": rng.randrange(1 << 30)}
        api = [openai_chat, openai_completion, ollama, anthropic][(at // 2) % 4]
        if api is anthropic:  # which knows no seed
            sampling = {"temperature": 0}
        made.append((api, question, rng.choice([4, 16, 48, 120]), sampling))
    return made


# ---- how it is asked ----

class Server:
    def __init__(self, url, key):
        self.at = urllib.parse.urlparse(url)
        self.headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})

    def connect(self):
        return socket.create_connection((self.at.hostname, self.at.port), timeout=PATIENCE_S)

    def request(self, path, body, pieces=None):
        """(connection, response), its body not read yet. `pieces`: seconds after each 16 bytes of the request's head."""
        connection = http.client.HTTPConnection(self.at.hostname, self.at.port, timeout=PATIENCE_S)
        if pieces is None:
            connection.request("POST", path, json.dumps(body), self.headers)
            return connection, connection.getresponse()
        text = json.dumps(body)
        head = f"POST {path} HTTP/1.1\r\nHost: {self.at.netloc}\r\nContent-Length: {len(text.encode())}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in self.headers.items()) + "\r\n"
        connection.connect()
        for at in range(0, len(head), 16):
            connection.sock.sendall(head[at:at + 16].encode())
            time.sleep(pieces)
        connection.sock.sendall(text.encode())
        response = http.client.HTTPResponse(connection.sock, method="POST")
        response.begin()
        return connection, response


def parts_of(response):
    """The parts of a stream: events of OpenAI and Anthropic, or Ollama's lines."""
    for line in response:
        line = line.strip()
        if line.startswith(b"data: "):
            line = line[6:]
        if line.startswith(b"{"):
            yield json.loads(line)


def ask(server, what, stream, pieces=None, pause=0.0, leave_after=None):
    """The text, and the seconds until its first piece. None where it left after `leave_after` parts."""
    api, question, tokens, sampling = what
    path, body = api(question, tokens, sampling, stream)
    begun = time.monotonic()
    connection, response = server.request(path, body, pieces)
    try:
        if response.status != 200:
            raise Wrong(f"{path} is answered with {response.status}: {response.read()[:200]}")
        if not stream:
            return text_of(path, json.loads(response.read())), None
        text, first = "", None
        for number, part in enumerate(parts_of(response)):
            if "error" in part:
                raise Wrong(f"{path} ends with {part}")
            if leave_after is not None and number >= leave_after:
                return None, first
            said = text_of(path, part) if path != "/v1/messages" or part["type"] == "content_block_delta" else ""
            if said and first is None:
                first = time.monotonic() - begun
            text += said
            if pause:
                time.sleep(pause)
        return text, first
    finally:
        connection.close()


# ---- what is no request ----

def nonsense(server, rng):
    """Sends something that is to be refused. Raises Wrong where it is not."""
    head = lambda path, more="": f"POST {path} HTTP/1.1\r\nHost: {server.at.netloc}\r\n{authorization}{more}".encode()
    authorization = "".join(f"{name}: {value}\r\n" for name, value in server.headers.items())
    chat = "/v1/chat/completions"
    bodies = {
        "no JSON": b'{"messages": [', "an empty body": b"", "a number": b"7", "no messages": b"{}",
        "messages that are text": b'{"messages": "Hello"}', "depth": b'{"messages":' + b"[" * 5000,
        "a negative limit": b'{"messages": [{"role": "user", "content": "Hi"}], "max_tokens": -7}',
        "bytes that are no text": b'{"messages": [{"role": "user", "content": "\xff\xfe\xc0"}]}',
        "a schema without end": b'{"messages": [{"role": "user", "content": "Hi"}], "response_format": {"type": "json_schema",'
                                b'"json_schema": {"name": "a", "schema": {"$ref": "#"}}}}',
        "a prompt that is too long": json.dumps({"messages": [{"role": "user", "content": "word " * 200000}]}).encode()}
    heads = {
        "no HTTP": bytes(rng.randrange(1, 256) for _ in range(200)) + b"\r\n\r\n",
        "no host": b"GET /v1/models HTTP/1.1\r\n\r\n",
        "another host": b"GET /v1/models HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n",
        "no path": head("/nowhere", "Content-Length: 2\r\n\r\n") + b"{}",
        "another method": f"DELETE {chat} HTTP/1.1\r\nHost: {server.at.netloc}\r\n{authorization}\r\n".encode(),
        "a body beyond measure": head(chat, "Content-Length: 99999999999\r\n\r\n"),
        "two lengths": head(chat, "Content-Length: 2\r\nContent-Length: 3\r\n\r\n") + b"{} ",
        "a long head": head(chat, "X-Long: " + "a" * 200000 + "\r\n\r\n"),
        "chunks that are none": head(chat, "Transfer-Encoding: chunked\r\n\r\nzz\r\n")}
    what = rng.choice(sorted(bodies) + sorted(heads))
    sent = heads[what] if what in heads else head(chat, f"Content-Length: {len(bodies[what])}\r\n\r\n") + bodies[what]
    with server.connect() as connection:
        try:
            connection.sendall(sent)
            came = connection.recv(4096)
        except (ConnectionResetError, BrokenPipeError):
            came = b""  # it may close on whoever goes on sending
    status = int(came.split()[1]) if came.startswith(b"HTTP/1.1 ") else 0
    if status and not 400 <= status < 500:
        raise Wrong(f"{what} is answered with {status}: {came[:300]}")
    if not status and what in bodies:
        raise Wrong(f"{what} is not answered")


def silence(server, rng):
    """Connects, says nothing or the beginning of something, and goes."""
    with server.connect() as connection:
        connection.sendall(rng.choice([b"", b"P", b"POST /v1/chat/completions HTTP/1.1\r\nHost: a"]))
        time.sleep(rng.uniform(0, 2))


# ---- many at once ----

class Record:
    def __init__(self):
        self.lock = threading.Lock()
        self.counts = collections.Counter()
        self.first_s = []
        self.wrong = []

    def add(self, what, first=None):
        with self.lock:
            self.counts[what] += 1
            if first is not None:
                self.first_s.append(first)

    def add_wrong(self, sentence):
        with self.lock:
            self.wrong.append(sentence)


def client(server, asked, expected, record, rng, until):
    while time.monotonic() < until and len(record.wrong) < 20:
        at = rng.randrange(len(asked))
        chance = rng.random()
        try:
            if chance < 0.72:
                stream = rng.random() < 0.6
                text, first = ask(server, asked[at], stream)
                if text != expected[at]:
                    raise Wrong(f"another answer to {asked[at]}: {text!r} instead of {expected[at]!r}")
                record.add("whole answers that were right" if not stream else "streams that were right", first)
            elif chance < 0.84:
                text, _ = ask(server, asked[at], True, leave_after=rng.randrange(0, 12))
                record.add("left in mid-answer")
            elif chance < 0.92:
                nonsense(server, rng)
                record.add("refused, as it should be")
            elif chance < 0.97:
                text, _ = ask(server, asked[at], True, pieces=rng.uniform(0, 0.1), pause=rng.uniform(0, 0.02))
                if text != expected[at]:
                    raise Wrong(f"another answer, slowly, to {asked[at]}: {text!r} instead of {expected[at]!r}")
                record.add("slow clients whose answers were right")
            else:
                silence(server, rng)
                record.add("connections on which little was said")
        except Wrong as wrong:
            record.add_wrong(str(wrong))
        except (OSError, http.client.HTTPException, json.JSONDecodeError) as error:
            record.add_wrong(f"{type(error).__name__} at {asked[at]}: {error}")


def resident_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1])


def watch_memory(pid, samples, until):
    while time.monotonic() < until:
        try:
            samples.append(resident_kib(pid))
        except (OSError, TypeError):
            return
        time.sleep(0.5)


def memory_line(samples):
    """A line about the server's memory after a fifth of the time and at the end, and the growth as a share."""
    tenth = max(len(samples) // 10, 1)
    early, late = (statistics.median(part) for part in (samples[2 * tenth:3 * tenth] or samples, samples[-tenth:]))
    course = ", ".join(f"{samples[at * (len(samples) - 1) // 10] / 1024:.1f}" for at in range(11))
    return f"memory: {early / 1024:.1f} MiB after a fifth of the time, {late / 1024:.1f} MiB at the end ({course})", late / early - 1


def run(server, pid, alive, options):
    rng = random.Random(options.seed)
    asked = made_questions(rng, 48)
    expected = [ask(server, what, False)[0] for what in asked]
    record, memory = Record(), []
    until = time.monotonic() + options.seconds
    threads = [threading.Thread(target=client, args=(server, asked, expected, record, random.Random(options.seed + 1 + at), until))
               for at in range(options.clients)]
    if pid:
        threads.append(threading.Thread(target=watch_memory, args=(pid, memory, until)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if not alive():
        record.add_wrong("the server ended")
    else:
        again = [ask(server, what, False)[0] for what in asked]
        if again != expected:
            record.add_wrong("afterwards, alone, an answer is another one")
    print(f"{options.clients} clients, {options.seconds} s, seed {options.seed}")
    for what, count in record.counts.most_common():
        print(f"  {what}: {count}")
    first = sorted(record.first_s)
    if first:
        print("first token after " + ", ".join(f"{share:.0%} {1000 * first[int(share * (len(first) - 1))]:.0f} ms"
                                               for share in (0.5, 0.9, 0.99, 1)))
    if memory:
        line, growth = memory_line(memory)
        print(f"{line} ({growth:+.1%})")
        allowed = 0.02 if options.seconds >= 300 else 0.1  # in the first minutes heaps are still finding their size
        if growth > allowed:
            record.add_wrong(f"its memory grew by more than {allowed:.0%}")
    for sentence in record.wrong[:20]:
        print(f"WRONG: {sentence}")
    return 1 if record.wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cli", nargs="?")
    parser.add_argument("model", nargs="?")
    parser.add_argument("--url")
    parser.add_argument("--key")
    parser.add_argument("--pid", type=int)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 30))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    if options.url:
        return run(Server(options.url, options.key), options.pid, lambda: True, options)
    with subprocess.Popen([options.cli, "serve", "-m", options.model, "--port", "0", "-np", "8"], stdout=subprocess.PIPE,
                          text=True) as process:
        url = process.stdout.readline().removeprefix("listening on ").strip()
        try:
            return run(Server(url, None), process.pid, lambda: process.poll() is None, options)
        finally:
            process.terminate()


sys.exit(main())
