// Tests that a model in several files opens by any of them, and that a missing or foreign part is named.
#include "engine/gguf/gguf_file.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

using engine::GgufFile;
using support::GgufWriter;

namespace {

GgufWriter part(int number, int count, int tensors_in_all)
{
    GgufWriter w;
    if (number == 0)
        w.string("general.architecture", "llama");
    w.u16("split.no", std::uint16_t(number)).u16("split.count", std::uint16_t(count));
    w.i32("split.tensors.count", tensors_in_all);
    w.tensor(QString("t%1").arg(number).toStdString(), 0, {8},
             GgufWriter::bytes_of(std::vector<float>(8, float(number))));
    return w;
}

}  // namespace

class TestGgufSplit : public QObject
{
    Q_OBJECT

    std::unique_ptr<QTemporaryDir> m_folder;
    std::filesystem::path file(const QString& name) const
    {
        return std::filesystem::path(m_folder->path().toStdU16String()) / name.toStdU16String();
    }
    QString failure(const QString& name) const
    {
        const auto gguf = GgufFile::open(file(name));
        return gguf ? QString("(opened)") : QString::fromStdString(gguf.error().what);
    }

private Q_SLOTS:
    void init()
    {
        m_folder = std::make_unique<QTemporaryDir>();
        for (int i = 0; i < 3; ++i)
            part(i, 3, 3).save(file(QString("m\u00f6del-0000%1-of-00003.gguf").arg(i + 1)));
    }

    void anyPartOpensAll()
    {
        for (const int opened : {1, 2, 3}) {
            const auto gguf = GgufFile::open(file(QString("m\u00f6del-0000%1-of-00003.gguf").arg(opened)));
            QVERIFY2(gguf.has_value(), gguf ? "" : gguf.error().what.c_str());
            QCOMPARE(gguf->paths().size(), std::size_t(3));
            QCOMPARE(gguf->tensors().size(), std::size_t(3));
            QCOMPARE(*gguf->string("general.architecture"), std::string_view("llama"));
            for (int i = 0; i < 3; ++i) {
                const engine::GgufTensor* tensor = gguf->tensor(QString("t%1").arg(i).toStdString());
                QVERIFY(tensor);
                QCOMPARE(tensor->file, i);
                float value = -1;
                std::memcpy(&value, tensor->bytes.data(), 4);
                QCOMPARE(value, float(i));
                gguf->release_pages(tensor->bytes);
            }
            std::uint64_t bytes = 0;
            for (const auto& path : gguf->paths())
                bytes += std::filesystem::file_size(path);
            QCOMPARE(gguf->file_bytes(), bytes);
        }
    }

    void aMissingPartIsNamed()
    {
        std::filesystem::remove(file("m\u00f6del-00002-of-00003.gguf"));
        const QString what = failure("m\u00f6del-00001-of-00003.gguf");
        QVERIFY2(what.startsWith("part 2 of 3 cannot be opened: "), qPrintable(what));
        QVERIFY2(what.endsWith("m\u00f6del-00002-of-00003.gguf: there is no such file"), qPrintable(what));
    }

    void theMissingFirstPartIsNamed()
    {
        std::filesystem::remove(file("m\u00f6del-00001-of-00003.gguf"));
        const QString what = failure("m\u00f6del-00003-of-00003.gguf");
        QVERIFY2(what.startsWith("this is part 3 of 3 of a split model"), qPrintable(what));
        QVERIFY2(what.endsWith("m\u00f6del-00001-of-00003.gguf: there is no such file"), qPrintable(what));
    }

    void aPartOfAnotherModel()
    {
        part(2, 4, 3).save(file("m\u00f6del-00003-of-00003.gguf"));
        QVERIFY(failure("m\u00f6del-00001-of-00003.gguf").endsWith("this is not part 3 of the same split model"));
        part(1, 3, 3).save(file("m\u00f6del-00003-of-00003.gguf"));
        QVERIFY(failure("m\u00f6del-00001-of-00003.gguf").endsWith("this is not part 3 of the same split model"));
        part(2, 3, 3).save(file("m\u00f6del-00001-of-00003.gguf"));
        QVERIFY(failure("m\u00f6del-00002-of-00003.gguf").endsWith("this is not the first part of the same model"));
    }

    void tensorsTwiceOrTooFew()
    {
        part(0, 3, 4).save(file("m\u00f6del-00001-of-00003.gguf"));
        QVERIFY(failure("m\u00f6del-00001-of-00003.gguf").endsWith("hold 3 tensors together, there should be 4"));
        GgufWriter again = part(0, 3, 4);
        again.tensor("t2", 0, {1}, GgufWriter::bytes_of(std::vector<float>{1}));
        again.save(file("m\u00f6del-00001-of-00003.gguf"));
        QVERIFY(failure("m\u00f6del-00001-of-00003.gguf").endsWith("two tensors named 't2'"));
    }

    void aCutOffPartIsNamed()
    {
        const auto path = file("m\u00f6del-00002-of-00003.gguf");
        std::filesystem::resize_file(path, std::filesystem::file_size(path) - 5);
        const QString what = failure("m\u00f6del-00001-of-00003.gguf");
        QVERIFY2(what.contains("m\u00f6del-00002-of-00003.gguf: the file is cut off: 5 bytes of"), qPrintable(what));
    }
};

SPILLWAY_TEST(QCoreApplication, TestGgufSplit)
#include "tst_gguf_split.moc"
