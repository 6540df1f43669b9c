// Makes a piece of Markdown ready for md4c: without its formulas and definitions, and with its empty cells.
#pragma once

#include <QString>
#include <QStringView>

#include <vector>

struct Formula {
    QString source;  // with its marks
    QString latex;   // without them
    QString shown;   // in characters
    bool display;
};

/// A piece of text as md4c gets it, and the formulas that have been taken out.
struct PreparedText {
    QString text;
    std::vector<Formula> formulas;

    /// Gives a part back as it was typed.
    QString restored(const QString& part) const;
    /// The formula whose mark is at `i`, which moves to its last character.
    const Formula* at(const QString& part, qsizetype& i) const;
};

/// `references` are lines for md4c alone: what it makes a definition of is not shown.
PreparedText prepareMarkdown(QStringView text, const QString& references = {});
