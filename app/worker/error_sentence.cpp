#include "app/worker/error_sentence.h"

#include "app/text/engine_words.h"
#include "app/text/known_sentence.h"

#include <QCoreApplication>

namespace {

const char* kindOf(engine::Error::Code code)
{
    using Code = engine::Error::Code;
    switch (code) {
    case Code::NotFound:
        return QT_TRANSLATE_NOOP("ErrorSentence", "There is no such file (%1).");
    case Code::CannotRead:
        return QT_TRANSLATE_NOOP("ErrorSentence", "The file cannot be read (%1).");
    case Code::CannotWrite:
        return QT_TRANSLATE_NOOP("ErrorSentence", "The file cannot be written (%1).");
    case Code::BadFile:
        return QT_TRANSLATE_NOOP("ErrorSentence", "The file is damaged, cut off or not a model (%1).");
    case Code::Unsupported:
        return QT_TRANSLATE_NOOP("ErrorSentence", "This version of Spillway cannot run the model (%1).");
    case Code::NoMemory:
        return QT_TRANSLATE_NOOP("ErrorSentence", "There is not enough memory (%1).");
    case Code::DeviceFull:
        return QT_TRANSLATE_NOOP("ErrorSentence", "The device has no memory left (%1).");
    case Code::DeviceLost:
        return QT_TRANSLATE_NOOP("ErrorSentence", "The device does not answer (%1).");
    case Code::BadRequest:
        return QT_TRANSLATE_NOOP("ErrorSentence", "That is not possible (%1).");
    case Code::ContextFull:
        return QT_TRANSLATE_NOOP("ErrorSentence", "The conversation does not fit the context (%1).");
    case Code::Cancelled:
        return QT_TRANSLATE_NOOP("ErrorSentence", "It was cancelled (%1).");
    case Code::Template:
        return QT_TRANSLATE_NOOP("ErrorSentence", "The model's chat template failed (%1).");
    case Code::NotLoaded:
        return QT_TRANSLATE_NOOP("ErrorSentence", "No model is open (%1).");
    case Code::Internal:
        break;
    }
    return QT_TRANSLATE_NOOP("ErrorSentence", "Spillway made a mistake (%1).");
}

}  // namespace

QString errorSentence(const engine::Error& error)
{
    const QString what = QString::fromStdString(error.what);
    if (const QString known = knownSentence(what); !known.isEmpty())
        return known;
    const char* const kind = kindOf(error.code);
    const QString translated = QCoreApplication::translate("ErrorSentence", kind);
    if (what.isEmpty() || translated == QLatin1String(kind))
        return asSentence(what);
    return translated.arg(engineWords(what));
}
