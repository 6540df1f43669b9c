// searched() looks for words in the conversations of a store, and waits for what is found.
#pragma once

#include "app/store/conversation_store.h"

#include <QTest>

/// Empty, too, when nothing comes back in time.
inline QList<SearchHit> searched(ConversationStore& store, const QString& words, int limit)
{
    std::optional<QList<SearchHit>> found;
    std::stop_source late;
    store.search(words, limit, late.get_token(), [&](const QList<SearchHit>& hits) { found = hits; });
    if (!QTest::qWaitFor([&] { return found.has_value(); }))
        late.request_stop();
    return found.value_or(QList<SearchHit>());
}
