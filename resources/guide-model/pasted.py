"""What people paste into a message: prose, code, tables, lists and logs of any length, which say nothing to the guide.

It is there to be passed by. Who fills a small graphics memory to see what leaves it does so with a long text and asks below it
what has happened; the guide has to answer that and not go on with the text.
"""
import string

WORDS = ("thing", "noun", "person", "country", "verb", "food", "adj", "feeling", "field", "job", "sport", "doing")
NAMES = ("notes.md", "main.py", "report.txt", "data.csv", "server.log", "index.html", "config.json", "Brief.txt", "chapter1.md",
         "app.cpp", "Protokoll.txt", "Liste.csv", "util.js", "README.md")
LINES = {
    "python": ("def A(B, C):", "    return B + C * 9", "    for B in A(99):", "        if B > C:", "            C.append(B)",
               "import A", "    A = {'B': 9, 'C': [99, 99]}", "class A(B):", "    # a b c", '    print(f"a: {C}")', ""),
    "cpp": ("#include <A>", "int A(const B& C)", "{", "}", "    for (int i = 0; i < 99; ++i)", "    return C->B(99);",
            "    // a b c", "    std::vector<A> B{9, 9, 99};", "    if (!A || B == nullptr)", '        throw A("a b");', ""),
    "json": ('{"a": 99, "b": "a b c",', '  "a": [9, 9, 99, 99],', '  "b": {"c": true, "a": null}},', '  "a b": "c",'),
    "html": ('<div class="a">', "  <p>a b c a b</p>", '  <a href="https://a.example/b/99">c</a>', "</div>",
             "<td>99</td><td>a</td>"),
    "csv": ("a;b;99;99,9", "b,c,99,9.99,a", "99,99,99,99", "| a | 99 | b c |"),
    "log": ("2026-09-19 09:99:99 INFO a: b c a", "[99.999] WARN A b=99 c=9", "99:99:99.999 ERROR a b c (99)",
            "    at A.B(C.java:99)"),
    "list": ("- a b", "- a b c a", "9. a", "99) b c", "* a (99)", "[ ] a b"),
    "shell": ("$ a --b 99", "a: b c: 99", "/usr/a/b/c.99", "export A=b:c", "99 a 99 b"),
}


class Pasted:
    """Texts of a language, made of its words and of the sentences that it has for such; now and then of the guide's own."""

    def __init__(self, language, answers):
        self.language, self.sentences, self.answers = language, language.fillers["talk"], answers
        self.words = [word for name in WORDS for word in language.macros.get(name, "").split("|")
                      if word and "{" not in word]

    def text(self, characters, rng):
        kind = rng.choice(("prose",) * 10 + ("again",) * 3 + ("answers", "noise", *LINES))
        if kind in LINES:
            line = lambda: self.line(rng.choice(LINES[kind]), rng)
            between = "\n"
        elif kind == "noise":
            line = lambda: "".join(rng.choices(string.ascii_letters + string.digits, k=rng.randint(8, 64)))
            between = rng.choice(("\n", " ", ""))
        elif kind == "answers":
            line = lambda: rng.choice(self.answers)
            between = rng.choice((" ", "\n", "\n\n"))
        else:
            one = [self.sentence(rng) for _ in range(rng.randint(1, 6))]
            line = lambda: " ".join(one) if kind == "again" else self.sentence(rng)
            between = rng.choice((" ", " ", "\n", "\n\n"))
        lines, length = [], 0
        while length < characters:
            lines.append(line() + ("\n\n" if kind == "prose" and between == " " and rng.random() < 0.15 else ""))
            length += len(lines[-1]) + 1
        return between.join(lines)

    def sentence(self, rng):
        if rng.random() < 0.5:
            return rng.choice(self.sentences)
        words = [rng.choice(self.words) for _ in range(rng.randint(2, 9))]
        if rng.random() < 0.3:
            words.insert(rng.randrange(len(words)), self.language.pseudo_word(rng))
        if rng.random() < 0.2:
            words.insert(rng.randrange(len(words)), str(rng.randrange(3000)))
        text = " ".join(words) + rng.choice((".", ".", ".", ",", "!", "?", ":"))
        return text[:1].upper() + text[1:]

    def line(self, pattern, rng):
        """Letters that stand alone become words, capitals names, nines digits."""
        out = []
        for i, letter in enumerate(pattern):
            alone = not (pattern[i - 1:i].isalpha() or pattern[i + 1:i + 2].isalpha())
            if letter == "9":
                out.append(rng.choice(string.digits))
            elif letter in "abc" and alone:
                out.append(rng.choice(self.words).split(" ")[-1])
            elif letter in "ABC" and alone:
                out.append(self.language.pseudo_word(rng).title() + rng.choice(("", "", "_", "Id")))
            else:
                out.append(letter)
        return "".join(out)

    @staticmethod
    def around_file(rng):
        """What stands before and after an attached file in a prompt."""
        return f"File: {rng.choice(NAMES)}\n\n```\n", "\n```\n\n"
