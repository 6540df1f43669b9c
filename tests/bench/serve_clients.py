#!/usr/bin/env python3
"""serve_clients.py URL [OTHER_URL] [--clients 1 4 8] [--rounds 3] [--tokens 64] [--completions]: how fast a server answers that
many clients at once, with OpenAI's API. Each client asks one question after another, all different, for so many greedy tokens;
a round is made for each number of clients, in turn. Two servers are asked in turns, and the ratio of each round is printed.
--completions continues a text, for models without a chat template; ends of an answer are not heeded then."""
import argparse
import http.client
import json
import statistics
import threading
import time
import urllib.parse

QUESTIONS = 4


def body_of(text, options):
    body = {"max_tokens": options.tokens, "temperature": 0, "stream": True, "stream_options": {"include_usage": True}}
    if options.completions:
        return "/v1/completions", body | {"prompt": text, "ignore_eos": True}
    return "/v1/chat/completions", body | {"messages": [{"role": "user", "content": text}]}


def ask(url, text, options, heard):
    begun = time.monotonic()
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=600)
    path, body = body_of(text, options)
    connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    first = None
    for line in connection.getresponse():
        if not line.startswith(b"data: {"):
            continue
        part = json.loads(line[6:])
        if first is None and part["choices"] and (part["choices"][0].get("delta", {}).get("content") or part["choices"][0].get("text")):
            first = time.monotonic() - begun
        if part.get("usage"):
            heard.append((part["usage"]["completion_tokens"], first or 0))
    connection.close()


def measure(url, clients, number, options):
    """Tokens a second of all clients together, and the median time to the first token."""
    heard = []

    def client(at):
        for question in range(QUESTIONS):
            ask(url, f"Question {number}.{at}.{question}: what happens when a conversation outgrows VRAM?", options, heard)

    threads = [threading.Thread(target=client, args=(at,)) for at in range(clients)]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tokens = sum(tokens for tokens, _ in heard)
    return tokens / (time.monotonic() - begun), statistics.median(first for _, first in heard)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("urls", nargs="+")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 4, 8])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--completions", action="store_true")
    options = parser.parse_args()
    urls = [urllib.parse.urlparse(url) for url in options.urls]
    results = {(at, count): [] for count in options.clients for at in range(len(urls))}
    for url in urls:
        ask(url, "Hello", options, [])
    for number in range(options.rounds):
        for count in options.clients:
            for at, url in enumerate(urls):
                results[at, count].append(measure(url, count, number, options))
    for (at, count), rounds in results.items():
        speeds = sorted(speed for speed, _ in rounds)
        first = statistics.median(first for _, first in rounds)
        print(f"{options.urls[at]}, {count} clients: {statistics.median(speeds):.1f} tok/s in all ({speeds[0]:.1f}-{speeds[-1]:.1f}), "
              f"first token after {1000 * first:.0f} ms")
    for count in options.clients if len(urls) == 2 else []:
        ratios = sorted(one[0] / other[0] for one, other in zip(results[0, count], results[1, count]))
        print(f"{count} clients: the first is {statistics.median(ratios):.2f} times as fast ({ratios[0]:.2f}-{ratios[-1]:.2f})")


main()
