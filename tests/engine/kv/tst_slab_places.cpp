// Tests that no place of a slab is given to two KV blocks, and that slabs become empty because their blocks find places
// in others.
#include "engine/kv/slab_places.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <ctime>
#include <map>
#include <random>

using namespace engine;

namespace {

/// Memory that nobody looks at.
std::byte* at(std::size_t offset)
{
    return reinterpret_cast<std::byte*>(std::uintptr_t(1) << 40) + offset;
}

}  // namespace

class TestSlabPlaces : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theFullestSlabIsFilledFirst()
    {
        SlabPlaces places;
        for (int slab = 0; slab < 3; ++slab)
            places.add(at(std::size_t(slab) * 1000), 1000);
        std::vector<std::byte*> given;
        for (std::size_t i = 0; i < 30; ++i)
            given.push_back(places.take(100, i));
        QCOMPARE(places.take(100, 30), nullptr);
        for (int i : {3, 14, 15, 16, 27, 28})
            QVERIFY(!places.give_back(given[std::size_t(i)]));
        QCOMPARE(places.places(100, 100), std::int64_t(6));
        QCOMPARE(places.take(100, 3), given[3]);  // its slab lacked one only
        QVERIFY(!places.remove_empty());
        // The second slab's seven blocks find no place in two.
        QVERIFY(places.begin_emptying().empty());
    }

    void aSlabWithoutBlocksServesAnySize()
    {
        SlabPlaces places;
        places.add(at(0), 1000);
        std::byte* const small = places.take(300, 1);
        QCOMPARE(places.take(400, 2), nullptr);
        QVERIFY(places.give_back(small));
        QCOMPARE(places.places(400, 10), std::int64_t(2));
        QCOMPARE(places.take(400, 2), at(0));
        QCOMPARE(places.take(400, 2), at(400));
        QCOMPARE(places.take(400, 2), nullptr);
        QCOMPARE(places.take(200, 2), nullptr);
    }

    /// Where blocks get another layout all slabs go first: the sizes before it count no more.
    void sizesAreForgottenWithTheLastSlab()
    {
        SlabPlaces places;
        for (int slab = 0; slab < 2; ++slab)
            places.add(at(std::size_t(slab) * 1000), 1000);
        std::byte* const small = places.take(300, 1);
        std::byte* const large = places.take(400, 2);
        QCOMPARE(places.sizes(), 2);
        places.give_back(small);
        QVERIFY(places.remove_empty());
        QCOMPARE(places.sizes(), 2);  // a block of the other size may come again
        places.give_back(large);
        QVERIFY(places.remove_empty());
        QCOMPARE(places.sizes(), 0);
        places.add(at(0), 1000);
        QVERIFY(places.take(200, 3));
        QCOMPARE(places.sizes(), 1);
        QCOMPARE(places.places(200, 10), std::int64_t(4));
    }

    void blocksOfTheEmptiestSlabMove()
    {
        SlabPlaces places;
        for (int slab = 0; slab < 2; ++slab)
            places.add(at(std::size_t(slab) * 1000), 1000);
        std::map<std::size_t, std::byte*> given;
        for (std::size_t i = 0; i < 20; ++i)
            given[i] = places.take(100, i);
        for (std::size_t i : {0, 1, 2, 3, 11, 12, 13, 14, 15, 16}) {
            places.give_back(given[i]);
            given.erase(i);
        }
        const auto owners = places.begin_emptying();
        QCOMPARE(owners, (std::vector<std::size_t>{10, 17, 18, 19}));
        bool empty = false;
        for (const std::size_t owner : owners) {
            std::byte* const to = places.take(100, owner);
            QVERIFY(to && to < at(1000));
            empty = places.give_back(given[owner]);
        }
        QVERIFY(empty);
        places.end_emptying();
        const auto gone = places.remove_empty();
        QVERIFY(gone && gone->first == at(1000) && gone->bytes == 1000);
        QCOMPARE(places.slabs(), 1);
    }

    void noPlaceIsGivenTwice()
    {
        const unsigned seed = std::random_device{}();
        qInfo("seed %u", seed);
        std::mt19937 random(seed);
        SlabPlaces places;
        std::map<std::byte*, std::pair<std::size_t, std::size_t>> given;  // bytes and owner by place
        std::map<std::byte*, std::size_t> slabs;
        constexpr std::size_t kSizes[] = {256, 768, 1024};
        std::size_t next_slab = 0;
        const auto take = [&](std::size_t bytes, std::size_t owner) {
            std::byte* const place = places.take(bytes, owner);
            if (!place)
                return false;
            const auto after = given.lower_bound(place);
            const bool apart =
                (after == given.end() || place + bytes <= after->first) &&
                (after == given.begin() || std::prev(after)->first + std::prev(after)->second.first <= place);
            auto slab = slabs.upper_bound(place);
            const bool inside =
                slab != slabs.begin() && place + bytes <= std::prev(slab)->first + std::prev(slab)->second;
            given[place] = {bytes, owner};
            return apart && inside;
        };
        for (int i = 0; i < 20000; ++i) {
            const std::size_t bytes = kSizes[random() % 3];
            if (random() % 100 < 52 && given.size() < 500) {
                if (places.places(bytes, 1) == 0) {
                    const std::size_t room = 1024 * (1 + random() % 8);
                    slabs[at(next_slab)] = room;
                    places.add(at(next_slab), room);
                    next_slab += 16384;
                }
                QVERIFY(take(bytes, std::size_t(i)));
            } else if (!given.empty()) {
                auto one = given.begin();
                std::advance(one, random() % given.size());
                places.give_back(one->first);
                given.erase(one);
            }
            if (random() % 50 == 0) {
                for (const std::size_t owner : places.begin_emptying()) {
                    const auto old =
                        std::ranges::find_if(given, [&](const auto& g) { return g.second.second == owner; });
                    QVERIFY(old != given.end());
                    std::byte* const from = old->first;
                    QVERIFY(take(old->second.first, owner));
                    given.erase(from);
                    places.give_back(from);
                }
                places.end_emptying();
                while (const auto gone = places.remove_empty())
                    QCOMPARE(slabs.erase(gone->first), std::size_t(1));
                QCOMPARE(places.slabs(), int(slabs.size()));
            }
        }
    }

    /// Ten times the slabs are not ten times the time.
    void manySlabsAreNotSearched()
    {
        const auto seconds = [](int slabs) {
            SlabPlaces places;
            std::vector<std::byte*> given;
            for (int slab = 0; slab < slabs; ++slab)
                places.add(at(std::size_t(slab) * 6400), 6400);
            for (std::size_t i = 0; i < std::size_t(slabs) * 100; ++i)
                given.push_back(places.take(64, i));
            const std::clock_t began = std::clock();  // of the processor, which others may want as well
            for (std::size_t i = 0; i < 200000; ++i) {
                std::byte*& place = given[i * 7919 % given.size()];
                places.give_back(place);
                place = places.take(64, i);
            }
            return double(std::clock() - began);
        };
        const auto best = [&](int slabs) { return std::min({seconds(slabs), seconds(slabs), seconds(slabs)}); };
        const double few = best(300), many = best(3000);
        QVERIFY2(many < 6 * few, qPrintable(QString("%1 times as long").arg(many / few)));
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestSlabPlaces)
#include "tst_slab_places.moc"
