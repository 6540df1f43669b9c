// Tests that a program which is killed while it writes, fifty times, leaves a sound database with all that was said to
// be on disk. The program is this one again, with other arguments.
#include "app/store/conversation_store.h"
#include "tests/support/conversations.h"
#include "tests/support/searched.h"

#include <QCoreApplication>
#include <QProcess>
#include <QSqlDatabase>
#include <QSqlQuery>
#include <QTemporaryDir>
#include <QTest>

#include <cstdio>

namespace {

constexpr int kKills = 50;
constexpr int kPieces = 8;  // of an answer; the program saves one a second, this one as fast as the disk goes

QString idOf(int run)
{
    return QStringLiteral("run %1").arg(run);
}

/// Returns what an answer says when it has grown by this many pieces.
QString answer(int run, int turn, int pieces)
{
    QString text;
    for (int piece = 0; piece < pieces; ++piece)
        text += QStringLiteral("run%1 turn%2 piece%3 ").arg(run).arg(turn).arg(piece).repeated(20);
    return text;
}

void acknowledge(const ConversationStore& store, const char* what, int turn, int pieces)
{
    store.flush();
    std::printf("%s %d %d\n", what, turn, pieces);
    std::fflush(stdout);
}

/// Talks like the program does, until it is killed.
[[noreturn]] void talkUntilKilled(const QString& folder, int run)
{
    ConversationStore store(folder);
    ConversationHeader header{.id = idOf(run), .title = QStringLiteral("Conversation %1").arg(run)};
    StoredMessage last;
    for (int turn = 0;; ++turn) {
        StoredMessage question{.id = QStringLiteral("%1-q%2").arg(run).arg(turn), .parent = last.id};
        question.text = QStringLiteral("question %1").arg(turn);
        StoredMessage reply{.id = QStringLiteral("%1-a%2").arg(run).arg(turn), .parent = question.id};
        reply.role = StoredMessage::Role::Assistant;
        reply.status = StoredMessage::Status::Streaming;
        header.leaf = reply.id;
        header.changedMs = turn;
        store.save(header);
        store.save(header.id, question);
        store.save(header.id, reply);
        acknowledge(store, "asked", turn, 0);
        for (int piece = 1; piece <= kPieces; ++piece) {
            store.saveText(header.id, reply.id, answer(run, turn, piece));
            acknowledge(store, "text", turn, piece);
        }
        reply.text = answer(run, turn, kPieces);
        reply.status = StoredMessage::Status::Complete;
        store.save(header.id, reply);
        acknowledge(store, "done", turn, kPieces);
        last = reply;
    }
}

struct Told {
    int turn = -1;
    int pieces = 0;
    bool done = false;
};

Told lastLine(const QByteArray& output)
{
    Told told;
    // The newest line may have been cut off by the kill: it counts when its end is there.
    const QList<QByteArray> lines = output.left(output.lastIndexOf('\n') + 1).split('\n');
    if (lines.size() < 2)
        return told;
    const QList<QByteArray> words = lines[lines.size() - 2].split(' ');
    return {words[1].toInt(), words[2].toInt(), words[0] == "done"};
}

}  // namespace

class TestStoreKill : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir folder;
    QList<Told> told;

    void check(const ConversationStore& store, int run)
    {
        const Told& last = told[run];
        if (last.turn < 0)
            return;  // it died before its first word
        const auto read = store.conversation(idOf(run));
        QVERIFY(read);
        const auto& messages = read->messages;
        QVERIFY2(messages.size() >= 2 * (last.turn + 1), qPrintable(QString::number(messages.size())));
        for (qsizetype i = 0; i < messages.size(); ++i) {
            const int turn = int(i / 2);
            QCOMPARE(messages[i].parent, i > 0 ? messages[i - 1].id : "");
            if (i % 2 == 0) {
                QCOMPARE(messages[i].text, QStringLiteral("question %1").arg(turn));
                continue;
            }
            const bool done = turn < last.turn || (turn == last.turn && last.done);
            const QString atLeast = answer(run, turn, done ? kPieces : turn == last.turn ? last.pieces : 0);
            QVERIFY(messages[i].text.startsWith(atLeast));
            QVERIFY(answer(run, turn, kPieces).startsWith(messages[i].text));
            if (done)
                QCOMPARE(messages[i].status, StoredMessage::Status::Complete);
        }
    }

private Q_SLOTS:
    void fiftyKills()
    {
        const uint seed = qEnvironmentVariableIsSet("SPILLWAY_SEED") ? qEnvironmentVariable("SPILLWAY_SEED").toUInt()
                                                                     : QRandomGenerator::global()->generate();
        qInfo("SPILLWAY_SEED=%u", seed);
        QRandomGenerator random(seed);
        int inTheMiddle = 0;
        for (int run = 0; run < kKills; ++run) {
            QProcess child;
            child.start(QCoreApplication::applicationFilePath(), {"--talk", folder.path(), QString::number(run)});
            QVERIFY(child.waitForStarted());
            // Most die while they talk, some while they open the database.
            if (run % 10 != 9)
                QVERIFY(child.waitForReadyRead());
            QTest::qSleep(random.bounded(50));
            child.kill();
            QVERIFY(child.waitForFinished());
            QCOMPARE(child.exitStatus(), QProcess::CrashExit);
            told.append(lastLine(child.readAllStandardOutput()));
            inTheMiddle += told.last().turn >= 0 && !told.last().done;

            const ConversationStore store(folder.path());
            QCOMPARE(store.notice(), "");  // checked, and found sound
            check(store, run);
            if (QTest::currentTestFailed())
                return;
        }
        qInfo("%d of %d died in the middle of an answer", inTheMiddle, kKills);
        QVERIFY(inTheMiddle > kKills / 4);

        // All the earlier ones are still there, and what they said can be found.
        ConversationStore store(folder.path());
        for (int run = 0; run < kKills; ++run)
            check(store, run);
        store.flush();
        for (int run = 0; run < kKills; ++run)
            if (told[run].pieces > 0)
                QVERIFY(!searched(store, QStringLiteral("run%1 piece0").arg(run), 1).isEmpty());
    }

    void theDatabaseIsSoundInSqlitesOwnEyes()
    {
        {
            QSqlDatabase database = QSqlDatabase::addDatabase("QSQLITE");
            database.setDatabaseName(folder.filePath("spillway.sqlite"));
            QVERIFY(database.open());
            QSqlQuery query("PRAGMA integrity_check");
            QVERIFY(query.next());
            QCOMPARE(query.value(0).toString(), "ok");
            QVERIFY(query.exec("PRAGMA foreign_key_check") && !query.next());
            QVERIFY(query.exec("INSERT INTO text_search (text_search) VALUES ('integrity-check')"));
            QVERIFY(query.exec("INSERT INTO title_search (title_search) VALUES ('integrity-check')"));
            query.clear();
            database.close();
        }
        QSqlDatabase::removeDatabase(QSqlDatabase::defaultConnection);
    }
};

int main(int argc, char* argv[])
{
    QCoreApplication application(argc, argv);
    const QStringList arguments = QCoreApplication::arguments();
    if (arguments.size() == 4 && arguments[1] == "--talk")
        talkUntilKilled(arguments[2], arguments[3].toInt());
    TestStoreKill test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_store_kill.moc"
