// ConversationActivity says whether a conversation is idle, waits for its turn or is being answered.
#pragma once

#include <QObject>
#include <QtQml/qqmlregistration.h>

namespace ConversationActivity {
Q_NAMESPACE
QML_ELEMENT

enum Value {
    Idle,
    Queued,     // it waits until others have been answered
    Answering,  // the model reads its prompt or answers
};
Q_ENUM_NS(Value)
}  // namespace ConversationActivity
