#include "app/text/known_sentence.h"

#include "app/text/engine_words.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QStringList>

#include <iterator>
#include <vector>

namespace {

/// What is longer stands before what it begins with.
constexpr const char* kKnown[] = {
    QT_TRANSLATE_NOOP("KnownSentence", "none of the %1 servers named '%2' can answer now; the last of them: %3"),
    QT_TRANSLATE_NOOP("KnownSentence", "the key for %1 is missing: %2"),
    QT_TRANSLATE_NOOP("KnownSentence", "the token for %1 is missing: %2"),
    QT_TRANSLATE_NOOP("KnownSentence", "the system's password store is locked"),
    QT_TRANSLATE_NOOP("KnownSentence", "the system's password store does not have it any more"),
    QT_TRANSLATE_NOOP("KnownSentence", "the system's password store does not answer"),
    QT_TRANSLATE_NOOP("KnownSentence", "this system has no password store"),
    QT_TRANSLATE_NOOP("KnownSentence", "Windows' Credential Manager refuses it, error %1"),
    QT_TRANSLATE_NOOP("KnownSentence", "'%1' cannot be written: %2"),
    QT_TRANSLATE_NOOP("KnownSentence", "'%1' cannot be written"),
    QT_TRANSLATE_NOOP("KnownSentence", "'%1' cannot be removed"),
    QT_TRANSLATE_NOOP("KnownSentence", "the folder %1 cannot be made"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1: the folder cannot be made"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 is there already and is another file; it was left as it is"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 has come up meanwhile; it was left as it is"),
    QT_TRANSLATE_NOOP("KnownSentence", "there is no folder for temporary files"),
    QT_TRANSLATE_NOOP("KnownSentence", "the folder for temporary files has no room for a model's header"),
    QT_TRANSLATE_NOOP("KnownSentence", "there is no room left in %1"),
    QT_TRANSLATE_NOOP("KnownSentence", "cannot write a file in %1 (%2)"),
    QT_TRANSLATE_NOOP("KnownSentence", "the rates could not be kept in the profile"),
    QT_TRANSLATE_NOOP("KnownSentence", "the disk is full"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 has no such repository, or it is closed to strangers"),
    QT_TRANSLATE_NOOP("KnownSentence",
                      "a page for people came in place of the hub's answer; a network that wants you to "
                      "sign in first, as in a hotel, may have sent it"),
    QT_TRANSLATE_NOOP("KnownSentence", "the disk cannot be written (%1)"),
};

std::vector<QRegularExpression> patterns()
{
    std::vector<QRegularExpression> all;
    for (const char* const known : kKnown) {
        QString pattern = QRegularExpression::escape(QLatin1String(known));
        for (const char* const place : {"%1", "%2", "%3"})
            pattern.replace(QRegularExpression::escape(QLatin1String(place)), QLatin1String("(.+?)"));
        all.emplace_back(QRegularExpression::anchoredPattern(pattern), QRegularExpression::DotMatchesEverythingOption);
    }
    return all;
}

/// A part of such a sentence may be one.
QString inUsersLanguage(const QString& words)
{
    static const std::vector<QRegularExpression> all = patterns();
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto match = all[i].match(words);
        const QString translated =
            match.hasMatch() ? QCoreApplication::translate("KnownSentence", kKnown[i]) : QString();
        if (!match.hasMatch() || translated == QLatin1String(kKnown[i]))
            continue;
        QStringList parts;
        for (int part = 1; part <= match.lastCapturedIndex(); ++part) {
            const QString known = inUsersLanguage(match.captured(part));
            parts.append(known.isEmpty() ? match.captured(part) : known);
        }
        // All at once: what stands in a part is no place for the next one.
        switch (parts.size()) {
        case 0:
            return translated;
        case 1:
            return translated.arg(parts[0]);
        case 2:
            return translated.arg(parts[0], parts[1]);
        default:
            return translated.arg(parts[0], parts[1], parts[2]);
        }
    }
    return {};
}

}  // namespace

QString knownSentence(const QString& what)
{
    return asSentence(inUsersLanguage(what));
}
