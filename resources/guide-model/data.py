"""The corpus, and endless conversations made from it.

A corpus file holds facts. '@ id' starts one; the lines after it are
  a TEXT       an answer (with two, one is chosen at random); '&' joins a line to the one before
  t X | Y      names of a thing: asked about in the frames of 'what is X', 'explain X' and so on, and in 'and X?'
  h V | W      things to do: 'how do I V', 'can I V', 'V' ...
  s V | W      things to do that have a key: as h, and 'which key Vs'
  n N | M      the same as nouns: 'shortcut for N', 'N'
  d X / Y      two things to compare: 'X or Y', 'what is the difference between Y and X' ...
  q PATTERN    a question of its own
  f ID: PATTERN  a question that makes sense only after fact ID, or after one of several: 'f A, B: ...'. 'f *:' is after
               any of the file, 'f any:' after any fact at all that has no follow-up of its own with the same first word
  v SERIES: SLOT | SLOT  the fact is one of a series of facts that differ in one slot ('16 gb', 'on windows', 'q8_0'):
               after any other of the series 'and SLOT?', 'what about SLOT?' leads here. Where fillers.txt has a line
               '= ask SERIES', its frames are questions of their own for each slot, but for those with a '+' before them
In a pattern (a|b) is a choice, [a] and (a)? are there or not, {name} is a line 'm name ...' of words.txt, {pseudo} a word
that does not exist, {acronym} some capitals. Patterns are unfolded at random, then words are exchanged for synonyms (lines
'w word: others' of words.txt), and letters for typos, so that hardly anything is asked twice in the same way. Patterns are in
small letters; lines 'c Name|Other name' of words.txt hold what careful people write in capitals.
fillers.txt holds the frames, what people say before and after a question, and small words that are strewn in.

The files in corpus/ itself are English. A folder in it is a language ('de', 'fr', 'es') with files of the same names and the
same lines: '@ id' there goes on with the English fact of that id (its answers, questions and follow-ups in that language;
series are the fact's, their slots each language's), '@ +id' is a fact that only this language has. Each exchange is held in
one language, drawn by Corpus.SHARES among those in which the fact is told. What is not in a language is not asked in it.

German frames say in which form they want the thing, since it has an article or a verb (GERMAN_FORMAT.md has an example):
X as written, X4 its accusative, X3 its dative, X0 without article; of a thing to do X as written, Xzu with 'zu', Xich as 'ich'
says it. German patterns are written as German is: nouns in capitals, umlauts, eszett; many people's ways are made of it.
"""
import random
import re
import unicodedata
from dataclasses import dataclass, field
from pathlib import Path

from pasted import Pasted
from tokenizer import IM_END, IM_START

ASKED, TAIL, CHOICE = 0.1, 0.5, 10  # what questions weigh, and what follows an answer's first tokens
PASTED, CHARACTERS = 0.45, 1.9  # the share of longer windows that have a pasted text; a token of which is so long
FOLDER = Path(__file__).parent / "corpus"
KINDS = {"t": "name", "h": "do", "s": "key", "n": "noun", "d": "compare", "f": "and", "v": "vary"}


@dataclass
class Told:
    """What one language has of a fact."""
    answers: list = field(default_factory=list)
    asks: list = field(default_factory=list)      # (weight, kind, pattern)
    follows: list = field(default_factory=list)   # (id, '*' or 'any', pattern)
    slots: list = field(default_factory=list)     # (series, slots)


@dataclass
class Fact:
    id: str
    group: str
    told: dict = field(default_factory=dict)      # language: Told

    @property
    def answers(self):
        return [answer for told in self.told.values() for answer in told.answers]


class Language:
    """Words and frames of a language, and how people write it."""
    small, near = set(), {}

    def __init__(self, folder):
        self.macros, self.synonyms, names = {}, {}, []
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
                      for text in self.macros.get(name, "").split("|") if text.islower()]
        self.capitals = {name.lower(): name for name in names}
        self.names = self.any_of(self.capitals)
        self.fillers = {k: v.split(" | ") for k, v in
                        (line[2:].split(": ", 1) for line in (folder / "fillers.txt").read_text().splitlines()
                         if line.startswith("= "))}

    @staticmethod
    def any_of(words):
        if not words:
            return re.compile(r"(?!)")
        longest_first = sorted(words, key=len, reverse=True)
        return re.compile(r"(?<![\w-])(" + "|".join(map(re.escape, longest_first)) + r")(?![\w-])")

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

    def frames(self, kind):
        return self.fillers[KINDS.get(kind, kind)]

    def framed(self, kind, things, rng):
        """A frame with one thing in it, or two."""
        frame = self.unfold(rng.choice(self.frames(kind)), rng)
        for letter, thing in zip("XY", things):
            frame = self.put(frame, letter, self.unfold(thing, rng))
        return re.sub(r"  +", " ", frame).strip()

    def put(self, frame, letter, thing):
        return frame.replace(letter, thing, 1)

    # ---- how people write ----

    def as_written(self, text, rng):
        if rng.random() < 0.4:
            text = self.known.sub(lambda m: rng.choice(self.synonyms[m[0]]) if rng.random() < 0.3 else m[0], text)
        if rng.random() < 0.15 and self.fillers.get("before"):
            text = rng.choice(self.fillers["before"]) + " " + text
        ended = text[-1:] in "?!."
        if rng.random() < 0.08 and not ended and self.fillers.get("after"):
            text += " " + rng.choice(self.fillers["after"])
        r = rng.random()
        if r < 0.09:
            text = self.drop_small_words(text)
        elif r < 0.14 and text.count(" ") > 3:
            text = " ".join(w for w in text.split(" ") if rng.random() > 0.15) or text
        elif r < 0.22 and self.fillers.get("strewn"):
            words = text.split(" ")
            for _ in range(rng.choice((1, 1, 2))):
                words.insert(rng.randint(1, len(words)), rng.choice(self.fillers["strewn"]))
            text = " ".join(words)
        text = self.misspelt(self.cased(text, rng), rng)
        if not ended and rng.random() < 0.6:
            text += rng.choice(("?", "?", "?", "?", "?", "?", ".", "??", " ?"))
        return text

    def cased(self, text, rng):
        r = rng.random()
        if r < 0.4:
            return text.lower()
        if r < 0.42:
            return text.upper()
        if r < 0.82:
            text = self.names.sub(lambda m: self.capitals[m[0]], text)
            text = re.sub(r"[.?!] [a-z]", lambda m: m[0].upper(), text)
        return text[:1].upper() + text[1:]

    def misspelt(self, text, rng):
        if rng.random() < 0.15:
            for _ in range(rng.choice((1, 1, 2, 3))):
                text = self.typo(text, rng)
        if rng.random() < 0.2:
            text = text.replace("'", "")
        return text

    def drop_small_words(self, text):
        """As people type who are used to search engines."""
        kept = [w for w in text.split(" ") if w.lower() not in self.small]
        return " ".join(kept) if len(kept) > 1 else text

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
        return text[:i] + rng.choice(self.near.get(text[i].lower(), "e")) + text[i + 1:]


class English(Language):
    small = {"the", "a", "an", "is", "do", "does", "i", "to", "of", "what", "how", "me", "my", "in", "are", "it", "can", "and",
             "for", "be", "there", "this", "that", "you", "does", "did", "will", "on", "with", "have", "has", "get", "when"}
    near = {"a": "sq", "s": "ad", "d": "sf", "f": "dg", "g": "fh", "h": "gj", "j": "hk", "k": "jl", "l": "k", "e": "wr",
            "r": "et", "t": "ry", "y": "tu", "u": "yi", "i": "uo", "o": "ip", "p": "o", "n": "bm", "m": "n", "c": "xv",
            "v": "cb", "b": "vn", "w": "qe", "q": "wa", "x": "zc", "z": "x"}


class German(Language):
    small = {"der", "die", "das", "ein", "eine", "einen", "ist", "ich", "zu", "von", "was", "wie", "mir", "mein", "meine", "in",
             "sind", "es", "kann", "man", "den", "dem", "im", "denn", "bitte"}
    near = {**English.near, "y": "xs", "z": "tu", "t": "rz", "x": "yc", "s": "ady", "a": "sqy", "ü": "pö", "ö": "lä",
            "ä": "ö", "p": "oü", "l": "kö"}
    PLAIN = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "ß": "ss"})
    BARE = str.maketrans({"ä": "a", "ö": "o", "ü": "u", "Ä": "A", "Ö": "O", "Ü": "U", "ß": "s"})
    DATIVE = {"der": "dem", "das": "dem", "die": "der", "ein": "einem", "eine": "einer", "mein": "meinem", "meine": "meiner",
              "die*": "den", "meine*": "meinen"}
    ACCUSATIVE = {"der": "den", "ein": "einen", "mein": "meinen"}

    def put(self, frame, letter, thing):
        return re.sub(rf"\b{letter}(zu|ich|0|3|4)?(?!\w)", lambda m: self.form(thing, m[1]), frame)

    def form(self, thing, wanted):
        """'der Cache' in a case, 'ein Modell öffnen' or 'eine Nachricht an~heften' as frames want it. 'die*' is a plural;
        'ein!' says that it is neuter, so that its accusative is 'ein'."""
        article, _, rest = thing.partition(" ")
        has_article = article in ("der", "die", "das", "ein", "eine", "mein", "meine", "die*", "meine*", "ein!", "mein!")
        if wanted in ("zu", "ich"):
            return self.with_verb(thing, wanted)
        rest, thing = rest.replace("~", ""), thing.replace("~", "")
        if not has_article:
            return thing
        if wanted == "0":
            return rest
        plain = article.rstrip("*!")
        if wanted == "4" and not article.endswith("!"):
            plain = self.ACCUSATIVE.get(plain, plain)
        elif wanted == "3":
            plain = self.DATIVE.get(article, self.DATIVE.get(plain, plain))
        return plain + " " + rest

    @staticmethod
    def with_verb(thing, wanted):
        before, _, verb = thing.rpartition(" ")
        part, _, stem = verb.rpartition("~")
        if wanted == "zu":
            return (before + " " + (part + "zu" + stem if part else "zu " + stem)).strip()
        if stem.endswith("eln"):
            said = stem[:-3] + "le"
        elif stem.endswith("ern"):
            said = stem[:-1] + "e"
        else:
            said = stem[:-1]
        return " ".join(w for w in (said, "ich", before, part) if w)

    def cased(self, text, rng):
        r = rng.random()
        if r < 0.45:
            return text.lower()
        if r < 0.465:
            return text.upper().replace("ß", "SS")
        text = re.sub(r"[.?!] [a-zäöü]", lambda m: m[0].upper(), text)
        return text[:1].upper() + text[1:]

    def misspelt(self, text, rng):
        r = rng.random()
        if r < 0.14:
            text = text.translate(self.PLAIN)
        elif r < 0.20:
            text = text.translate(self.BARE)
        elif r < 0.28:
            text = text.replace("ß", "ss")
        elif r < 0.33:
            text = text.replace("dass ", "das ")
        if rng.random() < 0.06:  # compounds written apart or with a hyphen
            text = re.sub(r"(?<=[A-Za-zäöü])-(?=[A-ZÄÖÜa-zäöü])", rng.choice((" ", "")), text)
        if rng.random() < 0.04:
            text = text.replace(",", "")
        return super().misspelt(text, rng)


class Recognised(Language):
    """A language that is only recognised; many write it without its accents."""
    near = English.near

    def misspelt(self, text, rng):
        if rng.random() < 0.25:
            text = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
        return super().misspelt(text, rng)


class Corpus:
    BOOST = {"other": 75.0, "hello": 1.5, "french": 6.0, "spanish": 6.0}  # what may be asked in endlessly many ways
    SHARES = {"en": 0.55, "de": 0.45}  # of what is told in both; a language that has facts of its own has those whenever asked
    KINDS_OF = {"en": English, "de": German}  # others: Recognised
    NOTHING_MORE = {"other", "hello", "thanks", "more", "same-everywhere", "change-what"}
    MORE = 0.42  # of follow-ups

    def __init__(self, folder=FOLDER):
        self.facts, self.languages = {}, {"en": self.language("en", folder)}
        self.read_folder("en", folder)
        for path in sorted(p for p in folder.iterdir() if p.is_dir() and (p / "words.txt").exists()):
            self.languages[path.name] = self.language(path.name, path)
            self.read_folder(path.name, path)
        self.by_group, self.followed, self.series, self.after_any = {}, {}, {}, {}
        for fact in self.facts.values():
            self.by_group.setdefault(fact.group, []).append(fact)
        for fact in self.facts.values():
            for language, told in fact.told.items():
                self.connect(fact, language, told)
        self.first_words = {key: {self.first_word(pattern) for _, pattern in ways} for key, ways in self.followed.items()}
        self.ids = list(self.facts)
        self.weights = [self.weight(self.facts[i]) for i in self.ids]
        self.new_answers = set()

    def language(self, name, folder):
        return self.KINDS_OF.get(name, Recognised)(folder)

    @property
    def fillers(self):
        """Of all languages: what is said between, and system prompts."""
        return {kind: [text for language in self.languages.values() for text in language.fillers.get(kind, ())]
                for kind in ("talk", "system")}

    def answers(self, language):
        return [answer for fact in self.facts.values() if language in fact.told for answer in fact.told[language].answers]

    def weight(self, fact):
        """A fact asked in more ways is asked a little more often."""
        most = max(sum(w for w, _, _ in told.asks) for told in fact.told.values())
        return min(80.0, max(12.0, most)) ** 0.5 * self.BOOST.get(fact.id, 1.0)

    def favour(self, names, times):
        """These facts, and all of these files, are asked so many times as often, and their answers are more often whole."""
        new = {i for i in self.ids if i in names or self.facts[i].group in names}
        self.weights = [w * (times if i in new else 1) for i, w in zip(self.ids, self.weights)]
        self.new_answers = {answer for i in new for answer in self.facts[i].answers}

    def connect(self, fact, language, told):
        for series, slots in told.slots:
            self.series.setdefault((series, language), []).append((fact.id, slots))
            if "ask " + series in self.languages[language].fillers:
                told.asks.append((9.0, "ask " + series, [slot for slot in slots if slot[0] != "+"]))
        if not told.answers or not (told.asks or told.follows):
            raise ValueError(f"{fact.id} in {language}: no answer or no question")
        for parent, pattern in told.follows:
            if parent == "any":
                self.after_any.setdefault(language, []).append((fact.id, pattern))
                continue
            if parent != "*" and parent not in self.facts:
                raise ValueError(f"{fact.id} follows {parent}, which is not there")
            for p in self.parents(fact, parent, language):
                self.followed.setdefault((p, language), []).append((fact.id, pattern))

    def parents(self, fact, parent, language):
        names = [f.id for f in self.by_group[fact.group] if f.id != fact.id] if parent == "*" else [parent]
        return [name for name in names if language in self.facts[name].told]

    @staticmethod
    def first_word(pattern):
        plain = re.sub(r"\((and|und|ok|so)[ |a-z]*\)\??|\[(and|und|ok|so)[ |a-z]*\]", "", pattern)
        words = re.findall(r"\w+", plain)
        return words[0].lower() if words else ""

    def read_folder(self, language, folder):
        for path in sorted(folder.glob("*.txt")):
            if path.stem not in ("words", "fillers"):
                self.read(path, language)

    def read(self, path, language):
        told = None
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line.strip() or line.startswith("#"):
                continue
            kind, _, text = line.partition(" ")
            text = text.strip()
            if kind == "@":
                name, own = text.lstrip("+"), text.startswith("+")
                there = self.facts.get(name)
                if there and (language in there.told or own):
                    raise ValueError(f"{path.name}:{number}: {name} twice")
                if not there and language != "en" and not own:
                    raise ValueError(f"{language}/{path.name}:{number}: there is no English fact {name}")
                fact = self.facts.setdefault(name, Fact(name, path.stem))
                told = fact.told[language] = Told()
            elif kind == "a":
                told.answers.append(text)
            elif kind == "&":
                told.answers[-1] += " " + text
            elif kind in ("t", "h", "s", "n"):
                told.asks.append((4.0 if kind == "t" else 2.5, kind, text.split(" | ")))
            elif kind == "d":
                told.asks.append((2.5, "d", [side.split(" | ") for side in text.split(" / ")]))
            elif kind == "q":
                told.asks.append((1.0, "q", text))
            elif kind == "f":
                parents, _, pattern = text.partition(": ")
                told.follows += [(p.strip(), pattern) for p in parents.split(",")]
            elif kind == "v":
                series, _, slots = text.partition(": ")
                told.slots.append((series, slots.split(" | ")))
            else:
                raise ValueError(f"{path.name}:{number}: {line}")

    # ---- questions ----

    def question(self, fact, language, rng):
        words, asks = self.languages[language], fact.told[language].asks
        _, kind, what = rng.choices(asks, [w for w, _, _ in asks])[0]
        if kind == "q":
            return words.unfold(what, rng)
        if kind == "d":
            return words.framed("d", [rng.choice(side) for side in rng.sample(what, 2)], rng)
        return words.framed(kind, [rng.choice(what)], rng)

    def follow_up(self, after, language, rng):
        """(fact, question) that a person might go on with, or None."""
        words = self.languages[language]
        own = self.followed.get((after, language))
        slots = [(name, rng.choice(slots).lstrip("+")) for series, _ in self.facts[after].told[language].slots
                 for name, slots in self.series[series, language] if name != after]
        near = [f for f in self.by_group[self.facts[after].group] if f.id != after and language in f.told and
                any(k == "t" for _, k, _ in f.told[language].asks)]
        taken = self.first_words.get((after, language), set())
        loose = [(name, p) for name, p in self.after_any.get(language, ()) if name != after and
                 self.first_word(p) not in taken and after not in self.NOTHING_MORE]
        ways = {"own": 5.0 * bool(own), "slot": 5.0 * bool(slots), "and": 1.0 * bool(near), "any": 0.5 * bool(loose),
                "none": 1.0}
        way = rng.choices(list(ways), list(ways.values()))[0]
        if way == "none" or after == "other" and rng.random() < 0.7:
            return None
        if way == "slot":
            name, slot = rng.choice(slots)
            return self.facts[name], words.framed("v", [slot], rng)
        if way in ("own", "any"):
            name, pattern = rng.choice(own if way == "own" else loose)
            return self.facts[name], words.unfold(pattern, rng)
        target = rng.choice(near)
        names = rng.choice([n for _, k, n in target.told[language].asks if k == "t"])
        return target, words.framed("f", [rng.choice(names)], rng)

    # ---- conversations ----

    def exchange(self, rng):
        """One to three (question, answer) pairs that belong together, in one language."""
        fact = self.facts[rng.choices(self.ids, self.weights)[0]]
        in_these = list(fact.told)
        language = rng.choices(in_these, [self.SHARES.get(name, 0.1) for name in in_these])[0]
        told = fact.told[language]
        if told.asks:
            out = [self.pair(fact, self.question(fact, language, rng), language, rng)]
        else:  # only ever asked after another
            parent, pattern = rng.choice(told.follows)
            parents = [n for n in (self.ids if parent == "any" else self.parents(fact, parent, language))
                       if n != fact.id and n not in self.NOTHING_MORE and language in self.facts[n].told and self.facts[n].told[language].asks and
                       not (parent == "any" and self.first_word(pattern) in self.first_words.get((n, language), ()))]
            first = self.facts[rng.choice(parents)]
            out = [self.pair(first, self.question(first, language, rng), language, rng),
                   self.pair(fact, self.languages[language].unfold(pattern, rng), language, rng)]
        while len(out) < 3 and rng.random() < self.MORE:
            more = self.follow_up(fact.id, language, rng)
            if not more:
                break
            fact = more[0]
            out.append(self.pair(fact, more[1], language, rng))
        return out

    def pair(self, fact, question, language, rng):
        return self.languages[language].as_written(question, rng) or "?", rng.choice(fact.told[language].answers)


class Stream:
    """Windows of tokens. Weights say what is learned: the answers, and the mark that ends them."""

    def __init__(self, corpus, tokenizer, seed, cut=0.85, dropout=0.03):
        self.corpus, self.tokenizer, self.rng = corpus, tokenizer, random.Random(seed)
        self.cut, self.dropout = cut, dropout
        plain = tokenizer.encode
        self.newline = plain("\n")
        self.roles = {r: [IM_START] + plain(r + "\n") for r in ("user", "assistant", "system")}
        self.answers = {a: plain(a) for f in corpus.facts.values() for a in f.answers}
        self.pasted = {name: Pasted(language, corpus.answers(name)) for name, language in corpus.languages.items()
                       if language.fillers.get("talk")}

    def message(self, role, text):
        return self.roles[role] + self.tokenizer.encode(text, self.rng, self.dropout) + [IM_END] + self.newline

    def turn(self, question, answer, above=(), below=()):
        """An answer cut short, as by the stop button, costs little and still asks for the choice of the answer. Questions
        count a little too: to foresee how people ask is half of understanding them. above, below: what was pasted there."""
        opening, said = self.roles["assistant"], self.answers[answer]
        start, asked = self.roles["user"], self.tokenizer.encode(question, self.rng, self.dropout)
        end = [IM_END] + self.newline
        ids = start + list(above) + asked + list(below) + end + opening
        weights = [ASKED] * len(start) + [0.0] * len(above) + [ASKED] * len(asked)
        weights += ([0.0] * (len(below) + len(end)) if below else [ASKED] * len(end)) + [0.0] * len(opening)
        cut = self.cut * (0.5 if answer in self.corpus.new_answers else 1)
        if self.rng.random() < cut and len(said) > 16:
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

    def turns(self, pairs):
        made = [self.turn(*pair) for pair in pairs]
        return [i for ids, _ in made for i in ids], [w for _, weights in made for w in weights]

    def pasted_turns(self, tokens):
        """A question with a long text above or below it, or after a message that is nothing but a text."""
        rng, characters = self.rng, int(tokens * CHARACTERS)
        language = rng.choice(list(self.pasted))
        pasted = self.pasted[language]
        text = lambda before, after: self.tokenizer.encode(before + pasted.text(characters, rng) + after)
        (question, answer), *rest = self.corpus.exchange(rng)
        where = rng.random()
        if where < 0.45:
            first = (question, answer, text("", rng.choice(("\n", "\n\n", "\n\n", " "))))
        elif where < 0.6:
            first = (question, answer, (), text(rng.choice(("\n", "\n\n", " ")), ""))
        elif where < 0.75:
            first = (question, answer, text(*pasted.around_file(rng)))
        else:
            first = ("", rng.choice(self.corpus.facts["other"].told[language].answers), text("", ""))
            rest = [(question, answer), *rest]
        return self.turns([first, *rest])

    def window(self, length):
        ids, weights = [], []
        if self.rng.random() < 0.15:
            ids += self.message("system", self.rng.choice(self.corpus.fillers["system"]))
            weights += [0.0] * len(ids)
        pasted = length >= 512 and self.rng.random() < PASTED
        pasted_at = self.rng.uniform(0.0, 0.3) * length
        while len(ids) < length:
            if pasted and len(ids) >= pasted_at:
                more, more_weights = self.pasted_turns(length * self.rng.uniform(0.1, 0.6))
                pasted = False
            elif len(ids) + 300 < length and self.rng.random() < 0.03:
                more, more_weights = self.other_talk()
            else:
                more, more_weights = self.turns(self.corpus.exchange(self.rng))
            ids, weights = ids + more, weights + more_weights
        return ids[:length], weights[:length]

    def batch(self, rows, length):
        made = [self.window(length) for _ in range(rows)]
        return [m[0] for m in made], [m[1] for m in made]
