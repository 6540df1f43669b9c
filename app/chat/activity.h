// What a conversation is doing, for lists of them.
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
