// Reads other programs' files, and writes down how their conversations look.
#pragma once

#include "app/exchange/imported.h"

#include <QFile>
#include <QHash>
#include <QTemporaryDir>
#include <QTest>

namespace test_support {

/// Holds what tests of other programs' files share.
class ImportedCase : public QObject
{
protected:
    QTemporaryDir folder;

    static Imported fromData(const QString& name)
    {
        return importFile(QStringLiteral(SPILLWAY_SOURCE_DIR "/tests/data/imports/") + name);
    }
    Imported imported(const QByteArray& bytes, const QString& name = QStringLiteral("file.json"))
    {
        QFile out(folder.filePath(name));
        if (!out.open(QIODevice::WriteOnly) || out.write(bytes) != bytes.size())
            return {{}, QStringLiteral("the test could not write")};
        out.close();
        return importFile(out.fileName());
    }
    /// A line for each message: its number, its parent's, who says what; the leaf's has a star.
    static QString outline(const StoredConversation& conversation)
    {
        QHash<QString, qsizetype> numbers;
        QStringList lines;
        for (const StoredMessage& message : conversation.messages) {
            const QString parent = message.parent.isEmpty()           ? QStringLiteral("-")
                                   : numbers.contains(message.parent) ? QString::number(numbers.value(message.parent))
                                                                      : QStringLiteral("?");
            numbers.insert(message.id, numbers.size());
            lines << QStringLiteral("%1<%2 %3: %4%5")
                         .arg(numbers.size() - 1)
                         .arg(parent, message.role == StoredMessage::Role::User ? "user" : "assistant",
                              QString(message.text).replace(QLatin1Char('\n'), QLatin1Char('|')),
                              message.id == conversation.header.leaf ? " *" : "");
        }
        return lines.join(QLatin1Char('\n'));
    }
};

}  // namespace test_support
