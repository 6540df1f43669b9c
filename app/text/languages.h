// Lists the languages whose code is coloured, as data.
#pragma once

#include "app/text/highlighter.h"

#include <QStringView>

#include <span>

/// A region reaches from `open` to `close`, over lines where `lines` says so.
struct CodeRegion {
    enum Reach : quint8 { OneLine, Lines, Character };  // Character: 'a'; no region where it does not close at once

    QStringView open;
    QStringView close;  // empty: to the end of the line
    CodeWord word = CodeWord::String;
    Reach reach = OneLine;
    bool escapes = true;  // a backslash takes the next character with it
    bool spaced = false;  // opens only at the start of a word
};

struct Language {
    enum Kind : quint8 { Program, Markup, Keys, Style, Difference, Prose };

    QStringView names;  // the first is the usual one
    QStringView title;
    Kind kind = Program;
    std::span<const CodeRegion> regions = {};  // a longer mark stands before one that it begins with
    QStringView keywords = {};
    QStringView types = {};
    QStringView inWords = {};      // what may stand in a name besides letters, digits and _
    QStringView beforeNames = {};  // $ or @: marks the name after it as a kind of its own
    bool capitalTypes = false;     // a name in capitals is a type
    bool anyCase = false;
    bool preprocessor = false;  // a # at the start of a line begins a keyword
};

std::span<const Language> languages();
