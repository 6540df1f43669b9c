#include "app/text/known_sentence.h"

#include "app/text/engine_words.h"
#include "app/text/visible_text.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <QStringList>

#include <algorithm>
#include <functional>
#include <vector>

namespace {

/// The sentences that are translated as a whole. Where several match, the one with the most characters of its own is
/// taken.
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
    QT_TRANSLATE_NOOP("KnownSentence", "the disk cannot be written (%1)"),
    QT_TRANSLATE_NOOP("KnownSentence", "the name %1 cannot be looked up: no network, or no such host"),
    QT_TRANSLATE_NOOP("KnownSentence", "the proxy that the environment names cannot be looked up"),
    QT_TRANSLATE_NOOP("KnownSentence", "the proxy that the environment names refuses the connection"),
    QT_TRANSLATE_NOOP(
        "KnownSentence",
        "the proxy that the environment names wants a name and a password, as in http://NAME:PASSWORD@PROXY:8080"),
    QT_TRANSLATE_NOOP("KnownSentence", "the proxy that the environment names does not connect to %1 (status %2)"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1, or the proxy that the environment names, refuses the connection"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1, or the proxy that the environment names, does not answer"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 refuses the connection"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 does not answer"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 cannot prove that it is %2: its certificate is not trusted"),
    QT_TRANSLATE_NOOP("KnownSentence", "this machine's list of trusted certificates cannot be read"),
    QT_TRANSLATE_NOOP("KnownSentence", "no secure connection to %1 comes about"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 broke off before the end"),
    QT_TRANSLATE_NOOP("KnownSentence", "there is not enough memory for a connection"),
    QT_TRANSLATE_NOOP("KnownSentence", "the connection to %1 broke off"),
    QT_TRANSLATE_NOOP("KnownSentence", "nothing came for %1 s, though the connection stands"),
    QT_TRANSLATE_NOOP("KnownSentence", "'%1' is no address of the web"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 leads to what is no address of the web"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 leads to an address that is not secure"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 leads around in a circle"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 leads nowhere"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 leads to another server, which gets nothing of yours"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 leads elsewhere instead of answering"),
    QT_TRANSLATE_NOOP("KnownSentence", "the server's answer is longer than such an answer may be"),
    QT_TRANSLATE_NOOP("KnownSentence", "the server's answer has no head"),
    QT_TRANSLATE_NOOP("KnownSentence", "stopped"),
    QT_TRANSLATE_NOOP(
        "KnownSentence",
        "%1 gives this to those only who have accepted its terms there, and who say by a token who they are"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 gives this to those only who have accepted its terms there"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 does not accept the token"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 asks for a token, or has no such file for strangers"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 asks for a token"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 refuses access"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 knows no such repository"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 knows no such revision of the repository"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 has no such file"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 asks to wait, since there were too many requests"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 asks to wait, since there were too many requests: %2 s"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 has a fault of its own (status %2)"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 answers with status %2"),
    QT_TRANSLATE_NOOP("KnownSentence", "the hub's answer cannot be read"),
    QT_TRANSLATE_NOOP("KnownSentence", "the registry's answer cannot be read"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 has no revision '%2'"),
    QT_TRANSLATE_NOOP("KnownSentence", "'%1' names no repository"),
    QT_TRANSLATE_NOOP(
        "KnownSentence",
        "'%1' names no model: hf.co/ORG/REPO[:QUANT], ollama.com/NAME[:TAG] and the address of a .gguf file do"),
    QT_TRANSLATE_NOOP("KnownSentence", "the hub finds nothing for '%1'"),
    QT_TRANSLATE_NOOP("KnownSentence", "'%1' lacks its owner's name; the most fetched of this name are %2"),
    QT_TRANSLATE_NOOP("KnownSentence", "there is no GGUF model in it"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1: there is no GGUF model in it"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1: there is no %2 in it, but %3"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1: there is no file %2 in it, but %3"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 has no model file that could be fetched"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 has several model files, which cannot be put together here"),
    QT_TRANSLATE_NOOP("KnownSentence", "there is no %1 beside it any more"),
    QT_TRANSLATE_NOOP("KnownSentence", "the server does not say how long the file is"),
    QT_TRANSLATE_NOOP("KnownSentence", "the file is empty"),
    QT_TRANSLATE_NOOP("KnownSentence", "the list of files has no hash where one should be"),
    QT_TRANSLATE_NOOP("KnownSentence", "the server has %1 bytes of %2, and its list of files says %3"),
    QT_TRANSLATE_NOOP("KnownSentence", "the file has changed on the server while it was being fetched"),
    QT_TRANSLATE_NOOP("KnownSentence", "the server gives no more parts of the file: it has changed, or the server has"),
    QT_TRANSLATE_NOOP("KnownSentence", "the server gives other bytes than those that it was asked for"),
    QT_TRANSLATE_NOOP("KnownSentence", "the file has changed on the server: it has another size now"),
    QT_TRANSLATE_NOOP("KnownSentence", "the server gives more bytes than it was asked for"),
    QT_TRANSLATE_NOOP("KnownSentence", "the server ended before all bytes were there"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 cannot be read"),
    QT_TRANSLATE_NOOP("KnownSentence", "there is not enough room in %1: it takes %2 and %3 are free"),
    QT_TRANSLATE_NOOP("KnownSentence", "the disk is full: '%1' has no room to grow"),
    QT_TRANSLATE_NOOP("KnownSentence", "another program is fetching '%1' already"),
    QT_TRANSLATE_NOOP("KnownSentence", "another program has just fetched '%1'"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 ends inside its header"),
    QT_TRANSLATE_NOOP("KnownSentence", "this is no GGUF file that can be read here"),
    QT_TRANSLATE_NOOP("KnownSentence", "the file's header makes no sense"),
    QT_TRANSLATE_NOOP("KnownSentence", "type an address, such as 192.168.0.5:8000"),
    QT_TRANSLATE_NOOP("KnownSentence", "this is too long for an address"),
    QT_TRANSLATE_NOOP("KnownSentence",
                      "an address with a name and a password in it is not used; a key goes into its own field"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 says that the conversation is longer than its context"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 refuses the request"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 does not accept the key"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 asks for a key"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 has nothing at this address"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 does not do that"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 is asked too much and wants to be asked again later"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 is asked too much and wants to be asked again later, in %2 s"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 has no time now, or is still starting"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 has a fault of its own, status %2"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 ended the answer"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 ended the answer without saying why"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 answers, but is no server of models: it has no list of them at /v1/models"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 answers, but is no server of models: its list of models cannot be read"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 has no model '%2'"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 is none of your servers any more"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 answers with a page for people"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 does not come to an end"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 sends an event without an end"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 sends what is no piece of an answer"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 has the same name and may answer in its place"),
    QT_TRANSLATE_NOOP("KnownSentence", "this server takes logit biases for tokens only, not for texts"),
    QT_TRANSLATE_NOOP("KnownSentence", "this server cannot hold an answer to a grammar; it may know JSON schemas"),
    QT_TRANSLATE_NOOP("KnownSentence", "the JSON schema is no JSON object"),
    QT_TRANSLATE_NOOP("KnownSentence", "the template's arguments are no JSON object"),
    QT_TRANSLATE_NOOP("KnownSentence", "the prompt needs %1 tokens and the context holds %2"),
    QT_TRANSLATE_NOOP("KnownSentence",
                      "the memory of the device is full, and the policy 'resident' lets nothing leave it"),
    QT_TRANSLATE_NOOP("KnownSentence", "the text has %1 tokens and the context holds %2"),
    QT_TRANSLATE_NOOP("KnownSentence", "the memory of %1 is full"),
    QT_TRANSLATE_NOOP("KnownSentence", "the system has no page-locked memory left for %1"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 stopped working: %2"),
    QT_TRANSLATE_NOOP("KnownSentence", "no NVIDIA driver is installed (%1)"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1 has compute capability %2, and 7.5 or higher is needed"),
    QT_TRANSLATE_NOOP("KnownSentence", "the NVIDIA driver does not start: %1"),
    QT_TRANSLATE_NOOP("KnownSentence", "the NVIDIA driver does not answer: %1"),
    QT_TRANSLATE_NOOP("KnownSentence", "the NVIDIA driver is too old: it lacks %1"),
    QT_TRANSLATE_NOOP("KnownSentence", "the NVIDIA driver knows no GPU"),
    QT_TRANSLATE_NOOP("KnownSentence", "this build of the program has no CUDA kernels"),
    QT_TRANSLATE_NOOP("KnownSentence", "the answer was stopped"),
    QT_TRANSLATE_NOOP("KnownSentence", "loading was cancelled"),
    QT_TRANSLATE_NOOP("KnownSentence", "the prompt is empty"),
};

/// Sentences that are too long for one line of this file.
constexpr const char* kKnownLong[] = {
    QT_TRANSLATE_NOOP("KnownSentence",
                      "a page for people came in place of the hub's answer; a network that wants you to "
                      "sign in first, as in a hotel, may have sent it"),
    QT_TRANSLATE_NOOP("KnownSentence", "the bytes that came for %1 are not those that it should have (SHA-256 %2 "
                                       "instead of %3); they were thrown away"),
    QT_TRANSLATE_NOOP(
        "KnownSentence",
        "%1 is there already with other bytes: it is damaged, another version, or another model of that name; remove "
        "it, and it can be fetched"),
    QT_TRANSLATE_NOOP("KnownSentence", "NVIDIA driver %1 or newer is needed, which supports CUDA %2; the one here "
                                       "supports CUDA %3: please update it"),
};

/// Frames around another known sentence, which stands in the first place.
constexpr const char* kKnownAround[] = {
    QT_TRANSLATE_NOOP("KnownSentence", "%1 (\"%2\")"),
    QT_TRANSLATE_NOOP("KnownSentence", "%1; what had come of the answer is kept"),
};

struct Pattern {
    const char* words;
    QRegularExpression matches;
    qsizetype ownWords = 0;  // characters, without the places
    bool around = false;
};

Pattern patternOf(const char* words, bool around)
{
    Pattern pattern{words, {}, 0, around};
    QString escaped = QRegularExpression::escape(QLatin1String(words)), own = QLatin1String(words);
    for (const char* const place : {"%1", "%2", "%3"}) {
        escaped.replace(QRegularExpression::escape(QLatin1String(place)), QLatin1String("(.+?)"));
        own.remove(QLatin1String(place));
    }
    pattern.matches.setPattern(QRegularExpression::anchoredPattern(escaped));
    pattern.matches.setPatternOptions(QRegularExpression::DotMatchesEverythingOption);
    pattern.ownWords = own.size();
    return pattern;
}

/// Returns the patterns, those with the most characters of their own first.
std::vector<Pattern> patterns()
{
    std::vector<Pattern> all;
    for (const char* const known : kKnown)
        all.push_back(patternOf(known, false));
    for (const char* const known : kKnownLong)
        all.push_back(patternOf(known, false));
    for (const char* const known : kKnownAround)
        all.push_back(patternOf(known, true));
    std::ranges::stable_sort(all, std::greater(), &Pattern::ownWords);
    return all;
}

/// Returns the translation with its places filled, all at once, since a part may hold "%1" itself.
QString filled(const QString& translation, const QStringList& parts)
{
    switch (parts.size()) {
    case 0:
        return translation;
    case 1:
        return translation.arg(parts[0]);
    case 2:
        return translation.arg(parts[0], parts[1]);
    default:
        return translation.arg(parts[0], parts[1], parts[2]);
    }
}

/// Returns a part of a sentence as it is shown: a number gets the form of the user's language.
QString partText(const QString& part, QStringView before)
{
    static const QRegularExpression number(
        QRegularExpression::anchoredPattern(QStringLiteral("\\d+(?:\\.\\d+ GB| [KMG]iB| bytes)?")));
    const bool isCode = before.endsWith(QLatin1String("error "));
    return !isCode && number.match(part).hasMatch() ? engineWords(part) : VisibleText::of(part);
}

/// Translates a known sentence, whose parts may be known sentences, too. Empty: it is none.
QString inUsersLanguage(const QString& words)
{
    static const std::vector<Pattern> all = patterns();
    for (const Pattern& pattern : all) {
        const auto match = pattern.matches.match(words);
        if (!match.hasMatch())
            continue;
        const QString translated = QCoreApplication::translate("KnownSentence", pattern.words);
        if (translated == QLatin1String(pattern.words))
            continue;
        QStringList parts;
        for (int part = 1; part <= match.lastCapturedIndex(); ++part) {
            const QString known = inUsersLanguage(match.captured(part));
            if (known.isEmpty() && part == 1 && pattern.around)
                return {};
            parts.append(!known.isEmpty()
                             ? known
                             : partText(match.captured(part), QStringView(words).first(match.capturedStart(part))));
        }
        return filled(translated, parts);
    }
    return {};
}

}  // namespace

QString knownSentence(const QString& what)
{
    const QString words = inUsersLanguage(what);
    QString sentence = sentenceOf(words);
    if (!sentence.isEmpty() && words.section(u' ', 0, 0) == what.section(u' ', 0, 0))
        sentence[0] = words[0];  // the sentence begins with a name, whose first letter stays
    return sentence;
}
