#!/usr/bin/env python3
"""Writes tests/data/templates.json: small templates, one or more for each feature, as python3-jinja2 renders them.

The environment is the one chat templates are rendered in: trim_blocks, lstrip_blocks, loop controls, a plain tojson,
raise_exception, strftime_now, and {% generation %}."""
import datetime
import json
from pathlib import Path

import jinja2
import jinja2.ext
import jinja2.nodes

NOW = datetime.datetime(2026, 7, 26, 12, 5, 9)


class Generation(jinja2.ext.Extension):
    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_pass"), [], [], body).set_lineno(line)

    def _pass(self, caller):
        return caller()


class Raised(Exception):
    pass


def raise_exception(message):
    raise Raised(message)


def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def environment():
    env = jinja2.Environment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols", Generation])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = NOW.strftime
    return env


MESSAGES = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": "Hi, 世界 🙂"},
    {"role": "assistant", "content": "<think>hm</think>Hello", "tool_calls": [{"function": {"name": "f", "arguments": {"b": 1, "a": [True, None, 1.5]}}}]},
    {"role": "tool", "content": "42", "name": "f"},
]
VARIABLES = {
    "messages": MESSAGES,
    "bos": "<s>",
    "n": 7,
    "x": 2.5,
    "text": "  The quick-brown (fox) <b>jumps</b> & 'runs' \"fast\"\n over\tit. ",
    "mixed": "Straße ÄÖÜ ǆ İstanbul ΣΑΣ ﬁn naïve",
    "words": ["pear", "Apple", "fig", "apple", "Banana"],
    "people": [
        {"name": "Ada", "age": 36, "home": {"city": "London"}},
        {"name": "Bob", "age": 25, "home": {"city": "Oslo"}},
        {"name": "cy", "age": 36, "home": {"city": "london"}},
        {"name": "Dee", "home": {"city": "Rome"}},
    ],
    "tree": [{"v": 1, "kids": [{"v": 2, "kids": [{"v": 3, "kids": []}]}, {"v": 4, "kids": []}]}, {"v": 5, "kids": []}],
    "map": {"b": 2, "a": 1, "C": 3, "items": "hidden", "z": {"y": [1, 2, {"k": "v"}]}},
    "numbers": [5, 3, 8, 1, 8, -2, 0],
    "nothing": None,
    "yes": True,
    "no": False,
    "empty": [],
}


def both(name, template, **more):
    return {"name": name, "template": template, **more}


def lines(name, *expressions):
    """One template for each expression: what one of them raises must not hide the others."""
    return [both(f"{name}: {e}", "{{ " + e + " }}") for e in expressions]


CASES = [
    # ---- whitespace ----
    both("trim after a block", "a\n{% if yes %}\nb\n{% endif %}\nc\n"),
    both("lstrip before a block", "a\n   {% if yes %}\n  b\n   {% endif %}\n  c"),
    both("no lstrip after text", "a   {% if yes %} b   {% endif %} c"),
    both("no lstrip for an expression", "a\n   {{ n }}\n b"),
    both("minus on both sides", "a \n {%- if yes -%} \n b \n {%- endif -%} \n c"),
    both("minus of expressions", "a \n {{- n -}} \n b"),
    both("plus keeps", "a\n  {%+ if yes +%}\nb{% endif +%}\nc"),
    both("plus of an expression is a sign", "a {{+1}} b {{ +n }}"),
    both("comments", "a {# no #} b\n  {# line #}\nc {#- tight -#} d\n{# keep +#}\ne"),
    both("comment with tags", "{# {% if %} {{ x #}ok"),
    both("raw", "{% raw %}{{ n }} {% if %}{% endraw %}|"),
    both("raw with signs", "a {%- raw -%} \n {{ n }} {%- endraw -%} \n b"),
    both("raw keeps the line end", "{% raw %}\nx\n{% endraw %}\ny"),
    both("trailing line end", "a\n"),
    both("two trailing line ends", "a\n\n"),
    both("carriage returns", "a\r\nb\rc\r\n{% if yes %}\r\nd{% endif %}\r\n"),
    both("only space", "   \n\t "),
    both("nothing", ""),
    both("a lone brace", "{ % a } {x} }} %} #}"),
    both("unicode space", "a\u00a0{%- if yes -%}\u2003b{%- endif %}"),
    both("block at the start", "  {% set q = 1 %}\n  {{ q }}"),
    both("blocks on one line", "{% if yes %}{% if yes %} x {% endif %}{% endif %}\n\ny"),
    # ---- literals ----
    *lines("literal", "1", "-1", "1_000", "0x1F", "0b101", "0o17", "0", "1.5", "1e3", "1.5e-7", "1E22", "123456789.125", "1e16", "1e15", "1_0.2_5",
           "'a' 'b' \"c\"", "'\\n\\t\\\\ \\'q\\' \\x41 \\u00e9 \\U0001F642 \\101 \\q'", "\"it's\"", "'世界'", "true", "True", "none", "None", "false",
           "[1, 'a', none, true, 1.0]", "[]", "[1,]", "()", "(1,)", "(1, 2)", "1, 2", "{'a': 1, 2: 'b', 'c': [1]}", "{}", "{'a': {'b': {}}}",
           "['it\\'s', \"q\\\"\", 'a\\nb', '\\u200b', 'é\\x00']", "[[1, [2]], (3,), {'k': (4, 5)}]", "{'a': 1, 'a': 2}", "{1: 'int', 1.0: 'float', true: 'bool'}"),
    # ---- operators ----
    *lines("arithmetic", "1 + 2 * 3", "(1 + 2) * 3", "7 // 2", "-7 // 2", "7 % 3", "-7 % 3", "7 % -3", "7 / 2", "6 / 2", "2 ** 10", "2 ** -1", "-2 ** 2", "2 ** 3 ** 2",
           "7.5 // 2", "-7.5 // 2", "7.5 % 2", "-7.5 % 2", "1.0", "0.1 + 0.2", "1e300 * 10", "true + 1", "yes * 3", "1 - -1", "- n", "+ n", "- - n", "2.0 ** 0.5", "10 // 0.3", "1 / 3",
           "'ab' * 3", "3 * 'ab'", "[1] * 2", "'a' + 'b'", "[1] + [2]", "(1,) + (2,)", "'a' * -1", "1 / 0", "1 // 0", "1 % 0", "1.0 / 0", "'a' + 1", "1 + 'a'", "[1] + (2,)", "none + 1", "{} + {}", "'a' - 'b'", "-'a'", "-none"),
    *lines("concatenation", "'a' ~ 1 ~ none ~ true ~ 1.0 ~ [1]", "1 ~ 2 + 3", "missing ~ 'x'", "1 + 2 ~ 3"),
    *lines("comparison", "1 < 2", "1 < 2 < 3", "1 < 3 < 2", "1 == 1.0", "1 == true", "'a' == 'a'", "'a' < 'b'", "'a' < 'B'", "[1, 2] < [1, 3]", "(1, 2) == (1, 2)", "[1] == (1,)", "none == none", "none == false",
           "missing == missing2", "missing == none", "1 != 2", "3 >= 3 > 2 != 5", "'é' > 'z'", "{'a': 1} == {'a': 1.0}", "1 < 'a'", "none < 1", "[1] < 'a'", "missing < 1", "1 > missing", "{} < {}", "1 < 2 == true"),
    *lines("containment", "'a' in 'abc'", "'' in 'abc'", "1 in [1, 2]", "3 not in [1, 2]", "'a' in map", "'q' not in map", "1 in (1,)", "'a' in missing", "1 in 'abc'", "1 in 5", "2 in range(5)", "7 in range(0, 10, 2)", "'a' in {'a': 1}.keys()", "1 in {'a': 1}.values()", "not 1 in [1]", "[1] in [[1], 2]", "[] in map"),
    *lines("logic", "1 and 2", "0 and 2", "0 or 2", "1 or 2", "not 0", "not not 'a'", "'' or none or 'x'", "none and 1", "missing or 'd'", "not missing", "1 if yes else 2", "1 if no else 2", "1 if no", "1 if no else 2 if no else 3", "(1 if yes) ~ 'x'", "1 or 1 / 0", "empty or [] or {}", "not empty and not ''"),
    *lines("precedence", "1 + 2 == 3 and not 4 < 3 or no", "not 1 == 2", "-1 | abs", "(-1) | abs", "1 + -3 | abs", "'a' ~ 'B' | lower", "n is divisibleby 7 and yes", "1 in [1] == true", "n * 2 is even", "2 * n is even", "'a,b'.split(',')[1] | upper", "1 - 2 | string * 2"),
    # ---- access ----
    *lines("access", "map.a", "map['a']", "map['items']", "map.z.y[2].k", "map['z']['y'][-1]['k']", "messages[0].role", "messages[-1]['role']", "messages[1].content[4]", "messages[1].content[-1]", "words[0]", "words.0", "words[10]", "words[-10] is defined", "map.missing", "map.missing.deeper", "map['missing'] is defined", "missing.attr", "missing['k']", "missing.attr is defined", "nothing.a", "nothing['a']", "n.real_thing", "x.y.z", "words.foo", "words['foo']", "words.foo.bar", "words[99].x", "nothing[0]", "nothing[0].x", "n['a']['b']", "map[1]", "map[[1]]", "map[1].x", "text[1000]", "words[1.5]", "words[none]", "words[true]", "(1, 2).foo.bar", "range(3).foo.x", "words[none].x"),
    *lines("slices", "words[1:]", "words[:2]", "words[-2:]", "words[::-1]", "words[::2]", "words[3:0:-1]", "words[10:]", "words[:]", "words[1:3][0]", "'abcdef'[1:4]", "'abcdef'[::-2]", "'日本語テキスト'[1:3]", "'日本語テキスト'[::-1]", "'日本語'[-2:]", "(1, 2, 3)[1:]", "range(10)[2:8:3]", "range(10)[::-1]", "range(10)[2:8:3] | list", "words[none:2]", "words[:-1:none]", "words[::0]", "nothing[1:]", "map[1:]", "n[1:]", "missing[1:]", "words['a':]", "messages[1:][0].role", "'abc'[5:]", "words[-100:100]"),
    # ---- calls ----
    *lines("globals", "range(5) | list", "range(2, 5) | list", "range(5, 0, -2) | list", "range(3)", "range(1, 9, 2)", "range(0) | list", "range(5)[1]", "range(5)[-1]", "range(5) | length", "range(1, 2, 0)", "dict(a=1, b='x')", "dict({'a': 1}, b=2)", "dict([('a', 1), ('b', 2)])", "dict()", "namespace(a=1).a", "namespace(a=1)", "namespace({'q': 2}).q", "namespace().zip", "namespace(a=1)['a']", "namespace(a=1).b.c", "strftime_now('%Y-%m-%d')", "strftime_now('%d %b %Y')", "strftime_now('%A, %B %d, %Y at %I:%M %p')", "strftime_now('%H:%M:%S %j %U %W %w %u %V %G %y %C %e %%')", "strftime_now('%-d %-m %-H %c | %x | %X | %D %F %T %R %r %h %f')", "raise_exception('the template says no')", "joiner(', ')() ~ 'x'", "missing()", "missing(1)", "map.missing()", "nothing()", "n()", "'a'()", "words.push(1)", "map.a()", "nothing.x()"),
    both("joiner", "{% set j = joiner() %}{% for w in words %}{{ j() }}{{ w }}{% endfor %}"),
    both("cycler", "{% set c = cycler('a', 'b', 'c') %}{% for w in words %}{{ c.next() }}{{ c.current }} {% endfor %}{{ c.reset() }}{{ c.next() }}"),
    # ---- strings ----
    *lines("strip", "text.strip()", "text.lstrip()", "text.rstrip()", "'xxaxx'.strip('x')", "'xyaxy'.lstrip('yx')", "'xyaxy'.rstrip('xy')", "'é日é'.strip('é')", "'a'.strip('')", "' \\u00a0\\u3000a '.strip()", "'abc'.strip(none)", "'ab'.removeprefix('a')", "'ab'.removesuffix('b')", "'ab'.removeprefix('x')", "'ab'.removesuffix('')"),
    *lines("split", "'a b  c'.split()", "'a,b,,c'.split(',')", "'a,b,c'.split(',', 1)", "'a,b,c'.rsplit(',', 1)", "' a b '.split()", "' a b c '.split(none, 1)", "' a b c '.rsplit(none, 1)", "'a b c'.rsplit()", "''.split()", "''.split(',')", "'abab'.split('ab')", "'<think>x</think>y'.split('</think>')[-1].lstrip('\\n')", "'a'.split('')", "'a\\nb\\r\\nc\\n\\nd'.splitlines()", "'a\\nb\\n'.splitlines(true)", "''.splitlines()", "'a=b=c'.partition('=')", "'a=b=c'.rpartition('=')", "'abc'.partition('x')", "'abc'.rpartition('x')", "'a,b,c'.split(',', maxsplit=1)", "'a b'.split(sep=' ')", "'a b c'.split(' ', -1)", "'a'.split(1)"),
    *lines("search", "'banana'.find('an')", "'banana'.rfind('an')", "'banana'.find('x')", "'日本語'.find('語')", "'日本語日'.rfind('日')", "'banana'.index('n')", "'banana'.index('x')", "'banana'.count('an')", "'banana'.count('')", "'aaa'.count('aa')", "'banana'.find('a', 2)", "'banana'.find('a', 2, 3)", "'banana'.count('a', -3)", "'abc'.find('', 3)", "'abc'.find('', 4)", "'abc'.startswith('ab')", "'abc'.endswith(('x', 'bc'))", "'abc'.startswith(('x', 'y'))", "'abc'.startswith('b', 1)", "'abc'.endswith('b', 0, 2)", "'abc'.startswith('')", "'abc'.startswith(1)", "'abc'.startswith(['a'])", "'abc'.endswith((1,))"),
    *lines("case", "mixed.upper()", "mixed.lower()", "mixed.title()", "mixed.capitalize()", "mixed.swapcase()", "\"they're bill's\".title()", "'ΑΣ ΑΣΑ Σ'.lower()", "'aB1c'.swapcase()", "'ǅ'.lower() ~ 'ǅ'.upper()", "''.capitalize()", "'ß'.upper()", "'ŉ'.title()"),
    *lines("kind", "'123'.isdigit()", "'1a'.isdigit()", "''.isdigit()", "'²'.isdigit()", "'²'.isdecimal()", "'½'.isnumeric()", "'abc'.isalpha()", "'日本'.isalpha()", "'a1'.isalnum()", "' \\t'.isspace()", "'abc'.islower()", "'aBc'.islower()", "'ABC 1'.isupper()", "'Ab Cd'.istitle()", "'AB'.istitle()", "'abc'.isascii()", "'é'.isascii()", "'a b'.isidentifier()", "'_a1'.isidentifier()", "'1a'.isidentifier()", "'a\\n'.isprintable()", "'é'.isprintable()"),
    *lines("make", "'-'.join(words)", "', '.join(['a'])", "''.join([])", "'-'.join('abc')", "'-'.join([1])", "'aXbX'.replace('X', '--')", "'aXbX'.replace('X', '', 1)", "'abc'.replace('', '-')", "'abc'.replace('', '-', 2)", "'é日'.replace('', '.')", "'ab'.center(7, '*')", "'ab'.center(6)", "'abc'.center(6, '*')", "'ab'.ljust(5) ~ '|'", "'ab'.rjust(5, '0')", "'-42'.zfill(6)", "'42'.zfill(1)", "'a\\tb\\tc'.expandtabs(4)", "'日'.center(4, '·')", "'ab'.center(5, 'xy')"),
    *lines("format", "'{} {}'.format(1, 'a')", "'{1} {0}'.format(1, 2)", "'{a} {b:>5}|'.format(a=1, b='x')", "'{:.2f}'.format(3.14159)", "'{:05d}'.format(42)", "'{:,}'.format(1234567)", "'{:_}'.format(1234567)", "'{:x} {:X} {:o} {:b} {:#x}'.format(255, 255, 8, 5, 255)", "'{:e} {:g} {:.3g}'.format(12345.678, 0.0001, 12345.678)", "'{:%}'.format(0.256)", "'{:+d} {: d}'.format(5, 5)", "'{:^9}|{:<4}|{:*>6}'.format('mid', 'l', 'r')", "'{{}} {{{}}}'.format(1)", "'{0[name]} {0[home][city]}'.format(people[0])", "'{!r} {!s}'.format('a', 'b')", "'{:>{w}}'.format('x', w=4)", "'{} {}'.format(1)", "'{x}'.format(y=1)", "'{'.format()", "'}'.format()", "'{:d}'.format('a')", "'{:.1f}'.format(2)", "'{:s}'.format(1)", "'{:10}|'.format(1.5)", "'{:10}|'.format('é')", "'{}'.format(none)", "'{:.3}'.format('abcdef')", "'{:=+6d}'.format(42)", "'{:,.2f}'.format(1234567.891)", "'{:08.3f}'.format(-3.14159)"),
    *lines("percent", "'%s %s' % (1, 'a')", "'%d' % 3.7", "'%5d|%-5d|%05d' % (1, 2, 3)", "'%.2f' % 2.675", "'%x %X %o %c %c' % (255, 255, 8, 65, 'b')", "'%e %g' % (12345.6789, 1e-05)", "'%s' % [1, 2]", "'%r' % 'a'", "'%(a)s-%(b)03d' % {'a': 'x', 'b': 7}", "'%%'  % ()", "'100%% %s' % 'x'", "'%s' % missing", "'%d' % 'a'", "'%s'  % (1, 2)", "'%s %s' % 1", "'%q' % 1", "'%+d % d' % (1, 2)", "'%.3s|' % 'abcdef'", "'%*d' % (5, 42)", "'%s' % none", "'%s' % ((1, 2),)", "'a' % 1", "'%' % 1", "'%10.3f|' % 3.14159", "'%-8s|' % 'é'"),
    # ---- lists and dictionaries ----
    both("list methods", "{% set l = [3, 1, 2] %}{% set _ = l.append(9) %}{{ l }}{{ l.pop() }}{{ l.pop(0) }}{{ l }}{% set _ = l.insert(0, 'x') %}{% set _ = l.insert(-1, 'y') %}{% set _ = l.extend([7, 7]) %}{{ l }}{{ l.index(7) }}{{ l.count(7) }}{% set _ = l.remove('x') %}{% set _ = l.reverse() %}{{ l }}{{ l.copy() }}{{ l.clear() }}{{ l }}"),
    both("list sort", "{% set l = [3, 1, 2] %}{{ l.sort() }}{{ l }}{{ l.sort(reverse=true) }}{{ l }}"),
    both("list shared", "{% set a = [1] %}{% set b = a %}{% set _ = b.append(2) %}{{ a }}"),
    both("dict methods", "{% set d = {'a': 1} %}{{ d.get('a') }}{{ d.get('q') }}{{ d.get('q', 5) }}{{ d.keys() }}{{ d.values() }}{{ d.items() }}{% set _ = d.update({'b': 2}) %}{% set _ = d.update(c=3) %}{{ d }}{{ d.pop('a') }}{{ d.pop('zz', 'none') }}{{ d.setdefault('n', []) }}{{ d }}{{ d.popitem() }}{{ d.copy() }}{{ d | length }}{{ d.clear() }}{{ d }}"),
    both("big dict", "{% set d = {} %}{% for i in range(200) %}{% set _ = d.update({'k' ~ i: i}) %}{% endfor %}{{ d.k0 }} {{ d.k199 }} {{ d | length }} {{ d.pop('k100') }} {{ d.k101 }} {{ 'k100' in d }} {{ d.items() | list | last }}"),
    *lines("container errors", "[].pop()", "[1].pop(5)", "[1].remove(2)", "[1].index(2)", "{}.pop('a')", "{[1]: 2}", "{{}: 1}"),
    # ---- filters ----
    *lines("text filter", "text | trim", "'xxaxx' | trim('x')", "text | upper", "text | lower", "text | title", "text | capitalize", "'foo-bar (baz) <q>' | title", "'aXb' | replace('X', 'y')", "'aaa' | replace('a', 'b', 2)", "12 | replace(1, 3)", "'a\\nb\\n\\nc' | indent", "'a\\nb' | indent(2, true)", "'a\\n\\nb' | indent(2, blank=true)", "'a\\nb' | indent('> ')", "'a\\nb\\n' | indent(width=1, first=True)", "'foo bar baz qux' | truncate(9)", "'foo bar baz qux' | truncate(9, true)", "'foo bar baz qux' | truncate(9, end='~')", "'foo bar baz qux' | truncate(11)", "'foo bar baz qux' | truncate(9, false, '...', 0)", "'one two, three_four 5' | wordcount", "text | escape", "text | e", "'<' | safe", "'%s-%d' | format('a', 5)", "'%(a)s' | format(a=1)", "'a b/c?é' | urlencode", "{'a': 'b c', 'd': '/'} | urlencode", "'ab' | center(6)", "n | string ~ 'x'", "none | string", "missing | trim", "missing | upper | length", "none | trim", "12 | upper", "missing | indent", "words | string"),
    *lines("tojson", "map | tojson", "messages[2] | tojson", "map | tojson(indent=2)", "{'b': [], 'a': {}} | tojson(indent=4)", "map | tojson(sort_keys=true)", "[1, 2, {'a': none}] | tojson(separators=(',', ':'))", "'é\\n\\t\"\\\\/<>&\\x7f\\x01🙂' | tojson", "'é🙂' | tojson(ensure_ascii=true)", "1.0 | tojson", "1e100 | tojson", "(1, 2) | tojson", "{1: 2, none: 3, true: 4, 1.5: 5} | tojson", "none | tojson", "missing | tojson", "range(2) | tojson", "[1] | tojson(indent='--')", "'' | tojson", "{'a': (1,)} | tojson(indent=0)", "namespace(a=1) | tojson", "map.items() | tojson", "words | map('upper') | tojson"),
    *lines("number filter", "'42' | int", "'42.7' | int", "'x' | int", "'x' | int(default=5)", "'ff' | int(base=16)", "'0x1f' | int(0, 16)", "' 12 ' | int", "'1_000' | int", "2.9 | int", "-2.9 | int", "true | int", "none | int", "none | int(9)", "words | int", "missing | int", "'2.5' | float", "'x' | float", "'1e3' | float", "'nan' | float", "'-inf' | float", "3 | float", "none | float(1.5)", "-5 | abs", "-2.5 | abs", "'a' | abs", "2.5 | round", "3.5 | round", "2.675 | round(2)", "42 | round", "42.55 | round(1, 'floor')", "42.55 | round(1, 'ceil')", "1234.5 | round(-2)", "1250 | round(-2)", "(-25) | round(-1)", "(-9223372036854775807 - 1) | round(-18)", "'a' | round", "2.4 | round | int", "1.25 | round(1, 'up')"),
    *lines("list filter", "words | length", "text | length", "map | length", "n | length", "none | length", "missing | length", "mixed | count", "words | join", "words | join(', ')", "[1, none, 'a'] | join('-')", "people | join(',', attribute='name')", "'abc' | join('.')", "words | first", "words | last", "empty | first", "empty | last", "'abc' | first", "'abc' | last", "missing | first", "map | first", "5 | first", "words | list", "'abc' | list", "map | list", "none | list", "words | reverse | list", "'日本' | reverse", "words | reverse | first", "map.items() | list", "map | items | list", "missing | items | list", "map | dictsort", "{'b': 1, 'A': 2, 'c': 0} | dictsort", "{'b': 1, 'A': 2, 'c': 0} | dictsort(true)", "{'b': 1, 'A': 2, 'c': 0} | dictsort(false, 'value')", "{'b': 1, 'A': 2} | dictsort(reverse=true)", "words | dictsort", "numbers | sum", "people[:3] | sum(attribute='age')", "[[1], [2]] | sum(start=[])", "words | sum", "numbers | min", "numbers | max", "words | min", "words | max", "empty | max", "people[:3] | max(attribute='age')", "[1, 2, 3, 4, 5] | batch(2) | list", "[1, 2, 3] | batch(2, 'x') | list", "[1, 2, 3, 4, 5] | slice(2) | list", "[1, 2, 3, 4, 5] | slice(3, 'x') | list", "map | attr('a')", "map | attr('b') is defined", "missing | default('d')", "'' | default('d')", "'' | default('d', true)", "none | default('d')", "none | d('d', boolean=true)", "missing | default", "map.q | default(5) + 1", "words | join(1)", "words | join(d='+')"),
    *lines("select filter", "people | map(attribute='name') | list", "people | map(attribute='home.city') | join(',')", "people | map(attribute='age', default=0) | list", "people | map(attribute='age') | list", "words | map('upper') | list", "words | map('replace', 'p', 'q') | list", "[[1, 2], [3]] | map('first') | list", "[[1, 2], [3]] | map(attribute=0) | list", "[[1, 2], [3]] | map(attribute='0') | list", "numbers | select | list", "numbers | select('odd') | list", "numbers | select('gt', 3) | list", "numbers | reject('odd') | list", "numbers | reject | list", "words | select('in', ['fig', 'pear']) | list", "people | selectattr('age') | map(attribute='name') | list", "people | selectattr('age', 'equalto', 36) | map(attribute='name') | list", "people | rejectattr('age', 'defined') | map(attribute='name') | list", "people | selectattr('home.city', 'eq', 'Rome') | list | length", "messages | selectattr('role', 'equalto', 'user') | first", "messages | selectattr('role', '==', 'nobody') | list", "(messages | selectattr('role', '==', 'nobody')) and 'generators are true'", "words | select('string') | length", "none | select | list", "none | map('upper') | list", "missing | map('upper') | list", "words | sort", "words | sort(true)", "words | sort(case_sensitive=true)", "people | sort(attribute='name') | map(attribute='name') | list", "people[:3] | sort(attribute='age,name') | map(attribute='name') | list", "people[:3] | sort(attribute='age', reverse=true) | map(attribute='name') | list", "[1, 'a'] | sort", "people | sort(attribute='age')", "numbers | sort", "words | unique | list", "words | unique(true) | list", "people | unique(attribute='home.city') | map(attribute='name') | list", "people[:3] | groupby('age')", "people | groupby('home.city') | map(attribute='grouper') | list", "people | groupby('age', default=0) | map('first') | list", "words | map | list", "people | selectattr | list", "words | map('nope') | list", "words | select('nope') | list", "(words | map('upper'))[0]", "words | map('upper') | map('lower') | reject('eq', 'fig') | list", "words | map('length') | sum", "[3, 1] | map('string') | join"),
    both("groupby names", "{% for g in people | groupby('home.city') %}{{ g.grouper }}={{ g.list | length }};{% endfor %}{% for city, list in people | groupby('home.city') %}{{ city }}{{ list | length }}{% endfor %}"),
    both("a generator is walked once", "{% set g = words | map('upper') %}{{ g | list }}{{ g | list }}"),
    both("unknown filter", "{% if no %}{{ n | nonsense }}{% endif %}ok"),
    # ---- tests ----
    *lines("test", "n is defined", "missing is defined", "missing is undefined", "n is not undefined", "none is none", "n is not none", "'a' is string", "n is string", "map is mapping", "words is mapping", "words is iterable", "n is iterable", "'a' is iterable", "words is sequence", "map is sequence", "'a' is sequence", "range(3) is sequence", "(words | map('upper')) is sequence", "missing is sequence", "missing is iterable", "n is number", "true is number", "x is number", "n is integer", "true is integer", "x is integer", "x is float", "n is float", "true is boolean", "1 is boolean", "true is true", "1 is true", "false is false", "0 is false", "3 is odd", "3 is even", "9 is divisibleby 3", "9 is divisibleby(2)", "1 is eq 1", "1 is equalto(2)", "1 is ne 2", "1 is lt 2", "1 is le 1", "2 is gt 1", "2 is ge 3", "2 is greaterthan 1", "2 is lessthan 1", "1 is in [1, 2]", "1 is not in [1, 2]", "'a' is in 'abc'", "range is callable", "n is callable", "words.append is callable", "'tojson' is filter", "'nope' is filter", "'odd' is test", "'nope' is test", "none is sameas none", "n is sameas 7", "true is sameas 1", "'abc' is lower", "'ABC' is upper", "'aBc' is lower", "'a' is escaped", "map.a is defined and map.a is number", "n is defined if yes else 0", "n is nonsense", "n is odd is true", "3 is odd and 4 is even", "not 3 is odd", "missing is none", "namespace() is mapping", "'a' is odd"),
    # ---- statements ----
    both("if", "{% for i in range(4) %}{% if i == 0 %}zero{% elif i == 1 %}one{% elif i == 2 %}two{% else %}many{% endif %} {% endfor %}"),
    both("if with a tuple", "{% if 1, 2 %}y{% endif %}"),
    both("if with a colon", "{% if yes: %}y{% endif %}"),
    both("for", "{% for m in messages %}{{ loop.index }}/{{ loop.length }} {{ m.role }}{% if not loop.last %}, {% endif %}{% endfor %}"),
    both("loop fields", "{% for w in words %}{{ loop.index }}{{ loop.index0 }}{{ loop.revindex }}{{ loop.revindex0 }}{{ loop.first }}{{ loop.last }}{{ loop.depth }}{{ loop.depth0 }}{{ loop.length }} {{ loop.previtem }} {{ loop.nextitem }}|{% endfor %}"),
    both("loop edges", "{% for w in words %}{{ loop.previtem is defined }}{{ loop.nextitem is defined }} {% endfor %}"),
    both("loop cycle and changed", "{% for p in people %}{{ loop.cycle('a', 'b') }}{{ loop.changed(p.age) }} {% endfor %}"),
    both("loop as text", "{% for w in words %}{{ loop }}{% endfor %}"),
    both("for else", "{% for w in empty %}x{% else %}none{% endfor %}{% for w in [1] %}x{% else %}none{% endfor %}"),
    both("for if", "{% for i in numbers if i > 2 %}{{ i }}:{{ loop.index }}/{{ loop.length }} {% endfor %}{% for i in numbers if i > 99 %}x{% else %}none{% endfor %}"),
    both("for unpacks", "{% for k, v in map.items() %}{{ k }}={{ v }};{% endfor %}{% for a, (b, c) in [(1, (2, 3))] %}{{ a }}{{ b }}{{ c }}{% endfor %}{% for (a, b) in [[1, 2]] %}{{ a }}{{ b }}{% endfor %}"),
    both("for unpacks wrongly", "{% for a, b in [[1, 2, 3]] %}{% endfor %}"),
    both("for unpacks too few", "{% for a, b in [[1]] %}{% endfor %}"),
    both("for unpacks a number", "{% for a, b in [1] %}{% endfor %}"),
    both("for over a string", "{% for c in 'aé🙂' %}[{{ c }}]{% endfor %}"),
    both("for over a dict", "{% for k in map %}{{ k }}{% endfor %}"),
    both("for over nothing", "{% for k in missing %}x{% else %}else{% endfor %}"),
    both("for over none", "{% for k in nothing %}x{% endfor %}"),
    both("for over a number", "{% for k in 5 %}x{% endfor %}"),
    both("for over a tuple", "{% for k in 1, 2, 3 %}{{ k }}{% endfor %}"),
    both("for over a growing list", "{% set l = [1] %}{% for i in l %}{{ i }}{% if i < 5 %}{% set _ = l.append(i + 1) %}{% endif %}{% endfor %}"),
    both("for over a generator", "{% for w in words | map('upper') %}{{ loop.index }}/{{ loop.length }}{{ w }}{{ loop.last }} {% endfor %}"),
    both("break and continue", "{% for i in range(9) %}{% if i == 2 %}{% continue %}{% endif %}{% if i == 5 %}{% break %}{% endif %}{{ i }}{% endfor %}!"),
    both("break stops the inner loop", "{% for i in range(3) %}{% for j in range(3) %}{% if j == 1 %}{% break %}{% endif %}{{ i }}{{ j }} {% endfor %}{% endfor %}"),
    both("break and else", "{% for i in [1] %}{% break %}{% else %}e{% endfor %}"),
    both("recursive", "{% for t in tree recursive %}[{{ t.v }}@{{ loop.depth }}{{ loop(t.kids) }}]{% endfor %}"),
    both("recursive with else", "{% for t in tree recursive %}{{ t.v }}({{ loop(t.kids) }}){% else %}-{% endfor %}"),
    both("loop called without recursive", "{% for t in tree %}{{ loop(t.kids) }}{% endfor %}"),
    both("nested loops", "{% for a in [1, 2] %}{% set outer = loop %}{% for b in 'xy' %}{{ outer.index }}{{ loop.index }} {% endfor %}{% endfor %}"),
    both("loop outside", "{{ loop }}|{{ loop is defined }}"),
    both("set", "{% set a = 1 %}{% set b, c = 2, 3 %}{% set d = (4, 5) %}{{ a }}{{ b }}{{ c }}{{ d }}{% set a = a + 1 %}{{ a }}{% set e = 1, %}{{ e }}"),
    both("set in a loop stays there", "{% set a = 1 %}{% for i in range(3) %}{{ a }}{% set a = a + 10 %}{{ a }} {% endfor %}{{ a }}"),
    both("set in an if goes out", "{% if yes %}{% set a = 5 %}{% endif %}{{ a }}"),
    both("set hides a variable", "{% if no %}{% set n = 5 %}{% endif %}{{ n }}{% set n = 6 %}{{ n }}"),
    both("set block", "{% set a %}x{{ n }}y{% endset %}[{{ a }}]{% set b | upper | replace('A', 'b') %}aaa{% endset %}{{ b }}"),
    both("set block has a scope", "{% set a %}{% set inner = 1 %}{{ inner }}{% endset %}{{ a }}{{ inner is defined }}"),
    both("namespace", "{% set ns = namespace(n=0, list=[]) %}{% for i in range(4) %}{% set ns.n = ns.n + i %}{% set ns.list = ns.list + [i] %}{% endfor %}{{ ns.n }}{{ ns.list }}{% set ns.fresh = 1 %}{{ ns.fresh }}"),
    both("namespace wrongly", "{% set d = {} %}{% set d.a = 1 %}"),
    both("with", "{% with a = 1, b = n %}{{ a }}{{ b }}{% endwith %}{{ a is defined }}{% with %}{% set q = 1 %}{{ q }}{% endwith %}{{ q is defined }}"),
    both("with sees the outside", "{% set a = 1 %}{% with a = 2, b = a %}{{ a }}{{ b }}{% endwith %}{{ a }}"),
    both("filter block", "{% filter upper | replace('B', 'x') %}abc{{ n }}{% endfilter %}"),
    both("filter block with arguments", "{% filter indent(2, first=true) %}a\nb{% endfilter %}"),
    both("generation", "a{% generation %}b{{ n }}{% set q = 1 %}{% endgeneration %}c{{ q is defined }}"),
    both("generation trims", "a\n{% generation %}\nb\n  {%- endgeneration %}\nc"),
    both("block", "{% block head %}x{{ n }}{% endblock head %}y{% block b scoped %}z{% endblock %}"),
    both("print", "{% print n, 'a' %}{% print(1) %}"),
    # ---- macros ----
    both("macro", "{% macro m(a, b=2, c='x') %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(1) }}|{{ m(1, 3) }}|{{ m(1, c='z') }}|{{ m(b=5, a=4) }}|{{ m() }}"),
    both("macro default sees arguments", "{% macro m(a, b=a * 2) %}{{ a }}{{ b }}{% endmacro %}{{ m(4) }}"),
    both("macro varargs", "{% macro m(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1, 2, 3, k=4) }}"),
    both("macro star", "{% macro m(a, b, c=0) %}{{ a }}{{ b }}{{ c }}{% endmacro %}{{ m(*[1, 2]) }}{{ m(1, **{'b': 2, 'c': 3}) }}{{ m(*[1], **{'b': 5}) }}"),
    both("macro too many", "{% macro m(a) %}{% endmacro %}{{ m(1, 2) }}"),
    both("macro unknown keyword", "{% macro m(a) %}{% endmacro %}{{ m(q=2) }}"),
    both("macro missing argument used", "{% macro m(a) %}{{ a.b }}{% endmacro %}{{ m() }}"),
    both("macro recursion", "{% macro f(k) %}{{ k }}{% if k > 0 %}{{ f(k - 1) }}{% endif %}{% endmacro %}{{ f(5) }}"),
    both("macro sees later names", "{% macro m() %}{{ later }}{{ other() }}{% endmacro %}{% macro other() %}o{% endmacro %}{% set later = 1 %}{{ m() }}"),
    both("macro scope", "{% set a = 1 %}{% macro m() %}{% set a = 2 %}{{ a }}{% endmacro %}{{ m() }}{{ a }}"),
    both("macro and namespace", "{% set ns = namespace(c=0) %}{% macro hit() %}{% set ns.c = ns.c + 1 %}{% endmacro %}{{ hit() }}{{ hit() }}{{ ns.c }}"),
    both("macro does not see the caller's loop", "{% macro m() %}{{ loop is defined }}{% endmacro %}{% for i in [1] %}{{ m() }}{% endfor %}"),
    both("macro fields", "{% macro m(a, b) %}{% endmacro %}{{ m.name }}{{ m.arguments }}{{ m.caller }}{{ m.catch_kwargs }}{{ m.catch_varargs }}{{ m }}"),
    both("macro in a loop", "{% for i in range(2) %}{% macro m() %}{{ i }}{% endmacro %}{{ m() }}{% endfor %}"),
    both("macro returns text", "{% macro m() %}  x {% endmacro %}[{{ m() | trim }}][{{ m() | length }}]{{ m() == '  x ' }}"),
    both("call block", "{% macro box(t) %}<{{ t }}>{{ caller() }}</{{ t }}>{% endmacro %}{% call box('b') %}in {{ n }}{% endcall %}"),
    both("call block with arguments", "{% macro each(l) %}{% for i in l %}{{ caller(i, loop.index) }}{% endfor %}{% endmacro %}{% call(item, at=0) each(words) %}{{ at }}{{ item }} {% endcall %}"),
    both("call without a block", "{% macro m() %}{{ caller is defined }}{{ caller() }}{% endmacro %}{{ m() }}"),
    both("call of something else", "{% call n %}x{% endcall %}"),
    both("caller not taken", "{% macro m() %}x{% endmacro %}{% call m() %}y{% endcall %}"),
    *lines("found by comparing random templates", "'a' % words", "(5 | items) is defined", "(5 | unique) is defined", "(5 | batch(2)) is defined", "(5 | slice(2)) is defined", "1 > 'a'", "1 <= 'a'", "'a' * 'b'", "1.5 * [1]", "(1 if no).x", "5 | last", "('a' if no) + 'b'"),
    # ---- errors of syntax ----
    *[both("syntax: " + t, t, any_error=True) for t in (
        "{% if %}{% endif %}", "{% if yes %}", "{% endif %}", "{% for x %}{% endfor %}", "{% for x in %}{% endfor %}", "{{ }}", "{{ 1 + }}", "{{ (1 }}", "{{ 1) }}", "{{ [1 }}", "{{ {1} }}", "{{ 'a }}", "{% nope %}", "{% set %}", "{% set 1 = 2 %}", "{% set a.b.c = 1 %}", "{{ a b }}", "{{ a | }}", "{{ a is }}", "{{ a. }}", "{{ a[ }}", "{# open", "{% raw %}open", "{{ f(a=1, 2) }}", "{{ f(**a, *b) }}", "{% macro m(a=1, b) %}{% endmacro %}", "{% macro %}{% endmacro %}", "{% else %}", "{{ 1 if }}", "{% break %}", "{% if yes %}{% endfor %}", "{{ $ }}", "{{ a ? b }}", "{{ '\\x4' }}", "{% call(a m() %}{% endcall %}", "{% for a in b %}{% else %}{% else %}{% endfor %}", "{% filter %}{% endfilter %}", "{{ not }}", "{{ a not b }}", "{% if a %}{% elif %}{% endif %}", "{{ x is defined is defined }}", "{% include 'x' %}{% endinclude %}", "{{", "{%", "{{ a", "{% if a", "{{ {'a': } }}", "{{ a[1:2:3:4] }}", "{{ (1, 2 }}")],
    # ---- as models have it ----
    both("chat", "{{ bos }}{% for m in messages %}\n{% if m.role == 'system' %}\n<<SYS>>{{ m.content }}<</SYS>>\n{% elif m.role in ['user', 'tool'] %}\n[{{ m.role | upper }}] {{ m.content | trim }}\n{% else %}\n{%- set c = m.content.split('</think>')[-1].lstrip('\\n') %}\n{{ c }}{% if m.tool_calls %}{% for t in m.tool_calls %}{{ t.function | tojson }}{% endfor %}{% endif %}\n{% endif %}\n{% endfor %}\n{% if add_generation_prompt is not defined %}{{ '>>' }}{% endif %}"),
    both("last user turn", "{% set ns = namespace(at=-1) %}{% for m in messages[::-1] %}{% set i = (messages | length - 1) - loop.index0 %}{% if ns.at < 0 and m.role == 'user' %}{% set ns.at = i %}{% endif %}{% endfor %}{{ ns.at }}"),
    both("types of parameters", "{% macro t(p) %}{% if p is mapping %}{ {%- for k, v in p | dictsort %}{{ k }}: {{ t(v) }}{{ ', ' if not loop.last }}{% endfor %} }{% elif p is iterable and p is not string %}[{% for v in p %}{{ t(v) }}{{ ',' if not loop.last else '' }}{% endfor %}]{% else %}{{ p | tojson }}{% endif %}{% endmacro %}{{ t(map) }}{{ t(messages[2]) }}"),
]


def run(env, case):
    entry = {k: case[k] for k in ("name", "template")}
    try:
        entry["expected"] = env.from_string(case["template"]).render(**json.loads(json.dumps(VARIABLES)))
    except SyntaxError as error:  # what Python finds in code that Jinja made, such as a break outside of a loop
        entry["error"] = str(error)
    except Exception as error:
        entry["error"] = str(error)
    assert " at 0x" not in entry.get("expected", ""), entry
    if case.get("any_error"):
        assert "error" in entry, entry
        del entry["error"]
        entry["any_error"] = True
    return entry


def main():
    env = environment()
    cases = [run(env, case) for case in CASES]
    names = [case["name"] for case in cases]
    assert len(set(names)) == len(names), [n for n in names if names.count(n) > 1]
    target = Path(__file__).resolve().parents[1] / "data" / "templates.json"
    target.parent.mkdir(exist_ok=True)
    with open(target, "w", encoding="utf-8") as file:
        file.write('{"jinja2": %s,\n"now": %s,\n"variables": %s,\n"cases": [\n' % tuple(json.dumps(v, ensure_ascii=False) for v in (jinja2.__version__, NOW.isoformat(), VARIABLES)))
        file.write(",\n".join(json.dumps(case, ensure_ascii=False) for case in cases))
        file.write("\n]}\n")
    print(len(cases), "cases")


main()
