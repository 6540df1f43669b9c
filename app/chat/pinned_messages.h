// PinnedMessages remembers which messages the user keeps on the device.
#pragma once

#include "engine/telemetry.h"

#include <QHash>
#include <QString>
#include <QStringList>

#include <vector>

/// The pinned messages of each conversation, as long as the program runs. The system prompt goes by a name of its own.
/// A plain value on the UI thread; owned by TurnRunner.
class PinnedMessages
{
public:
    static inline const QString kSystemPrompt = QStringLiteral("system");

    QStringList of(const QString& conversation) const { return m_pinned.value(conversation); }
    void toggle(const QString& conversation, const QString& message);
    void forget(const QString& conversation) { m_pinned.remove(conversation); }

    /// The token ranges of those whose place is known.
    std::vector<engine::TokenRange> tokens(const QString& conversation,
                                           const QHash<QString, engine::TokenRange>& places) const;

private:
    QHash<QString, QStringList> m_pinned;
};
