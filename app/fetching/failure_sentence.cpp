#include "app/fetching/failure_sentence.h"

#include "app/text/engine_words.h"
#include "app/text/known_sentence.h"

#include <QCoreApplication>

namespace {

const char* kindOf(net::Failure::Kind kind)
{
    using Kind = net::Failure::Kind;
    switch (kind) {
    case Kind::BadRequest:
        return QT_TRANSLATE_NOOP("FailureSentence", "That cannot be asked for (%1).");
    case Kind::NoConnection:
        return QT_TRANSLATE_NOOP("FailureSentence", "The server cannot be reached (%1).");
    case Kind::Interrupted:
        return QT_TRANSLATE_NOOP("FailureSentence", "The connection broke off (%1).");
    case Kind::Stalled:
        return QT_TRANSLATE_NOOP("FailureSentence", "Nothing comes from the server any more (%1).");
    case Kind::BadCertificate:
        return QT_TRANSLATE_NOOP("FailureSentence", "The server cannot prove who it is (%1).");
    case Kind::NeedsToken:
        return QT_TRANSLATE_NOOP("FailureSentence", "The server wants to know who you are (%1).");
    case Kind::NoAccess:
        return QT_TRANSLATE_NOOP("FailureSentence", "The server does not give this to everybody (%1).");
    case Kind::KeyMissing:
        return QT_TRANSLATE_NOOP("FailureSentence", "A key is missing (%1).");
    case Kind::NotFound:
        return QT_TRANSLATE_NOOP("FailureSentence", "The server does not have that (%1).");
    case Kind::TooManyRequests:
        return QT_TRANSLATE_NOOP("FailureSentence", "The server asks to wait a while (%1).");
    case Kind::ServerError:
        return QT_TRANSLATE_NOOP("FailureSentence", "The server has a fault of its own (%1).");
    case Kind::BadAnswer:
        return QT_TRANSLATE_NOOP("FailureSentence", "The server's answer makes no sense (%1).");
    case Kind::Changed:
        return QT_TRANSLATE_NOOP("FailureSentence", "The file has changed on the server (%1).");
    case Kind::WrongHash:
        return QT_TRANSLATE_NOOP("FailureSentence", "What came is not the file it should be (%1).");
    case Kind::DiskFull:
        return QT_TRANSLATE_NOOP("FailureSentence", "There is not enough room on the disk (%1).");
    case Kind::CannotWrite:
        return QT_TRANSLATE_NOOP("FailureSentence", "The file cannot be written (%1).");
    case Kind::CannotRead:
        return QT_TRANSLATE_NOOP("FailureSentence", "The file cannot be read (%1).");
    case Kind::Busy:
        return QT_TRANSLATE_NOOP("FailureSentence", "Another program is fetching the same file (%1).");
    case Kind::Cancelled:
        break;
    }
    return QT_TRANSLATE_NOOP("FailureSentence", "It was stopped (%1).");
}

}  // namespace

QString failureSentence(const net::Failure& failure)
{
    const QString what = QString::fromStdString(failure.what);
    const char* const kind = kindOf(failure.kind);
    const QString translated = QCoreApplication::translate("FailureSentence", kind);
    QString sentence = knownSentence(what);
    if (sentence.isEmpty())
        sentence = translated == QLatin1String(kind) ? asSentence(what) : translated.arg(engineWords(what));
    if (failure.token_helps)
        sentence +=
            u' ' + QCoreApplication::translate("FailureSentence", "The settings take a token, under “Privacy”.");
    return sentence;
}
