#!/usr/bin/env python3
"""Writes tests/data/tokenizer: small vocabularies and word patterns with the results that the tokenizer must give.

The results are worked out here, by the slowest code that can be right: at each step all neighbours are looked at and
the best pair is joined. Word patterns are those of the models' own tokenizer.json, run by Python's `regex` package
(pip install regex), not those of the engine. Run it from anywhere; it is needed only to change the data.
"""
import json
import pathlib
import random

import regex

OUT = pathlib.Path(__file__).resolve().parent.parent / "data" / "tokenizer"
NORMAL, UNKNOWN, CONTROL, USER, UNUSED, BYTE = 1, 2, 3, 4, 5, 6

STORY = """Once upon a time there was a small engine that could read. It read the words of a page, one after the other,
and it said: the more I read, the more there is to read! When the page was full it did not stop, and it did not forget;
it moved the oldest words to a bigger room. Es las auch Grüße aus Äpfeln, über 1234567 Zeilen, 42 mal. Привет, мир. 你好世界。
for (int i = 0; i < 10; ++i) { total += words[i]; }
    return total;
"""

# ---- word patterns, as their makers wrote them ----

CI = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
TAIL = r"\s*[\r\n]+|\s+(?!\S)|\s+"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
UP = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
LOW = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
LEAD = r"[^\r\n\p{L}\p{N}]?"
GPT4O = rf"{LEAD}{UP}*{LOW}+{CI}?|{LEAD}{UP}+{LOW}*{CI}?|\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|" + TAIL
DEEPSEEK3 = (
    r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|"
    + TAIL
)
RULES = {
    "llama-bpe": [CI + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + TAIL],
    "qwen2": [CI + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + TAIL],
    "qwen35": [CI + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|" + TAIL],
    "gpt-2": [GPT2],
    "gpt-4o": [GPT4O],
    "tekken": [
        rf"{LEAD}{UP}*{LOW}+|{LEAD}{UP}+{LOW}*|\p{{N}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|" + TAIL],
    "starcoder": [r"\p{N}", GPT2],
    "falcon": [r"[\p{P}$+<=>^~|`]+", GPT2, "[0-9][0-9][0-9]"],
    "deepseek-coder": [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-\ud7ff]+", r"\p{N}"],
    # Its list of letters is that of the letters with two cases, as far as the scripts of these texts go.
    "deepseek-llm": [
        r"[\r\n]", r"\s?[\p{Lu}\p{Ll}\p{Lt}]+", r"\s?[!-/:-~！-／：-～‘-‟　-。]+", r"\s+$", "[一-龥ࠀ-一가-\ud7ff]+", r"\p{N}+"],
    "bloom": [" ?[^(\\s|.,!?…。，、।۔،)]+"],
    "viking": [" ?[^(\\s|.,!?…。，、।۔،)]+", r"\p{N}"],
    "bailingmoe": [
        r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"],
    "seed-coder": [CI + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|" + TAIL],
    "minicpm5": [r"\p{N}{1,3}", CI + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}+| ?[^\s\p{L}\p{N}]+[\r\n]*|" + TAIL],
    "superbpe": [r"\p{N}{1,3}(?=(?:\p{N}{3})*+(?!\p{N}))"],
    "deepseek-v3": [r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+", DEEPSEEK3],
    "default": [r"[\p{P}$+<=>^~|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"],
    "tiny_aya": [r"\d{1,3}(?=(?:\d{3})*\b)", GPT4O],
    "kimi-k2": [
        r"(?V1)[\p{Han}]+|" + rf"{LEAD}[[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]--[\p{{Han}}]]*"
        rf"[[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]--[\p{{Han}}]]+{CI}?|"
        rf"{LEAD}[[\p{{Lu}}\p{{Lt}}\p{{Lm}}\p{{Lo}}\p{{M}}]--[\p{{Han}}]]+"
        rf"[[\p{{Ll}}\p{{Lm}}\p{{Lo}}\p{{M}}]--[\p{{Han}}]]*{CI}?|"
        r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + TAIL],
    "exaone-moe": [
        CI + r"|[^\r\n\p{L}\p{N}]?(?:\p{L}\p{M}*(?: \p{L}\p{M}*)*)+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]?|"
        r"\s*[\r\n]|\s+(?!\S)|\s+"],
    "gemma4": [r"[^\n]+|[\n]+"],
}


def words_of(text, patterns):
    pieces = [text]
    for pattern in patterns:
        cut = []
        for piece in pieces:
            done = 0
            for match in regex.finditer(pattern, piece):
                cut += [piece[done:match.start()], match.group()]
                done = match.end()
            cut += [piece[done:]]
        pieces = [p for p in cut if p]
    return pieces


def random_text(rng):
    parts = ["a", "Bc", "DEF", "ß", "Ünï", "Жук", "ДА", "ǅ", "ʰ", "中文", "かな", "カナ", "한글", "e\u0301", "\u0301", "क्षि",
             "0", "12", "3456789", "٣", "Ⅻ", "²", "'s", "'LL", "'re", "'", "don't", "I'M", ".", ",", "...", "!?", "$", "+=",
             "`", "~", "_", "/", "//", "。", "€", "🦙", "👩\u200d🔧", "\u200b", " ", "  ", "     ", "\t", "\t\t", "\n", "\n\n",
             "\r\n", " \n ", "\u00a0", "\u3000", "\u0085", "\u180e", "\u2028", "-", "(", ")", "[x]", "{", "<|", "|>"]
    return "".join(rng.choice(parts) for _ in range(rng.randint(1, 14)))


def make_words():
    rng = random.Random(1)
    texts = ["", " ", "Hello, world!", STORY] + [random_text(rng) for _ in range(60)]
    rules = [{"name": name, "words": [words_of(t, patterns) for t in texts]} for name, patterns in RULES.items()]
    return {"texts": texts, "rules": rules}


# ---- tokenizers, the slow way ----

def escape(character):
    return "▁" if character == " " else character


def byte_letters():
    good = list(range(0x21, 0x7F)) + list(range(0xA1, 0xAD)) + list(range(0xAE, 0x100))
    letters, extra = {}, 0
    for byte in range(256):
        letters[byte] = chr(byte) if byte in good else chr(256 + extra)
        extra += byte not in good
    return letters


LETTERS = byte_letters()


class Naive:
    """A vocabulary and the tokens of a text: ids with the byte offsets at which they begin."""

    def __init__(self, vocabulary):
        self.v = vocabulary
        self.ids = {}
        for i, text in enumerate(vocabulary["tokens"]):
            self.ids.setdefault(text, i)
        self.ranks = {}
        for rank, merge in enumerate(vocabulary.get("merges", [])):
            left, right = merge.split(" ", 1)
            self.ranks.setdefault((left, right), rank)

    def encode(self, text, parse=False, start="beginning", with_bos=False):
        out, due, at, plain, plain_at = [], start != "middle", 0, "", 0
        offset = 0

        def flush():
            nonlocal due, plain
            if plain:
                out.extend(self.encode_plain(plain, plain_at, due))
                due = False
            plain = ""

        while at < len(text):
            found = self.special_at(text[at:], parse)
            if found is None:
                if not plain:
                    plain_at = offset
                plain += text[at]
                offset += len(text[at].encode())
                at += 1
                continue
            flush()
            out.append((found, offset))
            special = self.v["tokens"][found]
            at += len(special)
            offset += len(special.encode())
            due = True
        flush()
        if with_bos and (not out or out[0][0] != self.v["bos"]):
            out.insert(0, (self.v["bos"], 0))
        return out

    def special_at(self, text, parse):
        wanted = {USER, CONTROL, UNKNOWN} if parse else {USER}
        fits = [i for i, t in enumerate(self.v["tokens"]) if self.v["types"][i] in wanted and text.startswith(t)]
        return max(fits, key=lambda i: len(self.v["tokens"][i]), default=None)

    def join_best(self, parts, value):
        """parts: [text, origin]. Joins the best pair, of equal ones the leftmost, until none is left."""
        while True:
            best, where = None, None
            for i in range(len(parts) - 1):
                v = value(parts[i][0], parts[i + 1][0])
                if v is not None and (best is None or v > best):
                    best, where = v, i
            if where is None:
                return parts
            parts[where:where + 2] = [[parts[where][0] + parts[where + 1][0], parts[where][1]]]

    def with_offsets(self, text, base):
        parts = []
        for character in text:
            parts.append([escape(character), base])
            base += len(character.encode())
        return parts


class NaiveSpm(Naive):
    def encode_plain(self, text, base, due):
        parts = self.with_offsets(text, base)
        if due and self.v.get("add_space_prefix", True):
            parts.insert(0, ["▁", base])

        def value(left, right):
            i = self.ids.get(left + right)
            return None if i is None else self.v["scores"][i]

        for part, origin in self.join_best(parts, value):
            if part in self.ids:
                yield self.ids[part], origin
                continue
            names = [f"<0x{b:02X}>" for b in part.encode()]
            if all(n in self.ids for n in names):
                yield from ((self.ids[n], origin + (0 if part == "▁" else k)) for k, n in enumerate(names))
            elif self.v["unk"] >= 0:
                yield self.v["unk"], origin


class NaiveBpe(Naive):
    def encode_plain(self, text, base, due):
        for word in words_of(text, RULES[self.v["pre"]]):
            yield from self.encode_word(word, base)
            base += len(word.encode())

    def value(self, left, right):
        rank = self.ranks.get((left, right))
        return None if rank is None else -rank

    def encode_word(self, word, base):
        parts = [[LETTERS[b], base + i] for i, b in enumerate(word.encode())]
        whole = "".join(p[0] for p in parts)
        if self.v["pre"] == "llama-bpe" and whole in self.ids:
            yield self.ids[whole], base
            return
        for part, origin in self.join_best(parts, self.value):
            if part in self.ids:
                yield self.ids[part], origin
            else:
                for k, letter in enumerate(part):
                    yield self.ids.get(letter, self.v["unk"]), origin + k


class NaiveGemma4(NaiveBpe):
    def encode_word(self, word, base):
        if word.strip("\n") == "" and word in self.ids:
            yield self.ids[word], base
            return
        for part, origin in self.join_best(self.with_offsets(word, base), self.value):
            if part in self.ids:
                yield self.ids[part], origin
            else:
                yield from ((self.ids[f"<0x{b:02X}>"], origin) for b in part.encode())


def learn_merges(words, count):
    """words: lists of symbols. The usual training: the most frequent pair first."""
    words, merges = [list(w) for w in words], []
    while len(merges) < count:
        seen = {}
        for w in words:
            for pair in zip(w, w[1:]):
                seen[pair] = seen.get(pair, 0) + 1
        if not seen:
            break
        left, right = max(seen, key=lambda p: (seen[p], p))
        merges.append((left, right))
        for w in words:
            for i in range(len(w) - 2, -1, -1):
                if i + 1 < len(w) and w[i] == left and w[i + 1] == right:
                    w[i:i + 2] = [left + right]
    return merges


def cases_for(naive, rng):
    texts = ["", " ", "  ", "a", " a", "the", "Hello world", " the words", STORY, "1234567890", "\n", "\n\n\n", " \n \n",
             "Grüße", "你好", "🦙", "don't", "<s>the words</s>", "a<tag>b <tag> c", "<tag2>", "<ta", "the<|im_end|>\n the",
             "<s>", "<unk>", "aaaaaaaaaaaaaaaa", "readreadread"] + [random_text(rng) for _ in range(25)]
    cases = []
    for text in texts:
        for options in ({}, {"parse": True, "with_bos": True}, {"start": "middle", "parse": True}):
            tokens = naive.encode(text, **options)
            cases.append({"text": text, **options, "ids": [t[0] for t in tokens], "begins": [t[1] for t in tokens]})
    return cases


def spm_vocabulary(without_bytes=False, by_word=False):
    """by_word: no token reaches from one word into the next, as in real vocabularies."""
    rng = random.Random(2)
    text = "▁" + STORY.replace(" ", "▁")
    tokens, types, scores = ["<unk>", "<s>", "</s>"], [UNKNOWN, CONTROL, CONTROL], [0.0, 0.0, 0.0]
    if not without_bytes:
        tokens += [f"<0x{b:02X}>" for b in range(256)]
        types += [BYTE] * 256
        scores += [0.0] * 256
    for special, kind in (("<tag>", USER), ("<tag2>", USER), ("<|im_end|>", CONTROL)):
        tokens.append(special)
        types.append(kind)
        scores.append(0.0)
    pieces = ["".join(m) for m in learn_merges(regex.findall("▁+[^▁]*", text) if by_word else [text], 180)]
    characters = sorted(set(text) - set("世ü\n"))  # these have no token of their own
    for i, piece in enumerate(dict.fromkeys(pieces + characters)):
        tokens.append(piece)
        types.append(NORMAL)
        scores.append(float(-(i // 3) + rng.choice([0, 0, 1])))  # not in order, and many equal
    return {"model": "llama", "pre": "default", "tokens": tokens, "types": types, "scores": scores, "bos": 1, "eos": 2,
            "unk": 0, "add_space_prefix": not without_bytes}


def bpe_vocabulary():
    words = [[LETTERS[b] for b in w.encode()] for w in words_of(STORY, RULES["llama-bpe"])]
    merges = learn_merges(words, 220)
    tokens = list(LETTERS.values()) + ["".join(m) for m in merges]
    dropped = ["".join(m) for m in merges[40:44]]  # merges make texts that are no tokens
    tokens = [t for t in dict.fromkeys(tokens) if t not in dropped and t != "~"]  # and a byte has none
    tokens += ["Ġwordsy", "<unk>", "<s>", "</s>", "<tag>", "<tag2>", "<|im_end|>"]  # a word that no merges make
    types = [NORMAL] * (len(tokens) - 6) + [UNKNOWN, CONTROL, CONTROL, USER, USER, CONTROL]
    return {"model": "gpt2", "pre": "llama-bpe", "tokens": tokens, "types": types,
            "merges": [" ".join(m) for m in merges], "bos": tokens.index("<s>"), "eos": tokens.index("</s>"),
            "unk": tokens.index("<unk>")}


def gemma4_vocabulary():
    lines = [[escape(c) for c in line] for line in STORY.split("\n")]
    merges = learn_merges(lines, 200)
    tokens = ["<unk>", "<s>", "</s>", "<tag>", "<tag2>", "<|im_end|>"] + [f"<0x{b:02X}>" for b in range(256)]
    types = [UNKNOWN, CONTROL, CONTROL, USER, USER, CONTROL] + [BYTE] * 256
    rest = sorted(set("".join(map("".join, lines)))) + ["\n", "\n\n", "\n\n\n"] + ["".join(m) for m in merges]
    rest = [t for t in dict.fromkeys(rest) if t not in ("世", "Ä")]
    return {"model": "gemma4", "pre": "gemma4", "tokens": tokens + rest, "types": types + [NORMAL] * len(rest),
            "merges": [" ".join(m) for m in merges], "bos": 1, "eos": 2, "unk": 0}


def write(name, data):
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    (OUT / name).write_text(text + "\n", encoding="ascii")


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    write("words.json", make_words())
    for name, naive, vocabulary in (
            ("spm.json", NaiveSpm, spm_vocabulary()),
            ("spm_by_word.json", NaiveSpm, spm_vocabulary(by_word=True)),
            ("spm_without_bytes.json", NaiveSpm, spm_vocabulary(without_bytes=True)),
            ("bpe.json", NaiveBpe, bpe_vocabulary()),
            ("gemma4.json", NaiveGemma4, gemma4_vocabulary())):
        write(name, {"vocabulary": vocabulary, "cases": cases_for(naive(vocabulary), random.Random(3))})


if __name__ == "__main__":
    main()
