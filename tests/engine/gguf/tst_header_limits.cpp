// Tests that a header which claims more than any model needs is refused in one sentence, at once and in little memory,
// and that reading one can be stopped.
#include "engine/gguf/gguf_file.h"
#include "engine/model/hyperparameters.h"
#include "engine/model_info.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/part_of_all.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>

#include <thread>

#ifdef __linux__
#include <sys/resource.h>
#endif

using engine::Error;
using support::GgufWriter;
using Bytes = GgufWriter::Bytes;

namespace {

/// Returns what an array begins with: type and number of its elements.
Bytes array_of(std::uint32_t type, std::uint64_t count)
{
    Bytes bytes(12);
    std::memcpy(bytes.data(), &type, 4);
    std::memcpy(bytes.data() + 4, &count, 8);
    return bytes;
}

GgufWriter llama()
{
    GgufWriter w;
    w.string("general.architecture", "llama").u32("llama.block_count", 3).u32("llama.context_length", 4096);
    w.u32("llama.embedding_length", 64).u32("llama.feed_forward_length", 64);
    w.f32("llama.attention.layer_norm_rms_epsilon", 1e-5f);
    return w;
}

/// The largest number of bytes this process has had in RAM; empty: the system does not say.
std::optional<qint64> peak_bytes()
{
#ifdef __linux__
    struct rusage use = {};
    if (::getrusage(RUSAGE_SELF, &use) == 0)
        return qint64(use.ru_maxrss) * 1024;
#endif
    return {};
}

const char* const kTypes[] = {"u8",   "i8",     "u16",   "i16", "u32", "i32", "f32",
                              "bool", "string", "array", "u64", "i64", "f64"};

}  // namespace

class TestHeaderLimits : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;
    std::filesystem::path file() const
    {
        return std::filesystem::path(m_folder.path().toStdU16String()) / "large.gguf";
    }
    /// Saves what the writer made, and behind it zeros up to `bytes`, which take no room on the disk.
    void save_sparse(const Bytes& header, qint64 bytes) const
    {
        std::filesystem::remove(file());
        GgufWriter::save_bytes(file(), header);
        std::filesystem::resize_file(file(), std::uintmax_t(bytes));
    }

    static Bytes cut_at(Bytes bytes, std::string_view key)
    {
        const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        bytes.resize(text.find(key) + key.size() + 4 + 12);  // the value's type, the array's beginning
        return bytes;
    }

private Q_SLOTS:
    // A sparse file of 16 GB: its zeros are as many elements as it claims, empty strings and empty arrays of u8
    // among them.
    void noArrayIsReadThrough_data()
    {
        QTest::addColumn<QByteArray>("key");
        QTest::addColumn<quint32>("type");
        QTest::addColumn<quint64>("count");
        test_support::PartOfAll part(3);
        for (quint32 type = 0; type < std::size(kTypes); ++type)
            for (const char* key : {"llama.attention.head_count", "tokenizer.ggml.tokens", "anything"})
                for (const quint64 count : {quint64(engine::kMaxArrayElements) + 1, quint64(1) << 30})
                    if (part.takes_next())
                        QTest::addRow("%s %s %llu", key, kTypes[type], count) << QByteArray(key) << type << count;
    }

    void noArrayIsReadThrough()
    {
        QFETCH(QByteArray, key);
        QFETCH(quint32, type);
        QFETCH(quint64, count);
        GgufWriter w = llama();
        w.raw(key.toStdString(), 9, array_of(type, count));
        save_sparse(cut_at(w.bytes(), key.toStdString()), qint64(16) << 30);
        const auto before = peak_bytes();
        const auto info = engine::inspect_model(file());
        QVERIFY(!info);
        QCOMPARE(info.error().code, Error::Code::BadFile);
        QVERIFY2(info.error().what.find("elements, far more than any model needs") != std::string::npos,
                 info.error().what.c_str());
        if (before)  // of 4 million elements not even one byte each was kept
            QVERIFY(*peak_bytes() - *before < qint64(engine::kMaxArrayElements));
    }

    void whatArraysHoldCountsTogether()
    {
        // 1,025 arrays of 4,096 bytes.
        Bytes value = array_of(9, 1025);
        for (int i = 0; i < 1025; ++i) {
            const Bytes inner = array_of(0, 4096);
            value.insert(value.end(), inner.begin(), inner.end());
            value.resize(value.size() + 4096);
        }
        llama().raw("nested", 9, value).save(file());
        const auto info = engine::inspect_model(file());
        QVERIFY(!info);
        QVERIFY2(info.error().what.find("'nested': an array has more than") != std::string::npos,
                 info.error().what.c_str());
    }

    /// Few strings, but each so long that the next lies pages further on.
    void longStringsAreRefusedToo()
    {
        constexpr std::uint64_t kLength = 64 << 20;
        GgufWriter w = llama();
        w.raw("texts", 9, array_of(8, 100));
        Bytes header = cut_at(w.bytes(), "texts");
        save_sparse(header, qint64(100) * qint64(kLength + 8) + (1 << 20));
        {
            std::fstream strings(file(), std::ios::binary | std::ios::in | std::ios::out);
            for (std::uint64_t i = 0; i < 100; ++i) {
                strings.seekp(std::streamoff(header.size() + i * (kLength + 8)));
                strings.write(reinterpret_cast<const char*>(&kLength), sizeof kLength);
            }
        }
        const auto info = engine::inspect_model(file());
        QVERIFY(!info);
        QVERIFY2(info.error().what.find("'texts': an array takes more bytes than any model needs") != std::string::npos,
                 info.error().what.c_str());
    }

    void manyLargeArraysAreRefusedTogether()
    {
        GgufWriter w = llama();
        for (int i = 0; i < 9; ++i)  // 32 MB each
            w.raw("numbers" + std::to_string(i), 9, [] {
                Bytes value = array_of(12, engine::kMaxArrayElements);
                value.resize(12 + engine::kMaxArrayElements * 8);
                return value;
            }());
        w.save(file());
        const auto info = engine::inspect_model(file());
        QVERIFY(!info);
        QVERIFY2(info.error().what.find("the file's header is larger than any model needs") != std::string::npos,
                 info.error().what.c_str());
    }

    void arraysForLayersAreShort_data()
    {
        QTest::addColumn<int>("count");
        QTest::addColumn<bool>("read");
        QTest::newRow("4096") << 4096 << true;
        QTest::newRow("4097") << 4097 << false;
    }

    void arraysForLayersAreShort()
    {
        QFETCH(int, count);
        QFETCH(bool, read);
        GgufWriter w = llama();
        w.u32s("llama.attention.head_count", std::vector<std::uint32_t>(std::size_t(count), 4));
        w.tensor("token_embd.weight", 0, {64, 3}, Bytes(64 * 3 * 4));
        w.save(file());
        const auto info = engine::inspect_model(file());
        QVERIFY(info);
        QCOMPARE(info->heads, read ? 4 : 0);
        const auto gguf = engine::GgufFile::open(file());
        QVERIFY(gguf);
        const auto h = engine::read_hyperparameters(*gguf);
        QVERIFY(!h || read);
        if (!read)
            QVERIFY2(h.error().what.find("has 4097 entries, more than a model can have layers") != std::string::npos,
                     h.error().what.c_str());
    }

    void anInspectionCanBeStopped()
    {
        std::stop_source stop;
        llama().save(file());
        QVERIFY(engine::inspect_model(file(), stop.get_token()));
        stop.request_stop();
        const auto info = engine::inspect_model(file(), stop.get_token());
        QVERIFY(!info);
        QCOMPARE(info.error().code, Error::Code::Cancelled);
    }

    /// In the midst of one array, the longest that is read at all.
    void alsoInTheMidstOfAnArray()
    {
        GgufWriter w = llama();
        w.raw("texts", 9, array_of(8, engine::kMaxArrayElements));
        save_sparse(cut_at(w.bytes(), "texts"), qint64(1) << 30);
        QElapsedTimer timer;
        timer.start();
        const bool whole = engine::inspect_model(file()).has_value();  // zeros after it are no list of tensors
        const qint64 took = timer.nsecsElapsed();
        QVERIFY(took < 5'000'000'000);  // what is promised of any header; it takes a hundredth of it
        // Stopped at various times of what it takes: it never comes to another end than one of these two.
        int stopped = 0;
        for (int i = 0; i < 20; ++i) {
            std::stop_source stop;
            std::jthread stopper([&] {
                std::this_thread::sleep_for(std::chrono::nanoseconds(took * i / 20));
                stop.request_stop();
            });
            const auto info = engine::inspect_model(file(), stop.get_token());
            if (!info && info.error().code == Error::Code::Cancelled)
                ++stopped;
            else
                QCOMPARE(info.has_value(), whole);
        }
        QVERIFY(stopped > 0);
    }
};

SPILLWAY_TEST(QCoreApplication, TestHeaderLimits)
#include "tst_header_limits.moc"
