// Tests that mapped files have their bytes, give back RAM when they are told to, and can then be read again.
#include "engine/files/mapped_file.h"
#include "engine/metrics/host_probe.h"
#include "tests/support/gguf_writer.h"
#include "tests/support/test_program.h"

#include <QTemporaryDir>
#include <QTest>

using engine::MappedFile;

namespace {

std::size_t sum(std::span<const std::byte> bytes)
{
    std::size_t total = 0;
    for (const std::byte b : bytes)
        total += std::to_integer<std::size_t>(b);
    return total;
}

}  // namespace

class TestMappedFile : public QObject
{
    Q_OBJECT

    QTemporaryDir m_folder;
    std::filesystem::path file(std::size_t size) const
    {
        auto path = std::filesystem::path(m_folder.path().toStdU16String()) / u"gr\u00f6\u00dfe";
        std::filesystem::remove(path);
        support::GgufWriter::save_bytes(path, std::vector<std::byte>(size, std::byte(1)));
        return path;
    }

private Q_SLOTS:
    void theOwnerMoves()
    {
        auto first = MappedFile::open(file(5000));
        QVERIFY(first.has_value());
        MappedFile second = std::move(*first);
        QVERIFY(first->bytes().empty());
        QCOMPARE(sum(second.bytes()), std::size_t(5000));
        auto third = MappedFile::open(file(7));
        *third = std::move(second);
        QCOMPARE(sum(third->bytes()), std::size_t(5000));
        QVERIFY(!third->lost());
    }

    void releasedBytesCostNoMemoryAndCanBeReadAgain()
    {
        constexpr std::size_t kBytes = 64 << 20;
        const auto mapped = MappedFile::open(file(kBytes));
        QVERIFY(mapped.has_value());
        QCOMPARE(sum(mapped->bytes()), kBytes);
        const std::int64_t with_pages = *engine::process_memory().resident_bytes;

        mapped->release(kBytes / 2 + 1, kBytes);  // beyond the end is cut
        const std::int64_t with_half = *engine::process_memory().resident_bytes;
        mapped->release(0, kBytes / 2 + 1);
        const std::int64_t without = *engine::process_memory().resident_bytes;
        constexpr std::int64_t kNoise = 4 << 20;
        QVERIFY(std::abs(with_pages - with_half - std::int64_t(kBytes / 2)) < kNoise);
        QVERIFY(std::abs(with_pages - without - std::int64_t(kBytes)) < kNoise);
        QCOMPARE(sum(mapped->bytes()), kBytes);
    }

    void oddRanges()
    {
        const auto mapped = MappedFile::open(file(10000));
        QVERIFY(mapped.has_value());
        constexpr std::size_t kMax = std::size_t(-1);
        for (const auto& [offset, length] : std::initializer_list<std::pair<std::size_t, std::size_t>>{
                 {0, 0}, {0, 1}, {4095, 2}, {1, kMax}, {kMax, 1}, {kMax, kMax}, {10000, 5}, {0, kMax}}) {
            mapped->release(offset, length);
            mapped->prefetch(offset, length);
            QCOMPARE(sum(mapped->bytes()), std::size_t(10000));
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestMappedFile)
#include "tst_mapped_file.moc"
