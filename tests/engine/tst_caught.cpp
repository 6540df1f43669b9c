// Tests that exceptions become errors in every function of the engine's front door.
#include "engine/caught.h"

#include <QDirIterator>
#include <QFile>
#include <QRegularExpression>
#include <QTest>

#include <filesystem>
#include <new>
#include <stdexcept>
#include <system_error>

using engine::Error;

namespace {

QString content(const QString& path)
{
    QFile file(path);
    return file.open(QFile::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

template <class Exception>
Error error_of(const Exception& thrown)
{
    try {
        throw thrown;
    } catch (...) {
        return engine::caught("for this").value();
    }
}

}  // namespace

class TestCaught : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void exceptionsAreSentences()
    {
        QCOMPARE(error_of(std::bad_alloc()).code, Error::Code::NoMemory);
        QCOMPARE(error_of(std::bad_alloc()).what, std::string("there is not enough memory for this"));
        QCOMPARE(error_of(std::length_error("vector")).code, Error::Code::NoMemory);
        QCOMPARE(error_of(std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again))).what,
                 std::string("the system does not give so many threads"));
        QCOMPARE(error_of(std::filesystem::filesystem_error("no such name", std::error_code())).code,
                 Error::Code::CannotRead);
        QCOMPARE(error_of(std::out_of_range("at")).code, Error::Code::Internal);
        QCOMPARE(error_of(4711).code, Error::Code::Internal);
    }

    /// Each function of engine/*.h that answers with a Result or a Status ends with caught().
    void theWholeFrontDoorIsGuarded()
    {
        const QString engine = QStringLiteral(SPILLWAY_SOURCE_DIR "/engine");
        QString sources;
        for (QDirIterator files(engine, {"*.cpp"}, QDir::Files, QDirIterator::Subdirectories); files.hasNext();)
            sources += content(files.next()) + '\n';

        static const QRegularExpression declaration(
            "^(?: {4}static| {4}virtual)? *(?:Result<[^(]*>|Status) ([a-z_]+)\\(", QRegularExpression::MultilineOption);
        static const QRegularExpression comment("^ *//.*$", QRegularExpression::MultilineOption);
        QStringList names;
        for (const QFileInfo& header : QDir(engine).entryInfoList({"*.h"}, QDir::Files)) {
            const QString text = content(header.filePath()).remove(comment);
            for (auto found = declaration.globalMatch(text); found.hasNext();)
                names.append(found.next().captured(1));
        }
        names.removeDuplicates();
        QVERIFY2(names.size() > 20 && names.contains("count_tokens") && names.contains("tokenize"),
                 qPrintable(names.join(' ')));

        for (const QString& name : std::as_const(names)) {
            if (name == "fail" || name == "caught")
                continue;
            const QRegularExpression definition(
                "^(?:Result<[^\\n]*>|Status) "
                "(?:LocalEngine::|Planner::|Evaluator::|RatesFile::|ShapeModel::|TextCodec::|OpenCodec::)?" +
                    name + "\\([^;{]*?(\\n\\{\\n|\\ntry \\{\\n).*?\\n\\}\\n",
                QRegularExpression::MultilineOption | QRegularExpression::DotMatchesEverythingOption);
            int definitions = 0;
            for (auto found = definition.globalMatch(sources); found.hasNext(); ++definitions) {
                const QString function = found.next().captured();
                QVERIFY2(function.contains("} catch (...) {\n") && function.contains("caught(\""),
                         qPrintable(function));
            }
            QVERIFY2(definitions > 0, qPrintable("no definition of " + name + " was found"));
        }
    }
};

QTEST_GUILESS_MAIN(TestCaught)
#include "tst_caught.moc"
