// Tests that the folders of a profile and their files are closed to other users.
#include "app/system/profile_folders.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QFileInfo>
#include <QMap>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#ifdef Q_OS_UNIX
#include <sys/stat.h>
#endif

class TestProfileFolders : public QObject
{
    Q_OBJECT

private:
#ifdef Q_OS_UNIX
    /// The permissions of all files below a folder whose names match.
    static QMap<QString, int> modes(const QString& folder, const QString& names)
    {
        QMap<QString, int> found;
        QDirIterator files(folder, {names}, QDir::Files | QDir::Hidden, QDirIterator::Subdirectories);
        while (files.hasNext()) {
            const QString file = files.next();
            struct stat what = {};
            if (stat(qPrintable(file), &what) == 0)
                found.insert(file, int(what.st_mode & 0777));
        }
        return found;
    }
#endif

private Q_SLOTS:
    void underOneFolder()
    {
        const ProfileFolders folders = ProfileFolders::of(QStringLiteral("/portable/../profile/"));
        QVERIFY(folders.config.endsWith(QStringLiteral("/profile/config")));
        QVERIFY(folders.data.endsWith(QStringLiteral("/profile/data")));
        QVERIFY(folders.cache.endsWith(QStringLiteral("/profile/cache")));
        QVERIFY(folders.state.endsWith(QStringLiteral("/profile/state")));
    }

    void aFileInTheWay()
    {
        const QTemporaryDir folder;
        QFile file(folder.filePath("data"));
        QVERIFY(file.open(QFile::WriteOnly));
        QVERIFY(!ProfileFolders::make(file.fileName()));
        QVERIFY(!ProfileFolders::make(file.fileName() + "/below"));
    }

    // Whatever the shell says of new files, and also where a folder was open before.
    void closedToOthers_data()
    {
        QTest::addColumn<int>("mask");
        QTest::addColumn<bool>("there");
        for (const int mask : {0, 022})
            for (const bool there : {false, true})
                QTest::addRow("umask %03o%s", mask, there ? ", an open folder" : "") << mask << there;
    }

    void closedToOthers()
    {
#ifdef Q_OS_UNIX
        QFETCH(int, mask);
        QFETCH(bool, there);
        const QTemporaryDir folder;
        const QString made = folder.filePath("profile/data");
        if (there) {
            QVERIFY(QDir().mkpath(made));
            QCOMPARE(chmod(qPrintable(made), 0755), 0);
        }
        const mode_t before = umask(mode_t(mask));
        const bool succeeded = ProfileFolders::make(made);
        umask(before);
        QVERIFY(succeeded);
        struct stat what = {};
        QCOMPARE(stat(qPrintable(made), &what), 0);
        QCOMPARE(int(what.st_mode & 0777), 0700);
#else
        QSKIP("the profile's own access list does that");
#endif
    }

    // The database with its journal, the log and what else the window's program writes.
    void filesAreClosedToOthers()
    {
#ifdef Q_OS_UNIX
        const QTemporaryDir folder;
        qputenv("XDG_RUNTIME_DIR", folder.path().toUtf8());
        QProcess program;
        const mode_t before = umask(022);
        program.start(QStringLiteral(SPILLWAY_PROGRAM), {"--profile", folder.filePath("profile")});
        umask(before);
        QVERIFY(program.waitForStarted());
        QTRY_VERIFY_WITH_TIMEOUT(!modes(folder.filePath("profile/data"), "*.sqlite").isEmpty() &&
                                     !modes(folder.filePath("profile/state"), "*.log").isEmpty(),
                                 60000);
        QTest::qWait(200);  // others that come with them
        const QMap<QString, int> all = modes(folder.filePath("profile"), "*");
        program.kill();
        QVERIFY(program.waitForFinished(30000));
        for (auto file = all.begin(); file != all.end(); ++file)
            QVERIFY2((file.value() & 077) == 0,
                     qPrintable(QStringLiteral("%1: %2").arg(file.key()).arg(file.value(), 0, 8)));
#else
        QSKIP("the profile's own access list does that");
#endif
    }
};

SPILLWAY_TEST(QCoreApplication, TestProfileFolders)

#include "tst_profile_folders.moc"
