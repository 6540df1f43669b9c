// Makes conversations to store, and compares them.
#pragma once

#include "app/store/conversation.h"
#include "tests/support/file_size_limit.h"

#include <QJsonDocument>
#include <QRandomGenerator>

/// Question, answer, question, answer; ids begin with the conversation's.
inline StoredConversation twoTurns(const QString& id, const QString& title,
                                   const QString& answer = QStringLiteral("An answer."))
{
    StoredConversation conversation;
    conversation.header.id = id;
    conversation.header.title = title;
    for (int i = 0; i < 4; ++i) {
        StoredMessage message;
        message.id = QStringLiteral("%1-%2").arg(id).arg(i);
        message.parent = i > 0 ? conversation.messages.last().id : QString();
        message.role = i % 2 ? StoredMessage::Role::Assistant : StoredMessage::Role::User;
        message.text = i % 2 ? answer : QStringLiteral("A question?");
        message.createdMs = 1000 + i;
        conversation.messages.append(message);
    }
    conversation.header.leaf = conversation.messages.last().id;
    return conversation;
}

/// Makes a conversation with something in every member: versions, attachments, numbers, settings.
inline StoredConversation fullConversation(const QString& id)
{
    StoredConversation conversation = twoTurns(id, QStringLiteral("All there is"));
    ConversationHeader& header = conversation.header;
    header.titleByUser = true;
    header.createdMs = 1'700'000'000'000;
    header.changedMs = 1'700'000'123'456;
    header.pinned = true;
    header.folder = QStringLiteral("Work & play");
    header.draft = QStringLiteral("half a thou");
    header.settings = {QStringLiteral("Be kind."),
                       QStringLiteral("kind"),
                       {{"temperature", 0.5}, {"seed", 42}},
                       {{"enable_thinking", false}}};
    StoredMessage& question = conversation.messages[0];
    question.text = QStringLiteral("The question\n```\ncode\n```\n");
    question.attachments = {{.id = QStringLiteral("att"),
                             .name = QStringLiteral("a report.pdf"),
                             .kind = QStringLiteral("pdf"),
                             .bytes = 5'000'000'000,
                             .sha256 = QString(64, QLatin1Char('b')),
                             .text = QStringLiteral("Page one\n\nPage two"),
                             .tokens = 7}};
    StoredMessage& answer = conversation.messages[1];
    answer.text = QStringLiteral("<think>hm</think>Yes.\n\n# A heading\n\n## User\n\nnot a message");
    answer.status = StoredMessage::Status::LengthLimit;
    answer.model = QStringLiteral("tiny");
    answer.promptTokens = 120;
    answer.templateTokens = 20;
    answer.tokens = 9;
    answer.ttftMs = 12.5;
    answer.tokensPerSecond = 33.25;
    answer.reasoningMs = 1500;
    answer.draftedTokens = 7;
    answer.acceptedTokens = 5;
    StoredMessage& failed = conversation.messages[3];
    failed.status = StoredMessage::Status::Failed;
    failed.sentence = QStringLiteral("The engine stopped.");
    failed.text.clear();
    conversation.messages[2].leftOut = true;
    conversation.recording =
        R"({"answers":[],"context_limit":4096,"device":"","format":"spillway-recording","made":"2026-01-02T03:04:05Z",)"
        R"("marks":[],"model":"tiny","model_file":"","model_first_run":0,"model_since":0,"moves":[],)"
        R"("runs":[[[10,20.5]]],"samples":[],"spill_tokens":null,"version":1})";
    StoredMessage version = conversation.messages[1];  // another answer to the first question
    version.id = id + QStringLiteral("-other");
    version.text = QStringLiteral("No.");
    version.status = StoredMessage::Status::Stopped;
    version.tokens.reset();
    conversation.messages.append(version);
    return conversation;
}

/// Puts every member into a text, so that a test says where two conversations differ.
inline QString describe(const StoredConversation& conversation)
{
    const auto number = [](const auto& value) { return value ? QString::number(double(*value)) : QStringLiteral("-"); };
    const ConversationHeader& h = conversation.header;
    QStringList lines{h.id,
                      h.title,
                      QString::number(h.titleByUser),
                      QString::number(h.createdMs),
                      QString::number(h.changedMs),
                      QString::number(h.pinned),
                      h.leaf,
                      h.draft,
                      h.settings.systemPrompt,
                      h.settings.preset,
                      QString::fromUtf8(QJsonDocument(h.settings.sampling).toJson()),
                      QString::fromUtf8(QJsonDocument(h.settings.templateArguments).toJson())};
    lines << QString::fromUtf8(conversation.recording);
    for (const StoredMessage& m : conversation.messages) {
        lines << QStringList{m.id,
                             m.parent,
                             QString::number(int(m.role)),
                             m.text,
                             QString::number(int(m.status)),
                             m.sentence,
                             QString::number(m.createdMs),
                             QString::number(m.leftOut),
                             m.model,
                             number(m.promptTokens),
                             number(m.templateTokens),
                             number(m.tokens),
                             number(m.ttftMs),
                             number(m.tokensPerSecond),
                             number(m.reasoningMs),
                             number(m.draftedTokens),
                             number(m.acceptedTokens)};
        for (const Attachment& a : m.attachments)
            lines << QStringList{a.id, a.name, a.kind, QString::number(a.bytes), a.sha256, a.text, number(a.tokens)};
    }
    return lines.join(QLatin1Char('\n'));
}
