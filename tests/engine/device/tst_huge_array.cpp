// Tests that memory in large pages is zero at first, aligned, and counted while it is held.
#include "engine/device/huge_array.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <cstdint>
#include <utility>

using namespace engine;

class TestHugeArray : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void isZeroAndAligned_data()
    {
        QTest::addColumn<int>("bytes");
        QTest::addColumn<int>("alignment");
        constexpr int kLargePage = 2 << 20;
        QTest::newRow("one byte") << 1 << 64;
        QTest::newRow("less than a large page") << kLargePage - 1 << 64;
        QTest::newRow("a large page") << kLargePage << 4096;
        QTest::newRow("some, and a bit") << 3 * kLargePage + 5000 << 4096;
    }
    void isZeroAndAligned()
    {
        QFETCH(int, bytes);
        QFETCH(int, alignment);
        for (int round = 0; round < 2; ++round) {  // what was written is not found again
            const HugeArray array{std::size_t(bytes)};
            QVERIFY(array);
            QCOMPARE(reinterpret_cast<std::uintptr_t>(array.data()) % std::uintptr_t(alignment), std::uintptr_t(0));
            QVERIFY(std::all_of(array.data(), array.data() + bytes, [](std::byte b) { return b == std::byte(0); }));
            std::fill_n(array.data(), bytes, std::byte(0xff));
        }
    }

    void isCountedWhileItIsHeld()
    {
        const std::int64_t before = HugeArray::held_bytes();
        {
            HugeArray first(100), second(5 << 20);
            QCOMPARE(HugeArray::held_bytes() - before, std::int64_t(100 + (5 << 20)));
            HugeArray third = std::move(second);
            first = std::move(third);
            QCOMPARE(HugeArray::held_bytes() - before, std::int64_t(5 << 20));
        }
        QCOMPARE(HugeArray::held_bytes(), before);
        QVERIFY(!HugeArray());
        QVERIFY(HugeArray::nodes() >= 1);
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestHugeArray)
#include "tst_huge_array.moc"
