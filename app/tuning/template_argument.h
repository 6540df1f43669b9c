// templateArguments() lists what a chat template takes besides the conversation, as people can choose it.
#pragma once

#include <QJsonValue>
#include <QList>
#include <QString>

#include <span>
#include <string>

/// One argument of the open model's template. Without choices it is a text.
struct TemplateArgument {
    struct Choice {
        QString label;
        QJsonValue value;
    };

    QString key;
    QString label;
    QString explanation;
    QList<Choice> choices;
};

/// Returns those of `names` that a person can do something with, known ones first. What belongs to tools, documents and
/// pictures, and names that no sane template has, are left out.
QList<TemplateArgument> templateArguments(std::span<const std::string> names);

/// Returns what was typed as the template wants it: a number, true, false, or else a text.
QJsonValue argumentValue(const QString& text);
