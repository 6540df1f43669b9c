"""Byte-level byte-pair encoding: training it, and text to ids. The split is the one that GGUF calls 'qwen2'."""
import collections
import re

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
END_OF_TEXT, IM_START, IM_END = range(3)
SPLIT = re.compile(r"'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD]|(?:[^\w\r\n]|_)?[^\W\d_]+|\d|"
                   r" ?(?:[^\s\w]|_)+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")


def byte_letters():
    """One printable letter for each byte, as in every byte-level vocabulary: most stand for themselves."""
    plain = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    letters, spare = {}, 256
    for byte in range(256):
        if byte in plain:
            letters[byte] = chr(byte)
        else:
            letters[byte], spare = chr(spare), spare + 1
    return letters


BYTES = byte_letters()


def words_of(text):
    return ["".join(BYTES[b] for b in word.encode()) for word in SPLIT.findall(text)]


def learn_merges(texts, count):
    """texts: (text, weight) pairs. Ties go to the pair that sorts first, so that the result is always the same."""
    weights = collections.Counter()
    for text, weight in texts:
        for word in words_of(text):
            weights[word] += weight
    words = [[list(word), weight] for word, weight in sorted(weights.items())]
    pairs, places = collections.Counter(), collections.defaultdict(set)
    for index, (parts, weight) in enumerate(words):
        for pair in zip(parts, parts[1:]):
            pairs[pair] += weight
            places[pair].add(index)
    merges = []
    while len(merges) < count and pairs:
        best = min(pairs, key=lambda pair: (-pairs[pair], pair))
        if pairs[best] < 2:
            break
        merges.append(best)
        for index in list(places[best]):
            parts, weight = words[index]
            for pair in zip(parts, parts[1:]):
                pairs[pair] -= weight
            words[index][0] = parts = join(parts, best)
            for pair in zip(parts, parts[1:]):
                pairs[pair] += weight
                places[pair].add(index)
        del pairs[best], places[best]
    return merges


def join(parts, pair):
    out, at = [], 0
    while at < len(parts):
        if at + 1 < len(parts) and (parts[at], parts[at + 1]) == pair:
            out.append(parts[at] + parts[at + 1])
            at += 2
        else:
            out.append(parts[at])
            at += 1
    return out


class Tokenizer:
    def __init__(self, merges):
        self.merges = [tuple(m) for m in merges]
        self.rank = {pair: rank for rank, pair in enumerate(self.merges)}
        self.tokens = SPECIAL + [BYTES[b] for b in range(256)] + [a + b for a, b in self.merges]
        self.ids = {token: index for index, token in enumerate(self.tokens)}
        self.known = {}

    def __len__(self):
        return len(self.tokens)

    def encode(self, text, rng=None, dropout=0.0):
        """Plain text only. With dropout, some words are cut into smaller parts than they need: practice for typos."""
        out = []
        for word in words_of(text):
            if dropout and rng.random() < dropout:
                out += self.split_word(word, rng)
            else:
                if word not in self.known:
                    self.known[word] = self.split_word(word)
                out += self.known[word]
        return out

    def split_word(self, word, rng=None):
        parts = list(word)
        while len(parts) > 1:
            ranked = [(self.rank[pair], pair) for pair in set(zip(parts, parts[1:])) if pair in self.rank
                      and not (rng and rng.random() < 0.3)]
            if not ranked:
                break
            parts = join(parts, min(ranked)[1])
        return [self.ids[part] for part in parts]

    def decode(self, ids):
        back = {letter: byte for byte, letter in BYTES.items()}
        return b"".join(bytes(back[c] for c in self.tokens[i]) if i >= len(SPECIAL) else SPECIAL[i].encode()
                        for i in ids).decode("utf-8", "replace")
