// Tests that the window asks nobody for models before the user agrees, and then finds models page by page and shows
// one.
#include "app/fetching/failure_sentence.h"
#include "tests/app/fetching/fetching_case.h"
#include "tests/support/test_program.h"

#include <QAbstractItemModelTester>

class TestFinding : public QObject
{
    Q_OBJECT

    std::unique_ptr<test_support::FetchingCase> m_case;

    ModelFinder& finder() { return *m_case->fetching->finder(); }
    ModelPage& page() { return *m_case->fetching->page(); }
    std::size_t asked() const { return m_case->hub->server().requests().size(); }
    QString found(int row) const
    {
        return m_case->value(*m_case->fetching->finder()->results(), row, FoundModelList::IdRole).toString();
    }
    bool waitForPage()
    {
        return QTest::qWaitFor([&] { return !page().busy() && !page().looking(); }, 10000);
    }

    /// What cannot be run here neither fits nor is recommended.
    void expectNothingSpeaksForIt()
    {
        const auto said = [&](int role) { return m_case->value(*page().choices(), 0, role); };
        QCOMPARE(page().choices()->recommended(), 0);
        QVERIFY(!said(ModelChoiceList::UsableRole).toBool());
        QVERIFY(!said(ModelChoiceList::RecommendedRole).toBool());
        QCOMPARE(said(ModelChoiceList::ReasonRole).toString(), "");
        QCOMPARE(int(said(ModelChoiceList::FitRole).value<ModelFit>().verdict), int(Fit::Unknown));
    }

private Q_SLOTS:
    void init() { m_case = std::make_unique<test_support::FetchingCase>(); }
    void cleanup() { m_case.reset(); }

    void asksNobodyBeforeTheUserAgrees()
    {
        m_case->start();
        QVERIFY(m_case->fetching->available() && !m_case->fetching->allowed());
        QCOMPARE(m_case->fetching->host(), m_case->host());
        finder().search("tiny");
        page().open("org/tiny");
        m_case->fetching->queue()->add("org/tiny", "tiny-F16.gguf", "F16", 5);
        QTest::qWait(100);
        QCOMPARE(asked(), std::size_t(0));
        QCOMPARE(m_case->fetching->queue()->count(), 0);
        QVERIFY(finder().words().isEmpty() && page().modelId().isEmpty());
        m_case->fetching->contacts()->refresh();
        QVERIFY(m_case->fetching->contacts()->hosts().isEmpty());

        m_case->fetching->allow();
        QVERIFY(m_case->fetching->allowed());
        finder().search("tiny");
        QTRY_VERIFY(finder().searched());
        QVERIFY(asked() > 0);
        // And it is remembered.
        QCOMPARE(SettingsController(m_case->folder.filePath("spillway.ini")).findModels()->value(), 1);
    }

    void searchesPageByPage()
    {
        m_case->startAllowed();
        const QAbstractItemModelTester tester(finder().results());
        m_case->hub->page_models = 2;
        finder().search("  more ");
        QVERIFY(finder().searching());
        QTRY_VERIFY(!finder().searching());
        QCOMPARE(finder().results()->rowCount(), 2);
        for (int pages = 0; finder().hasMore(); ++pages) {
            QVERIFY(pages < 5);
            finder().more();
            finder().more();  // once is enough
            QTRY_VERIFY(!finder().searching());
        }
        QCOMPARE(finder().results()->rowCount(), 5);
        QCOMPARE(found(4), "org/more-4");
        finder().search("nobody");
        QTRY_VERIFY(finder().searched());
        QCOMPARE(finder().results()->rowCount(), 0);
        finder().search("");
        QVERIFY(finder().words().isEmpty() && !finder().searching());
    }

    // What was typed last is what is shown, however slow the answers are.
    void theNewestSearchWins()
    {
        m_case->startAllowed();
        m_case->hub->answer_pause_ms = 150;
        finder().search("tiny");
        QTest::qWait(20);
        finder().search("closed");
        QTRY_VERIFY(!finder().searching());
        QTest::qWait(300);
        QCOMPARE(finder().results()->rowCount(), 1);
        QCOMPARE(found(0), "org/closed");
    }

    void saysWhatFailedAndTriesAgain()
    {
        m_case->startAllowed();
        m_case->hub->status = 503;
        finder().search("tiny");
        QTRY_VERIFY(!finder().searching());
        QVERIFY2(finder().error().endsWith('.') && finder().error().contains("503"), qPrintable(finder().error()));
        page().open("org/tiny");
        QVERIFY(waitForPage());
        QVERIFY(!page().error().isEmpty() && !page().ready());
        m_case->hub->status = 200;
        finder().retry();
        QTRY_COMPARE(finder().results()->rowCount(), 1);
        QVERIFY(finder().error().isEmpty());
        page().retry();
        QVERIFY(waitForPage());
        QVERIFY(page().ready() && page().error().isEmpty());
    }

    void showsAModel()
    {
        m_case->startAllowed();
        page().open("org/tiny");
        QVERIFY(page().busy());
        QVERIFY(waitForPage());
        QCOMPARE(page().licence(), "mit");
        QCOMPARE(page().companions().size(), 1);
        QCOMPARE(page().companions().first().name, "mmproj-F16.gguf");
        QCOMPARE(page().companions().first().kind, Companion::Projector);
        QVERIFY(!page().companions().first().wanted);
        QVERIFY(!page().gated());
        QVERIFY(page().card());
        QString text;
        for (int row = 0; row < page().card()->rowCount(); ++row)
            text += m_case->value(*page().card(), row, BlockModel::ContentRole).toString();
        QVERIFY2(text.startsWith("Tiny") && text.contains("talks little"), qPrintable(text));
        ModelChoiceList& choices = *page().choices();
        const QAbstractItemModelTester tester(&choices);
        QCOMPARE(choices.rowCount(), 3);
        const int chosen = choices.recommended();
        QCOMPARE(m_case->value(choices, chosen, ModelChoiceList::QuantRole).toString(), "Q8_0");
        QVERIFY(m_case->value(choices, chosen, ModelChoiceList::ReasonRole).toString().startsWith("Recommended"));
        // Its header was read beforehand, and says which of them fit.
        QCOMPARE(page().chosen(), chosen);
        QCOMPARE(page().looked().architecture, "llama");
        QVERIFY(page().looked().runnable);
        const auto received = m_case->hub->server().body_bytes();
        QVERIFY2(received < std::int64_t(m_case->m_large.size()), "more than the header was fetched");
        page().look(0);
        QVERIFY(waitForPage());
        QCOMPARE(page().chosen(), 0);
        for (int row = 0; row < choices.rowCount(); ++row)
            QCOMPARE(int(m_case->value(choices, row, ModelChoiceList::FitRole).value<ModelFit>().verdict),
                     int(Fit::Fits));
        page().close();
        QVERIFY(page().modelId().isEmpty() && !page().card() && choices.rowCount() == 0);
    }

    void listsWhoWasAsked()
    {
        m_case->startAllowed();
        page().open("org/tiny");
        QVERIFY(waitForPage());
        m_case->fetching->contacts()->refresh();
        const QList<ContactedHost> hosts = m_case->fetching->contacts()->hosts();
        QCOMPARE(hosts.size(), 5);  // versions, files, facts, the text, the header
        QSet<QString> purposes;
        for (const ContactedHost& host : hosts) {
            QCOMPARE(host.host, m_case->host());
            QVERIFY(host.requests > 0 && host.bytesReceived > 0 && host.bytesSent > 0);
            QVERIFY(host.firstMs <= host.lastMs && host.lastMs <= double(QDateTime::currentMSecsSinceEpoch()));
            purposes.insert(host.purpose);
        }
        QVERIFY(purposes.contains("a model's header") && purposes.contains("a list of files"));
    }

    void oddModels()
    {
        m_case->startAllowed();
        page().open("org/closed");
        QVERIFY(waitForPage());
        QVERIFY(page().ready() && page().gated() && !page().card());
        QVERIFY2(page().barrier().contains("terms"), qPrintable(page().barrier()));
        QCOMPARE(page().lookError(), "");  // it would say the same
        QVERIFY(page().barrierWantsToken());
        QCOMPARE(page().webPage(), QString::fromStdString(m_case->hub->url()) + "/org/closed");
        m_case->fetching->keepToken("hf_stranger");  // who has not accepted them
        QTRY_VERIFY(!m_case->fetching->keepingToken() && !page().barrierWantsToken());
        QVERIFY(waitForPage());
        QVERIFY2(page().barrier().contains("terms"), qPrintable(page().barrier()));
        m_case->fetching->keepToken(support::kMembersToken);
        QTRY_VERIFY(page().looked().known());  // asked again by itself
        QCOMPARE(page().barrier(), "");
        QVERIFY(page().gated());
        m_case->fetching->keepToken("");
        QTRY_VERIFY(!m_case->fetching->keepingToken());
        page().open("org/empty");
        QVERIFY(waitForPage());
        QVERIFY(page().ready() && page().choices()->rowCount() == 0 && page().chosen() == -1);
        page().open("org/strange");  // no GGUF, whatever its name says
        QVERIFY(waitForPage());
        QVERIFY(!page().looked().known() && page().lookError().endsWith('.'));
        expectNothingSpeaksForIt();
        page().open("org/foreign");  // of an architecture that nobody knows
        QVERIFY(waitForPage());
        QVERIFY(page().looked().known() && !page().looked().runnable);
        expectNothingSpeaksForIt();
        for (const char* nobody : {"org/none", "../../etc", "org", "org/a/b", "org/tiny?x"}) {
            page().open(nobody);
            QVERIFY(waitForPage());
            QVERIFY2(!page().ready() && page().error().endsWith('.'), nobody);
        }
    }

    void takingThePermissionBackEndsIt()
    {
        m_case->startAllowed();
        m_case->hub->answer_pause_ms = 200;
        finder().search("tiny");
        page().open("org/tiny");
        QTest::qWait(20);
        m_case->settings->findModels()->setValue(0);
        QVERIFY(!finder().searching() && page().modelId().isEmpty());
        QTest::qWait(400);
        const auto before = asked();
        finder().search("tiny");
        QTest::qWait(100);
        QCOMPARE(asked(), before);
    }

    void failuresAreSentences()
    {
        for (int kind = 0; kind <= int(net::Failure::Kind::Cancelled); ++kind)
            QCOMPARE(failureSentence({net::Failure::Kind(kind), "the host says no"}), "The host says no.");
    }
};

SPILLWAY_TEST(QGuiApplication, TestFinding)
#include "tst_finding.moc"
