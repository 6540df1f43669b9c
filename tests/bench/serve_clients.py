#!/usr/bin/env python3
"""serve_clients.py URL [CLIENTS...]: how fast a server answers that many clients at once, with OpenAI's API. Each client asks
one question after another, all different, for 64 greedy tokens; three rounds for each number of clients, in turn."""
import http.client
import json
import statistics
import sys
import threading
import time
import urllib.parse

TOKENS, QUESTIONS, ROUNDS = 64, 4, 3


def ask(url, text, heard):
    begun = time.monotonic()
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=600)
    body = {"messages": [{"role": "user", "content": text}], "max_tokens": TOKENS, "temperature": 0, "stream": True,
            "stream_options": {"include_usage": True}}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    first = None
    for line in connection.getresponse():
        if not line.startswith(b"data: {"):
            continue
        part = json.loads(line[6:])
        if first is None and part["choices"] and part["choices"][0]["delta"].get("content"):
            first = time.monotonic() - begun
        if part.get("usage"):
            heard.append((part["usage"]["completion_tokens"], first or 0))
    connection.close()


def measure(url, clients, number):
    heard = []

    def client(at):
        for question in range(QUESTIONS):
            ask(url, f"Question {number}.{at}.{question}: what happens when a conversation outgrows VRAM?", heard)

    threads = [threading.Thread(target=client, args=(at,)) for at in range(clients)]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tokens = sum(tokens for tokens, _ in heard)
    return tokens / (time.monotonic() - begun), statistics.median(first for _, first in heard)


def main():
    url = urllib.parse.urlparse(sys.argv[1])
    counts = [int(count) for count in sys.argv[2:]] or [1, 4, 8]
    results = {count: [] for count in counts}
    ask(url, "Hello", [])
    for number in range(ROUNDS):
        for count in counts:
            results[count].append(measure(url, count, number))
    for count, rounds in results.items():
        speeds = sorted(speed for speed, _ in rounds)
        first = statistics.median(first for _, first in rounds)
        print(f"{count} clients: {statistics.median(speeds):.0f} tok/s in all ({speeds[0]:.0f}-{speeds[-1]:.0f}), "
              f"first token after {1000 * first:.0f} ms")


main()
