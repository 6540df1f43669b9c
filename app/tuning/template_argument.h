// templateArguments() lists the arguments that a chat template takes besides the conversation, with their choices.
#pragma once

#include <QJsonValue>
#include <QList>
#include <QString>

#include <span>
#include <string>

/// One argument of the open model's template. Without choices its value is typed as a text.
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

/// Returns the arguments among `names` that a user may want to set, known ones first. Those for tools, documents and
/// pictures, and names of a strange form, are left out.
QList<TemplateArgument> templateArguments(std::span<const std::string> names);

/// Returns typed text as a value for the template: a number, true, false, or else a text.
QJsonValue argumentValue(const QString& text);
