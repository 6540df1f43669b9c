// Tells what a tag of HTML means for a text.
#pragma once

#include <QString>

#include <optional>

enum class HtmlMeaning {
    None,
    Break,
    Image,
    Hidden,  // not shown, with all that is in it
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

/// Says what a tag means. Empty: HTML has no such tag, or in texts about models the name mostly means something else,
/// such as <s>, with which prompts begin.
std::optional<HtmlMeaning> htmlMeaning(const QString& name);
