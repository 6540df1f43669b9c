// ReadBodies reads what stands behind the mark of a call, whole and from each of its beginnings.
#pragma once

#include "app/server/call_body.h"

#include <QByteArray>
#include <QString>
#include <QtTest>

/// Reads bodies with one reader, for requests that offer the tools "weather" and "now".
class ReadBodies
{
public:
    using Reader = server::ReadCalls (*)(const server::CallBody& body);

    /// The columns and rows of a test's table, and what is tried with each row.
    static void add_columns()
    {
        QTest::addColumn<Reader>("reader");
        QTest::addColumn<QByteArray>("close");
        QTest::addColumn<QByteArray>("body");
        QTest::addColumn<QByteArray>("said");    // where more may come
        QTest::addColumn<QByteArray>("at_end");  // where nothing does
    }
    static void add_row(const char* name, Reader reader, const char* close, const char* body, const char* said,
                        const char* at_end)
    {
        QTest::newRow(name) << reader << QByteArray(close) << QByteArray(body) << QByteArray(said)
                            << QByteArray(at_end);
    }
    static void try_row()
    {
        QFETCH(Reader, reader);
        QFETCH(QByteArray, close);
        QFETCH(QByteArray, body);
        QFETCH(QByteArray, said);
        QFETCH(QByteArray, at_end);
        const ReadBodies bodies(reader, close.toStdString());
        QCOMPARE(bodies.said(body), said);
        QCOMPARE(bodies.said(body, true), at_end);
        const QString contradiction = bodies.contradiction(body);
        QVERIFY2(contradiction.isEmpty(), qPrintable(contradiction));
    }

    explicit ReadBodies(Reader reader, std::string close = {})
        : reader_(reader)
        , close_(std::move(close))
    {
    }

    /// "none", "not yet" or "BYTES:" and what is called so far, as NAME(ARGUMENTS), or NAME(ARGUMENTS... where they are
    /// not whole. In texts and answers ' stands for ".
    QByteArray said(QByteArray text, bool ended = false) const
    {
        const std::string body = text.replace('\'', '"').toStdString();
        return in_words(read(body, ended)).replace('"', '\'');
    }

    /// Returns the first beginning of the text from which a call was read that the whole text does not have, and that
    /// call; empty: there is none.
    QString contradiction(QByteArray text) const
    {
        const std::string body = text.replace('\'', '"').toStdString();
        const server::ReadCalls whole = read(body, true);
        for (std::size_t bytes = 1; bytes < body.size(); ++bytes) {
            const server::ReadCalls begun = read(body.substr(0, bytes), false);
            bool holds = begun.found == server::ReadCalls::Found::NotYet || begun.found == whole.found;
            holds = holds && begun.calls.size() <= whole.calls.size();
            for (std::size_t i = 0; holds && i < begun.calls.size(); ++i)
                holds = whole.calls[i].name == begun.calls[i].name &&
                        whole.calls[i].arguments.starts_with(begun.calls[i].arguments);
            if (!holds)
                return QString::fromStdString(body.substr(0, bytes)) + QStringLiteral(" says ") + in_words(begun);
        }
        return {};
    }

private:
    server::ReadCalls read(std::string_view body, bool ended) const
    {
        static const server::Json tools = server::Json::parse(R"([
            {"type": "function", "function": {"name": "weather", "parameters": {"type": "object",
             "properties": {"city": {"type": "string"}, "days": {"type": "integer"},
                            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]}, "unit": {"$ref": "#/$defs/Unit"},
                            "rain": {"type": "boolean"}, "hour": {"type": ["integer", "null"]}},
             "$defs": {"Unit": {"enum": ["C", "F", "1"]}}}}},
            {"type": "function", "function": {"name": "now"}}])");
        return reader_({body, close_, ended, tools});
    }

    static QByteArray in_words(const server::ReadCalls& read)
    {
        if (read.found == server::ReadCalls::Found::None)
            return "none";
        const bool is_over = read.found == server::ReadCalls::Found::Calls;
        QByteArray words = is_over ? QByteArray::number(qulonglong(read.bytes)) + ":" : QByteArray("not yet");
        for (const server::WrittenCall& call : read.calls)
            words += " " + QByteArray::fromStdString(call.name + "(" + call.arguments) + (call.whole ? ")" : "...");
        return words;
    }

    Reader reader_;
    std::string close_;
};
