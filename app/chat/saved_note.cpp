#include "app/chat/saved_note.h"

#include <QCoreApplication>
#include <QLocale>

namespace {

/// Translates the texts of functions that belong to no class.
struct Text {
    Q_DECLARE_TR_FUNCTIONS(SavedNote)
};

QString reason(engine::SavedKvMiss miss)
{
    using Miss = engine::SavedKvMiss;
    switch (miss) {
    case Miss::NoFile:
        return Text::tr("nothing of it had been saved");
    case Miss::OtherModel:
        return Text::tr("it had been saved with another model");
    case Miss::OtherFormat:
        return Text::tr("it had been saved with another kind of KV cache");
    case Miss::OtherVersion:
        return Text::tr("it had been saved by another version of Spillway");
    case Miss::OtherText:
        return Text::tr("it goes on differently than when it was saved");
    case Miss::Damaged:
        return Text::tr("the saved file was damaged");
    case Miss::None:
        break;
    }
    return {};
}

QString duration(qint64 us)
{
    return us < 1'000'000 ? Text::tr("%1 ms").arg(QLocale().toString(qRound64(double(us) / 1e3)))
                          : Text::tr("%1 s").arg(QLocale().toString(double(us) / 1e6, 'f', 1));
}

}  // namespace

QString savedNote(const engine::Event& event)
{
    const QString tokens = QLocale().toString(event.tokens.count());
    if (event.kind == engine::Event::Kind::KvPrefilled)
        return Text::tr("The %1 tokens of this conversation were computed again: %2.").arg(tokens, reason(event.miss));
    const QString time = duration(event.duration_us);
    if (event.miss == engine::SavedKvMiss::None)
        return Text::tr("%1 tokens of this conversation were read back from the disk in %2.").arg(tokens, time);
    return Text::tr(
               "%1 tokens of this conversation were read back from the disk in %2, the rest was computed again: %3.")
        .arg(tokens, time, reason(event.miss));
}
