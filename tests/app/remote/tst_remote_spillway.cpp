// Tests that RemoteEngine and `run --remote` get from our own server the answers that the guide model gives here.
#include "app/remote/address.h"
#include "app/remote/probe.h"
#include "app/remote/remote_engine.h"
#include "tests/app/server/running_server.h"
#include "tests/support/test_program.h"

#include <QProcess>
#include <QTemporaryFile>
#include <QtTest>

using server_test::RunningServer;

namespace {

std::string url_of(const RunningServer& server)
{
    return "http://127.0.0.1:" + std::to_string(server.port());
}

engine::Request greedy(int tokens)
{
    engine::Request request;
    request.messages = {{"user", "What is a KV cache?", {}, {}}};
    request.sampling.temperature = 0;
    request.max_tokens = tokens;
    return request;
}

QByteArray run(const QStringList& arguments, int expected)
{
    QProcess process;
    process.start(SPILLWAY_CLI, arguments);
    process.closeWriteChannel();
    if (!process.waitForFinished(120'000) || process.exitCode() != expected)
        return "exit code " + QByteArray::number(process.exitCode()) + ": " + process.readAllStandardError();
    return expected == 0 ? process.readAllStandardOutput() : process.readAllStandardError();
}

}  // namespace

class TestRemoteSpillway : public QObject
{
    Q_OBJECT

    static engine::Result<engine::Turn> ask(remote::RemoteEngine& engine, const engine::Request& request)
    {
        return engine.generate(1, request, {}, {});
    }

private Q_SLOTS:
    void theSameAnswerAsHere()
    {
        RunningServer server;
        const auto book = std::make_shared<remote::ServerBook>();
        book->set({{url_of(server), {}}});
        const auto facts = remote::probe(book->client(), {url_of(server), {}}, {});
        QVERIFY(facts);
        QCOMPARE(facts->kind, remote::Kind::Spillway);
        QCOMPARE(facts->models.size(), std::size_t(1));

        remote::RemoteEngine there(book);
        engine::LoadRequest load;
        load.model = remote::path_of({url_of(server), facts->models[0].id});
        const auto model = there.load(load, {}, {});
        QVERIFY(model);
        QVERIFY(model->context_in_use > 0);
        const auto turn = ask(there, greedy(24));
        QVERIFY2(turn, turn ? "" : turn.error().what.c_str());

        const auto here = engine::make_engine();
        load.model = server_test::guide_model();
        load.threads = 1;
        QVERIFY(here->load(load, {}, {}));
        const auto local = here->generate(*here->create_sequence(), greedy(24), {}, {});
        QCOMPARE(turn->text, local->text);
        QCOMPARE(turn->reason, local->reason);
        QCOMPARE(turn->prompt.count(), local->prompt.count());
        QCOMPARE(turn->answer.count(), local->answer.count());
        QVERIFY(turn->telemetry.prefill_tokens_per_s);

        // Cut off and gone on with, it is the same text again.
        const auto begun = ask(there, greedy(10));
        QVERIFY(begun);
        QCOMPARE(begun->reason, engine::StopReason::MaxTokens);
        engine::Request more = greedy(14);
        more.messages.push_back({"assistant", begun->text, {}, {}});
        more.continue_last = true;
        const auto rest = ask(there, more);
        QVERIFY(rest);
        QCOMPARE(begun->text + rest->text, turn->text);
    }

    void aPromptThatIsTooLong()
    {
        engine::LoadRequest load;
        load.context_tokens = 64;
        RunningServer server(engine::make_engine(), {}, load);
        const auto book = std::make_shared<remote::ServerBook>();
        book->set({{url_of(server), {}}});
        remote::RemoteEngine there(book);
        load.model = remote::path_of({url_of(server), "guide"});
        QVERIFY(there.load(load, {}, {}));
        engine::Request request = greedy(4);
        for (int i = 0; i < 200; ++i)
            request.messages.back().text += " and what of it";
        const auto turn = ask(there, request);
        QVERIFY(!turn);
        QVERIFY2(turn.error().code == engine::Error::Code::ContextFull, turn.error().what.c_str());
    }

    void onATerminal()
    {
        server::ServerOptions options;
        options.door.keys = {"secret"};
        RunningServer server(engine::make_engine(), std::move(options));
        QTemporaryFile key;
        QVERIFY(key.open());
        key.write("secret\n");
        key.flush();
        const QStringList where = {"run", "--remote", QString("127.0.0.1:%1").arg(server.port())};
        const QStringList what = {"-p", "Hello", "-n", "4", "--temp", "0"};
        const QByteArray said = run(where + QStringList{"--api-key-file", key.fileName()} + what, 0);
        QVERIFY2(!said.trimmed().isEmpty() && !said.startsWith("exit code"), said.constData());
        QVERIFY(run(where + what, 1).contains("asks for a key"));
        const QByteArray with_layers = run(where + QStringList{"-ngl", "99"} + what, 1);
        QVERIFY2(with_layers.contains("asks for a key") && !with_layers.contains("does nothing"), with_layers);
        QVERIFY(run(where + QStringList{"--api-key-file", key.fileName(), "--remote-model", "other"} + what, 1)
                    .contains("has no model 'other'"));
        QVERIFY(run(QStringList{"run", "--remote", "not a server"} + what, 1).contains("no address"));
        run(QStringList{"run", "-m", "x.gguf", "--remote", "host"} + what, 2);
    }
};

SPILLWAY_TEST(QCoreApplication, TestRemoteSpillway)
#include "tst_remote_spillway.moc"
