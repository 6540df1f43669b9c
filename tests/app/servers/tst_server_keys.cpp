// Tests that the keys of servers are kept in the system's password store where there is one, else in the file, and that
// none is lost when the store is locked, comes late, goes, or does not do what it says.
#include "app/servers/servers.h"
#include "app/translation.h"
#include "app/worker/error_sentence.h"
#include "tests/support/fake_secret_store.h"
#include "tests/support/net/look_alike.h"
#include "tests/support/test_program.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <thread>

using secrets::Access;
using support::FakeSecretStore;
using support::LookAlike;

namespace {

/// A server that wants a key, and a profile with the list of servers.
struct Profile {
    Profile() { server.wants("word"); }
    QString url() const { return QString::fromStdString(server.url()); }
    void start()
    {
        servers.reset();
        door = remoteDoor(store);
        servers = std::make_unique<Servers>(door, file);
    }
    void add(const QString& key, const QString& name = {})
    {
        servers->add(name, url(), key);
        QTRY_VERIFY(!servers->adding());
        QCOMPARE(servers->trouble(), QString());
    }
    void ask()
    {
        servers->refresh();
        QTRY_VERIFY(!entry().asking);
    }
    /// The program ends, with this on disk, and starts again.
    void diesWith(const QByteArray& onDisk)
    {
        store->tellsWhenOneComes({});
        servers.reset();
        QFile list(file);
        QVERIFY(list.open(QFile::WriteOnly) && list.write(onDisk) == onDisk.size());
        list.close();
        start();
    }
    ServerEntry entry() const { return servers->all().value(0); }
    QByteArray written() const
    {
        QFile written(file);
        return written.open(QFile::ReadOnly) ? written.readAll() : QByteArray();
    }
    engine::Result<engine::ModelInfo> inspect(secrets::MayAsk may = secrets::MayAsk::Yes) const
    {
        return door->inspect(door->pathOf(server.url(), "org/model"), may, {});
    }

    LookAlike server;
    QTemporaryDir folder;
    QString file = folder.filePath("profile/servers.json");
    std::shared_ptr<FakeSecretStore> store = std::make_shared<FakeSecretStore>();
    std::shared_ptr<RemoteDoor> door = remoteDoor(store);
    std::unique_ptr<Servers> servers = std::make_unique<Servers>(door, file);
};

}  // namespace

class TestServerKeys : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        for (const char* name : {"http_proxy", "https_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"})
            qunsetenv(name);
    }

    void aKeyGoesToTheStoreAndIsNeverOnDisk()
    {
        Profile profile;
        QCOMPARE(profile.store->calls(), 0);
        profile.servers->lookForStore();
        QTRY_VERIFY(profile.servers->keyNote().contains("password store."));
        profile.add("word");
        QVERIFY(profile.entry().hasKey && !profile.entry().keyInFile);
        QVERIFY(!profile.written().contains("word"));
        QCOMPARE(profile.store->all().size(), std::size_t(1));
        const secrets::Secret& secret = profile.store->all().begin()->second;
        QCOMPARE(secret.text, std::string("word"));
        QVERIFY(secret.label.find(profile.url().mid(7).toStdString()) != std::string::npos);
        profile.ask();
        QCOMPARE(profile.entry().trouble, QString());
        QVERIFY(profile.inspect());

        const int calls = profile.store->calls();
        profile.start();
        QVERIFY(profile.entry().hasKey && !profile.entry().keyInFile);
        QTest::qWait(50);
        QCOMPARE(profile.store->calls(), calls);  // nobody is asked before the key is needed
        QVERIFY(profile.inspect());
        QCOMPARE(profile.store->calls(), calls + 1);
        QVERIFY(profile.inspect());  // once in a run
        QCOMPARE(profile.store->calls(), calls + 1);
    }

    void itLeavesTheStoreWithItsServer()
    {
        Profile profile;
        profile.add("word");
        profile.server.wants("other");
        profile.add("other");
        QTRY_COMPARE(profile.store->all().size(), std::size_t(1));
        QCOMPARE(profile.store->all().begin()->second.text, std::string("other"));
        profile.servers->remove(profile.url());
        QTRY_VERIFY(profile.store->all().empty());
        QTRY_VERIFY(profile.written().contains("\"unneededKeys\":[]"));
    }

    void whatALockedStoreStillHasIsForgottenLater()
    {
        Profile profile;
        profile.add("word");
        profile.store->becomes(Access::Locked);
        profile.servers->remove(profile.url());
        QTest::qWait(50);
        QCOMPARE(profile.store->all().size(), std::size_t(1));
        QCOMPARE(profile.store->timesAsked(), 0);
        profile.store->becomes(Access::Open);
        profile.start();
        QTRY_VERIFY(profile.store->all().empty());
        QTRY_VERIFY(profile.written().contains("\"unneededKeys\":[]"));
    }

    void withoutAStoreItIsInTheFile_data()
    {
        QTest::addColumn<int>("access");
        QTest::addColumn<QString>("note");
        QTest::addColumn<int>("asked");
        QTest::newRow("none") << int(Access::None) << QString("only you can read") << 0;
        QTest::newRow("locked, and the user closes the question") << int(Access::Locked) << QString("unlock") << 1;
    }
    void withoutAStoreItIsInTheFile()
    {
        QFETCH(int, access);
        Profile profile;
        profile.store->becomes(Access(access));
        profile.servers->lookForStore();
        QTRY_VERIFY(!profile.servers->keyNote().isEmpty());
        QFETCH(QString, note);
        QVERIFY2(profile.servers->keyNote().contains(note), qPrintable(profile.servers->keyNote()));
        profile.add("word");
        QVERIFY(profile.entry().hasKey && profile.entry().keyInFile);
        QTEST(profile.store->timesAsked(), "asked");
        QVERIFY(profile.written().contains("word"));
        const auto others = QFile::ReadGroup | QFile::WriteGroup | QFile::ReadOther | QFile::WriteOther;
        QVERIFY(!(QFile(profile.file).permissions() & others));
        profile.start();
        QVERIFY(profile.inspect());
        QVERIFY(profile.written().contains("word"));
        QTEST(profile.store->timesAsked(), "asked");  // what is moved is moved without a question

        profile.store->becomes(Access::Open);
        profile.start();
        QTRY_VERIFY(!profile.entry().keyInFile);
        QVERIFY(profile.entry().hasKey && !profile.written().contains("word"));
        QVERIFY(profile.inspect());
    }

    void aStoreThatStartsLaterIsSeen()
    {
        Profile profile;
        profile.store->becomes(Access::None);
        profile.add("word");
        profile.servers->lookForStore();
        QTRY_VERIFY(profile.servers->keyNote().contains("only you can read"));
        profile.store->becomes(Access::Open);
        profile.servers->lookForStore();
        QTRY_VERIFY(profile.servers->keyNote().contains("password store."));
        QTRY_VERIFY(!profile.entry().keyInFile);  // what lies in the file goes there, too
        QVERIFY(!profile.written().contains("word"));
        profile.store->becomes(Access::Locked);
        profile.servers->lookForStore();
        QTRY_VERIFY(profile.servers->keyNote().contains("unlock"));
    }

    void aLockedStoreIsUnlockedByTheUser()
    {
        Profile profile;
        profile.store->becomes(Access::Locked);
        profile.store->isUnlockedWhenAsked(true);
        profile.add("word");
        QVERIFY(profile.entry().hasKey && !profile.entry().keyInFile);
        QCOMPARE(profile.store->timesAsked(), 1);
        profile.store->becomes(Access::Locked);
        profile.start();
        QVERIFY(profile.inspect());
        QCOMPARE(profile.store->timesAsked(), 2);
    }

    void keysOfAnEarlierVersionAreMovedOnce()
    {
        Profile profile;
        QVERIFY(QDir().mkpath(profile.folder.filePath("profile")));
        QFile file(profile.file);
        QVERIFY(file.open(QFile::WriteOnly));
        file.write("{\"servers\":[{\"name\":\"tower\",\"url\":\"" + profile.url().toUtf8() +
                   "\",\"key\":\"word\"},{\"name\":\"open\",\"url\":\"http://127.0.0.1:1\",\"key\":\"\"}]}");
        file.close();
        profile.start();
        QTRY_VERIFY(!profile.entry().keyInFile);
        QVERIFY(profile.entry().hasKey);
        QVERIFY(!profile.servers->all().value(1).hasKey);
        QVERIFY(!profile.written().contains("word"));
        QCOMPARE(profile.store->all().size(), std::size_t(1));
        QVERIFY(profile.inspect());
        profile.start();
        QTest::qWait(50);
        QCOMPARE(profile.store->all().size(), std::size_t(1));
        QVERIFY(profile.inspect());
    }

    void aKeyThatDoesNotComeBackStaysInTheFile()
    {
        Profile profile;
        profile.store->becomes(Access::None);
        profile.add("word");
        profile.store->becomes(Access::Open);
        profile.store->garbles();
        profile.start();
        QTest::qWait(100);
        QVERIFY(profile.entry().keyInFile && profile.written().contains("word"));
        QVERIFY(profile.store->all().empty());  // what it garbled does not stay there
        QVERIFY(profile.inspect());
        profile.add("word");  // once more
        QVERIFY(profile.entry().keyInFile && profile.written().contains("word"));
    }

    void whatAStoreTakesLateIsForgottenAtTheNextStart()
    {
        Profile profile;
        profile.store->answersLate(true);
        profile.add("word");
        QVERIFY(profile.entry().keyInFile);
        QTRY_COMPARE(profile.store->all().size(), std::size_t(2));  // it was given once more
        const auto late = profile.store->all();
        profile.store->answersLate(false);
        profile.start();
        QTRY_VERIFY(!profile.entry().keyInFile);
        QTRY_COMPARE(profile.store->all().size(), std::size_t(1));
        QVERIFY(!late.contains(profile.store->all().begin()->first));
        QVERIFY(profile.inspect());
    }

    void aStoreThatIsGoneIsNamed()
    {
        Profile profile;
        profile.add("word");
        profile.store->becomes(Access::None);
        profile.start();
        const std::size_t requests = profile.server.server().requests().size();
        const auto info = profile.inspect();
        QVERIFY(!info);
        QVERIFY2(info.error().what.starts_with("the key for 127.0.0.1") &&
                     info.error().what.find("password store") != std::string::npos,
                 info.error().what.c_str());
        profile.ask();
        QVERIFY2(profile.entry().trouble.contains("password store"), qPrintable(profile.entry().trouble));
        QCOMPARE(profile.server.server().requests().size(), requests);  // it is not asked without its key
        profile.add("word");                                            // as the page says
        QVERIFY(profile.entry().keyInFile);
        QVERIFY(profile.inspect());
    }

    void anotherLanguageSaysItWhole()
    {
        const Translation translation("de");
        Profile profile;
        profile.add("word");
        profile.store->becomes(Access::Locked);
        profile.start();
        profile.servers->refreshQuietly();
        QTRY_VERIFY(!profile.entry().asking);
        const QString wanted =
            QStringLiteral("Der Schlüssel für %1 fehlt: der Passwortspeicher des Systems ist gesperrt.")
                .arg(profile.entry().host);
        QCOMPARE(profile.entry().trouble, wanted);
        QCOMPARE(errorSentence(profile.inspect().error()), wanted);
        profile.store->becomes(Access::Open);
        for (const auto& [id, secret] : profile.store->all())
            profile.store->forget(id, {});
        profile.start();
        QVERIFY(errorSentence(profile.inspect().error()).endsWith("ist nichts mehr davon zu finden."));
        profile.store = nullptr;
        profile.start();
        QVERIFY(errorSentence(profile.inspect().error()).endsWith("hat keinen Passwortspeicher."));
    }

    void whoClosedTheQuestionIsNotAskedForEachServer()
    {
        Profile profile;
        LookAlike second;
        second.wants("word");
        profile.add("word");
        profile.servers->add("second", QString::fromStdString(second.url()), "word");
        QTRY_VERIFY(!profile.servers->adding());
        profile.store->becomes(Access::Locked);
        profile.start();
        profile.ask();
        QTRY_VERIFY(!profile.servers->all().value(1).asking);
        QVERIFY(profile.servers->all().value(1).trouble.contains("locked"));
        QCOMPARE(profile.store->timesAsked(), 1);
    }

    void whatNobodyAskedForOpensNoQuestion()
    {
        Profile profile;
        profile.add("word");
        profile.store->becomes(Access::Locked);
        profile.store->isUnlockedWhenAsked(true);
        profile.start();
        profile.servers->refreshQuietly();  // the page is shown
        QTRY_VERIFY(!profile.entry().asking);
        QVERIFY2(profile.entry().trouble.contains("locked"), qPrintable(profile.entry().trouble));
        QVERIFY(!profile.inspect(secrets::MayAsk::No));  // the last model opens by itself
        QCOMPARE(profile.store->timesAsked(), 0);
        profile.servers->refreshQuietly();
        profile.ask();  // the user does not wait for that
        QCOMPARE(profile.store->timesAsked(), 1);
        QCOMPARE(profile.entry().trouble, QString());
    }

    void whoStopsHasNotClosedTheQuestion()
    {
        Profile profile;
        profile.add("word");
        profile.start();
        profile.store->becomes(Access::Locked);
        profile.store->isUnlockedWhenAsked(true);
        profile.store->holdsUntilStopped();
        std::jthread asking([&](const std::stop_token& stop) {
            static_cast<void>(profile.door->inspect(profile.door->pathOf(profile.server.url(), "org/model"),
                                                    secrets::MayAsk::Yes, stop));
        });
        QTRY_COMPARE(profile.store->held(), 1);
        asking.request_stop();
        asking.join();
        QVERIFY(profile.inspect());
        QCOMPARE(profile.store->timesAsked(), 1);
    }

    void theProgramDiesWhileAKeyIsKept()
    {
        Profile profile;
        QByteArray then;  // what is on disk when the store gets it
        profile.store->tellsWhenOneComes([&] { then = profile.written(); });
        profile.add("word");
        profile.diesWith(then);
        QTRY_VERIFY(profile.store->all().empty());  // nobody would ever find it
        QVERIFY(profile.servers->all().isEmpty());

        profile.store->becomes(Access::None);
        profile.add("word");
        profile.store->becomes(Access::Open);
        profile.store->tellsWhenOneComes([&] { then = profile.written(); });
        profile.start();  // it is moved
        QTRY_VERIFY(!profile.entry().keyInFile);
        profile.diesWith(then);
        QTRY_VERIFY(!profile.entry().keyInFile);
        QTRY_COMPARE(profile.store->all().size(), std::size_t(1));
        QTRY_VERIFY(profile.written().contains("\"unneededKeys\":[]"));
        QVERIFY(profile.inspect());
    }

    void aListThatCannotBeWrittenLeavesNothingInTheStore()
    {
        Profile profile;
        profile.file = profile.folder.path();  // no place for a file
        profile.start();
        profile.servers->add({}, profile.url(), "word");
        QTRY_VERIFY(!profile.servers->adding());
        QVERIFY(!profile.servers->trouble().isEmpty());
        QVERIFY(profile.entry().hasKey);
        QTRY_VERIFY(profile.store->all().empty());
        QVERIFY(profile.inspect());  // it holds for this run
    }

    void whatTheListOnDiskNamesStaysInTheStore()
    {
        Profile profile;
        profile.add("word");
        QDir folder(profile.folder.path());
        QVERIFY(folder.rename("profile", "aside"));
        QFile inTheWay(folder.filePath("profile"));  // nothing can be written any more
        QVERIFY(inTheWay.open(QFile::WriteOnly));
        inTheWay.close();
        profile.servers->add("tower", profile.url(), "word");
        QTRY_VERIFY(!profile.servers->adding());
        QVERIFY(!profile.servers->trouble().isEmpty());
        QTRY_COMPARE(profile.store->all().size(), std::size_t(1));  // the new one is in no list
        QVERIFY(profile.inspect());
        profile.servers->remove(profile.url());
        QTest::qWait(50);
        QVERIFY(inTheWay.remove());
        QVERIFY(folder.rename("aside", "profile"));
        profile.start();
        QVERIFY(profile.entry().hasKey);
        QVERIFY(profile.inspect());
    }

    void twoProfilesHaveKeysOfTheirOwn()
    {
        Profile one, two;
        two.store = one.store;
        two.server.wants("other");
        two.start();
        one.add("word");
        two.add("other");
        QCOMPARE(one.store->all().size(), std::size_t(2));
        one.servers->remove(one.url());
        QTRY_COMPARE(one.store->all().size(), std::size_t(1));
        two.start();
        QVERIFY(two.inspect());
    }

    void anIdThatIsNoneIsPassedOver()
    {
        Profile profile;
        QVERIFY(QDir().mkpath(profile.folder.filePath("profile")));
        QFile file(profile.file);
        QVERIFY(file.open(QFile::WriteOnly));
        file.write("{\"servers\":[{\"url\":\"http://a\",\"keyId\":\"../x\"}],\"unneededKeys\":[\"x\",7]}");
        file.close();
        profile.start();
        QVERIFY(!profile.entry().hasKey);
        QTest::qWait(50);
        QCOMPARE(profile.store->calls(), 0);
    }
};

SPILLWAY_TEST(QCoreApplication, TestServerKeys)
#include "tst_server_keys.moc"
