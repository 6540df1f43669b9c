// ContextLedger counts what fills a conversation's context.
#pragma once

#include <QObject>
#include <QtQml/qqmlregistration.h>

/// The tokens of the next prompt by where they come from, as a value for the pages: counted by the engine, before
/// anything is sent. `known` is false without a model, and until it has counted.
class ContextLedger
{
    Q_GADGET
    QML_VALUE_TYPE(contextLedger)
    Q_PROPERTY(bool known MEMBER known CONSTANT)
    Q_PROPERTY(int templateTokens MEMBER templateTokens CONSTANT)
    Q_PROPERTY(int systemTokens MEMBER systemTokens CONSTANT)
    Q_PROPERTY(int messageTokens MEMBER messageTokens CONSTANT)
    Q_PROPERTY(int attachedTokens MEMBER attachedTokens CONSTANT)
    Q_PROPERTY(int answerReserve MEMBER answerReserve CONSTANT)
    Q_PROPERTY(int limit MEMBER limit CONSTANT)
    Q_PROPERTY(int total READ total CONSTANT)

public:
    int total() const { return templateTokens + systemTokens + messageTokens; }  // the answer's not included
    bool operator==(const ContextLedger&) const = default;

    bool known = false;
    int templateTokens = 0;  // markers, role names
    int systemTokens = 0;    // the system prompt's
    int messageTokens = 0;   // all that was typed, attached and answered, less what is left out
    int attachedTokens = 0;  // of them, those of attached files
    int answerReserve = 0;   // what the next answer may take at most, or is kept free for it
    int limit = 0;           // of the context
};
