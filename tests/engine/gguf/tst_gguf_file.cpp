// Tests that the reader finds every kind of value and every tensor of valid GGUF files.
#include "engine/gguf/gguf_file.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/test_program.h"

#include <QDir>
#include <QTemporaryDir>
#include <QTest>

#include <limits>

using engine::GgufFile;
using support::GgufWriter;

class TestGgufFile : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;
    std::filesystem::path file(const char* name) const
    {
        return std::filesystem::path(m_folder.path().toStdU16String()) / name;
    }

private Q_SLOTS:
    void everyKindOfValue()
    {
        GgufWriter w;
        w.u8("u8", 255).i8("i8", -128).u16("u16", 65535).i16("i16", -32768).u32("u32", 4294967295u);
        w.i32("i32", std::numeric_limits<std::int32_t>::min())
            .f32("f32", 0.25f)
            .boolean("yes", true)
            .boolean("no", false);
        w.u64("u64", 1ull << 63).i64("i64", -5).f64("f64", 1e300).string("text", "h\xc3\xa9llo").string("empty", "");
        w.strings("words", {"a", "", "ccc"}).floats("floats", std::vector<float>{1.5f, -2.0f});
        w.i32s("ints", std::vector<std::int32_t>{1, -2, 3});
        w.array<double>("doubles", 12, std::vector<double>{0.5});
        w.array<std::uint64_t>("large", 10, std::vector<std::uint64_t>{1, 1ull << 63});
        w.save(file("kinds.gguf"));
        const auto gguf = GgufFile::open(file("kinds.gguf"));
        QVERIFY2(gguf.has_value(), gguf ? "" : gguf.error().what.c_str());

        QCOMPARE(*gguf->integer("u8"), 255);
        QCOMPARE(*gguf->integer("i8"), -128);
        QCOMPARE(*gguf->integer("u16"), 65535);
        QCOMPARE(*gguf->integer("i16"), -32768);
        QCOMPARE(*gguf->integer("u32"), 4294967295ll);
        QCOMPARE(*gguf->integer("i32"), std::int64_t(std::numeric_limits<std::int32_t>::min()));
        QCOMPARE(*gguf->integer("i64"), -5);
        QCOMPARE(*gguf->integer("yes"), 1);
        QVERIFY(!gguf->integer("u64"));  // does not fit
        QVERIFY(!gguf->integer("f32"));
        QVERIFY(!gguf->integer("text"));
        QVERIFY(!gguf->integer("ints"));
        QCOMPARE(*gguf->number("u64"), 9223372036854775808.0);
        QCOMPARE(*gguf->number("f32"), 0.25);
        QCOMPARE(*gguf->number("f64"), 1e300);
        QCOMPARE(*gguf->number("i8"), -128.0);
        QVERIFY(!gguf->number("text"));
        QCOMPARE(*gguf->boolean("yes"), true);
        QCOMPARE(*gguf->boolean("no"), false);
        QVERIFY(!gguf->boolean("u8"));
        QCOMPARE(*gguf->string("text"), std::string_view("h\xc3\xa9llo"));
        QCOMPARE(*gguf->string("empty"), std::string_view(""));
        QVERIFY(!gguf->string("u8"));
        QVERIFY(!gguf->string("nowhere"));
        QVERIFY((*gguf->strings("words") == std::vector<std::string_view>{"a", "", "ccc"}));
        QVERIFY(!gguf->strings("floats"));
        QVERIFY((*gguf->floats("floats") == std::vector<float>{1.5f, -2.0f}));
        QVERIFY((*gguf->floats("ints") == std::vector<float>{1, -2, 3}));
        QVERIFY((*gguf->floats("doubles") == std::vector<float>{0.5f}));
        QVERIFY(!gguf->floats("words"));
        QVERIFY((*gguf->integers("ints") == std::vector<std::int64_t>{1, -2, 3}));
        QVERIFY(!gguf->integers("floats"));
        QVERIFY(!gguf->integers("large"));
        QCOMPARE(*gguf->array_length("words"), 3u);
        QVERIFY(!gguf->array_length("u8"));
        QCOMPARE(gguf->printed_metadata().size(), std::size_t(19));
    }

    void tensorsAreWhereTheyWereWritten()
    {
        GgufWriter w;
        w.tensor("one", 0, {3}, GgufWriter::bytes_of(std::vector<float>{1, 2, 3}));
        w.tensor("q", 8, {32, 2, 1, 2}, GgufWriter::Bytes(34 * 4, std::byte(7)));
        w.save(file("tensors.gguf"));
        const auto gguf = GgufFile::open(file("tensors.gguf"));
        QVERIFY2(gguf.has_value(), gguf ? "" : gguf.error().what.c_str());
        QCOMPARE(gguf->tensors().size(), std::size_t(2));
        const engine::GgufTensor* one = gguf->tensor("one");
        QVERIFY(one);
        QCOMPARE(one->num_dims, 1);
        QVERIFY(one->type == kernels::TensorType::F32);
        QCOMPARE(one->bytes.size(), std::size_t(12));
        float third = 0;
        std::memcpy(&third, one->bytes.data() + 8, 4);
        QCOMPARE(third, 3.0f);
        const engine::GgufTensor* q = gguf->tensor("q");
        QVERIFY(q);
        QVERIFY((q->dims == std::array<std::int64_t, 4>{32, 2, 1, 2}));
        QCOMPARE(q->elements(), 128);
        QCOMPARE(q->type_name(), std::string("Q8_0"));
        QCOMPARE(q->bytes.size(), std::size_t(34 * 4));
        QCOMPARE(int(q->bytes.back()), 7);
        QVERIFY(!gguf->tensor("on"));
        QVERIFY(!gguf->tensor(""));
        gguf->release_pages(q->bytes);
        gguf->prefetch_pages(q->bytes);
        QCOMPARE(int(q->bytes.back()), 7);
    }

    void everyGoldenFileOpens_data()
    {
        QTest::addColumn<QString>("path");
        QTest::newRow("none") << QString();
        const QString golden = qEnvironmentVariable("SPILLWAY_GOLDEN");
        if (golden.isEmpty())
            return;
        for (const char* folder : {"logits", "tokenizers"})
            for (const QFileInfo& info : QDir(golden + '/' + folder).entryInfoList({"*.gguf"}, QDir::Files))
                QTest::newRow(qPrintable(info.fileName())) << info.absoluteFilePath();
    }

    void everyGoldenFileOpens()
    {
        QFETCH(QString, path);
        if (path.isEmpty() && qEnvironmentVariableIsEmpty("SPILLWAY_GOLDEN"))
            QSKIP("SPILLWAY_GOLDEN is not set");
        if (path.isEmpty())
            return;
        const auto gguf = GgufFile::open(path.toStdU16String());
        QVERIFY2(gguf.has_value(), gguf ? "" : gguf.error().what.c_str());
        QVERIFY(gguf->string("general.architecture"));
        if (path.contains("/logits/")) {
            QVERIFY(gguf->tensor("token_embd.weight"));
            std::uint64_t bytes = 0;
            for (const engine::GgufTensor& tensor : gguf->tensors())
                bytes += tensor.bytes.size();
            QVERIFY(bytes <= gguf->file_bytes());
            QVERIFY(bytes > gguf->file_bytes() / 2);
        } else {
            QVERIFY(gguf->strings("tokenizer.ggml.tokens"));
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestGgufFile)
#include "tst_gguf_file.moc"
