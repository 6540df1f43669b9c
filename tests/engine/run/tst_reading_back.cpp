// Tests what happens while a conversation is read back from its file: other answers go on meanwhile, and what was read
// when the reading ended early is read again.
#include "tests/engine/run/saving_engine.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <QFile>

using namespace engine;
using namespace test_support;

namespace {

/// The small model, which reads a prompt or a file no more than a page in one step.
LoadRequest reading_a_page_at_a_time()
{
    LoadRequest request;
    request.model = model_file();
    request.kv_block_tokens = request.prefill_chunk_tokens = 16;
    return request;
}

}  // namespace

class TestReadingBack : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;

    QByteArray bytes_of_file() const
    {
        QFile stored(m_folder->filePath("kv/c1.kv"));
        return stored.open(QFile::ReadOnly) ? stored.readAll() : QByteArray();
    }

private Q_SLOTS:
    void init() { m_folder = std::make_unique<QTemporaryDir>(); }

    void typesThatChangeWhileItIsReadEndTheReading()
    {
        const std::string answer = Started(*m_folder).ask(talk()).text;
        const LoadRequest page_by_page = reading_a_page_at_a_time();
        Started again(*m_folder, std::int64_t(1) << 30, &page_by_page);
        bool asked = false;
        again.on_telemetry = [&](const Telemetry& frame) {
            if (frame.restored_tokens > 0 && !std::exchange(asked, true))
                again.loaded.engine->post(SetKvTypes{KvType::F32, KvType::F32});
        };
        const Turn turn = again.ask(talk(answer));
        QCOMPARE(turn.telemetry.restored_tokens, 16);
        QCOMPARE(again.heard(Event::Kind::KvRestored)->miss, SavedKvMiss::OtherFormat);
        QVERIFY(again.heard(Event::Kind::KvRewritten));
        QVERIFY(!turn.text.empty());
    }

    /// Another answer has a token in each of the steps in which a piece is read.
    void othersAreAnsweredWhileItIsRead()
    {
        const std::string answer = Started(*m_folder).ask(talk()).text;
        Started alone(QTemporaryDir(), 0);
        alone.ask(talk());
        const std::string expected = alone.ask(talk(answer)).text;

        const LoadRequest page_by_page = reading_a_page_at_a_time();
        Started again(*m_folder, std::int64_t(1) << 30, &page_by_page);
        Engine& engine = *again.loaded.engine;
        Request other = chat({{"user", "how are the weights kept?"}}, 200);
        other.ignore_end = true;
        bool answers = false, is_read = false;
        Listener beside, reading;
        beside.on_telemetry = [&](const Telemetry& frame) { answers = frame.generated_tokens > 0; };
        reading.on_event = [&](const Event& event) { is_read = is_read || event.kind == Event::Kind::KvRestored; };
        const TurnId long_answer = *engine.begin(*engine.create_sequence(), other, beside, {});
        while (!answers)
            QVERIFY(engine.step({}).empty());
        Request asked = chat(talk(answer), 40);
        asked.saved_as = "c1";
        const TurnId read = *engine.begin(again.loaded.sequence, asked, reading, {});
        int steps = 0;
        for (; !is_read && steps < 100; ++steps)
            QVERIFY(engine.step({}).empty());
        const auto beside_it = engine.end(long_answer);
        QVERIFY2(steps >= 2 && steps < 100, qPrintable(QString::number(steps)));
        QVERIFY(beside_it->telemetry.generated_tokens > steps);
        while (engine.step({}).empty()) {
        }
        const auto turn = engine.end(read);
        QCOMPARE(turn->text, expected);
        QVERIFY(turn->telemetry.restored_tokens > 16);
    }

    void stopsWhileItIsRead()
    {
        const std::string answer = Started(*m_folder).ask(talk()).text;
        Started again(*m_folder);
        Request request = chat(talk(answer), 40);
        request.saved_as = "c1";
        std::stop_source stop;
        stop.request_stop();
        const auto turn = again.loaded.generate(request, {}, stop.get_token());
        QCOMPARE(turn->reason, StopReason::Cancelled);
        QVERIFY(turn->text.empty());
        QVERIFY(again.ask(talk(answer)).telemetry.reused_tokens > 0);
    }

    /// What was read until then takes neither the file's place nor that of the rest.
    void whatIsReadWhenItIsStoppedIsReadAgain()
    {
        const std::string answer = Started(*m_folder).ask(talk()).text;
        const QByteArray all = bytes_of_file();
        {
            Started again(*m_folder);
            Request request = chat(talk(answer), 40);
            request.saved_as = "c1";
            std::stop_source stop;
            Listener listener;
            listener.on_telemetry = [&](const Telemetry& frame) {
                if (frame.restored_tokens > 0)
                    stop.request_stop();
            };
            const auto turn = again.loaded.generate(request, listener, stop.get_token());
            QCOMPARE(turn->reason, StopReason::Cancelled);
            QVERIFY(stop.stop_requested() && turn->telemetry.context_tokens == 0);
        }
        QVERIFY(bytes_of_file() == all);  // with the engine, all writing has ended
        Started again(*m_folder);
        QVERIFY(again.ask(talk(answer)).telemetry.restored_tokens > 16);
    }

    void whatIsReadOfATurnThatEndsEarlyIsReadAgain_data()
    {
        QTest::addColumn<QString>("ends");
        for (const char* const ends : {"turn", "conversation", "model", "memory"})
            QTest::newRow(ends) << QString(ends);
    }

    void whatIsReadOfATurnThatEndsEarlyIsReadAgain()
    {
        QFETCH(QString, ends);
        const std::string answer = Started(*m_folder).ask(talk()).text;
        const LoadRequest page_by_page = reading_a_page_at_a_time();
        Started again(*m_folder, std::int64_t(1) << 30, &page_by_page);
        Engine& engine = *again.loaded.engine;
        Request request = chat(talk(answer), 40);
        request.saved_as = "c1";
        int restored = 0;
        Listener listener;
        listener.on_telemetry = [&](const Telemetry& frame) {
            restored = std::max(restored, frame.restored_tokens);
            if (ends == "memory" && frame.restored_tokens > 0)
                throw std::bad_alloc();
        };
        const TurnId turn = *engine.begin(again.loaded.sequence, request, listener, {});
        QCOMPARE(engine.step({}).empty(), ends != "memory");
        QCOMPARE(restored, 16);
        if (ends == "conversation")
            engine.end_sequence(again.loaded.sequence);
        if (ends == "model")
            QVERIFY(engine.load(page_by_page, {}, {}));
        const auto ended = engine.end(turn);
        QCOMPARE(ended.has_value(), ends == "turn" || ends == "conversation");
        if (ended)
            QCOMPARE(ended->reason, StopReason::Cancelled);
        if (ends == "conversation" || ends == "model")
            again.loaded.sequence = *engine.create_sequence();
        QVERIFY(again.ask(talk(answer)).telemetry.restored_tokens > 16);
    }
};

SPILLWAY_TEST(QCoreApplication, TestReadingBack)
#include "tst_reading_back.moc"
