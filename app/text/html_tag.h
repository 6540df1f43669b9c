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

    /// The tag that `text` begins with, by the rules of Markdown, which are stricter than a browser's: so "a <b, c> d"
    /// is text. `looked` grows by the characters that it took to know.
    static std::optional<HtmlTag> at(QStringView text, qsizetype& looked);
};
