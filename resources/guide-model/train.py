#!/usr/bin/python3
"""Trains the guide model from the corpus beside this file and writes guide.gguf.

  train.py WORK_FOLDER [--from GGUF | --resume] [--steps N | --minutes N] [--rate R] [--favour NAME ...]
                                               python3-torch, python3-numpy, libopenblas0-pthread

WORK_FOLDER gets merges.json (the vocabulary, made once), checkpoint.pt every few minutes and on SIGTERM, log.txt, and at the end
guide.gguf. --resume goes on from the checkpoint, with the corpus as it is now; a finished run goes on with a larger N, which
lifts the learning rate to what is left of N. --minutes ends by the clock instead, for a machine that others use. --from
begins with the weights and the vocabulary of a guide that export.py wrote, for which a fifth of the rate does (--rate, a
share of the full one); --favour names facts and corpus files that are new: they are asked three times as often. One thread,
fixed seeds.
"""
import argparse
import ctypes
import json
import random
import signal
import sys
import time
from pathlib import Path

for option, value in ((-3, 1 << 30), (-1, 2000000000), (-2, 256 << 20)):  # keep freed memory: page faults cost a third
    ctypes.CDLL(None).mallopt(option, value)

import torch

import export
import from_gguf
from data import Corpus, Stream
from model import Guide, Muon
from tokenizer import Tokenizer, learn_merges

MERGES = 3837  # with the bytes and three marks: a vocabulary of 4096
STEPS, WARMUP, WARM_AGAIN = 4700, 60, 20
FIRST_STEPS, LONG_FROM = 400, 0.988  # then mixed windows, and in the last steps the longest
# Rows and length of the windows of a step, in turn: mostly 4,096 tokens.
FIRST = [(64, 64), (32, 128)]
SHORT = [(64, 64), (32, 128), (64, 64), (2, 2048), (32, 128), (4, 1024),
         (64, 64), (32, 128), (64, 64), (1, 4096), (32, 128), (4, 1024)]
LONG = [(64, 64), (8, 512), (32, 128), (1, 4096), (64, 64), (2, 2048), (32, 128), (4, 1024), (64, 64), (1, 8192)]
SAVE_EVERY_S = 180
FAVOUR = 3.0
FROM_RATE = 0.2  # half the full rate forgets faster than it learns


def vocabulary(corpus, path):
    if not path.exists():
        rng = random.Random(7)
        texts = [(a, 40) for f in corpus.facts.values() for a in f.answers]
        texts += [(question, 1) for _ in range(30000) for question, _ in corpus.exchange(rng)]
        texts += [(text, 2) for text in corpus.fillers["talk"] + corpus.fillers["system"]] + [("user assistant system\n", 50)]
        path.write_text(json.dumps(learn_merges(texts, MERGES)))
    return Tokenizer(json.loads(path.read_text()))


def scale(step, first, done):
    """Of the learning rate: warm up, after each start, then down in a line to the end. done: how much of the run is over."""
    return min((step - first + 1) / (WARM_AGAIN if first else WARMUP), 0.02 + 0.98 * (1 - done))


def shape(step, done, first_steps):
    shapes = LONG if done >= LONG_FROM else SHORT if step >= first_steps else FIRST
    return shapes[step % len(shapes)]


def cut(done):
    """The share of answers that are cut short: first many questions, then whole answers."""
    return 0.9 if done < LONG_FROM else 0.6


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder", type=Path)
    start = arguments.add_mutually_exclusive_group()
    start.add_argument("--resume", action="store_true")
    start.add_argument("--from", type=Path, dest="start", metavar="GGUF")
    length = arguments.add_mutually_exclusive_group()
    length.add_argument("--steps", type=int, default=STEPS)
    length.add_argument("--minutes", type=float)
    arguments.add_argument("--rate", type=float)
    arguments.add_argument("--favour", nargs="+", default=[], metavar="NAME")
    arguments = arguments.parse_args()
    folder, steps = arguments.folder, arguments.steps
    folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)
    torch.manual_seed(1)

    corpus = Corpus()
    corpus.favour(arguments.favour, FAVOUR)
    weights, rate, first_steps = None, 1.0, FIRST_STEPS
    if arguments.start:
        weights, tokenizer = from_gguf.read(arguments.start)
        (folder / "merges.json").write_text(json.dumps(tokenizer.merges))
        weights, rate, first_steps = {n: torch.from_numpy(v) for n, v in weights.items()}, FROM_RATE, 0
    else:
        tokenizer = vocabulary(corpus, folder / "merges.json")
    model = Guide(len(tokenizer))
    optimizer, step, tokens = Muon(model), 0, 0
    if arguments.resume:
        saved = torch.load(folder / "checkpoint.pt")
        step, tokens, optimizer.t, optimizer.state = saved["step"], saved["tokens"], saved["step"], saved["state"]
        weights, rate, first_steps = saved["parameters"], saved["rate"], saved["first_steps"]
    rate = arguments.rate or rate
    with torch.no_grad():
        for name, value in (weights or {}).items():
            model.parameters[name].copy_(value)
    first, stream = step, Stream(corpus, tokenizer, seed=100 + step)
    log = open(folder / "log.txt", "a", 1)
    end = f"for {arguments.minutes} minutes" if arguments.minutes else f"to step {steps}"
    print(f"{model.count()} parameters, {len(tokenizer)} tokens, {len(corpus.facts)} facts, from step {step} {end}", file=log)

    def save():
        torch.save({"step": step, "tokens": tokens, "state": optimizer.state, "rate": rate, "first_steps": first_steps,
                    "parameters": {n: t.detach() for n, t in model.parameters.items()}}, folder / "new.pt")
        (folder / "new.pt").rename(folder / "checkpoint.pt")

    asked_to_stop = []
    signal.signal(signal.SIGTERM, lambda *_: asked_to_stop.append(True))
    begun = saved_at = time.time()
    sums = [0.0, 0.0, 0]
    progress = lambda: (time.time() - begun) / 60 / arguments.minutes if arguments.minutes else step / steps
    while (done := progress()) < 1:
        rows, length = shape(step, done, first_steps)
        stream.cut = cut(done)
        ids, counts = (torch.tensor(t) for t in stream.batch(rows, length + 1))
        loss, right = model.loss(ids, counts)
        loss.backward()
        optimizer.step(rate * scale(step, first, done))
        step, tokens = step + 1, tokens + rows * length
        sums = [sums[0] + loss.item(), sums[1] + right.item(), sums[2] + 1]
        if step % 20 == 0:
            print(f"{step} loss {sums[0] / sums[2]:.4f} right {sums[1] / sums[2]:.4f} tokens {tokens} "
                  f"{time.time() - begun:.0f} s", file=log)
            sums = [0.0, 0.0, 0]
        if asked_to_stop or time.time() - saved_at > SAVE_EVERY_S:
            save()
            saved_at = time.time()
        if asked_to_stop:
            return
    save()
    export.write(folder / "guide.gguf", {n: t.detach() for n, t in model.parameters.items()}, tokenizer)


if __name__ == "__main__":
    sys.exit(main())
