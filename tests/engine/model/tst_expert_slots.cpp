// Tests that slots hold the experts that are chosen most: compared with a list by last use, with a choice that knows
// what each topic likes, and with one that knows the future.
#include "engine/model/expert_slots.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <set>
#include <vector>

using engine::ExpertSlots;

namespace {

/// Holds what tokens choose: each topic likes other experts, by Zipf's law, and each token draws anew.
struct Routing {
    int experts = 0, used = 0;
    std::vector<std::vector<int>> chosen;     // of each token
    std::vector<std::vector<double>> liking;  // what its topic likes each expert, as a logarithm
};

Routing draw(int experts, int used, double skew, int topic_tokens, std::mt19937& random)
{
    constexpr int kTokens = 1500;
    std::uniform_real_distribution<double> uniform(1e-12, 1.0);
    Routing routing{experts, used, {}, {}};
    std::vector<double> liking;
    liking.resize(std::size_t(experts));
    std::vector<int> order(std::size_t(experts), 0);
    for (int t = 0; t < kTokens; ++t) {
        for (int e = 0; e < experts; ++e)
            order[std::size_t(e)] = e;
        if (t % topic_tokens == 0) {
            std::shuffle(order.begin(), order.end(), random);
            for (int rank = 0; rank < experts; ++rank)
                liking[std::size_t(order[std::size_t(rank)])] = -skew * std::log(rank + 1.0);
        }
        std::vector<double> drawn = liking;
        for (double& value : drawn)
            value -= std::log(-std::log(uniform(random)));
        std::ranges::sort(order, {}, [&](int e) { return -drawn[std::size_t(e)]; });
        routing.chosen.emplace_back(order.begin(), order.begin() + used);
        routing.liking.push_back(liking);
    }
    return routing;
}

template <class Holds>
double hit_rate(const Routing& routing, const Holds& holds_before)
{
    int hits = 0;
    for (int t = 0; t < int(routing.chosen.size()); ++t) {
        const std::set<int> held = holds_before(t);
        hits += int(std::ranges::count_if(routing.chosen[std::size_t(t)], [&](int e) { return held.contains(e); }));
    }
    return double(hits) / double(routing.chosen.size()) / routing.used;
}

/// Returns the share of hits where one expert is copied after each token, if it is worth it.
double by_slots(const Routing& routing, int slots_there)
{
    ExpertSlots places(routing.experts, slots_there);
    int hits = 0;
    for (const std::vector<int>& chosen : routing.chosen) {
        places.begin_step(1);
        for (const int e : chosen) {
            hits += places.slot_of(e) != ExpertSlots::kNone;
            places.note(e, 1);
        }
        if (const auto change = places.wanted())
            places.put(*change);
    }
    return double(hits) / double(routing.chosen.size()) / routing.used;
}

template <class Worth>
std::set<int> best(int experts, int count, const Worth& worth)
{
    std::vector<int> order;
    for (int e = 0; e < experts; ++e)
        order.push_back(e);
    std::ranges::stable_sort(order, {}, [&](int e) { return -worth(e); });
    return {order.begin(), order.begin() + count};
}

double by_last_use(const Routing& routing, int places)
{
    std::vector<double> last(std::size_t(routing.experts), -1.0);
    return hit_rate(routing, [&](int t) {
        for (const int e : t > 0 ? routing.chosen[std::size_t(t - 1)] : std::vector<int>())
            last[std::size_t(e)] = t;
        return best(routing.experts, places, [&](int e) { return last[std::size_t(e)]; });
    });
}

double by_liking(const Routing& routing, int places)
{
    return hit_rate(routing, [&](int t) {
        return best(routing.experts, places, [&](int e) { return routing.liking[std::size_t(t)][std::size_t(e)]; });
    });
}

/// Returns the share of hits of Belady's choice: of the experts held and those just computed, it keeps the ones that
/// are used again soonest.
double by_future(const Routing& routing, int places)
{
    std::set<int> held;
    return hit_rate(routing, [&](int t) {
        if (t == 0)
            return held;
        std::set<int> candidates = held;
        candidates.insert(routing.chosen[std::size_t(t - 1)].begin(), routing.chosen[std::size_t(t - 1)].end());
        std::vector<int> next(std::size_t(routing.experts), std::numeric_limits<int>::max());
        int found = 0;
        for (int later = t; later < int(routing.chosen.size()) && found < routing.experts; ++later)
            for (const int e : routing.chosen[std::size_t(later)])
                if (next[std::size_t(e)] == std::numeric_limits<int>::max()) {
                    next[std::size_t(e)] = later;
                    ++found;
                }
        std::vector<int> order(candidates.begin(), candidates.end());
        std::ranges::stable_sort(order, {}, [&](int e) { return next[std::size_t(e)]; });
        held = {order.begin(), order.begin() + std::min(places, int(order.size()))};
        return held;
    });
}

}  // namespace

class TestExpertSlots : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void whatIsChosenGetsASlot()
    {
        ExpertSlots places(8, 2);
        places.begin_step(1);
        QVERIFY(!places.wanted());
        places.note(5, 1);
        const auto change = places.wanted();
        QVERIFY(change);
        QCOMPARE(change->expert, 5);
        QCOMPARE(places.slot_of(5), ExpertSlots::kNone);
        places.put(*change);
        QCOMPARE(places.slot_of(5), change->slot);
        QVERIFY(!places.wanted());  // nobody else was chosen
    }

    void theLeastWorthGivesWay()
    {
        ExpertSlots places(8, 2);
        places.begin_step(1);
        for (const int e : {1, 2}) {
            places.note(e, 1);
            places.put(*places.wanted());
        }
        places.begin_step(1);
        places.note(1, 1);
        places.note(3, 1);  // worth 1, as 2 was a token ago: not enough more to move
        QVERIFY(!places.wanted());
        for (int token = 0; token < 8; ++token) {
            places.begin_step(1);
            places.note(1, 1);
        }
        places.begin_step(1);
        places.note(3, 1);
        const auto change = places.wanted();
        QVERIFY(change);
        QCOMPARE(change->expert, 3);
        QCOMPARE(change->slot, places.slot_of(2));
        places.clear(change->slot);
        QCOMPARE(places.slot_of(2), ExpertSlots::kNone);  // from when its place is written over
        places.put(*change);
        QVERIFY(places.slot_of(1) != ExpertSlots::kNone && places.slot_of(3) == change->slot);
    }

    void manyTokensOfAStepCountAsIfTheyCameOneByOne()
    {
        ExpertSlots together(4, 1), single(4, 1);
        together.begin_step(40);
        together.note(0, 40);
        together.note(1, 4);
        for (int token = 0; token < 40; ++token) {
            single.begin_step(1);
            single.note(0, 1);
        }
        together.put(*together.wanted());
        single.put(*single.wanted());
        // 0 is worth as much in both: the other expert draws level with it after as many tokens.
        const auto tokens_until_it_leaves = [](ExpertSlots& places) {
            int tokens = 0;
            while (!places.wanted() || places.wanted()->expert != 2) {
                places.begin_step(1);
                places.note(2, 1);
                ++tokens;
            }
            return tokens;
        };
        QCOMPARE(tokens_until_it_leaves(together), tokens_until_it_leaves(single));
    }

    void noSlotsHoldNothing()
    {
        ExpertSlots places(4, 0);
        places.begin_step(1);
        places.note(2, 1);
        QVERIFY(!places.wanted());
        QCOMPARE(ExpertSlots(4, 9).places(), 4);
    }

    void whatTopicsLikeIsKept_data()
    {
        QTest::addColumn<int>("experts");
        QTest::addColumn<int>("used");
        QTest::addColumn<double>("skew");
        for (const double skew : {0.7, 1.2}) {
            QTest::addRow("32 experts, skew %.1f", skew) << 32 << 4 << skew;
            QTest::addRow("128 experts, skew %.1f", skew) << 128 << 8 << skew;
        }
    }
    void whatTopicsLikeIsKept()
    {
        QFETCH(int, experts);
        QFETCH(int, used);
        QFETCH(double, skew);
        std::mt19937 random(20261126);  // the margins are of these draws, not of any
        const Routing routing = draw(experts, used, skew, 250, random);
        const int places = experts / 4;
        const double here = by_slots(routing, places), last_use = by_last_use(routing, places);
        const double liking = by_liking(routing, places), future = by_future(routing, places);
        qInfo("hits: %.3f; by last use %.3f, knowing what topics like %.3f, knowing the future %.3f", here, last_use,
              liking, future);
        QVERIFY(here > last_use + 0.02);
        QVERIFY(here > liking - 0.11);  // a topic is learned from its first tokens
        QVERIFY(liking < future + 0.02);
    }
};

QTEST_APPLESS_MAIN(TestExpertSlots)
#include "tst_expert_slots.moc"
