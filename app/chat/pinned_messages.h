// PinnedMessages remembers which messages the user keeps on the device.
#pragma once

#include "engine/telemetry.h"

#include <QHash>
#include <QString>
#include <QStringList>

#include <vector>

/// Holds the pinned messages of each conversation, as long as the program runs. The system prompt has an id of its own.
/// A plain value on the UI thread; owned by TurnRunner.
class PinnedMessages
{
public:
    static inline const QString kSystemPrompt = QStringLiteral("system");

    QStringList of(const QString& conversation) const { return m_pinned.value(conversation); }
    void toggle(const QString& conversation, const QString& message);
    void forget(const QString& conversation) { m_pinned.remove(conversation); }

    /// Returns the token ranges of the pinned messages whose place is known.
    std::vector<engine::TokenRange> tokens(const QString& conversation,
                                           const QHash<QString, engine::TokenRange>& places) const;

private:
    QHash<QString, QStringList> m_pinned;
};
