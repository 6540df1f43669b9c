// Tests that damaged and hostile GGUF files are refused with one sentence each, and never crash the reader.
#include "engine/gguf/gguf_file.h"
#include "engine/gguf/printable.h"
#include "engine/model_info.h"
#include "tests/support/gguf_exercise.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/plain_user.h"
#include "tests/support/test_program.h"

#include <QRandomGenerator>
#include <QTemporaryDir>
#include <QTest>

#include <limits>
#ifndef _WIN32
#include <sys/stat.h>
#endif

using engine::GgufFile;
using support::GgufWriter;
using Bytes = GgufWriter::Bytes;

namespace {

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

Bytes floats(std::size_t n)
{
    return GgufWriter::bytes_of(std::vector<float>(n, 1.0f));
}

/// A bit of everything, under 1.5 kB.
GgufWriter small_file()
{
    GgufWriter w;
    w.string("general.architecture", "llama").string("general.name", "small").u32("general.alignment", 32);
    w.u32("llama.block_count", 2).u32("llama.embedding_length", 32).u32("llama.attention.head_count", 4);
    w.i32s("llama.attention.head_count_kv", std::vector<std::int32_t>{2, 1}).f32("llama.rope.freq_base", 10000.0f);
    w.strings("tokenizer.ggml.tokens", {"<s>", "a", "b"}).boolean("tokenizer.ggml.add_bos_token", true);
    w.floats("tokenizer.ggml.scores", std::vector<float>{0, -1, -2});
    w.raw("nested", 9, GgufWriter::bytes_of(std::vector<std::uint32_t>{9, 1, 0, 4, 2, 0, 7, 8}));
    w.tensor("token_embd.weight", 0, {32, 3}, floats(96)).tensor("q", 8, {32, 2}, Bytes(68, std::byte(3)));
    return w;
}

void put_u64(Bytes& bytes, std::size_t at, std::uint64_t value)
{
    std::memcpy(bytes.data() + at, &value, std::min(sizeof value, bytes.size() - at));
}

}  // namespace

class TestGgufDamage : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;
    std::filesystem::path file(const char* name) const
    {
        return std::filesystem::path(m_folder.path().toStdU16String()) / name;
    }

    /// The sentence, or "" where the file opened. Checks that it is one sentence that names the file.
    QString sentence(const std::filesystem::path& path) const
    {
        const auto gguf = GgufFile::open(path);
        if (gguf) {
            support::exercise(*gguf);
            return {};
        }
        QString what = QString::fromStdString(gguf.error().what);
        if (!what.contains(QString::fromStdU16String(path.filename().u16string())) || what.contains('\n') ||
            what.endsWith('.'))
            return "NOT A SENTENCE: " + what;
        return what;
    }
    QString sentence(const Bytes& bytes) const
    {
        std::filesystem::remove(file("f.gguf"));  // some file systems flush a file that is written anew
        GgufWriter::save_bytes(file("f.gguf"), bytes);
        return sentence(file("f.gguf"));
    }

private Q_SLOTS:
    void theSmallFileIsFine() { QCOMPARE(sentence(small_file().bytes()), QString()); }

    void everyKindOfDamage_data()
    {
        QTest::addColumn<Bytes>("bytes");
        QTest::addColumn<QString>("fragment");
        const auto row = [](const char* name, const GgufWriter& w, const char* fragment) {
            QTest::newRow(name) << w.bytes() << QString(fragment);
        };
        GgufWriter w;
        w.mark = {'G', 'G', 'M', 'L'};
        row("another mark", w, "does not begin with the GGUF mark");
        for (const auto& [version, fragment] :
             std::initializer_list<std::pair<std::uint32_t, const char*>>{{0, "version 0"},
                                                                          {1, "version 1"},
                                                                          {4, "version 4"},
                                                                          {0x03000000, "big-endian"},
                                                                          {0xffffffff, "version 4294967295"}}) {
            GgufWriter v;
            v.version = version;
            row(qPrintable(QString("version %1").arg(version)), v, fragment);
        }
        for (const std::int64_t more :
             {std::int64_t(1), std::int64_t(100000), std::int64_t(-3), std::int64_t(1) << 62}) {
            GgufWriter keys = small_file(), tensors = small_file();
            keys.claimed_keys_more = more == -3 ? -100 : more;
            tensors.claimed_tensors_more = more;
            row(qPrintable(QString("keys claimed %1").arg(more)), keys, "");
            row(qPrintable(QString("tensors claimed %1").arg(more)), tensors, "");
        }

        row("key twice", GgufWriter().u32("a", 1).u32("b", 1).string("a", "x"), "'a' appears twice");
        row("empty key", GgufWriter().u32("", 1), "key is 0 bytes long");
        row("long key", GgufWriter().u32(std::string(65536, 'k'), 1), "key is 65536 bytes long");
        row("value type 13", GgufWriter().raw("a", 13, Bytes(8)), "'a': unknown type 13");
        row("value type max", GgufWriter().raw("a", 0xffffffff, Bytes(8)), "unknown type 4294967295");
        row("bool 2", GgufWriter().raw("a", 7, Bytes(1, std::byte(2))), "neither 0 nor 1");
        row("hidden characters in a name", GgufWriter().raw("a\n\xff\xe2\x80\xae", 13, Bytes(8)), "'a\\n\\xff\\u202e'");
        const auto array_header = [](std::uint32_t type, std::uint64_t count) {
            Bytes b(12);
            std::memcpy(b.data(), &type, 4);
            std::memcpy(b.data() + 4, &count, 8);
            return b;
        };
        row("array of type 77", GgufWriter().raw("a", 9, array_header(77, 1)), "unknown type 77");
        for (const std::uint32_t type : {0u, 2u, 4u, 8u, 9u, 12u})
            for (const std::uint64_t count : {kMax, kMax / 2 + 1, kMax / 8 + 1, kMax / 12 + 1, std::uint64_t(1) << 32})
                row(qPrintable(QString("array of type %1, %2 elements").arg(type).arg(count)),
                    GgufWriter().raw("a", 9, array_header(type, count)), "'a': the file ends inside the metadata");
        Bytes deep;
        for (int i = 0; i < 2000; ++i) {
            const Bytes level = array_header(9, 1);
            deep.insert(deep.end(), level.begin(), level.end());
        }
        row("arrays nested 2000 deep", GgufWriter().raw("a", 9, deep), "nested too deeply");
        for (const std::uint64_t length : {kMax, kMax - 7, std::uint64_t(1) << 63, std::uint64_t(1000)})
            row(qPrintable(QString("string of %1 bytes").arg(length)),
                GgufWriter().raw("a", 8, std::as_bytes(std::span(&length, 1))), "ends inside the metadata");

        for (const std::uint32_t alignment : {0u, 3u, 24u, 1u << 21, 0xffffffffu})
            row(qPrintable(QString("alignment %1").arg(alignment)), GgufWriter().u32("general.alignment", alignment),
                "power of two");
        row("alignment negative", GgufWriter().i32("general.alignment", -32), "power of two");

        row("tensor twice", GgufWriter().tensor("t", 0, {4}, floats(4)).tensor("t", 0, {4}, floats(4)),
            "two tensors named 't'");
        row("tensor without a name", GgufWriter().tensor("", 0, {4}, floats(4)), "name is 0 bytes long");
        row("tensor with a long name", GgufWriter().tensor(std::string(5000, 't'), 0, {4}, floats(4)),
            "name is 5000 bytes long");
        row("5 dimensions", GgufWriter().tensor("t", 0, {1, 1, 1, 1, 1}, floats(1)), "5 dimensions");
        row("dimension 0", GgufWriter().tensor("t", 0, {4, 0}, floats(4)), "dimension of length 0");
        const auto big = [&](const char* name, std::uint32_t type, std::vector<std::uint64_t> dims) {
            row(name, GgufWriter().tensor("t", type, std::move(dims), floats(4)), "too large");
        };
        big("dimension max", 0, {kMax});
        big("dimension 2^63", 0, {std::uint64_t(1) << 63});
        big("product 2^64", 0, {std::uint64_t(1) << 32, std::uint64_t(1) << 32});
        big("product wraps to 0", 0, {std::uint64_t(1) << 48, std::uint64_t(1) << 48, 1 << 16, 1 << 16});
        big("product wraps to 1", 0, {0xfffffffffffffffull, 0x1000000000000001ull});
        row("bytes beyond any file", GgufWriter().tensor("t", 28, {std::uint64_t(1) << 58}, floats(4)), "");
        row("row of 33 for Q8_0", GgufWriter().tensor("t", 8, {33}, floats(40)),
            "Q8_0 cannot divide into blocks of 32");
        row("row of 32 for Q4_K", GgufWriter().tensor("t", 12, {32, 8}, floats(40)), "Q4_K cannot divide");
        row("row of 32 for IQ2_XXS", GgufWriter().tensor("t", 16, {32, 8}, floats(40)), "IQ2_XXS cannot divide");
        row("offset unaligned", GgufWriter().tensor("t", 0, {8}, floats(8)).tensor_at("u", 0, {1}, 4),
            "'u' does not lie on a multiple of 32 bytes");
        row("offset max", GgufWriter().tensor_at("t", 0, {8}, kMax & ~31ull), "outside of any possible file");
        row("offset 2^63", GgufWriter().tensor_at("t", 0, {8}, std::uint64_t(1) << 63), "outside of any possible file");
        row("offset wraps with size", GgufWriter().tensor_at("t", 0, {std::uint64_t(1) << 40}, kMax & ~31ull),
            "outside of any possible file");
        row("data missing", GgufWriter().tensor("t", 0, {8}, floats(8)).tensor_at("u", 0, {1000}, 32),
            "4000 bytes of 4128 bytes are missing");
        row("unknown type beyond the end", GgufWriter().tensor_at("t", 99, {8}, 1 << 20), "of 1.0 MB are missing");

        const auto split = [&](const char* name, std::uint16_t part, std::uint16_t count, const char* fragment) {
            row(name, GgufWriter().u16("split.no", part).u16("split.count", count), fragment);
        };
        split("split 5 of 3", 4, 3, "part 4 of 3");
        split("split 1 of 2 with another name", 0, 2, "should end in '-00001-of-00002.gguf'");
        split("split 2 of 2 with another name", 1, 2, "part 2 of 2 of a split model, open its first part");
    }

    void everyKindOfDamage()
    {
        QFETCH(Bytes, bytes);
        QFETCH(QString, fragment);
        const QString what = sentence(bytes);
        QVERIFY(!what.isEmpty());
        QVERIFY2(!what.startsWith("NOT"), qPrintable(what));
        QVERIFY2(what.contains(fragment), qPrintable(what));
    }

    void cutOffAtEveryByte()
    {
        const Bytes whole = small_file().bytes();
        const std::size_t needed = whole.size() - 28;  // the last tensor's 68 bytes are padded to 96
        for (std::size_t size = 1; size < whole.size(); ++size) {
            const QString what = sentence(Bytes(whole.begin(), whole.begin() + std::ptrdiff_t(size)));
            QVERIFY2(what.isEmpty() == (size >= needed), qPrintable(QString("%1 bytes: %2").arg(size).arg(what)));
            QVERIFY2(!what.startsWith("NOT"), qPrintable(what));
        }
        const Bytes short_by_ten(whole.begin(), whole.begin() + std::ptrdiff_t(needed - 10));
        QVERIFY(sentence(short_by_ten)
                    .endsWith(QString("the file is cut off: 10 bytes of %1 bytes are missing").arg(needed)));
    }

    void sizesAreSaidAsPeopleReadThem()
    {
        QCOMPARE(engine::byte_size(0).c_str(), "0 bytes");
        QCOMPARE(engine::byte_size(9'999).c_str(), "9999 bytes");
        QCOMPARE(engine::byte_size(10'000).c_str(), "10.0 kB");
        QCOMPARE(engine::byte_size(999'949).c_str(), "999.9 kB");
        QCOMPARE(engine::byte_size(999'950).c_str(), "1.0 MB");
        QCOMPARE(engine::byte_size(5'395'872).c_str(), "5.4 MB");
        QCOMPARE(engine::byte_size(4'368'439'584).c_str(), "4.4 GB");
        QCOMPARE(engine::byte_size(std::numeric_limits<std::uint64_t>::max()).c_str(), "18.4 EB");
    }

    void everyByteAndEveryFieldAtItsExtremes()
    {
        const Bytes whole = small_file().bytes();
        const std::size_t header = whole.size() - 96 * 5;  // what follows is tensor data
        int damaged = 0;
        for (std::size_t at = 0; at < header; ++at) {
            for (const unsigned value : {0x00u, 0x01u, 0x7fu, 0x80u, 0xffu}) {
                Bytes bytes = whole;
                bytes[at] = std::byte(value);
                const QString what = sentence(bytes);
                QVERIFY2(!what.startsWith("NOT"), qPrintable(what));
                damaged += !what.isEmpty();
            }
            for (const std::uint64_t value : {kMax, kMax / 2 + 1, kMax / 2, std::uint64_t(1) << 32, std::uint64_t(0)}) {
                Bytes bytes = whole;
                put_u64(bytes, at, value);
                const QString what = sentence(bytes);
                QVERIFY2(!what.startsWith("NOT"), qPrintable(what));
                damaged += !what.isEmpty();
            }
        }
        QVERIFY(damaged > int(header));  // most of these must be noticed
    }

    void randomDamage()
    {
        const quint32 seed = QRandomGenerator::global()->generate();
        qInfo("seed %u", seed);
        QRandomGenerator random(seed);
        const Bytes whole = small_file().bytes();
        for (int i = 0; i < 2000; ++i) {
            Bytes bytes = whole;
            for (int k = random.bounded(1, 6); k > 0; --k)
                bytes[random.bounded(quint32(bytes.size()))] = std::byte(random.bounded(256));
            const QString what = sentence(bytes);
            QVERIFY2(!what.startsWith("NOT"), qPrintable(what));
            const auto info = engine::inspect_model(file("f.gguf"));
            QCOMPARE(info.has_value(), what.isEmpty());
        }
    }

    void whatIsNoFile()
    {
        QVERIFY(sentence(file("nowhere.gguf")).endsWith("nowhere.gguf: there is no such file"));
        QVERIFY(GgufFile::open(file("nowhere.gguf")).error().code == engine::Error::Code::NotFound);
        std::filesystem::create_directory(file("folder.gguf"));
        QVERIFY(sentence(file("folder.gguf")).endsWith("this is a folder, not a file"));
        GgufWriter::save_bytes(file("empty.gguf"), {});
        QVERIFY(sentence(file("empty.gguf")).endsWith("the file is empty"));
        GgufWriter::save_bytes(file("g.gguf"), Bytes(1, std::byte('G')));
        QVERIFY(sentence(file("g.gguf")).endsWith("the file ends inside the GGUF header"));
        GgufWriter::save_bytes(file("x.gguf"), Bytes(1, std::byte('x')));
        QVERIFY(sentence(file("x.gguf")).endsWith("does not begin with the GGUF mark"));
        QVERIFY(!GgufFile::open({}));
#ifndef _WIN32
        QCOMPARE(::mkfifo(file("pipe.gguf").c_str(), 0600), 0);
        QVERIFY(sentence(file("pipe.gguf")).endsWith("this is not a regular file"));
        GgufWriter::save_bytes(file("secret.gguf"), small_file().bytes());
        std::filesystem::permissions(file("secret.gguf"), std::filesystem::perms::none);
        const support::PlainUser notRoot;
        QVERIFY(sentence(file("secret.gguf")).endsWith("no permission to read the file"));
#endif
    }

    void aPathInAnyScript()
    {
        const auto path = std::filesystem::path(m_folder.path().toStdU16String()) / u"m\u00f6del \u6a21\u578b.gguf";
        small_file().save(path);
        QCOMPARE(sentence(path), QString());
        GgufWriter::save_bytes(path, Bytes(100));
        QVERIFY(sentence(path).contains(QString::fromUtf8("m\xc3\xb6"
                                                          "del \xe6\xa8\xa1\xe5\x9e\x8b.gguf: this is not")));
    }
};

SPILLWAY_TEST(QCoreApplication, TestGgufDamage)
#include "tst_gguf_damage.moc"
