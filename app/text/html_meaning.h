// Tells what a tag of HTML means for a text.
#pragma once

#include <QString>

#include <optional>

enum class HtmlMeaning {
    None,
    Break,
    Image,
    Hidden,  // with what is in it
    Bold,
    Italic,
    Code,
    Raised,
    Link,
    Preformatted,
    Block,
    Heading,
    Rule,
    Summary,
    Bullets,
    Numbers,
    Item,
    Quote,
    Table,
    Row,
    Cell
};

/// Says what a tag means. Nothing: HTML knows no such tag, or what is named so in texts about models is mostly
/// something else, such as <s>, with which a prompt begins.
std::optional<HtmlMeaning> htmlMeaning(const QString& name);
