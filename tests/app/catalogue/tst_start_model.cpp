// Tests that the program opens the guide at its first start, later the last model, and none that it crashed with.
#include "app/catalogue/start_model.h"
#include "tests/support/plain_user.h"
#include "tests/support/test_program.h"

#include <QApplication>
#include <QTemporaryDir>
#include <QTest>

class TestStartModel : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir folder;

private Q_SLOTS:
    void atTheFirstStartTheGuide()
    {
        QCOMPARE(StartModel::choose({.guide = "/guide.gguf"}).file, "/guide.gguf");
        QVERIFY(StartModel::choose({}).file.isEmpty());  // none was shipped
    }

    /// Nobody looks whether it is there: its share may not answer, and the window is not open yet.
    void thenTheLastOne()
    {
        const QString last = QStringLiteral("/a share/last.gguf");
        QCOMPARE(StartModel::choose({.last = last, .guide = "/guide.gguf"}).file, last);
        QCOMPARE(StartModel::choose({.named = "/n.gguf", .last = last, .guide = "/g"}).file, "/n.gguf");
        const StartModel gone =
            StartModel::choose({.last = "/not/there.gguf", .guide = "/guide.gguf", .lastIsThere = false});
        QCOMPARE(gone.file, "/guide.gguf");
        QVERIFY(gone.sentence.contains("there.gguf"));
        const auto decides = [](const StartModel::Given& given) { return given.goesByLast(); };
        QVERIFY(decides({.last = last}));
        QVERIFY(!decides({.named = "/n.gguf", .last = last}) && !decides({.last = last, .diedOf = last}));
        QVERIFY(!decides({}) && !decides({.last = "http://127.0.0.1:8000/#m"}));
        QVERIFY(!decides({.last = last, .wish = SettingsController::Guide}));
    }

    void asTheUserWishes()
    {
        const QString last = QStringLiteral("/last.gguf");
        QCOMPARE(StartModel::choose({.last = last, .guide = "/g", .wish = SettingsController::Guide}).file, "/g");
        QVERIFY(StartModel::choose({.last = last, .guide = "/g", .wish = SettingsController::Nothing}).file.isEmpty());
    }

    void notWhatItDiedOf()
    {
        const QString last = QStringLiteral("/bad.gguf");
        const StartModel start = StartModel::choose({.last = last, .diedOf = last, .guide = "/guide.gguf"});
        QCOMPARE(start.file, "/guide.gguf");
        QVERIFY(start.sentence.contains("bad.gguf"));
        const StartModel guide = StartModel::choose({.diedOf = "/guide.gguf", .guide = "/guide.gguf"});
        QVERIFY(guide.file.isEmpty() && !guide.sentence.isEmpty());
        QCOMPARE(StartModel::choose({.named = last, .diedOf = last}).file, last);  // asked for by name
    }

    void theFirstPromptIsPartOfTheLoad()
    {
        const QString state = folder.filePath("first-prompt");
        LoadMarker marker(state);
        const auto stands = [&] { return QFile::exists(state + "/loading-model"); };
        marker.begin("/models/a.gguf");
        marker.prompted();  // of the model before
        QVERIFY(stands());
        marker.loaded();
        QVERIFY(stands());
        marker.prompted();
        QVERIFY(!stands());

        marker.begin("/models/b.gguf");
        marker.prompted();
        QVERIFY(stands());  // that the first one was loaded says nothing of this one
        marker.end();       // it was refused
        QVERIFY(!stands());
    }

    void theMarker()
    {
        const QString state = folder.filePath("state");
        {
            LoadMarker marker(state);
            QVERIFY(marker.diedOf().isEmpty());
            marker.begin("/models/größe.gguf");
            QFile::copy(state + "/loading-model", state + "/kept");  // as if the program were killed now
        }
        QVERIFY(!QFile::exists(state + "/loading-model"));  // it ended as it should
        QFile::rename(state + "/kept", state + "/loading-model");
        QCOMPARE(LoadMarker(state).diedOf(), QStringLiteral("/models/größe.gguf"));
        QVERIFY(LoadMarker(state).diedOf().isEmpty());  // said once
    }

    void aMarkerThatCannotBeRemovedSaysNothing()
    {
        const QString state = folder.filePath("held");
        LoadMarker marker(state);
        marker.begin("/models/a.gguf");
        const support::PlainUser user;
        QVERIFY(QFile::setPermissions(state, QFile::ReadOwner | QFile::ExeOwner));
        marker.end();
        const QString diedOf = LoadMarker(state).diedOf();
        QVERIFY(QFile::setPermissions(state, QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        QCOMPARE(diedOf, QString());
    }
};

SPILLWAY_TEST(QApplication, TestStartModel)
#include "tst_start_model.moc"
