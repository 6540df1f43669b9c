// Tests that settings are kept, and that values which stand in the file are checked.
#include "app/settings/settings_controller.h"
#include "app/system/profile_folders.h"
#include "engine/kv_type.h"
#include "tests/support/try_often.h"

#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

class TestSettings : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir folder;
    QString file(const char* name) const { return folder.filePath(QString::fromLatin1(name)); }
    static void write(const QString& path, const QByteArray& bytes)
    {
        QFile file(path);
        QVERIFY(file.open(QFile::WriteOnly) && file.write(bytes) == bytes.size());
    }

private Q_SLOTS:
    void isKept()
    {
        const QString ini = file("deeper/down/kept.ini");
        {
            SettingsController settings(ini);
            QCOMPARE(settings.contextTokens()->value(), 0);
            QVERIFY(settings.contextTokens()->isInitial());
            settings.contextTokens()->setValue(4096);
            settings.theme()->setValue(SettingsController::Dark);
            settings.language()->setValue(2);
            QVERIFY(settings.addModelFolder(QUrl::fromLocalFile(folder.path())));
            QVERIFY(!settings.addModelFolder(QUrl::fromLocalFile(folder.path())));  // it is there
            QVERIFY(!settings.addModelFolder(QUrl::fromLocalFile(ini)));            // no folder
            QVERIFY(!settings.addModelFolder(QUrl(QStringLiteral("http://x/y"))));
            settings.setLastModel(QStringLiteral("/models/übergröße.gguf"));
            QVERIFY2(settings.trouble().isEmpty(), qPrintable(settings.trouble()));
        }
        SettingsController again(ini);
        QCOMPARE(again.contextTokens()->value(), 4096);
        QCOMPARE(again.theme()->value(), int(SettingsController::Dark));
        QVERIFY(again.dark());
        QCOMPARE(again.language()->value(), 2);
        QCOMPARE(again.modelFolders(), QStringList(QDir::cleanPath(folder.path())));
        QCOMPARE(again.lastModel(), QStringLiteral("/models/übergröße.gguf"));
        again.setLastModel(QStringLiteral("http://127.0.0.1:8000/#org%2Fmodel"));
        again.contextTokens()->reset();
        again.removeModelFolder(QDir::cleanPath(folder.path()));
        SettingsController third(ini);
        QCOMPARE(third.contextTokens()->value(), 0);
        QCOMPARE(third.lastModel(), QStringLiteral("http://127.0.0.1:8000/#org%2Fmodel"));  // it runs elsewhere
        QVERIFY(third.modelFolders().isEmpty());
    }

    void kvTypesHaveTheEnginesNames()
    {
        SettingsController settings(file("types.ini"));
        const QStringList names = settings.kvType()->names();
        QCOMPARE(names.size(), qsizetype(engine::kKvTypes.size()));
        for (qsizetype i = 0; i < names.size(); ++i)
            QVERIFY(engine::kv_type_named(names[i].toStdString()) == engine::kKvTypes[std::size_t(i)].type);
        QCOMPARE(names[SettingsController::Q8_0], "q8_0");
    }

    void dialogsBeginWhereTheLastFileWas()
    {
        using Files = SettingsController;
        const QUrl home = QUrl::fromLocalFile(QDir::homePath());
        const QString ini = file("dialogs.ini");
        QVERIFY(QDir(folder.path()).mkpath("models") && QDir(folder.path()).mkpath("notes"));
        {
            SettingsController settings(ini);
            QCOMPARE(settings.folderOf(Files::Models), home);
            QCOMPARE(settings.folderOf(Files::Attachments), home);
            settings.rememberFolderOf(Files::Models, QUrl::fromLocalFile(file("models/a.gguf")));
            settings.rememberFolderOf(Files::Attachments, QUrl::fromLocalFile(file("notes/b.txt")));
            settings.rememberFolderOf(Files::Attachments, QUrl(QStringLiteral("http://x/y")));  // not of this computer
        }
        SettingsController again(ini);
        QCOMPARE(again.folderOf(Files::Models), home);  // a share may take its time to answer
        QTRY_COMPARE(again.folderOf(Files::Models), QUrl::fromLocalFile(file("models")));
        QTRY_COMPARE(again.folderOf(Files::Attachments), QUrl::fromLocalFile(file("notes")));
        QVERIFY(QDir(file("models")).removeRecursively());
        QTRY_COMPARE(again.folderOf(Files::Models), home);
        QCOMPARE(again.folderOf(Files::Attachments), QUrl::fromLocalFile(file("notes")));

        // A model was opened without a dialog, or its folder is all that is known.
        SettingsController fresh(file("without-dialogs.ini"));
        QVERIFY(QDir(folder.path()).mkpath("added") && QDir(folder.path()).mkpath("listed"));
        QVERIFY(fresh.addModelFolder(QUrl::fromLocalFile(file("added"))));
        QCOMPARE(fresh.folderOf(Files::Models), QUrl::fromLocalFile(file("added")));
        QCOMPARE(fresh.folderOf(Files::Attachments), home);
        fresh.setLastModel(file("listed/a.gguf"));
        QTRY_COMPARE(fresh.folderOf(Files::Models), QUrl::fromLocalFile(file("listed")));
        fresh.setLastModel(file("listed/sha256-0123"));  // of Ollama
        QCOMPARE(fresh.folderOf(Files::Models), QUrl::fromLocalFile(file("added")));
        fresh.setLastModel(QStringLiteral("http://127.0.0.1:8000/#org%2Fmodel.gguf"));
        QCOMPARE(fresh.folderOf(Files::Models), QUrl::fromLocalFile(file("added")));
        fresh.rememberFolderOf(Files::Models, QUrl::fromLocalFile(file("notes/b.gguf")));
        QCOMPARE(fresh.folderOf(Files::Models), QUrl::fromLocalFile(file("notes")));

        write(file("hostile.ini"), "[models]\ndialog_folder=models\n[attachments]\ndialog_folder=@Variant(x)\n");
        SettingsController hostile(file("hostile.ini"));
        QCOMPARE(hostile.folderOf(Files::Models), home);
        QCOMPARE(hostile.folderOf(Files::Attachments), home);
    }

    void hostileValues_data()
    {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<int>("font");
        QTest::addColumn<int>("context");
        QTest::addColumn<int>("theme");
        QTest::newRow("too large") << QByteArray("[window]\nfont_percent=5000\ntheme=pink\n[load]\n"
                                                 "context_tokens=99999999999999999999\n")
                                   << 200 << (1 << 24) << 0;
        QTest::newRow("negative") << QByteArray("[window]\nfont_percent=-1\n[load]\ncontext_tokens=-7\n") << 80 << 0
                                  << 0;
        QTest::newRow("no numbers") << QByteArray("[window]\nfont_percent=large\ntheme=1\n[load]\ncontext_tokens=nan\n")
                                    << 100 << 0 << 0;
        QTest::newRow("lists") << QByteArray("[window]\nfont_percent=1, 2, 3\ntheme=dark, light\n") << 100 << 0 << 0;
        QTest::newRow("variants") << QByteArray("[window]\nfont_percent=@Variant(\\0\\0\\0\\x7f)\n"
                                                "theme=@ByteArray(dark)\n")
                                  << 100 << 0 << 2;
        QTest::newRow("bytes") << QByteArray("\0\1\2\xff\xfe=\n[window\nfont_percent", 30) << 100 << 0 << 0;
        QTest::newRow("huge") << QByteArray(2 << 20, 'x') << 100 << 0 << 0;
    }

    void hostileValues()
    {
        QFETCH(QByteArray, text);
        const QString ini = file("hostile.ini");
        write(ini, text);
        SettingsController settings(ini);
        QTEST(settings.fontPercent()->value(), "font");
        QTEST(settings.contextTokens()->value(), "context");
        QTEST(settings.theme()->value(), "theme");
    }

    void hostileFolders()
    {
        const QString ini = file("folders.ini");
        {
            QSettings raw(ini, QSettings::IniFormat);
            QStringList folders = {"relative", "/a/../b", "", QString(5000, 'x').prepend('/'), "/b"};
            for (int i = 0; i < 1000; ++i)
                folders += QStringLiteral("/many/%1").arg(i);
            raw.setValue("models/folders", folders);
            raw.setValue("models/last", "relative.gguf");
        }
        SettingsController settings(ini);
        QCOMPARE(settings.modelFolders().size(), SettingsController::kMostFolders);
        QCOMPARE(settings.modelFolders().first(), "/b");
        QVERIFY(settings.lastModel().isEmpty());
    }

    void whatCannotBeWrittenIsSaid()
    {
        write(file("plain"), "x");
        SettingsController settings(file("plain/no/folder.ini"));  // below a file
        QSignalSpy said(&settings, &SettingsController::troubleChanged);
        settings.theme()->setValue(SettingsController::Dark);
        QCOMPARE(settings.theme()->value(), int(SettingsController::Dark));  // holds for this run
        QVERIFY(!settings.trouble().isEmpty());
        QCOMPARE(said.size(), 1);
        settings.dismissTrouble();
        QVERIFY(settings.trouble().isEmpty());
    }

    void theCommandLineWinsForThisRun()
    {
        const QString ini = file("override.ini");
        {
            SettingsController settings(ini);
            settings.threads()->setValue(2);
            settings.threads()->override(9);
            QCOMPARE(settings.threads()->value(), 9);
            QVERIFY(settings.threads()->overridden());
        }
        SettingsController again(ini);
        QCOMPARE(again.threads()->value(), 2);
        QVERIFY(!again.threads()->overridden());
        again.threads()->override(100000);
        QCOMPARE(again.threads()->value(), again.threads()->highest());
        again.threads()->setValue(4);  // the user's word is newer
        QCOMPARE(again.threads()->value(), 4);
        QVERIFY(!again.threads()->overridden());
    }

    void whatIsTakenBackIsNoChoice()
    {
        const QString ini = file("taken-back.ini");
        SettingsController settings(ini);
        Setting& threads = *settings.threads();
        threads.setValue(2);
        threads.override(9);
        threads.follow(9);
        QVERIFY(threads.overridden());
        threads.follow(4);
        threads.follow(6);
        QCOMPARE(threads.value(), 6);
        threads.follow(9);
        QVERIFY(threads.overridden());
        QCOMPARE(threads.value(), 9);
        QCOMPARE(SettingsController(ini).threads()->value(), 2);
        threads.follow(5);
        QVERIFY(!threads.overridden());
        threads.setValue(9);  // by somebody who wants it
        QVERIFY(!threads.overridden());
        threads.follow(4);
        threads.follow(9);
        QVERIFY(!threads.overridden());
        QCOMPARE(SettingsController(ini).threads()->value(), 9);
    }

    void everythingOfAProfileIsUnderItsFolder()
    {
        const ProfileFolders folders = ProfileFolders::of(folder.filePath("profile"));
        for (const QString& one : {folders.config, folders.data, folders.cache, folders.state})
            QVERIFY2(one.startsWith(folder.filePath("profile") + '/'), qPrintable(one));
        QVERIFY(ProfileFolders::make(folders.state));
        const auto others = QFileDevice::ReadGroup | QFileDevice::ReadOther | QFileDevice::ExeOther;
        QVERIFY(!(QFile::permissions(folders.state) & others));
    }

    void foldersOfTheUser()
    {
#ifdef Q_OS_LINUX
        qputenv("XDG_CONFIG_HOME", "/x/config");
        qputenv("XDG_STATE_HOME", "not/absolute");
        const ProfileFolders folders = ProfileFolders::of();
        QCOMPARE(folders.config, "/x/config/spillway");
        QCOMPARE(folders.state, QDir::homePath() + "/.local/state/spillway");
#endif
    }
};

QTEST_MAIN(TestSettings)
#include "tst_settings.moc"
