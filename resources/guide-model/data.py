"""The corpus, and endless conversations made from it.

A corpus file holds facts. '@ id' starts one; the lines after it are
  a TEXT       an answer (with two, one is chosen at random); '&' joins a line to the one before
  t X | Y      names of a thing: asked about in the frames of 'what is X', 'explain X' and so on, and in 'and X?'
  h V | W      things to do: 'how do I V', 'can I V', 'V' ...
  s V | W      things to do that have a key: as h, and 'which key Vs'
  n N | M      the same as nouns: 'shortcut for N', 'N'
  d X / Y      two things to compare: 'X or Y', 'what is the difference between Y and X' ...
  q PATTERN    a question of its own
  f ID: PATTERN  a question that makes sense only after fact ID (or 'f *:' after any of the file)
In a pattern (a|b) is a choice, [a] and (a)? are there or not, {name} is a line 'm name ...' of words.txt, {pseudo} a word
that does not exist, {acronym} some capitals. Patterns are unfolded at random, then words are exchanged for synonyms (lines
'w word: others' of words.txt), and letters for typos, so that hardly anything is asked twice in the same way. Patterns are in
small letters; lines 'c Name|Other name' of words.txt hold what careful people write in capitals.
fillers.txt holds the frames, what people say before and after a question, and small words that are strewn in.
"""
import random
import re
from dataclasses import dataclass, field
from pathlib import Path

from tokenizer import IM_END, IM_START

ASKED, TAIL, CHOICE = 0.1, 0.5, 10  # what questions weigh, and what follows an answer's first tokens
FOLDER = Path(__file__).parent / "corpus"


@dataclass
class Fact:
    id: str
    group: str
    answers: list = field(default_factory=list)
    asks: list = field(default_factory=list)      # (weight, kind, pattern)
    follows: list = field(default_factory=list)   # (id or '*', pattern)


class Corpus:
    boost = {"other": 52.0, "hello": 1.5}  # what may be asked in endlessly many ways

    def __init__(self, folder=FOLDER):
        self.macros, self.synonyms, self.facts, names = {}, {}, {}, []
        for line in (folder / "words.txt").read_text().splitlines():
            kind, _, rest = line.partition(" ")
            if kind == "m":
                name, _, text = rest.partition(" ")
                self.macros[name] = text
            elif kind == "c":
                names += rest.split("|")
            elif kind == "w":
                word, _, others = rest.partition(": ")
                self.synonyms.setdefault(word, []).extend(others.split(", "))
        self.known = self.any_of(self.synonyms)
        for name in "country", "person":
            names += [" ".join(w if w in ("the", "da", "van", "on") else w.capitalize() for w in text.split(" "))
                      for text in self.macros[name].split("|")]
        self.capitals = {name.lower(): name for name in names}
        self.names = self.any_of(self.capitals)
        self.fillers = {k: v.split(" | ") for k, v in
                        (line[2:].split(": ", 1) for line in (folder / "fillers.txt").read_text().splitlines()
                         if line.startswith("= "))}
        for path in sorted(folder.glob("*.txt")):
            if path.stem not in ("words", "fillers"):
                self.read(path)
        self.by_group = {}
        for fact in self.facts.values():
            self.by_group.setdefault(fact.group, []).append(fact)
            if not fact.answers or not (fact.asks or fact.follows):
                raise ValueError(f"{fact.id}: no answer or no question")
            for parent, _ in fact.follows:
                if parent != "*" and parent not in self.facts:
                    raise ValueError(f"{fact.id} follows {parent}, which is not there")
        self.ids = list(self.facts)
        # A fact asked in more ways is asked a little more often.
        self.weights = [min(80.0, max(12.0, sum(w for w, _, _ in self.facts[i].asks))) ** 0.5 *
                        self.boost.get(i, 1.0) for i in self.ids]
        self.followed = {}
        for fact in self.facts.values():
            for parent, pattern in fact.follows:
                parents = [f.id for f in self.by_group[fact.group] if f.id != fact.id] if parent == "*" else [parent]
                for p in parents:
                    self.followed.setdefault(p, []).append((fact.id, pattern))

    @staticmethod
    def any_of(words):
        longest_first = sorted(words, key=len, reverse=True)
        return re.compile(r"(?<![\w-])(" + "|".join(map(re.escape, longest_first)) + r")(?![\w-])")

    def read(self, path):
        fact = None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            kind, _, text = line.partition(" ")
            text = text.strip()
            if kind == "@":
                if text in self.facts:
                    raise ValueError(f"{path.name}:{number}: {text} twice")
                fact = self.facts[text] = Fact(text, path.stem)
            elif kind == "a":
                fact.answers.append(text)
            elif kind == "&":
                fact.answers[-1] += " " + text
            elif kind in ("t", "h", "s", "n"):
                fact.asks.append((4.0 if kind == "t" else 2.5, kind, text.split(" | ")))
            elif kind == "d":
                fact.asks.append((2.5, "d", [side.split(" | ") for side in text.split(" / ")]))
            elif kind == "q":
                fact.asks.append((1.0, "q", text))
            elif kind == "f":
                parents, _, pattern = text.partition(": ")
                fact.follows += [(p.strip(), pattern) for p in parents.split(",")]
            else:
                raise ValueError(f"{path.name}:{number}: {line}")

    # ---- patterns ----

    def unfold(self, pattern, rng):
        while True:
            m = re.search(r"\{(\w+)\}|\(([^()\[\]]*)\)(\??)|\[([^()\[\]]*)\]", pattern)
            if not m:
                return re.sub(r"  +", " ", pattern).strip()
            if m[1] == "pseudo":
                text = self.pseudo_word(rng)
            elif m[1] == "acronym":
                text = "".join(rng.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ") for _ in range(rng.randint(3, 5)))
            elif m[1]:
                text = "(" + self.macros[m[1]] + ")"
            elif m[2] is not None:
                text = "" if m[3] and rng.random() < 0.5 else rng.choice(m[2].split("|"))
            else:
                text = rng.choice(m[4].split("|")) if rng.random() < 0.5 else ""
            pattern = pattern[:m.start()] + text + pattern[m.end():]

    @staticmethod
    def pseudo_word(rng):
        """What nobody has heard of must not sound like something known."""
        part = lambda: (rng.choice(("b", "br", "c", "ch", "d", "dr", "f", "fl", "g", "gr", "h", "j", "k", "kr", "l", "m", "n",
                                    "p", "pr", "r", "s", "sh", "sl", "st", "t", "tr", "v", "w", "z", "")) +
                        rng.choice(("a", "e", "i", "o", "u", "ai", "ea", "ou", "y")) +
                        rng.choice(("", "", "l", "m", "n", "nd", "r", "rk", "s", "st", "t", "x", "ck", "mp")))
        return "".join(part() for _ in range(rng.randint(1, 4)))

    def question(self, fact, rng):
        weights = [w for w, _, _ in fact.asks]
        _, kind, what = rng.choices(fact.asks, weights)[0]
        if kind == "q":
            return self.unfold(what, rng)
        if kind == "d":
            x, y = (self.unfold(rng.choice(side), rng) for side in rng.sample(what, 2))
            return self.unfold(rng.choice(self.frames("d")).replace("X", x, 1).replace("Y", y, 1), rng)
        thing = self.unfold(rng.choice(what), rng)
        return self.unfold(rng.choice(self.frames(kind)), rng).replace("X", thing, 1)

    def frames(self, kind):
        return self.fillers[{"t": "name", "h": "do", "s": "key", "n": "noun", "d": "compare", "f": "and"}[kind]]

    def follow_up(self, after, rng):
        """(fact, question) that a person might go on with, or None."""
        ways = []
        if after in self.followed:
            ways += ["own"] * 5
        near = [f for f in self.by_group[self.facts[after].group] if f.id != after and
                any(k == "t" for _, k, _ in f.asks)]
        if near:
            ways.append("and")
        if not ways:
            return None
        if rng.choice(ways) == "own":
            target, pattern = rng.choice(self.followed[after])
            return self.facts[target], self.unfold(pattern, rng)
        target = rng.choice(near)
        names = rng.choice([n for _, k, n in target.asks if k == "t"])
        return target, self.unfold(rng.choice(self.frames("f")), rng).replace("X", self.unfold(rng.choice(names), rng), 1)

    # ---- how people write ----

    def as_written(self, text, rng):
        if rng.random() < 0.4:
            text = self.known.sub(lambda m: rng.choice(self.synonyms[m[0]]) if rng.random() < 0.3 else m[0], text)
        if rng.random() < 0.15:
            text = rng.choice(self.fillers["before"]) + " " + text
        ended = text[-1:] in "?!."
        if rng.random() < 0.08 and not ended:
            text += " " + rng.choice(self.fillers["after"])
        r = rng.random()
        if r < 0.05:
            text = self.drop_small_words(text)
        elif r < 0.12 and text.count(" ") > 3:
            text = " ".join(w for w in text.split(" ") if rng.random() > 0.15) or text
        elif r < 0.22:
            words = text.split(" ")
            for _ in range(rng.choice((1, 1, 2))):
                words.insert(rng.randint(1, len(words)), rng.choice(self.fillers["strewn"]))
            text = " ".join(words)
        r = rng.random()
        if r < 0.4:
            text = text.lower()
        elif r < 0.42:
            text = text.upper()
        elif text:
            if r < 0.82:
                text = self.names.sub(lambda m: self.capitals[m[0]], text)
                text = re.sub(r"[.?!] [a-z]", lambda m: m[0].upper(), text)
            text = text[0].upper() + text[1:]
        if rng.random() < 0.12:
            for _ in range(rng.choice((1, 1, 2))):
                text = self.typo(text, rng)
        if rng.random() < 0.2:
            text = text.replace("'", "")
        if not ended and rng.random() < 0.6:
            text += rng.choice(("?", "?", "?", "?", "?", "?", ".", "??", " ?"))
        return text

    SMALL = {"the", "a", "an", "is", "do", "does", "i", "to", "of", "what", "how", "me", "my", "in", "are", "it", "can"}

    def drop_small_words(self, text):
        kept = [w for w in text.split(" ") if w.lower() not in self.SMALL]
        return " ".join(kept) if len(kept) > 1 else text

    NEAR = {"a": "sq", "s": "ad", "d": "sf", "f": "dg", "g": "fh", "h": "gj", "j": "hk", "k": "jl", "l": "k", "e": "wr",
            "r": "et", "t": "ry", "y": "tu", "u": "yi", "i": "uo", "o": "ip", "p": "o", "n": "bm", "m": "n", "c": "xv",
            "v": "cb", "b": "vn", "w": "qe", "q": "wa", "x": "zc", "z": "x"}

    def typo(self, text, rng):
        places = [i for i in range(1, len(text) - 1) if text[i].isalpha() and text[i - 1].isalpha()]
        if not places:
            return text
        i = rng.choice(places)
        kind = rng.randrange(4)
        if kind == 0:
            return text[:i] + text[i + 1] + text[i] + text[i + 2:]
        if kind == 1:
            return text[:i] + text[i + 1:]
        if kind == 2:
            return text[:i] + text[i] + text[i:]
        return text[:i] + rng.choice(self.NEAR.get(text[i].lower(), "e")) + text[i + 1:]

    # ---- conversations ----

    def exchange(self, rng):
        """One or two (question, answer) pairs that belong together."""
        fact = self.facts[rng.choices(self.ids, self.weights)[0]]
        if not fact.asks:  # only ever asked after another
            parent = rng.choice([p for p, _ in fact.follows])
            parent = rng.choice([f.id for f in self.by_group[fact.group] if f.id != fact.id]) if parent == "*" else parent
            first = self.facts[parent]
            pattern = rng.choice([q for p, q in fact.follows if p in (parent, "*")])
            return [self.pair(first, self.question(first, rng) if first.asks else first.id, rng),
                    self.pair(fact, self.unfold(pattern, rng), rng)]
        out = [self.pair(fact, self.question(fact, rng), rng)]
        if rng.random() < 0.36:
            more = self.follow_up(fact.id, rng)
            if more:
                out.append(self.pair(more[0], more[1], rng))
        return out

    def pair(self, fact, question, rng):
        return self.as_written(question, rng) or "?", rng.choice(fact.answers)


class Stream:
    """Windows of tokens. Weights say what is learned: the answers, and the mark that ends them."""

    def __init__(self, corpus, tokenizer, seed, cut=0.85, dropout=0.03):
        self.corpus, self.tokenizer, self.rng = corpus, tokenizer, random.Random(seed)
        self.cut, self.dropout = cut, dropout
        plain = tokenizer.encode
        self.newline = plain("\n")
        self.roles = {r: [IM_START] + plain(r + "\n") for r in ("user", "assistant", "system")}
        self.answers = {a: plain(a) for f in corpus.facts.values() for a in f.answers}

    def message(self, role, text):
        return self.roles[role] + self.tokenizer.encode(text, self.rng, self.dropout) + [IM_END] + self.newline

    def turn(self, question, answer):
        """An answer cut short, as by the stop button, costs little and still asks for the choice of the answer. Questions
        count a little too: to foresee how people ask is half of understanding them."""
        asked, opening, said = self.message("user", question), self.roles["assistant"], self.answers[answer]
        end = [IM_END] + self.newline
        ids, weights = asked + opening, [ASKED] * len(asked) + [0.0] * len(opening)
        if self.rng.random() < self.cut and len(said) > 16:
            said = said[:self.rng.randint(4, 9)]
            return ids + said + end, weights + [1.0] * len(said) + [0.0] * len(end)
        tail = len(said) + 1 - CHOICE
        return ids + said + end, weights + [1.0] * CHOICE + [TAIL] * tail + [0.0] * len(self.newline)

    def other_talk(self):
        """What somebody may have pasted earlier, and an answer of another model: only to be passed by."""
        rng, c = self.rng, self.corpus
        sentences = c.fillers["talk"]
        text = lambda n: " ".join(rng.choice(sentences) for _ in range(n))
        ids = self.message("user", text(rng.randint(1, 12))) + self.message("assistant", text(rng.randint(1, 12)))
        return ids, [0.0] * len(ids)

    def window(self, length):
        ids, weights = [], []
        if self.rng.random() < 0.15:
            ids += self.message("system", self.rng.choice(self.corpus.fillers["system"]))
            weights += [0.0] * len(ids)
        while len(ids) < length:
            if len(ids) + 300 < length and self.rng.random() < 0.03:
                more, more_weights = self.other_talk()
                ids, weights = ids + more, weights + more_weights
                continue
            for question, answer in self.corpus.exchange(self.rng):
                more, more_weights = self.turn(question, answer)
                ids, weights = ids + more, weights + more_weights
        return ids[:length], weights[:length]

    def batch(self, rows, length):
        made = [self.window(length) for _ in range(rows)]
        return [m[0] for m in made], [m[1] for m in made]
