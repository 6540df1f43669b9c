// Reads the questions asked of the guide model and the expressions that judge its answers. The files' shape is in
// README.md.
#pragma once

#include "engine/engine.h"

#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QRegularExpression>
#include <QString>

#include <algorithm>
#include <vector>

namespace guide {

using Expressions = std::vector<QRegularExpression>;

struct Question {
    QString id;
    QString topic;
    QString language;                      // as in 'en'; the held-out questions are in several
    std::vector<engine::Message> history;  // an exchange that went before, for follow-up questions
    QString text;
    bool depth = false;  // asked after the earlier conversation as well
    Expressions right;   // an answer is right when all of these match...
    Expressions wrong;   // ...and none of these

    bool is_other() const { return topic == QLatin1String("other"); }
};

struct Sample {
    QString id;  // of a question
    QString right;
    QString wrong;  // empty: none
};

inline QString file(const char* name)
{
    return QStringLiteral(SPILLWAY_SOURCE_DIR "/tests/guide/") + QLatin1String(name);
}

/// Null when there is no such file or it is not JSON.
inline QJsonDocument read_json(const char* name)
{
    QFile in(file(name));
    return in.open(QIODevice::ReadOnly) ? QJsonDocument::fromJson(in.readAll()) : QJsonDocument();
}

inline std::vector<engine::Message> messages_of(const QJsonArray& array)
{
    std::vector<engine::Message> out;
    for (const QJsonValue& message : array)
        out.push_back({message["role"].toString().toStdString(), message["text"].toString().toStdString()});
    return out;
}

/// Puts the file's named words into an expression, <word> by (?:...). An unknown word leaves an invalid expression.
inline QRegularExpression expression(QString pattern, const QJsonObject& words)
{
    static const QRegularExpression named(QStringLiteral("<([a-z-]+)>"));
    for (auto word = named.match(pattern); word.hasMatch(); word = named.match(pattern)) {
        const QString meaning = words[word.captured(1)].toString(QStringLiteral("("));
        pattern.replace(word.capturedStart(), word.capturedLength(), QStringLiteral("(?:%1)").arg(meaning));
    }
    return QRegularExpression(pattern, QRegularExpression::CaseInsensitiveOption |
                                           QRegularExpression::DotMatchesEverythingOption);
}

inline Expressions expressions(const QJsonValue& patterns, const QJsonObject& words)
{
    Expressions out;
    for (const QJsonValue& pattern : patterns.toArray())
        out.push_back(expression(pattern.toString(), words));
    return out;
}

inline constexpr const char* kQuestions = "questions.json";
inline constexpr const char* kHeldOut = "held_out/held_out.json";
inline constexpr const char* kNewer = "newer.json";  // on what the program has learned since

inline std::vector<Question> read_questions(const char* name = kQuestions)
{
    const QJsonObject root = read_json(name).object();
    const QJsonObject words = root["words"].toObject();
    const Expressions refusals = expressions(root["refusal"], words);

    std::vector<Question> out;
    for (const QJsonValue& entry : root["questions"].toArray()) {
        Question question;
        question.id = entry["id"].toString();
        question.topic = entry["topic"].toString();
        question.language = entry["language"].toString(QStringLiteral("en"));
        question.history = messages_of(entry["history"].toArray());
        question.text = entry["question"].toString();
        question.depth = entry["depth"].toBool();
        question.right = expressions(question.is_other() ? root["other"] : entry["right"], words);
        question.wrong = expressions(entry["wrong"], words);
        if (!question.is_other() && question.topic != QLatin1String("identity"))
            question.wrong.insert(question.wrong.end(), refusals.begin(), refusals.end());
        out.push_back(std::move(question));
    }
    return out;
}

inline std::vector<Sample> read_samples(const char* name = "samples.json")
{
    std::vector<Sample> out;
    for (const QJsonValue& entry : read_json(name).array())
        out.push_back({entry["id"].toString(), entry["right"].toString(), entry["wrong"].toString()});
    return out;
}

/// Returns the answer without what is only typography: emphasis, curly quotes, the kind of dash and of space.
inline QString plain(QString answer)
{
    static const QRegularExpression emphasis(QStringLiteral("[*`]"));
    static const QRegularExpression dashes(QStringLiteral("[\u2010-\u2015]"));
    answer.remove(emphasis).replace(dashes, QStringLiteral("-"));
    return answer.replace(QChar(0x2019), QLatin1Char('\'')).replace(QChar(0xd7), QLatin1Char('x')).simplified();
}

inline bool is_right(const Question& question, const QString& answer)
{
    const QString text = plain(answer);
    const auto matches = [&](const QRegularExpression& expression) { return expression.match(text).hasMatch(); };
    return std::all_of(question.right.begin(), question.right.end(), matches) &&
           std::none_of(question.wrong.begin(), question.wrong.end(), matches);
}

}  // namespace guide
