// Tests that the user's access token for the hub, once entered in the window, is kept in the password store or in a
// file, and that spillway-cli finds it there.
#include "app/translation.h"
#include "tests/app/fetching/fetching_case.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QProcess>

using secrets::Access;

class TestHubToken : public QObject
{
    Q_OBJECT

    std::unique_ptr<test_support::FetchingCase> m_case;

    Fetching& fetching() { return *m_case->fetching; }
    QString file() const { return m_case->folder.filePath("hub-token.json"); }
    void keep(const QString& token)
    {
        fetching().keepToken(token);
        QTRY_VERIFY(!fetching().keepingToken());
    }
    /// Returns what the hub is told of who asks.
    std::string said()
    {
        fetching().finder()->search("tiny");
        if (!QTest::qWaitFor([this] { return fetching().finder()->searched(); }))
            return "nothing";
        return m_case->hub->server().requests().back().header("authorization");
    }

private Q_SLOTS:
    void init() { m_case = std::make_unique<test_support::FetchingCase>(); }
    void cleanup() { m_case.reset(); }

    void itIsKeptInTheStore()
    {
        m_case->store = std::make_shared<support::FakeSecretStore>();
        m_case->startAllowed();
        QVERIFY(!fetching().hasToken() && !fetching().keepsToken());
        QVERIFY(fetching().tokenNote().contains(m_case->host()));
        QCOMPARE(said(), std::string());
        keep("two words");
        QVERIFY(fetching().tokenTrouble().contains("one word"));
        keep(" hf_word ");
        QCOMPARE(fetching().tokenTrouble(), QString());
        QVERIFY(fetching().hasToken() && fetching().keepsToken());
        QVERIFY(fetching().tokenNote().contains("kept in this system"));
        QVERIFY(!test_support::bytesOf(file()).contains("hf_word"));
        QCOMPARE(said(), std::string("Bearer hf_word"));

        const int calls = m_case->store->calls();
        m_case->start();
        QVERIFY(fetching().keepsToken());
        QCOMPARE(m_case->store->calls(), calls);  // nobody is asked before it is needed
        QCOMPARE(said(), std::string("Bearer hf_word"));
        keep("hf_other");
        QCOMPARE(said(), std::string("Bearer hf_other"));
        QCOMPARE(m_case->store->all().size(), std::size_t(1));
        keep({});
        QVERIFY(!fetching().hasToken());
        QCOMPARE(said(), std::string());
        QVERIFY(m_case->store->all().empty());
        QVERIFY(!QFile::exists(file()));
    }

    void withoutAStoreItIsInAFile()
    {
        m_case->startAllowed();
        keep("hf_word");
        QVERIFY(fetching().keepsToken());
        QVERIFY(fetching().tokenNote().contains("only you can read"));
        const auto others = QFile::ReadGroup | QFile::WriteGroup | QFile::ReadOther | QFile::WriteOther;
        QVERIFY(!(QFile(file()).permissions() & others));
        m_case->start();
        QCOMPARE(said(), std::string("Bearer hf_word"));
        keep({});
        QVERIFY(!QFile::exists(file()));
        m_case->start();
        QVERIFY(!fetching().hasToken());
    }

    void thatOfTheEnvironmentComesFirst()
    {
        m_case->startAllowed();
        keep("hf_word");
        qputenv("HF_TOKEN", "hf_environment");
        m_case->start();
        QVERIFY(fetching().hasToken() && !fetching().keepsToken());
        QVERIFY(fetching().tokenNote().contains("environment"));
        QCOMPARE(said(), std::string("Bearer hf_environment"));
        qunsetenv("HF_TOKEN");
    }

    void aStoreThatGivesNothingIsAskedOnce()
    {
        m_case->store = std::make_shared<support::FakeSecretStore>();
        m_case->startAllowed();
        keep("hf_word");
        m_case->store->becomes(Access::Locked);
        m_case->start();
        QCOMPARE(said(), std::string());  // what needs no token is found without
        fetching().finder()->search("more");
        QTRY_VERIFY(fetching().finder()->searched());
        QCOMPARE(m_case->store->timesAsked(), 1);
    }

    void thatOfTheFileMovesWhenAStoreAnswers()
    {
        m_case->store = std::make_shared<support::FakeSecretStore>();
        m_case->store->becomes(Access::Locked);
        m_case->startAllowed();
        keep("hf_word");  // the user closes the question
        QCOMPARE(m_case->store->timesAsked(), 1);
        QVERIFY2(fetching().tokenNote().contains("only you can read"), qPrintable(fetching().tokenNote()));
        QVERIFY(!fetching().tokenNote().contains("no password store"));  // there is one
        m_case->start();
        QTest::qWait(50);
        QVERIFY(test_support::bytesOf(file()).contains("hf_word"));
        QCOMPARE(m_case->store->timesAsked(), 1);  // it is moved without a question

        m_case->store->becomes(Access::Open);
        fetching().settleToken();  // as when the settings are shown
        QTRY_VERIFY(fetching().tokenNote().contains("kept in this system"));
        QVERIFY(!test_support::bytesOf(file()).contains("hf_word"));
        QCOMPARE(m_case->store->all().size(), std::size_t(1));
        QCOMPARE(said(), std::string("Bearer hf_word"));
        m_case->start();
        QTest::qWait(50);
        QCOMPARE(m_case->store->all().size(), std::size_t(1));  // once
        QCOMPARE(said(), std::string("Bearer hf_word"));
    }

    void thatOfTheFileMovesAtTheStart()
    {
        m_case->startAllowed();
        keep("hf_word");
        m_case->store = std::make_shared<support::FakeSecretStore>();
        m_case->start();
        QTRY_VERIFY(fetching().tokenNote().contains("kept in this system"));
        QVERIFY(!test_support::bytesOf(file()).contains("hf_word"));
    }

    void whatIsRemovedLeavesALockedStoreLater()
    {
        m_case->store = std::make_shared<support::FakeSecretStore>();
        m_case->startAllowed();
        keep("hf_word");
        m_case->store->becomes(Access::Locked);
        keep({});
        QCOMPARE(fetching().tokenTrouble(), QString());
        QVERIFY(!fetching().hasToken() && !fetching().keepsToken());
        QVERIFY2(fetching().tokenNote().contains("still in the password store"), qPrintable(fetching().tokenNote()));
        QCOMPARE(said(), std::string());
        m_case->start();
        QVERIFY(!fetching().hasToken());
        QTest::qWait(50);
        QCOMPARE(m_case->store->timesAsked(), 0);
        QCOMPARE(m_case->store->all().size(), std::size_t(1));
        m_case->store->becomes(Access::Open);
        m_case->start();
        QTRY_VERIFY(m_case->store->all().empty());
        QTRY_VERIFY(!QFile::exists(file()));
        QTRY_VERIFY(!fetching().tokenNote().contains("still in the password store"));
    }

    void whatAStoreTakesLateIsForgottenAtTheNextStart()
    {
        m_case->store = std::make_shared<support::FakeSecretStore>();
        m_case->startAllowed();
        m_case->store->answersLate(true);
        keep("hf_word");
        QVERIFY(test_support::bytesOf(file()).contains("hf_word"));
        QCOMPARE(m_case->store->all().size(), std::size_t(1));
        const std::string late = m_case->store->all().begin()->first;
        QVERIFY(test_support::bytesOf(file()).contains(late.c_str()));
        m_case->store->answersLate(false);
        m_case->start();
        QTRY_VERIFY(!m_case->store->all().contains(late));
        QTRY_VERIFY(!test_support::bytesOf(file()).contains("hf_word"));
        QCOMPARE(m_case->store->all().size(), std::size_t(1));
    }

    void theProgramDiesWhileItIsKept()
    {
        m_case->store = std::make_shared<support::FakeSecretStore>();
        m_case->startAllowed();
        QByteArray then;  // what is on disk when the store gets it
        m_case->store->tellsWhenOneComes([&] { then = test_support::bytesOf(file()); });
        keep("hf_word");
        m_case->store->tellsWhenOneComes({});
        m_case->fetching.reset();
        QFile kept(file());
        QVERIFY(kept.open(QFile::WriteOnly) && kept.write(then) == then.size());
        kept.close();
        m_case->start();
        QVERIFY(!fetching().hasToken());
        QTRY_VERIFY(m_case->store->all().empty());  // nobody would ever find it
    }

    void whatBeginsByItselfOpensNoQuestion()
    {
        m_case->store = std::make_shared<support::FakeSecretStore>();
        m_case->startAllowed();
        keep(support::kMembersToken);
        m_case->hub->answer_pause_ms = 500;
        fetching().queue()->add("org/closed", "closed-Q4_K_M.gguf", {}, double(m_case->m_model.size()));
        fetching().queue()->add("org/tiny", "tiny-Q4_K_M.gguf", {}, double(m_case->m_model.size()));
        m_case->settings->findModels()->setValue(0);  // both are left for the next start
        m_case->hub->answer_pause_ms = 0;
        m_case->store->becomes(Access::Locked);
        m_case->store->isUnlockedWhenAsked(true);
        m_case->settings->findModels()->setValue(1);
        m_case->start();
        QTRY_COMPARE(m_case->state(1), Fetch::Done);  // what needs no token comes without
        QCOMPARE(m_case->state(0), Fetch::Paused);
        const auto note = [&] { return m_case->value(*fetching().queue(), 0, FetchQueue::NoteRole).toString(); };
        QVERIFY2(note().contains("locked") && note().contains("Going on"), qPrintable(note()));
        QCOMPARE(m_case->store->timesAsked(), 0);
        m_case->start();  // once more, since nobody has paused it
        QTRY_COMPARE(m_case->state(0), Fetch::Paused);
        QCOMPARE(m_case->store->timesAsked(), 0);
        fetching().queue()->resume(0);
        QTRY_COMPARE(m_case->state(0), Fetch::Done);
        QCOMPARE(m_case->store->timesAsked(), 1);
    }

    void aStartThatFindsTheStoreOpenGoesOn()
    {
        m_case->store = std::make_shared<support::FakeSecretStore>();
        m_case->startAllowed();
        keep(support::kMembersToken);
        m_case->store->becomes(Access::Locked);
        m_case->start();
        fetching().queue()->add("org/closed", "closed-Q4_K_M.gguf", {}, double(m_case->m_model.size()));
        QTRY_COMPARE(m_case->state(0), Fetch::Paused);
        QCOMPARE(m_case->store->timesAsked(), 1);  // the user has just asked for it
        m_case->store->becomes(Access::Open);
        m_case->start();
        QTRY_COMPARE(m_case->state(0), Fetch::Done);
    }

    void theProgramEndsWhileTheUserIsAsked()
    {
        m_case->store = std::make_shared<support::FakeSecretStore>();
        m_case->startAllowed();
        keep("hf_word");
        m_case->start();
        m_case->store->holdsUntilStopped();
        fetching().finder()->search("tiny");
        QTRY_COMPARE(m_case->store->held(), 1);
        fetching().keepToken({});
        QTest::qWait(50);  // it waits for the other
        QElapsedTimer timer;
        timer.start();
        m_case->fetching.reset();
        QVERIFY2(timer.elapsed() < 1000, qPrintable(QString::number(timer.elapsed())));
    }

    void whoStopsHasNotClosedTheQuestion()
    {
        m_case->store = std::make_shared<support::FakeSecretStore>();
        m_case->startAllowed();
        keep("hf_word");
        m_case->start();
        m_case->store->becomes(Access::Locked);
        m_case->store->isUnlockedWhenAsked(true);
        m_case->store->holdsUntilStopped();
        fetching().finder()->search("more");
        QTRY_COMPARE(m_case->store->held(), 1);
        QCOMPARE(said(), std::string("Bearer hf_word"));  // the newer search stops that one, and asks
    }

    void whatIsOfNoHubNeedsNoToken()
    {
        m_case->store = std::make_shared<support::FakeSecretStore>();
        m_case->startAllowed();
        keep("hf_word");
        m_case->store->becomes(Access::Locked);
        m_case->start();
        const int calls = m_case->store->calls();
        const std::string address = m_case->hub->url() + "/nobodys.gguf";
        QVERIFY(fetching().openNamed(QString::fromStdString(address)));
        QTRY_VERIFY(!fetching().page()->busy() && !fetching().page()->error().isEmpty());
        fetching().queue()->add(QString::fromStdString(address), "nobodys.gguf", {}, 1);
        QTRY_COMPARE(m_case->state(), Fetch::Failed);
        QCOMPARE(m_case->store->calls(), calls);
    }

    void aFileThatCannotBeWrittenLeavesNothing()
    {
        m_case->store = std::make_shared<support::FakeSecretStore>();
        QVERIFY(QDir().mkpath(file() + "/in the way"));
        m_case->startAllowed();
        keep("hf_word");
        QVERIFY(!fetching().tokenTrouble().isEmpty());
        const Translation translation("de");
        keep("hf_word");
        QCOMPARE(fetching().tokenTrouble(), QStringLiteral("„%1“ lässt sich nicht schreiben.").arg(file()));
        QVERIFY(!fetching().hasToken());
        QVERIFY(m_case->store->all().empty());
    }

    void whoIsRefusedIsToldWhereToEnterOne()
    {
        m_case->startAllowed();
        fetching().queue()->add("org/closed", "closed-Q4_K_M.gguf", {}, double(m_case->m_model.size()));
        QTRY_COMPARE(m_case->state(0), Fetch::Failed);
        const auto said = [&](int role) { return m_case->value(*fetching().queue(), 0, role); };
        QVERIFY2(said(FetchQueue::NoteRole).toString().contains("settings take a token"),
                 qPrintable(said(FetchQueue::NoteRole).toString()));
        QVERIFY(said(FetchQueue::WantsTokenRole).toBool());
        keep("hf_stranger");  // known to the hub, and has not accepted the terms
        fetching().queue()->resume(0);
        QTRY_COMPARE(m_case->state(0), Fetch::Failed);
        QVERIFY(!said(FetchQueue::WantsTokenRole).toBool());
        m_case->hub->status = 401;  // it is not accepted
        fetching().page()->open("org/tiny");
        QTRY_VERIFY(fetching().page()->wantsToken());
        fetching().finder()->search("tiny");
        QTRY_VERIFY(fetching().finder()->wantsToken());
        const std::string elsewhere = m_case->hub->url() + "/nobodys.gguf";  // no hub, which gets no token
        QVERIFY(fetching().openNamed(QString::fromStdString(elsewhere)));
        QTRY_VERIFY(!fetching().page()->error().isEmpty());
        QVERIFY(!fetching().page()->wantsToken() && !fetching().page()->error().contains("token of"));
        m_case->hub->status = 200;
        keep(support::kMembersToken);
        QTRY_VERIFY(fetching().finder()->searched());  // asked again by itself
        fetching().queue()->resume(0);
        QTRY_COMPARE(m_case->state(0), Fetch::Done);
    }

    void theTerminalNamesTheVariable()
    {
        const auto pull = [](const QString& model) {
            QProcess cli;
            cli.start(QStringLiteral(SPILLWAY_CLI), {"pull", model});
            return cli.waitForFinished() ? cli.readAllStandardError() : QByteArray();
        };
        qputenv("XDG_DATA_HOME", m_case->folder.filePath("data").toUtf8());
        QVERIFY(pull("hf.co/org/closed").contains("HF_TOKEN takes a token"));
        qputenv("HF_TOKEN", "hf_stranger");
        const QByteArray refused = pull("hf.co/org/closed");
        QVERIFY2(refused.contains("accepted its terms") && !refused.contains("HF_TOKEN"), refused.constData());
        qunsetenv("HF_TOKEN");
        qunsetenv("XDG_DATA_HOME");
    }

    void spillwayCliHasIt()
    {
        m_case->startAllowed();
        keep("hf_word");
        QProcess cli;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        QVERIFY(QDir().mkpath(m_case->folder.filePath("data/spillway")));
        QVERIFY(QFile::copy(file(), m_case->folder.filePath("data/spillway/hub-token.json")));
        environment.insert("XDG_DATA_HOME", m_case->folder.filePath("data"));
        environment.remove("DBUS_SESSION_BUS_ADDRESS");
        environment.insert("XDG_RUNTIME_DIR", m_case->folder.path());
        cli.setProcessEnvironment(environment);
        cli.start(QStringLiteral(SPILLWAY_CLI), {"pull", "--search", "tiny"});
        QVERIFY(cli.waitForFinished());
        QCOMPARE(cli.exitCode(), 0);
        QCOMPARE(m_case->hub->server().requests().back().header("authorization"), std::string("Bearer hf_word"));
        QCOMPARE(cli.readAllStandardError(), QByteArray());

        // In the store of a session that is not there.
        QFile kept(m_case->folder.filePath("data/spillway/hub-token.json"));
        QVERIFY(kept.open(QFile::WriteOnly));
        kept.write("{\"token\":\"\",\"tokenId\":\"0123456789abcdef0123456789abcdef\"}");
        kept.close();
        cli.start(QStringLiteral(SPILLWAY_CLI), {"pull", "--search", "tiny"});
        QVERIFY(cli.waitForFinished());
        QCOMPARE(cli.exitCode(), 0);
        QCOMPARE(m_case->hub->server().requests().back().header("authorization"), std::string());
        QVERIFY(cli.readAllStandardError().contains("password store does not answer"));
    }
};

SPILLWAY_TEST(QCoreApplication, TestHubToken)
#include "tst_hub_token.moc"
