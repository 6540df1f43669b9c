// Tests that the window fetches models one after another, and that a fetch can be paused, cancelled and, after a
// failure or a restart, continued.
#include "app/net/part_file.h"
#include "tests/app/fetching/fetching_case.h"
#include "tests/support/plain_user.h"
#include "tests/support/test_program.h"

#include <QAbstractItemModelTester>
#include <QCryptographicHash>

#include <cmath>
#include <optional>

class TestFetchQueue : public QObject
{
    Q_OBJECT

    std::unique_ptr<test_support::FetchingCase> m_case;

    FetchQueue& queue() { return *m_case->fetching->queue(); }
    void addLarge() { queue().add("org/tiny", "sub/tiny-Q8_0.gguf", "Q8_0", double(m_case->m_large.size())); }
    void addSmall() { queue().add("org/tiny", "tiny-Q4_K_M.gguf", "Q4_K_M", double(m_case->m_model.size())); }
    /// Waits until a part of the large file has come; false: it came whole, or too slowly.
    bool meetOnItsWay()
    {
        return QTest::qWaitFor(
            [&] { return m_case->done() > 200'000 && m_case->done() < double(m_case->m_large.size()); }, 10000);
    }
    QString note(int row = 0) const
    {
        return m_case->value(*m_case->fetching->queue(), row, FetchQueue::NoteRole).toString();
    }

private Q_SLOTS:
    void init() { m_case = std::make_unique<test_support::FetchingCase>(); }
    void cleanup() { m_case.reset(); }

    void fetchesOneAfterAnother()
    {
        m_case->startAllowed();
        const QAbstractItemModelTester tester(&queue());
        QSignalSpy fetched(&queue(), &FetchQueue::fetched);
        QSignalSpy opened(&queue(), &FetchQueue::openRequested);
        addLarge();
        addSmall();
        addSmall();  // twice is once
        QCOMPARE(queue().count(), 2);
        QCOMPARE(m_case->state(0), Fetch::Fetching);
        QCOMPARE(m_case->state(1), Fetch::Waiting);
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(1), Fetch::Done, 20000);
        QCOMPARE(m_case->state(0), Fetch::Done);
        QCOMPARE(fetched.size(), 2);
        QCOMPARE(queue().unfinished(), 0);
        QVERIFY(test_support::bytesOf(m_case->inCache("sub/tiny-Q8_0.gguf")).toStdString() == m_case->m_large);
        QVERIFY(m_case->leftovers().isEmpty());
        queue().open(0);
        QCOMPARE(opened.size(), 1);
        QCOMPARE(opened[0][0].toString(), m_case->inCache("sub/tiny-Q8_0.gguf"));
        QCOMPARE(opened[0][1].toString(), "tiny-Q8_0");
        // Taken off the list, it stays on the disk; the next start does not know of it.
        queue().cancel(0);
        QCOMPARE(queue().count(), 1);
        QVERIFY(QFile::exists(m_case->inCache("sub/tiny-Q8_0.gguf")));
        m_case->start();
        QCOMPARE(queue().count(), 0);
    }

    void fetchesCompanionsThatAreTicked()
    {
        m_case->startAllowed();
        ModelPage& page = *m_case->fetching->page();
        page.open("org/tiny");
        QTRY_VERIFY(page.ready() && !page.looking());
        const QSignalSpy fetched(&queue(), &FetchQueue::fetched);
        page.fetch(0);
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        QVERIFY(!QFile::exists(m_case->inCache("mmproj-F16.gguf")));
        // A companion that is ticked later is fetched alone, since the model is there.
        page.setWanted(0, true);
        page.setWanted(7, true);  // no such
        QVERIFY(page.companions().first().wanted);
        const auto before = m_case->hub->server().body_bytes();
        page.fetch(0);
        QCOMPARE(queue().count(), 1);
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        QCOMPARE(fetched.size(), 2);
        QVERIFY(test_support::bytesOf(m_case->inCache("mmproj-F16.gguf")).toStdString() == m_case->m_other);
        QVERIFY(m_case->hub->server().body_bytes() - before < std::int64_t(m_case->m_model.size()) / 2);
        const auto received = m_case->hub->server().body_bytes();
        page.fetch(0);  // nothing is new
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        QVERIFY(m_case->hub->server().body_bytes() - received < std::int64_t(m_case->m_model.size()) / 2);
        page.open("org/tiny");
        QVERIFY(page.companions().isEmpty());
    }

    // A file that is gone, or was fetched into another folder, is fetched again, though the list says that it is done.
    void whatIsGoneOrElsewhereComesAgain()
    {
        m_case->startAllowed();
        addSmall();
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        QVERIFY(QDir(m_case->folder.filePath("hf")).removeRecursively());
        addSmall();
        QCOMPARE(queue().unfinished(), 1);
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        QVERIFY(QFile::exists(m_case->inCache("tiny-Q4_K_M.gguf")));
        const QString chosen = m_case->folder.filePath("mine");
        QVERIFY(QDir().mkpath(chosen));
        m_case->settings->setFetchFolder(QUrl::fromLocalFile(chosen));
        addSmall();
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        QCOMPARE(queue().count(), 1);
        QVERIFY(QFile::exists(chosen + "/tiny-Q4_K_M.gguf"));
        QVERIFY(QFile::exists(m_case->inCache("tiny-Q4_K_M.gguf")));
    }

    void aSplitModelHasOneName()
    {
        m_case->startAllowed();
        queue().add("org/tiny", "sub/big-Q8_0-00001-of-00002.gguf", "Q8_0", 10);
        QCOMPARE(m_case->value(queue(), 0, FetchQueue::NameRole).toString(), "big-Q8_0");
    }

    void sumsUp()
    {
        m_case->startAllowed();
        const auto summary = [this] { return queue().summary(); };
        QCOMPARE(summary().state, Fetch::None);
        m_case->hub->pause_ms = 4;
        addLarge();
        addSmall();
        QCOMPARE(summary().state, Fetch::Fetching);
        QCOMPARE(summary().name, "tiny-Q8_0");
        QCOMPARE(summary().others, 1);
        QVERIFY(meetOnItsWay());
        QVERIFY(summary().share > 0 && summary().share < 1);
        QCOMPARE(summary().share, std::floor(100 * m_case->done() / double(m_case->m_large.size())) / 100);
        queue().pause(1);
        QSignalSpy changed(&queue(), &FetchQueue::summaryChanged);
        queue().pause(0);
        QCOMPARE(changed.size(), 1);
        QCOMPARE(summary().state, Fetch::Paused);
        m_case->hub->status = 404;
        queue().resume(1);
        QTRY_COMPARE(summary().state, Fetch::Failed);  // before what is paused
        QCOMPARE(summary().name, "tiny-Q4_K_M");
        QCOMPARE(summary().others, 1);
        m_case->start();  // which knows it before anybody is asked
        QVERIFY(summary().state == Fetch::Paused && summary().share > 0);
        queue().cancel(1);
        queue().cancel(0);
        QCOMPARE(summary().state, Fetch::None);
    }

    // The page of a model knows what of it is here or comes, also of what another folder or start has fetched.
    void thePageKnowsWhatIsHere()
    {
        m_case->startAllowed();
        ModelPage& page = *m_case->fetching->page();
        const auto here = [&](int row) {
            return m_case->value(*page.choices(), row, ModelChoiceList::HereRole).toBool();
        };
        const auto comes = [&](int row) {
            return Fetch::State(m_case->value(*page.choices(), row, ModelChoiceList::FetchStateRole).toInt());
        };
        page.open("org/tiny");
        QTRY_VERIFY(page.ready() && !page.looking());
        QCOMPARE(comes(0), Fetch::None);
        page.openHere(0);  // it is not
        m_case->hub->pause_ms = 4;
        page.fetch(0);
        QCOMPARE(comes(0), Fetch::Fetching);
        QCOMPARE(comes(1), Fetch::None);
        page.setWanted(0, true);  // which does not come with it
        QCOMPARE(comes(0), Fetch::None);
        page.setWanted(0, false);
        queue().pause(0);
        QCOMPARE(comes(0), Fetch::Paused);
        QVERIFY(!here(0));
        m_case->hub->pause_ms = 0;
        queue().resume(0);
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        QTRY_VERIFY(here(0));
        QVERIFY(!here(1) && !page.wantsMore());
        page.setWanted(0, true);
        QVERIFY(page.wantsMore());
        const QString first = m_case->value(*page.choices(), 0, ModelChoiceList::NameRole).toString();

        m_case->start();
        ModelPage& again = *m_case->fetching->page();
        QSignalSpy openedAgain(m_case->fetching.get(), &Fetching::openRequested);
        again.open("org/tiny");
        QTRY_VERIFY(m_case->value(*again.choices(), 0, ModelChoiceList::HereRole).toBool());
        again.openHere(0);
        QCOMPARE(openedAgain.size(), 1);
        QCOMPARE(openedAgain[0][0].toString(), m_case->inCache(first + ".gguf"));
        // The file is deleted, and then found in a folder of the user's choice.
        const QString chosen = m_case->folder.filePath("mine");
        QVERIFY(QDir().mkpath(chosen));
        m_case->settings->setFetchFolder(QUrl::fromLocalFile(chosen));
        QVERIFY(QFile::remove(m_case->inCache(first + ".gguf")));
        m_case->fetching->onDeleted();
        QTRY_VERIFY(!m_case->value(*again.choices(), 0, ModelChoiceList::HereRole).toBool());
        QVERIFY(QFile::copy(QStringLiteral(SPILLWAY_SOURCE_DIR "/tests/data/models/llama.gguf"),
                            chosen + '/' + first + ".gguf"));
        again.lookAtDisk();
        QTRY_VERIFY(m_case->value(*again.choices(), 0, ModelChoiceList::HereRole).toBool());
        again.openHere(0);
        QCOMPARE(openedAgain.last()[0].toString(), chosen + '/' + first + ".gguf");
    }

    // As where a file was uploaded anew, or two repositories call theirs alike.
    void anotherFileOfTheNameAndSizeIsNotHere()
    {
        m_case->startAllowed();
        const QString chosen = m_case->folder.filePath("mine");
        QVERIFY(QDir().mkpath(chosen));
        m_case->settings->setFetchFolder(QUrl::fromLocalFile(chosen));
        addSmall();
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        QVERIFY(QFile::copy(QStringLiteral(SPILLWAY_SOURCE_DIR "/tests/data/models/llama.gguf"),
                            chosen + "/tiny-F16.gguf"));

        std::string other = m_case->m_model;
        other.back() = char(other.back() ^ 1);
        m_case->fetching.reset();
        m_case->hub = std::make_unique<support::ModelHub>(std::vector<support::HubModel>{
            {"org/tiny", {{"tiny-Q4_K_M.gguf", &other}, {"tiny-F16.gguf", &m_case->m_model}}, {}, {}, 5}});
        qputenv("HF_ENDPOINT", m_case->hub->url().c_str());
        m_case->start();
        ModelPage& page = *m_case->fetching->page();
        const auto here = [&](const char* name) {
            const ModelChoiceList& rows = *page.choices();
            for (int row = 0; row < rows.rowCount(); ++row)
                if (m_case->value(rows, row, ModelChoiceList::NameRole).toString() == QLatin1String(name))
                    return m_case->value(rows, row, ModelChoiceList::HereRole).toBool();
            return false;
        };
        page.open("org/tiny");
        QTRY_VERIFY(here("tiny-F16"));
        QVERIFY(!here("tiny-Q4_K_M"));
        addSmall();
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Failed, 20000);
        QVERIFY2(note().contains("another model of that name"), qPrintable(note()));
        // Once somebody has changed the file, nobody knows what it is.
        QFile changed(chosen + "/tiny-Q4_K_M.gguf");
        QVERIFY(changed.open(QFile::ReadWrite) && changed.seek(changed.size() - 1) &&
                changed.write(&other.back(), 1) == 1);
        QVERIFY(changed.setFileTime(QDateTime::currentDateTime().addSecs(5), QFileDevice::FileModificationTime));
        changed.close();
        page.lookAtDisk();
        QTRY_VERIFY(here("tiny-Q4_K_M"));
        m_case->fetching.reset();  // before its hub
    }

    // A companion that is ticked while its model is on its way, and the next start.
    void companionsAreRemembered()
    {
        m_case->startAllowed();
        m_case->hub->pause_ms = 4;
        addLarge();
        QVERIFY(meetOnItsWay());
        queue().add("org/tiny", "sub/tiny-Q8_0.gguf", "Q8_0", double(m_case->m_large.size() + m_case->m_other.size()),
                    {"mmproj-F16.gguf"});
        QCOMPARE(queue().count(), 1);
        QCOMPARE(m_case->state(), Fetch::Fetching);
        queue().pause(0);
        m_case->start();
        QCOMPARE(m_case->state(), Fetch::Paused);
        m_case->hub->pause_ms = 0;
        queue().resume(0);
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        QVERIFY(QFile::exists(m_case->inCache("sub/tiny-Q8_0.gguf")));
        QVERIFY(QFile::exists(m_case->inCache("mmproj-F16.gguf")));
        QVERIFY(m_case->leftovers().isEmpty());
        // One that is gone from the hub is a sentence.
        queue().add("org/tiny", "tiny-F16.gguf", "F16", 10, {"mmproj-Q2.gguf"});
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(1), Fetch::Failed, 10000);
        QVERIFY2(note(1).contains("no mmproj-Q2.gguf beside it"), qPrintable(note(1)));
    }

    // Before it is known where its files will lie, it needs all of its repository.
    void needsWhatItMayNeed()
    {
        m_case->startAllowed();
        m_case->hub->pause_ms = 4;
        addLarge();  // the other waits for its turn
        const auto addOther = [this] { queue().add("org/other", "sub/b-Q8_0.gguf", "Q8_0", 10); };
        addOther();
        QCOMPARE(queue().count(), 2);
        QVERIFY(queue().needs({"/hub/models--org--other/blobs/abc"}));
        QVERIFY(!queue().needs({"/hub/models--org--other-2/blobs/abc", "/own/b-Q8_0.gguf"}));
        queue().cancel(1);
        QVERIFY(!queue().needs({"/hub/models--org--other/blobs/abc"}));
        m_case->settings->setFetchFolder(QUrl::fromLocalFile(m_case->folder.path()));
        addOther();
        QCOMPARE(m_case->state(1), Fetch::Waiting);
        QVERIFY(queue().needs({m_case->folder.filePath("b-Q8_0.gguf")}));
        QVERIFY(!queue().needs({m_case->folder.filePath("other.gguf"), "/elsewhere/b-Q8_0.gguf"}));
    }

    void knowsWhichFilesItNeeds()
    {
        m_case->startAllowed();
        m_case->hub->pause_ms = 4;
        addLarge();
        QVERIFY(meetOnItsWay());
        const QDir blobs(m_case->folder.filePath("hf/hub/models--org--tiny/blobs"));
        const QString part = blobs.entryList({"*.spillway-part"}, QDir::Files).value(0);
        QVERIFY(!part.isEmpty());
        QVERIFY(queue().needs({"/elsewhere", blobs.filePath(part.section('.', 0, 0))}));
        QVERIFY(!queue().needs({"/elsewhere"}));
        m_case->hub->pause_ms = 0;
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        QVERIFY(!queue().needs({blobs.filePath(part.section('.', 0, 0))}));
        queue().forgetDeleted();
        QCOMPARE(queue().count(), 1);
        QVERIFY(QFile::remove(m_case->inCache("sub/tiny-Q8_0.gguf")));
        queue().forgetDeleted();
        QCOMPARE(queue().count(), 0);
    }

    void pausesAndGoesOn()
    {
        m_case->startAllowed();
        m_case->hub->pause_ms = 4;
        addLarge();
        QVERIFY(meetOnItsWay());
        queue().pause(0);
        QCOMPARE(m_case->state(), Fetch::Paused);
        QTest::qWait(300);
        const auto before = m_case->hub->server().body_bytes();
        QTest::qWait(200);
        QCOMPARE(m_case->hub->server().body_bytes(), before);
        m_case->hub->pause_ms = 0;
        queue().resume(0);
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        QVERIFY(test_support::bytesOf(m_case->inCache("sub/tiny-Q8_0.gguf")).toStdString() == m_case->m_large);
    }

    void theNextStartGoesOn()
    {
        m_case->startAllowed();
        m_case->hub->pause_ms = 4;
        addLarge();
        addSmall();
        queue().pause(1);
        QVERIFY(meetOnItsWay());
        m_case->fetching.reset();  // quit
        QVERIFY(!m_case->leftovers().isEmpty());
        m_case->hub->pause_ms = 0;
        const auto before = m_case->hub->server().body_bytes();
        m_case->start();
        QCOMPARE(queue().count(), 2);
        QCOMPARE(m_case->state(1), Fetch::Paused);  // as it was left
        QVERIFY(m_case->done(0) > 0);               // shown before anybody has answered
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(0), Fetch::Done, 20000);
        QVERIFY(test_support::bytesOf(m_case->inCache("sub/tiny-Q8_0.gguf")).toStdString() == m_case->m_large);
        QVERIFY(m_case->hub->server().body_bytes() - before < std::int64_t(m_case->m_large.size()));
        QCOMPARE(m_case->state(1), Fetch::Paused);
    }

    // What failed and was not paused is tried again, where the reason may have passed.
    void theNextStartTriesAgainWhatMayHavePassed()
    {
        m_case->startAllowed();
        m_case->hub->status = 503;
        addSmall();
        QTRY_COMPARE(m_case->state(0), Fetch::Failed);
        m_case->hub->status = 404;
        addLarge();
        QTRY_COMPARE(m_case->state(1), Fetch::Failed);
        m_case->fetching.reset();  // quit
        m_case->hub->status = 200;
        m_case->start();
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(0), Fetch::Done, 20000);
        QCOMPARE(m_case->state(1), Fetch::Paused);
    }

    // Without the permission the next start asks nobody; with it again, it goes on.
    void waitsForThePermission()
    {
        m_case->startAllowed();
        m_case->hub->pause_ms = 4;
        addLarge();
        QVERIFY(meetOnItsWay());
        m_case->settings->findModels()->setValue(0);
        QCOMPARE(m_case->state(), Fetch::Waiting);
        m_case->start();
        const auto before = m_case->hub->server().requests().size();
        QTest::qWait(200);
        QCOMPARE(m_case->hub->server().requests().size(), before);
        m_case->hub->pause_ms = 0;
        m_case->fetching->allow();
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
    }

    void cancellingRemovesWhatHasCome()
    {
        m_case->startAllowed();
        m_case->hub->pause_ms = 4;
        addLarge();
        addSmall();
        QVERIFY(meetOnItsWay());
        QVERIFY(!m_case->leftovers().isEmpty());
        queue().cancel(0);
        QCOMPARE(queue().count(), 1);
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);  // the next one's turn
        QTRY_VERIFY(m_case->leftovers().isEmpty());
        QVERIFY(!QFile::exists(m_case->inCache("sub/tiny-Q8_0.gguf")));
    }

    // Cancelling removes whole files, also those that an earlier start has fetched, but not those that were there
    // before.
    void cancellingRemovesWholeFilesToo_data()
    {
        QTest::addColumn<bool>("thereBefore");
        QTest::newRow("all have come") << false;
        QTest::newRow("one was there") << true;
    }
    void cancellingRemovesWholeFilesToo()
    {
        QFETCH(bool, thereBefore);
        const QString repository = m_case->folder.filePath("hf/hub/models--org--split");
        const QByteArray first = QByteArray::fromStdString(m_case->m_model);
        const QString hash = QCryptographicHash::hash(first, QCryptographicHash::Sha256).toHex();
        const QString blob = repository + "/blobs/" + hash;
        if (thereBefore) {
            QFile file(blob);
            QVERIFY(QDir().mkpath(repository + "/blobs") && file.open(QFile::WriteOnly));
            QCOMPARE(file.write(first), qint64(first.size()));
        }
        m_case->startAllowed();
        m_case->hub->pause_ms = 4;
        queue().add("org/split", "split-Q4_0-00001-of-00002.gguf", "Q4_0",
                    double(m_case->m_model.size() + m_case->m_large.size()));
        QVERIFY(QTest::qWaitFor([&] { return m_case->done() > double(m_case->m_model.size()) + 200'000; }, 10000));
        QVERIFY(QFile::exists(blob));
        m_case->start();
        const QSignalSpy removed(&queue(), &FetchQueue::removed);
        queue().cancel(0);
        addSmall();
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        QCOMPARE(removed.size(), thereBefore ? 0 : 1);
        QCOMPARE(QDir(repository + "/blobs").entryList(QDir::Files), thereBefore ? QStringList{hash} : QStringList());
        const QDir names(repository + "/snapshots/" + QString::fromStdString(support::ModelHub::commit()));
        QCOMPARE(names.entryList(QDir::Files | QDir::System).size(), thereBefore ? 1 : 0);
    }

    // It may be open, or be measured, while its companions are still coming.
    void cancellingLeavesAModelThatCanBeOpened()
    {
        const double beforeTheLast = double(2 * m_case->m_model.size() + m_case->m_other.size());
        const QDir repository(m_case->folder.filePath("hf/hub/models--org--seeing"));
        const QDir names(repository.filePath("snapshots/" + QString::fromStdString(support::ModelHub::commit())));
        m_case->startAllowed();
        m_case->hub->pause_ms = 4;
        queue().add("org/seeing", "seeing-Q4_0-00001-of-00002.gguf", "Q4_0",
                    beforeTheLast + double(m_case->m_large.size()), {"mmproj-a-F16.gguf", "mmproj-b-F16.gguf"});
        QVERIFY(QTest::qWaitFor([&] { return m_case->done() > beforeTheLast + 200'000; }, 10000));
        QVERIFY(QFile::exists(names.filePath("mmproj-a-F16.gguf")));
        m_case->start();
        queue().cancel(0);
        addSmall();
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        QCOMPARE(names.entryList(QDir::Files | QDir::System),
                 (QStringList{"seeing-Q4_0-00001-of-00002.gguf", "seeing-Q4_0-00002-of-00002.gguf"}));
        QCOMPARE(QDir(repository.filePath("blobs")).entryList(QDir::Files).size(), 2);
    }

    // Two models have their companions in common: one has come whole, the other one in part.
    void cancellingLeavesWhatAnotherModelNeeds_data()
    {
        QTest::addColumn<bool>("begun");
        QTest::newRow("which has begun") << true;
        QTest::newRow("which waits for its turn") << false;
    }
    void cancellingLeavesWhatAnotherModelNeeds()
    {
        QFETCH(bool, begun);
        const auto add = [this](const QString& file) {
            queue().add("org/seeing", file, "Q", 10, {"mmproj-a-F16.gguf", "mmproj-b-F16.gguf"});
        };
        const double model = double(m_case->m_model.size()), partOfTheLast = double(m_case->m_other.size()) + 1e6;
        m_case->startAllowed();
        m_case->hub->pause_ms = 4;
        const QSignalSpy removed(&queue(), &FetchQueue::removed);
        add("seeing-Q4_0-00001-of-00002.gguf");
        QVERIFY(QTest::qWaitFor([&] { return m_case->done() > 2 * model + partOfTheLast; }, 10000));
        if (begun) {
            queue().pause(0);
            add("seeing-Q8_0.gguf");
            QVERIFY(QTest::qWaitFor([&] { return m_case->done(1) > model + partOfTheLast; }, 10000));
            queue().pause(1);
        } else {
            add("seeing-Q8_0.gguf");
            QCOMPARE(m_case->state(1), Fetch::Waiting);
        }
        m_case->hub->pause_ms = 0;
        const auto before = m_case->hub->server().body_bytes();
        queue().cancel(0);
        queue().resume(0);
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        QVERIFY(m_case->hub->server().body_bytes() - before < std::int64_t(m_case->m_large.size()));
        QCOMPARE(removed.size(), 0);
    }

    void cancellingLeavesWhatAnotherProgramFetches()
    {
        m_case->startAllowed();
        m_case->hub->pause_ms = 4;
        addLarge();
        QVERIFY(meetOnItsWay());
        queue().pause(0);
        m_case->hub->pause_ms = 0;
        const QString part = m_case->leftovers().value(0);
        const std::filesystem::path path =
            m_case->folder.filePath("hf/hub/models--org--tiny/blobs/" + part).toStdString();
        std::optional<net::Result<net::PartFile>> others;
        QVERIFY(QTest::qWaitFor([&] {  // for the window to let go of it
            others.reset();
            return others.emplace(net::PartFile::open(path)).has_value();
        }));
        queue().cancel(0);
        addSmall();
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);  // on the same thread, so after it
        QVERIFY(m_case->leftovers().contains(part));
        QVERIFY((*others)->move_to(path.string() + ".whole"));
    }

    // The file has changed on the hub since the last start: in a cache it lies elsewhere.
    void removesWhatCameOfAnEarlierVersion()
    {
        const QString old = m_case->folder.filePath("hf/hub/models--org--tiny/blobs/0123");
        const QString whole = m_case->folder.filePath("hf/hub/models--org--tiny/blobs/4567");
        const auto put = [](const QString& path, const QByteArray& bytes) {
            QFile file(path);
            return QDir().mkpath(QFileInfo(path).path()) && file.open(QFile::WriteOnly) &&
                   file.write(bytes) == bytes.size();
        };
        QVERIFY(put(old + ".spillway-part", "old"));
        QVERIFY(put(whole, "whole"));
        QByteArray list = R"([{"repository":"org/tiny","file":"tiny-Q4_K_M.gguf","places":["WHOLE","OLD"],
            "came":["WHOLE"]}])";
        QVERIFY(put(m_case->folder.filePath("data/fetches.json"),
                    list.replace("OLD", old.toUtf8()).replace("WHOLE", whole.toUtf8())));
        m_case->startAllowed();
        const QSignalSpy removed(&queue(), &FetchQueue::removed);
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        QVERIFY(m_case->leftovers().isEmpty());
        QVERIFY(!QFile::exists(whole));
        QCOMPARE(removed.size(), 1);
    }

    void saysWhatFailedAndTriesAgain()
    {
        m_case->startAllowed();
        queue().add("org/closed", "closed-Q4_K_M.gguf", "Q4_K_M", 10);
        queue().add("org/tiny", "tiny-Q2_K.gguf", "Q2_K", 10);
        queue().add("org/none", "x.gguf", "", 10);
        queue().add("../../etc", "passwd.gguf", "", 10);
        addSmall();
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(4), Fetch::Done, 20000);  // one that fails keeps nobody waiting
        QVERIFY2(note(0).contains("terms"), qPrintable(note(0)));
        for (int row = 0; row < 4; ++row) {
            QCOMPARE(m_case->state(row), Fetch::Failed);
            QVERIFY2(note(row).endsWith('.') && note(row).size() > 10, qPrintable(note(row)));
        }
        m_case->hub->status = 404;
        addLarge();
        QTRY_COMPARE(m_case->state(5), Fetch::Failed);
        m_case->hub->status = 200;
        queue().resume(5);
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(5), Fetch::Done, 20000);
        QVERIFY(note(5).isEmpty());
    }

    void saysWhenItTriesAgain()
    {
        const auto againS = [this] { return m_case->value(queue(), 0, FetchQueue::AgainSRole).toDouble(); };
        m_case->startAllowed();
        m_case->hub->bytes_status = 503;
        addSmall();
        QTRY_COMPARE(againS(), 1.0);
        QVERIFY2(note().contains("503"), qPrintable(note()));
        QCOMPARE(m_case->state(), Fetch::Fetching);
        m_case->hub->bytes_status = 200;
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
        QCOMPARE(againS(), 0.0);
        QVERIFY(note().isEmpty());
    }

    // In a cache the bytes are called by their hash: a sentence names the file.
    void wrongBytesAreThrownAway()
    {
        m_case->startAllowed();
        m_case->hub->spoils = true;
        addSmall();
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Failed, 20000);
        QVERIFY2(note().startsWith("The bytes that came for 'tiny-Q4_K_M.gguf' are not those"), qPrintable(note()));
        QCOMPARE(m_case->done(), 0.0);
        QVERIFY(m_case->leftovers().isEmpty());
        m_case->hub->spoils = false;
        queue().resume(0);
        QTRY_COMPARE_WITH_TIMEOUT(m_case->state(), Fetch::Done, 20000);
    }

    void aListThatCannotBeReadIsNotWrittenOver()
    {
#ifdef __linux__
        m_case->hub->pause_ms = 4;
        m_case->startAllowed();
        addLarge();
        queue().pause(0);
        m_case->fetching.reset();
        const QString file = m_case->folder.filePath("data/fetches.json");
        {
            const support::PlainUser notRoot;
            QVERIFY(QFile::setPermissions(file, QFile::WriteOwner));
            m_case->start();
            QVERIFY(!queue().error().isEmpty());
            addSmall();
            m_case->fetching.reset();
            QVERIFY(QFile::setPermissions(file, QFile::ReadOwner | QFile::WriteOwner));
        }
        m_case->start();
        QCOMPARE(m_case->value(queue(), 0, FetchQueue::NameRole).toString(), "tiny-Q8_0");
        QCOMPARE(queue().count(), 1);
#endif
    }

    // A list that somebody has written makes no sense: what does not is left out, and nothing else happens.
    void oddLists_data()
    {
        QTest::addColumn<QByteArray>("list");
        QTest::addColumn<int>("rows");
        QTest::newRow("nothing") << QByteArray() << 0;
        QTest::newRow("no list") << QByteArray("{\"a\":1}") << 0;
        QTest::newRow("numbers") << QByteArray("[1,null,[],{}]") << 0;
        QTest::newRow("a wrong size") << QByteArray(R"([{"repository":"a/b","file":"c.gguf","bytes":-5,"done":1e300,
            "state":"paused","places":[1,"/etc/passwd"]}])")
                                      << 1;
        for (const char* folder : {"", "FOLDER"})
            QTest::addRow("what never came, into '%s'", folder)
                << QByteArray(R"([{"repository":"a/b","file":"c.gguf","companions":["mine.txt"],"state":"paused",
            "folder":"INTO","places":["FOLDER/mine.txt"],
            "came":[1,"FOLDER/mine.txt","FOLDER/other.gguf","FOLDER/models--a--b/../other.gguf"]}])")
                       .replace("INTO", folder)
                << 1;
        QTest::newRow("huge") << '[' + QByteArray(2 << 20, ' ') + ']' << 0;
    }
    void oddLists()
    {
        QFETCH(QByteArray, list);
        QFETCH(int, rows);
        QVERIFY(QDir(m_case->folder.path()).mkpath("data"));
        QFile file(m_case->folder.filePath("data/fetches.json"));
        list.replace("FOLDER", m_case->folder.path().toUtf8());
        QVERIFY(file.open(QFile::WriteOnly) && file.write(list) == list.size());
        file.close();
        const QStringList mine{m_case->folder.filePath("mine.txt"), m_case->folder.filePath("other.gguf")};
        for (const QString& path : mine)
            QVERIFY(QFile(path).open(QFile::WriteOnly));
        QVERIFY(QDir(m_case->folder.path()).mkpath("models--a--b"));
        m_case->startAllowed();
        QCOMPARE(queue().count(), rows);
        for (int row = rows - 1; row >= 0; --row) {
            QCOMPARE(m_case->done(row), 0.0);
            queue().cancel(row);
        }
        m_case->fetching.reset();  // which waits for what is removed
        QVERIFY(QFile::exists("/etc/passwd"));
        for (const QString& path : mine)
            QVERIFY2(QFile::exists(path), qPrintable(path));
    }
};

SPILLWAY_TEST(QGuiApplication, TestFetchQueue)
#include "tst_fetch_queue.moc"
