// Tests that the checksum of bytes on a disk tells different bytes apart.
#include "engine/files/checksum.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cstddef>
#include <random>
#include <set>
#include <span>
#include <vector>

using engine::checksum;

class TestChecksum : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void everyFlippedBitIsFound()
    {
        std::mt19937 random(1);
        for (const std::size_t size :
             {std::size_t(1), std::size_t(7), std::size_t(8), std::size_t(31), std::size_t(64), std::size_t(101)}) {
            std::vector<std::byte> bytes(size);
            for (std::byte& byte : bytes)
                byte = std::byte(random());
            std::set<std::uint64_t> sums = {checksum(bytes), checksum(bytes, 1)};
            sums.insert(checksum(std::span(bytes).first(size - 1)));
            for (std::size_t bit = 0; bit < size * 8; ++bit) {
                bytes[bit / 8] ^= std::byte(1 << (bit % 8));
                sums.insert(checksum(bytes));
                bytes[bit / 8] ^= std::byte(1 << (bit % 8));
            }
            QCOMPARE(sums.size(), size * 8 + 3);
        }
    }

    void theNumberOfZerosCounts()
    {
        const std::vector<std::byte> zeros(200);
        std::set<std::uint64_t> sums;
        for (std::size_t size = 0; size <= zeros.size(); ++size)
            sums.insert(checksum(std::span(zeros).first(size)));
        QCOMPARE(sums.size(), std::size_t(201));
    }
};

SPILLWAY_TEST(QCoreApplication, TestChecksum)
#include "tst_checksum.moc"
