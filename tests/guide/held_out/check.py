#!/usr/bin/env python3
"""Tries held_out.json and samples.json beside this file: the same checks as tests/guide/tst_questions.cpp, and more.
Standard library only. Ends with 1 when something is wrong.

Qt's expressions know ASCII letters only in \\b and \\w, Python's know all; so every verdict is asked for twice, the
second time with re.ASCII on lower-cased text, and both have to agree."""
import json, os, re, sys
from collections import Counter, defaultdict

here = os.path.dirname(os.path.abspath(__file__))
verbose = '-v' in sys.argv
problems = []
def problem(text):
    problems.append(text)
    if len(problems) <= 120: print('PROBLEM', text[:400])

root = json.load(open(os.path.join(here, 'held_out.json'), encoding='utf8'))
samples = json.load(open(os.path.join(here, 'samples.json'), encoding='utf8'))
words = root['words']

def expand(pattern):
    for _ in range(50):
        found = re.search(r'<([a-z-]+)>', pattern)
        if not found: return pattern
        pattern = pattern[:found.start()] + '(?:' + words.get(found.group(1), '(') + ')' + pattern[found.end():]
    return '('
class Expression:
    def __init__(self, pattern, where):
        self.pattern = pattern
        full = expand(pattern)
        if re.search(r'\\[BWSDpPXRKQE]|\(\?(?:<[a-zA-Z]|P|#)', full): problem(f'{where}: not portable: {pattern}')
        try:
            self.unicode = re.compile(full, re.IGNORECASE | re.DOTALL)
            self.ascii = re.compile(full.lower(), re.IGNORECASE | re.DOTALL | re.ASCII)
        except re.error as error:
            problem(f'{where}: {error}: {pattern}'); self.unicode = self.ascii = re.compile('(?!)')
        if self.unicode.search(''): problem(f'{where}: matches nothing at all: {pattern}')
    def __call__(self, text, qt): return bool(self.ascii.search(text.lower()) if qt else self.unicode.search(text))
cache = {}
def expression(pattern, where):
    if pattern not in cache: cache[pattern] = Expression(pattern, where)
    return cache[pattern]
def plain(answer):
    answer = re.sub('[*`]', '', answer)
    answer = re.sub('[\u2010-\u2015]', '-', answer).replace('\u2019', "'").replace('\u00d7', 'x')
    return ' '.join(answer.split())

questions = root['questions']
refusals = [expression(p, 'refusal') for p in root['refusal']]
other = [expression(p, 'other') for p in root['other']]
for q in questions:
    for key in ('id', 'topic', 'question', 'language'):
        if not q.get(key): problem(f'{q.get("id")}: no {key}')
    if set(q) - {'id', 'topic', 'question', 'language', 'history', 'right', 'wrong', 'depth'}: problem(f'{q["id"]}: unknown members')
    if q['language'] not in ('en', 'de', 'fr', 'es'): problem(f'{q["id"]}: language')
    if not q['id'].startswith(q['topic'] + '-'): problem(f'{q["id"]}: not of topic {q["topic"]}')
    if (q['language'] == 'de') != q['id'].endswith('-de'): problem(f'{q["id"]}: id and language')
    is_other = q['topic'] == 'other'
    if not is_other and not q.get('right'): problem(f'{q["id"]}: no right')
    q['_right'] = other if is_other else [expression(p, q['id']) for p in q['right']]
    q['_wrong'] = [expression(p, q['id']) for p in q.get('wrong', [])]
    if not is_other and q['topic'] not in ('identity',): q['_wrong'] = q['_wrong'] + refusals
    for i, turn in enumerate(q.get('history', [])):
        if turn['role'] != ('user', 'assistant')[i % 2] or not turn['text']: problem(f'{q["id"]}: history')
    if len(q.get('history', [])) % 2: problem(f'{q["id"]}: history')
by_id = {q['id']: q for q in questions}
if len(by_id) != len(questions): problem('ids twice: ' + str([i for i, n in Counter(q['id'] for q in questions).items() if n > 1]))
for q in questions:
    twin = q['id'][:-3] if q['language'] == 'de' else q['id'] + '-de'
    if q['language'] in ('en', 'de') and twin not in by_id: problem(f'{q["id"]}: no twin')
texts = Counter((q['question'].lower(), json.dumps(q.get('history'))) for q in questions)
for text, n in texts.items():
    if n > 1: problem(f'asked twice: {text}')

def verdict(q, answer, qt):
    return all(e(answer, qt) for e in q['_right']) and not any(e(answer, qt) for e in q['_wrong'])
def is_right(q, answer):
    text = plain(answer)
    a, b = verdict(q, text, False), verdict(q, text, True)
    if a != b: problem(f'{q["id"]}: Unicode and ASCII letters differ on: {answer}')
    return a

# ---- the samples are told apart
sampled, with_wrong = set(), Counter()
for s in samples:
    q = by_id.get(s['id'])
    if not q: problem(f'sample of no question: {s["id"]}'); continue
    sampled.add(s['id'])
    if not is_right(q, s['right']):
        text = plain(s['right'])
        problem(f'{s["id"]}: refuses its right sample: {s["right"]}\n        unmatched {[e.pattern for e in q["_right"] if not e(text, False)]} wrong {[e.pattern for e in q["_wrong"] if e(text, False)]}')
    if s.get('wrong'):
        with_wrong[q['language']] += q['topic'] != 'other'
        if is_right(q, s['wrong']): problem(f'{s["id"]}: accepts its wrong sample: {s["wrong"]}')
for q in questions:
    if q['id'] not in sampled: problem(f'{q["id"]}: no sample')

# ---- other wordings of right answers are not refused
paraphrases = os.path.join(here, 'paraphrases.txt')
if os.path.exists(paraphrases):
    tried = 0
    for line in open(paraphrases, encoding='utf8'):
        if '|' not in line: continue
        id_, text = [p.strip() for p in line.split('|', 1)]
        q = by_id[id_]; tried += 1
        if not is_right(q, text):
            flat = plain(text)
            problem(f'{id_}: refuses another wording: {text}\n        unmatched {[e.pattern for e in q["_right"] if not e(flat, False)]} wrong {[e.pattern for e in q["_wrong"] if e(flat, False)]}')
    print(f'other wordings tried: {tried}')

# ---- answers to something else are wrong
matrix = {}
for lang in ('en', 'de', 'fr', 'es'):
    offered = accepted = 0
    takers = Counter()
    for q in (q for q in questions if q['language'] == lang and q['topic'] != 'other'):
        o = a = 0
        for s in samples:
            if s['id'].startswith(q['topic'] + '-') or by_id[s['id']]['language'] != lang: continue
            o += 1
            if is_right(q, s['right']):
                a += 1; takers[s['id']] += 1
                if verbose: print(f'    {q["id"]} accepts {s["id"]}: {s["right"]}')
        if o and a * 100 > o * 8: problem(f'{q["id"]} accepts {a} of {o}')
        offered += o; accepted += a
        matrix[q['id']] = (a, o)
    if offered:
        share = 100 * accepted / offered
        print(f'{lang}: answers of other topics accepted: {accepted} of {offered}, {share:.2f} %')
        if share > 2: problem(f'{lang}: {share:.2f} % > 2 %')
worst = sorted(matrix.items(), key=lambda kv: -kv[1][0])[:12]
print('the laxest:', ', '.join(f'{k} {a}/{o}' for k, (a, o) in worst))
lang_leaks = [s['id'] for s in samples if by_id[s['id']]['language'] == 'en' and s['id'] + '-de' in by_id and by_id[s['id']]['topic'] != 'other' and is_right(by_id[s['id'] + '-de'], s['right'])]
back_leaks = [s['id'] for s in samples if by_id[s['id']]['language'] == 'de' and by_id[s['id']]['topic'] != 'other' and is_right(by_id[s['id'][:-3]], s['right'])]
if verbose: print('   ', lang_leaks, back_leaks)
print(f'English samples that pass the German twin: {len(lang_leaks)}; German ones that pass the English twin: {len(back_leaks)} (short ones: keys, numbers)')

# ---- an introduction answers what is other people's business, and nothing else
introductions = {
    'en': ["I am Spillway's small built-in guide. I only know Spillway and local inference; for other things open a bigger model with Ctrl+O, or the model page with Ctrl+L.",
           "I'm the guide built into Spillway. Ask me about the program or about local inference.",
           "I am the guide of Spillway and I know nothing but this program and local inference."],
    'de': ["Ich bin der kleine eingebaute Helfer von Spillway. Ich kenne nur Spillway und lokale Inferenz; für anderes öffne mit Strg+O ein größeres Modell, oder die Modellseite mit Strg+L.",
           "Ich bin der Helfer von Spillway. Frag mich nach dem Programm oder nach lokaler Inferenz.",
           "Ich bin der Guide von Spillway und weiß nichts außer über dieses Programm und lokale Inferenz."]}
for lang, texts_ in introductions.items():
    for text in texts_:
        for q in questions:
            if q['topic'] != 'other' and is_right(q, text): problem(f'{q["id"]}: accepts an introduction: {text}')
            if q['topic'] == 'other' and q['language'] == lang and not is_right(q, text): problem(f'{q["id"]}: refuses an introduction: {text}')
            if q['topic'] == 'other' and q['language'] != lang and is_right(q, text): problem(f'{q["id"]}: accepts another language: {text}')
    on_topic = [s for s in samples if by_id[s['id']]['topic'] not in ('other', 'fr', 'es') and by_id[s['id']]['language'] == lang]
    one = next(q for q in questions if q['topic'] == 'other' and q['language'] == lang)
    taken = [s['id'] for s in on_topic if is_right(one, s['right'])]
    print(f'{lang}: right answers on topic that pass as an introduction: {len(taken)} of {len(on_topic)} {taken}')
    if len(taken) * 100 > 2 * len(on_topic): problem(f'{lang}: too many answers pass as an introduction')

# ---- not the questions of tests/guide
existing = os.path.join(here, '..', 'questions.json')
if os.path.exists(existing):
    def bag(text): return frozenset(re.findall(r'\w+', text.lower())) - {'the', 'a', 'an', 'is', 'do', 'does', 'i', 'to', 'of', 'it'}
    old = [(bag(q['question']), q) for q in json.load(open(existing, encoding='utf8'))['questions'] if not q.get('history')]
    for q in questions:
        if q['language'] != 'en' or q.get('history'): continue
        b = bag(q['question'])
        for c, o in old:
            if b and c and len(b & c) / len(b | c) >= 0.6: print(f'near: {q["id"]} "{q["question"]}" ~ {o["id"]} "{o["question"]}"')
            if b == c: problem(f'{q["id"]} is asked in tests/guide: {o["id"]}')

# ---- counts
table = defaultdict(Counter)
for q in questions: table[q['topic']][q['language']] += 1
langs = ('en', 'de', 'fr', 'es')
print('\n%-14s' % 'topic' + ''.join('%5s' % l for l in langs))
for topic, row in table.items(): print('%-14s' % topic + ''.join('%5s' % (row[l] or '') for l in langs))
print('%-14s' % 'all' + ''.join('%5d' % sum(r[l] for r in table.values()) for l in langs) + '   together %d' % len(questions))
print('with history: %d; samples %d' % (sum(bool(q.get('history')) for q in questions), len(samples)))
for lang in langs:
    n = sum(q['language'] == lang and q['topic'] != 'other' for q in questions)
    print(f'{lang}: wrong samples for {with_wrong[lang]} of {n} on topic')
    if with_wrong[lang] * 3 < n: problem(f'{lang}: too few wrong samples')
print('\n%d problems' % len(problems) if problems else '\nclean')
sys.exit(bool(problems))
