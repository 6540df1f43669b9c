// HtmlTag reads one tag of HTML.
#pragma once

#include <QHash>
#include <QString>
#include <QStringView>

#include <optional>

bool isHtmlSpace(QChar c);

struct HtmlTag {
    QString name;          // in small letters
    bool closing = false;  // </name>
    qsizetype size = 0;    // in characters, with its brackets
    QHash<QString, QString> attributes = {};

    /// Returns the tag that `text` begins with, by the rules of Markdown, which are stricter than a browser's: so "a
    /// <b, c> d" is text. Adds the number of characters that were looked at to `looked`.
    static std::optional<HtmlTag> at(QStringView text, qsizetype& looked);
};
