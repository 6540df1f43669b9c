// placeOf() finds where in a message a found text stands, as the page draws it.
#pragma once

#include "app/store/conversation.h"

#include <QObject>
#include <QtQml/qqmlregistration.h>

/// A place in a message as the page draws it, as a value.
class MessagePlace
{
    Q_GADGET
    QML_VALUE_TYPE(messagePlace)
    Q_PROPERTY(int block MEMBER block CONSTANT)
    Q_PROPERTY(double share MEMBER share CONSTANT)

public:
    int block = 0;     // row of its BlockModel
    double share = 0;  // of that block's text which lies above, from 0 to 1

    bool operator==(const MessagePlace&) const = default;
};

/// Finds where the first marked words of an excerpt (see SearchHit) stand in the message; its beginning when they do
/// not.
MessagePlace placeOf(const StoredMessage& message, const QString& excerpt);
