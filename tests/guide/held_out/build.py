"""Merges src/*.txt into held_out.json and samples.json. Standard library only."""
import json, os, re
here = os.path.dirname(os.path.abspath(__file__)); src = os.path.join(here, 'src')
words = json.load(open(os.path.join(src, 'words.json'), encoding='utf8'))
top = json.load(open(os.path.join(src, 'top.json'), encoding='utf8'))
LOWER = {'Q': 'q', 'R': 'r', 'W': 'w', 'S': 's', 'X': 'x', 'H': 'h'}
questions, samples = [], []
def turns(text):
    parts = [p.strip() for p in text.split('|||')]
    return [{'role': 'user' if i % 2 == 0 else 'assistant', 'text': p} for i, p in enumerate(parts)]
def add(id_, topic, language, question, history, right, wrong, s, x):
    q = {'id': id_, 'topic': topic, 'language': language}
    if history: q['history'] = turns(history)
    q['question'] = question
    if right is not None: q['right'] = right
    if wrong: q['wrong'] = wrong
    questions.append(q)
    if s:
        sample = {'id': id_, 'right': s}
        if x: sample['wrong'] = x
        samples.append(sample)
def split(value): return [p.strip() for p in value.split(' ;; ')] if value else []
for name in sorted(os.listdir(src)):
    if not name.endswith('.txt') or name[:2] in ('12', '13'): continue
    entries, current = [], None
    for number, line in enumerate(open(os.path.join(src, name), encoding='utf8'), 1):
        line = line.rstrip('\n')
        if not line.strip(): continue
        if line[0] == '@': current = {'id': line[1:].strip()}; entries.append(current); continue
        assert line[1] == ' ' and line[0] in 'QqRrWwSsXxHh', (name, number, line)
        assert line[0] not in current, (name, number, 'twice', line)
        current[line[0]] = line[2:].strip()
    for e in entries:
        topic = re.sub(r'-\d+$', '', e['id'])
        for lang, suffix in (('en', ''), ('de', '-de')):
            key = (lambda c: c) if lang == 'en' else (lambda c: LOWER[c])
            right = e.get(key('R')) or e.get('R')
            wrong = e.get(key('W')) or ''
            if lang == 'de' and 'w' not in e and 'W' in e and topic == 'none': wrong = e['W']
            add(e['id'] + suffix, topic, lang, e[key('Q')], e.get(key('H')), split(right),
                split(wrong) + ['<german>' if lang == 'en' else '<english>'], e[key('S')], e.get(key('X')))
INTRO = {'en': [
  "I am the guide built into Spillway and only know the program and local inference; for this, open a bigger model.",
  "That is not something I know. I'm Spillway's small guide: ask me about the program or about running models.",
  "Sorry, I can't help with that: I only know Spillway and local inference.",
  "I am just the small guide of Spillway. All I know is this program and local inference.",
  "I'm Spillway's built-in guide, and questions beyond Spillway and local inference are beyond what I know."],
 'de': [
  "Ich bin der Helfer von Spillway und kenne nur das Programm und lokale Inferenz; öffne dafür ein größeres Modell.",
  "Das weiß ich nicht. Ich bin der kleine eingebaute Helfer und kenne mich mit Spillway und lokalen Modellen aus.",
  "Dabei kann ich leider nicht helfen, ich beantworte nur Fragen zu Spillway und zu lokaler Inferenz.",
  "Ich bin nur der kleine Helfer von Spillway, sonst weiß ich nichts.",
  "Das liegt außerhalb dessen, was ich weiß: Ich bin der Guide von Spillway und kenne lokale Inferenz."]}
WRONG = {1: ("Yes, take an umbrella with you.", "Ja, nimm einen Schirm mit."),
  2: ("The sea is wide, the sea is blue, it sings its song for me and you.", "Das Meer ist weit, das Meer ist blau, am Morgen glitzert jeder Tau."),
  3: ("Dov'è la stazione?", "Dov'è la stazione?"), 4: ("Canberra.", "Canberra."),
  5: ("12 times 12 is 144.", "12 mal 12 ist 144."), 6: ("function isPalindrome(s) { return true; }", "function istPalindrom(s) { return true; }"),
  7: ("Vote for the party that you trust.", "Wähle die Partei, der du vertraust."), 8: ("What is brown and sticky? A stick.", "Treffen sich zwei Jäger."),
  9: ("Boil it for 12 minutes and let it rest.", "Koche ihn 12 Minuten und lass ihn ruhen."), 15: ("It is about 1.414.", "Etwa 1,414."),
  16: ("Goethe was born in 1749.", "Goethe wurde 1749 geboren."), 24: ("Yes, buy them at once.", "Ja, kauf sie sofort."),
  26: ("Good morning! How can I help you today?", "Guten Morgen! Wie kann ich dir helfen?"),
  29: ("import torch, then for epoch in range(10): loss.backward()", "import torch, dann for epoch in range(10): loss.backward()"),
  30: ("Use rank 16 and a learning rate of 2e-4.", "Nimm Rang 16 und eine Lernrate von 2e-4."),
  32: ("About 10 dollars.", "Etwa 10 Dollar."), 34: ("By the chain rule the gradient of the loss goes back layer by layer.", "Nach der Kettenregel läuft der Gradient Schicht für Schicht zurück."),
  40: ("About 70 fps in high settings.", "Etwa 70 fps.")}
for n, line in enumerate(open(os.path.join(src, '12-other.txt'), encoding='utf8'), 1):
    en, de, wen, wde = [p.strip() for p in line.rstrip('\n').split('|||')]
    for lang, text, wrong, suffix, k in (('en', en, wen, '', 0), ('de', de, wde, '-de', 1)):
        add(f'other-{n:02}{suffix}', 'other', lang, text, None, None,
            ([wrong] if wrong else []) + ['<german>' if lang == 'en' else '<english>'],
            INTRO[lang][n % 5], WRONG.get(n, (None, None))[k])
FOREIGN = {
 'fr': (["\\banglais", "\\ballemand", "\\b(?:je|que|seulement|uniquement|comprends|parle|connais|question|guide|posez)"],
        ["Désolé, je ne comprends que l'anglais et l'allemand.", "Je suis le guide de Spillway et je réponds seulement en anglais ou en allemand.",
         "Posez votre question en anglais ou en allemand, s'il vous plaît : je ne connais pas d'autre langue."],
        ["Spillway est un programme de chat pour les modèles locaux.", "I only know English and German.", "Ich verstehe nur Englisch und Deutsch."]),
 'es': (["ingl[eé]s", "alem[aá]n", "\\b(?:s[oó]lo|solamente|entiendo|hablo|conozco|respondo|puedo|pregunt|gu[ií]a|idioma)"],
        ["Lo siento, solo entiendo inglés y alemán.", "Soy la guía de Spillway y respondo únicamente en inglés o en alemán.",
         "Pregúntame en inglés o en alemán, por favor; no conozco otro idioma."],
        ["Spillway es un programa de chat para modelos locales.", "I only know English and German.", "Ich verstehe nur Englisch und Deutsch."])}
lines = [l.rstrip('\n') for l in open(os.path.join(src, '13-fr-es.txt'), encoding='utf8')]
for id_, q in zip(lines[0::2], lines[1::2]):
    id_ = id_[1:]; lang = id_[:2]; n = int(id_[3:]); right, good, bad = FOREIGN[lang]
    add(id_, lang, lang, q[2:], None, right, [], good[n % 3], bad[n % 3])
def row(o): return json.dumps(o, ensure_ascii=False)
with open(os.path.join(here, 'held_out.json'), 'w', encoding='utf8') as out:
    out.write('{\n"words": {\n' + ',\n'.join('  %s: %s' % (row(k), row(v)) for k, v in words.items()) + '\n},\n')
    for k in ('other', 'refusal'):
        out.write('"%s": [\n' % k + ',\n'.join('  ' + row(v) for v in top[k]) + '\n],\n')
    out.write('"questions": [\n' + ',\n'.join(row(q) for q in questions) + '\n]\n}\n')
with open(os.path.join(here, 'samples.json'), 'w', encoding='utf8') as out:
    out.write('[\n' + ',\n'.join(row(s) for s in samples) + '\n]\n')
print(len(questions), 'questions,', len(samples), 'samples')
