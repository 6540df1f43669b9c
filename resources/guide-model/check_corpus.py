#!/usr/bin/python3
"""Checks the corpus, with the standard library only.

  check_corpus.py [--missing] [--asked N ID ...] [--samples N [LANGUAGE]] [--confused LANGUAGE] [--guess LANGUAGE FILE]

Errors (exit status 1): lines nobody understands, {lists} that are not in words.txt, brackets that do not match, facts without
an answer or a question, follow-ups of unknown facts, German answers that are not told in German, and questions that are there
twice with different answers. --missing also lists the facts without German, --asked prints questions of facts as people would
write them, --samples whole exchanges.
"""
import argparse
import collections
import itertools
import math
import random
import re
import sys

from data import FOLDER, Corpus

MOST = 400  # unfoldings of one pattern that are compared


def alternatives(pattern, macros=()):
    """All that a pattern can become, up to MOST; lists are left as {name}."""
    m = re.search(r"\(([^()\[\]]*)\)(\??)|\[([^()\[\]]*)\]", pattern)
    if not m:
        return [re.sub(r"  +", " ", pattern).strip()]
    parts = (m[1] if m[1] is not None else m[3]).split("|")
    if m[1] is None or m[2]:
        parts = parts + [""]
    made = (alternatives(pattern[:m.start()] + part + pattern[m.end():]) for part in parts)
    return list(itertools.islice(itertools.chain.from_iterable(made), MOST))


def normal(text):
    return re.sub(r"[^\w+{}*/.,-]+", " ", re.sub(r",(?= )|[?!]", " ", text.lower())).strip(" ")


def patterns(told):
    for _, kind, what in told.asks:
        if kind == "q":
            yield kind, what
        elif kind.startswith("ask "):
            continue  # a series: its slots come below
        elif kind == "d":
            yield from ((kind, name) for side in what for name in side)
        else:
            yield from ((kind, name) for name in what)
    yield from (("f", pattern) for _, pattern in told.follows)
    yield from (("v", slot.lstrip("+")) for _, slots in told.slots for slot in slots)


def wrong_patterns(corpus):
    for fact in corpus.facts.values():
        for language, told in fact.told.items():
            known = set(corpus.languages[language].macros) | {"pseudo", "acronym"}
            for kind, pattern in patterns(told):
                where = f"{language} {fact.id}: {kind} {pattern}"
                for name in re.findall(r"\{(\w+)\}", pattern):
                    if name not in known:
                        yield f"{where}: there is no list {name}"
                depth = 0
                for c in pattern:
                    depth += (c in "([") - (c in ")]")
                    if depth < 0 or depth > 2:
                        break
                if depth:
                    yield f"{where}: brackets"
                if re.search(r"\([^()]*\|\s*\)[^?]|\{\W", pattern):
                    yield f"{where}: an empty choice"


def asked(corpus, language):
    """(question, fact) without context; then (fact before, question, fact)."""
    alone, after = collections.defaultdict(set), collections.defaultdict(set)
    for fact in corpus.facts.values():
        told = fact.told.get(language)
        if not told:
            continue
        for _, kind, what in told.asks:
            names = [what] if kind == "q" else [] if kind == "d" or kind.startswith("ask ") else what
            for name in names:
                for text in alternatives(name):
                    alone[normal(text)].add(fact.id)
        for parent, pattern in told.follows:
            if parent in ("any", "*"):
                continue
            for text in alternatives(pattern):
                after[parent, normal(text)].add(fact.id)
    return alone, after


def doubled(corpus):
    for language in corpus.languages:
        alone, after = asked(corpus, language)
        for question, facts in sorted(alone.items()):
            if len(facts) > 1:
                yield f"{language} '{question}' is asked of {', '.join(sorted(facts))}"
        for (parent, question), facts in sorted(after.items()):
            if len(facts) > 1:
                yield f"{language} '{question}' after {parent} is asked of {', '.join(sorted(facts))}"
        slots = collections.defaultdict(set)
        for (series, where), members in corpus.series.items():
            if where != language:
                continue
            for name, texts in members:
                for text in itertools.chain.from_iterable(alternatives(text.lstrip("+")) for text in texts):
                    slots[series, normal(text)].add(name)
        for (series, slot), facts in sorted(slots.items()):
            if len(facts) > 1:
                yield f"{language} series {series}: '{slot}' leads to {', '.join(sorted(facts))}"


def count(corpus, language):
    told = [f.told[language] for f in corpus.facts.values() if language in f.told]
    lines = sum(len(t.asks) + len(t.follows) for t in told)
    ways = sum(len(alternatives(p)) for t in told for _, p in patterns(t))
    return f"{language}: {len(told)} facts, {lines} lines of questions, {ways} wordings before frames and synonyms, " \
           f"{sum(len(a) for t in told for a in t.answers)} characters of answers"


class WordModel:
    """Naive Bayes over words, pairs of words and beginnings of words."""

    def __init__(self, corpus, language, rng):
        self.words, self.corpus, self.rng = corpus.languages[language], corpus, rng
        self.language, self.index = language, collections.defaultdict(dict)
        self.facts = [f for f in corpus.facts.values() if language in f.told and f.told[language].asks]
        for fact in self.facts:
            times = 3000 if fact.id == "other" else 150
            seen = collections.Counter()
            for _ in range(times):
                seen.update(self.features(self.asked(fact)))
            for feature, n in seen.items():
                self.index[feature][fact.id] = math.log((150 * n / times + 0.02) / 0.02)

    def asked(self, fact):
        return self.words.as_written(self.corpus.question(fact, self.language, self.rng), self.rng)

    @staticmethod
    def features(text):
        words = [w.strip(".-'") for w in re.findall(r"[\w'+.#/-]+", text.lower())]
        return set(words) | set(zip(words, words[1:])) | {w[:4] + "~" for w in words if len(w) > 4}

    def guess(self, text):
        scores = collections.Counter()
        for feature in self.features(text):
            for name, gain in self.index.get(feature, {}).items():
                scores[name] += gain
        return [name for name, _ in scores.most_common(3)] or ["nothing"]


def confused(corpus, language, rng):
    model, right, examples = WordModel(corpus, language, rng), 0, collections.defaultdict(list)
    for fact in model.facts:
        for _ in range(25):
            question = model.asked(fact)
            found = model.guess(question)[0]
            right += found == fact.id
            if found != fact.id:
                examples[fact.id, found].append(question)
    yield f"{language}: {right / len(model.facts) / 25:.1%} of fresh questions are recognised by their words alone"
    for (a, b), questions in sorted(examples.items(), key=lambda e: -len(e[1]))[:40]:
        yield f"{len(questions):3} {a} taken for {b}: {questions[0]}"


def guesses(corpus, language, path, rng):
    model, right, total = WordModel(corpus, language, rng), 0, 0
    for line in open(path).read().splitlines():
        question, _, wanted = line.partition("\t")
        found = model.guess(question)
        right, total = right + (found[0] in wanted.split()), total + 1
        if found[0] not in wanted.split():
            yield f"{question}: {', '.join(found)}" + (f" instead of {wanted}" if wanted else "")
    yield f"{right} of {total}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--missing", action="store_true")
    arguments.add_argument("--asked", nargs="+", metavar="N ID")
    arguments.add_argument("--samples", nargs="+", metavar="N LANGUAGE")
    arguments.add_argument("--confused", metavar="LANGUAGE")
    arguments.add_argument("--guess", nargs=2, metavar=("LANGUAGE", "FILE"))
    arguments = arguments.parse_args()
    try:
        corpus = Corpus()
    except ValueError as error:
        sys.exit(f"{FOLDER}: {error}")
    for language in corpus.languages:
        print(count(corpus, language))
    print(f"{len({s for s, _ in corpus.series})} series: {', '.join(sorted({s for s, _ in corpus.series}))}")

    problems = list(wrong_patterns(corpus)) + list(doubled(corpus))
    for fact in corpus.facts.values():
        german, english = fact.told.get("de"), fact.told.get("en")
        if german and english:
            if len(german.asks) < 5 and english.asks and not any(kind.startswith("ask ") for _, kind, _ in german.asks):
                problems.append(f"de {fact.id}: only {len(german.asks)} lines of questions")
            if {s for s, _ in english.slots} != {s for s, _ in german.slots}:
                problems.append(f"de {fact.id}: series differ (English {english.slots}, German {german.slots})")
            if bool(english.follows) and not german.follows:
                problems.append(f"de {fact.id}: no follow-up, English has some")
            if fact.group not in {p.stem for p in (FOLDER / "de").glob("*.txt")}:
                problems.append(f"de {fact.id}: its English file is {fact.group}.txt")
        if german and any(re.search(r"[ae]{2}nd|\bue|oeff|koenn|moech", a) for a in german.answers):
            problems.append(f"de {fact.id}: umlauts are written as such in an answer")
    lacking = [f.id for f in corpus.facts.values() if "en" in f.told and "de" not in f.told]
    print(f"{len(lacking)} facts lack German" + (": " + ", ".join(lacking) if arguments.missing else " (--missing lists them)"))

    rng = random.Random(1)
    if arguments.asked:
        for name in arguments.asked[1:]:
            for language, told in corpus.facts[name].told.items():
                for _ in range(int(arguments.asked[0]) if told.asks else 0):
                    words = corpus.languages[language]
                    print(f"  {language} {name}: " +
                          words.as_written(corpus.question(corpus.facts[name], language, rng), rng))
    if arguments.samples:
        wanted, shown = arguments.samples[1:], 0
        while shown < int(arguments.samples[0]):
            pairs = corpus.exchange(rng)
            told = {a: lang for f in corpus.facts.values() for lang, t in f.told.items() for a in t.answers}
            if wanted and told[pairs[0][1]] not in wanted:
                continue
            shown += 1
            for question, answer in pairs:
                print(f"  > {question}\n    {answer}")
            print()

    if arguments.confused:
        print("\n".join(confused(corpus, arguments.confused, rng)))
    if arguments.guess:
        print("\n".join(guesses(corpus, *arguments.guess, rng)))

    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems" if problems else "all is well")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
