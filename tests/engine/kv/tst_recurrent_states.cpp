// Tests that each sequence keeps the states of its recurrent layers, goes back to their checkpoints, and moves them to
// an emulated device, without a model.
#include "engine/device/emulated_device.h"
#include "engine/kv/device_states.h"
#include "engine/kv/kv_cache.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>

using namespace engine;

namespace {

constexpr int kFloats[] = {24, 0, 40};  // of each layer; the second attends
constexpr int kLimit = 12;

KvCache hybrid_cache(int limit = kLimit)
{
    const kernels::KvBlockLayout block{kernels::KvType::F16, kernels::KvType::F16, 8, 8, 16};
    return KvCache({{0, block}, {1, block}, {0, block}}, 16, 64,
                   RecurrentStates({kFloats[0], kFloats[1], kFloats[2]}, limit));
}

/// What a step does to the state of a layer: each value says how many tokens it has seen.
void compute(KvCache& cache, KvSequence& sequence, int tokens)
{
    for (const int l : {0, 2}) {
        float* const state = cache.states().layer(sequence.state, l);
        for (int i = 0; i < kFloats[l]; ++i)
            state[i] += float(tokens);
    }
    for (int i = 0; i < tokens; ++i)
        sequence.ids.push_back(sequence.length());
}

bool step(KvCache& cache, KvSequence& sequence, int tokens)
{
    if (!cache.reserve(sequence, sequence.length() + tokens))
        return false;
    compute(cache, sequence, tokens);
    return true;
}

bool has_seen(const KvCache& cache, const KvSequence& sequence, int tokens)
{
    return std::ranges::all_of(std::initializer_list<int>{0, 2}, [&](int l) {
        const float* const state = cache.states().layer(sequence.state, l);
        return std::all_of(state, state + kFloats[l], [&](float value) { return value == float(tokens); });
    });
}

/// A hybrid cache whose first two layers are on an emulated device.
struct OnDevice {
    explicit OnDevice(int lose_at_call = 0)
        : device(options(lose_at_call), 1 << 20)
    {
        cache.set_device(&kv, &stream, &states);
    }
    ~OnDevice() { cache.set_device(nullptr, nullptr); }
    static EmulatedDeviceOptions options(int lose_at_call)
    {
        EmulatedDeviceOptions options;
        options.link_bytes_per_s = 0;
        options.lose_at_call = lose_at_call;
        return options;
    }
    bool step(KvSequence& sequence, int tokens)
    {
        if (!cache.reserve(sequence, sequence.length() + tokens) || !states.enter(sequence.state))
            return false;
        compute(cache, sequence, tokens);
        return true;
    }

    KvCache cache = hybrid_cache();
    EmulatedDevice device;
    Vram vram{device};
    DeviceKv kv{vram, cache.layers(), cache.page_limit()};
    KvStream stream{vram, 64};
    DeviceStates states{cache.states(), vram};
};

}  // namespace

class TestRecurrentStates : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void aSequenceBeginsWithZeros()
    {
        KvCache cache = hybrid_cache();
        KvSequence sequence;
        QVERIFY(cache.reserve(sequence, 4));
        QVERIFY(has_seen(cache, sequence, 0));
        compute(cache, sequence, 4);
        QVERIFY(step(cache, sequence, 3));
        QVERIFY(has_seen(cache, sequence, 7));
        cache.truncate(sequence, 0);
        QCOMPARE(cache.states().used(), 0);
        QVERIFY(cache.reserve(sequence, 1));  // in the same memory
        QVERIFY(has_seen(cache, sequence, 0));
    }

    void aStateThatNoStepHasWrittenIsGivenBack()
    {
        KvCache cache = hybrid_cache();
        KvSequence sequence;
        QVERIFY(cache.reserve(sequence, 4));
        QCOMPARE(cache.states().used(), 1);
        cache.truncate(sequence, 0);
        QCOMPARE(cache.states().used(), 0);
        QVERIFY(step(cache, sequence, 4) && has_seen(cache, sequence, 4));
    }

    void withoutRecurrentLayersNothingIsKept()
    {
        const kernels::KvBlockLayout block{kernels::KvType::F16, kernels::KvType::F16, 8, 8, 16};
        KvCache cache({{1, block}}, 16, 4);
        KvSequence sequence;
        QVERIFY(cache.reserve(sequence, 20));
        sequence.ids.resize(20);
        cache.states().keep(sequence);
        QVERIFY(sequence.checkpoints.empty());
        QCOMPARE(cache.truncate(sequence, 7), 7);
    }

    void itGoesBackToTheCheckpointBefore()
    {
        KvCache cache = hybrid_cache();
        KvSequence sequence;
        QVERIFY(step(cache, sequence, 5));
        cache.states().keep(sequence);
        QVERIFY(step(cache, sequence, 20));
        cache.states().keep(sequence);
        QVERIFY(step(cache, sequence, 10));
        QCOMPARE(cache.truncate(sequence, 35), 35);  // nothing is taken back
        QVERIFY(has_seen(cache, sequence, 35));
        QCOMPARE(cache.truncate(sequence, 30), 25);
        QCOMPARE(sequence.length(), 25);
        QCOMPARE(sequence.pages.size(), std::size_t(2));
        QVERIFY(step(cache, sequence, 1));
        QVERIFY(has_seen(cache, sequence, 26));
        QCOMPARE(cache.truncate(sequence, 24), 5);  // the checkpoint of 25 is gone with it
        QVERIFY(step(cache, sequence, 2));
        QVERIFY(has_seen(cache, sequence, 7));
        QCOMPARE(cache.truncate(sequence, 4), 0);
        QCOMPARE(cache.states().used(), 0);
    }

    void theOldestCheckpointGoesFirst()
    {
        KvCache cache = hybrid_cache();
        KvSequence sequence;
        for (int i = 0; i <= RecurrentStates::kMostCheckpoints; ++i) {
            QVERIFY(step(cache, sequence, 3));
            cache.states().keep(sequence);
            cache.states().keep(sequence);  // it is there
        }
        QCOMPARE(int(sequence.checkpoints.size()), RecurrentStates::kMostCheckpoints);
        QCOMPARE(sequence.checkpoints.front().tokens, 6);
    }

    void theCheckpointThatOthersShareGoesLast()
    {
        KvCache cache = hybrid_cache();
        KvSequence sequence;
        sequence.shared_tokens = 6;
        for (int i = 0; i < RecurrentStates::kMostCheckpoints + 3; ++i) {
            QVERIFY(step(cache, sequence, 3));
            cache.states().keep(sequence);
        }
        QCOMPARE(int(sequence.checkpoints.size()), RecurrentStates::kMostCheckpoints);
        QCOMPARE(sequence.checkpoints[0].tokens, 6);
        QCOMPARE(sequence.checkpoints[1].tokens, 15);
        KvSequence branch = cache.branch(sequence, 8);
        QCOMPARE(branch.length(), 6);
    }

    void aBranchSharesUntilOneWrites()
    {
        KvCache cache = hybrid_cache();
        KvSequence first;
        QVERIFY(step(cache, first, 6));
        cache.states().keep(first);
        QVERIFY(step(cache, first, 6));
        KvSequence all = cache.branch(first, 12);
        KvSequence part = cache.branch(first, 9);
        QCOMPARE(all.length(), 12);
        QCOMPARE(part.length(), 6);
        QCOMPARE(cache.states().used(), 2);
        QVERIFY(step(cache, all, 1) && step(cache, part, 2) && step(cache, first, 3));
        QVERIFY(has_seen(cache, all, 13) && has_seen(cache, part, 8) && has_seen(cache, first, 15));
        QCOMPARE(cache.truncate(all, 12), 6);
        QVERIFY(step(cache, all, 1) && has_seen(cache, all, 7));
    }

    void goingOnIsWorthMoreThanGoingBack()
    {
        KvCache cache = hybrid_cache(2);
        KvSequence sequence, other;
        QVERIFY(step(cache, sequence, 4));
        cache.states().keep(sequence);
        QVERIFY(step(cache, sequence, 4));
        cache.states().keep(sequence);
        QVERIFY(step(cache, sequence, 4));  // the first checkpoint gave its memory
        QVERIFY(has_seen(cache, sequence, 12));
        QCOMPARE(sequence.checkpoints.size(), std::size_t(1));
        const Status refused = cache.reserve(other, 1);
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, Error::Code::NoMemory);
        QVERIFY(other.pages.empty() && other.state == kNoState);
    }

    void anotherGivesUpItsMemoryBeforeOwnCheckpointsAndDraftsGo()
    {
        KvCache cache = hybrid_cache(3);
        KvSequence sequence, other;
        cache.states().ask_for_more([&] { return !other.pages.empty() && cache.truncate(other, 0) == 0; });
        QVERIFY(step(cache, other, 4) && step(cache, sequence, 4));
        cache.states().keep(sequence);
        QVERIFY(step(cache, sequence, 4));
        QCOMPARE(other.length(), 4);
        QVERIFY(cache.states().keep_before(sequence));
        QCOMPARE(other.length(), 0);
        cache.states().keep(sequence);
        QCOMPARE(sequence.checkpoints.size(), std::size_t(2));
        QVERIFY(step(cache, sequence, 4) && has_seen(cache, sequence, 12));  // nobody else has any
        QCOMPARE(sequence.checkpoints.size(), std::size_t(1));
        QCOMPARE(sequence.checkpoints.front().tokens, 8);
    }

    void itGoesOnWithTheStateThatOnlyAnotherShared()
    {
        KvCache cache = hybrid_cache(1);
        KvSequence sequence;
        QVERIFY(step(cache, sequence, 4));
        KvSequence other = cache.branch(sequence, 4);
        cache.states().ask_for_more([&] { return !other.pages.empty() && cache.truncate(other, 0) == 0; });
        QVERIFY(step(cache, sequence, 4) && has_seen(cache, sequence, 8));
        QVERIFY(other.pages.empty() && other.state == kNoState);
        QCOMPARE(cache.states().used(), 1);
    }

    void aStepThatFailedIsTakenBack()
    {
        KvCache cache = hybrid_cache();
        KvSequence sequence;
        QVERIFY(step(cache, sequence, 4));
        cache.states().keep(sequence);
        QVERIFY(step(cache, sequence, 5));
        cache.states().spoil(sequence);
        QCOMPARE(cache.intact_tokens(sequence), 4);
        QCOMPARE(cache.truncate(sequence, cache.intact_tokens(sequence)), 4);
        QVERIFY(step(cache, sequence, 1) && has_seen(cache, sequence, 5));
    }

    void thereIsRoomForTheStateBeforeDrafts()
    {
        KvCache cache = hybrid_cache(2);
        KvSequence sequence, other;
        QVERIFY(step(cache, sequence, 4));
        QVERIFY(cache.states().keep_before(sequence));
        QVERIFY(cache.states().keep_before(sequence));  // it is there
        QCOMPARE(cache.states().used(), 2);
        QVERIFY(cache.states().layer_before(sequence, 2) != cache.states().layer(sequence.state, 2));
        QVERIFY(has_seen(cache, sequence, 4));
        QVERIFY(!cache.reserve(other, 1));
        cache.states().forget_before(sequence);
        QVERIFY(cache.reserve(other, 1));
        const Status refused = cache.states().keep_before(sequence);
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, Error::Code::NoMemory);
        cache.states().spoil(other);
        cache.truncate(other, 0);
        QVERIFY(cache.states().keep_before(sequence));
        cache.truncate(sequence, 0);
        QCOMPARE(cache.states().used(), 0);
    }

    /// States and pages have one limit; those that are free give their memory to the others.
    void memoryOfFreePagesIsThereForStates()
    {
        KvCache cache = hybrid_cache();
        const auto page = std::int64_t(cache.page_bytes()), state = std::int64_t(cache.states().bytes());
        QVERIFY(page > state);
        cache.limit_memory({.bytes = 2 * page + state});
        const auto allocated = [&] { return cache.allocated_bytes() + cache.states().allocated_bytes(); };
        KvSequence first, second, third;
        QVERIFY(step(cache, first, 32));
        QCOMPARE(allocated(), 2 * page + state);
        const Status refused = cache.reserve(second, 1);
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, Error::Code::NoMemory);
        QVERIFY(second.pages.empty() && second.state == kNoState);
        cache.truncate(first, 0);
        QVERIFY(step(cache, second, 1));
        cache.states().keep(second);
        QVERIFY(step(cache, second, 1) && has_seen(cache, second, 2));
        QCOMPARE(second.checkpoints.size(), std::size_t(1));
        QCOMPARE(allocated(), page + 2 * state);
        QVERIFY(!cache.reserve(third, 1));
        cache.truncate(second, 0);
        QVERIFY(step(cache, third, 32) && has_seen(cache, third, 32));  // and the other way round
        QCOMPARE(allocated(), 2 * page + state);
    }

    void stateMovesWithItsLayer()
    {
        OnDevice on;
        KvSequence sequence;
        QVERIFY(on.states.join(0));
        QVERIFY(on.step(sequence, 3));
        QVERIFY(on.cache.states().layer(sequence.state, 0) != on.cache.states().host_layer(sequence.state, 0));
        QVERIFY(on.cache.states().layer(sequence.state, 2) == on.cache.states().host_layer(sequence.state, 2));
        QVERIFY(on.cache.states().keep_before(sequence));
        const float* const before = on.cache.states().layer_before(sequence, 0);
        QCOMPARE(before - on.cache.states().layer(sequence.state, 0), std::ptrdiff_t(256 / sizeof(float)));
        QVERIFY(on.cache.states().layer_before(sequence, 2) == on.cache.states().host_layer(sequence.before, 2));
        QCOMPARE(int(on.cache.states().residency(sequence.state, 0)), int(Residency::Device));
        QCOMPARE(int(on.cache.states().residency(sequence.state, 2)), int(Residency::Host));
        QCOMPARE(int(on.cache.states().residency(kNoState, 0)), int(Residency::Host));
        const auto changes = on.states.changes();
        QVERIFY(on.step(sequence, 0));
        QCOMPARE(on.states.changes(), changes);  // it is there already
        QVERIFY(on.states.join(1) && on.states.join(2));
        QVERIFY(on.states.changes() > changes);  // it has gone home until the next step
        QCOMPARE(int(on.cache.states().residency(sequence.state, 0)), int(Residency::Host));
        QVERIFY(on.step(sequence, 2));
        QVERIFY(has_seen(on.cache, sequence, 5));
        QCOMPARE(on.vram.used(Vram::Use::State), 2 * 2 * 256);
        QVERIFY(on.states.leave(2) && on.step(sequence, 1) && on.states.leave(0));
        QVERIFY(on.cache.reserve(sequence, 7));
        QVERIFY(has_seen(on.cache, sequence, 6));
        QCOMPARE(on.vram.used(Vram::Use::State), 0);
    }

    void oneSequenceGivesWayToAnother()
    {
        OnDevice on;
        QVERIFY(on.states.join(0) && on.states.join(2));
        KvSequence first, second;
        QVERIFY(on.step(first, 3));
        on.cache.states().keep(first);
        QVERIFY(on.step(second, 10));
        QVERIFY(on.step(first, 4) && on.step(second, 1));
        QVERIFY(has_seen(on.cache, second, 11));
        QCOMPARE(on.cache.truncate(first, 6), 3);
        QVERIFY(on.step(first, 1) && has_seen(on.cache, first, 4));
        KvSequence branch = on.cache.branch(first, 4);
        QVERIFY(on.step(first, 1) && on.step(branch, 2));
        QVERIFY(has_seen(on.cache, branch, 6));
        QVERIFY(on.states.leave_all() && has_seen(on.cache, first, 5));
    }

    void aLostDeviceTakesTheStateBackToItsCheckpoint()
    {
        OnDevice on;
        QVERIFY(on.states.join(0) && on.states.join(2));
        KvSequence sequence;
        QVERIFY(on.step(sequence, 3));
        on.cache.states().keep(sequence);
        QVERIFY(on.step(sequence, 3));
        on.states.mark_lost();
        QCOMPARE(on.cache.intact_tokens(sequence), 3);
        QCOMPARE(on.cache.truncate(sequence, 3), 3);
        QVERIFY(on.step(sequence, 1) && has_seen(on.cache, sequence, 4));
    }

    void withoutAnAnswerThereIsNoCheckpoint()
    {
        for (int call = 4; call < 20; ++call) {
            OnDevice on(call);
            KvSequence sequence;
            if (!on.states.join(0) || !on.step(sequence, 3))
                continue;
            on.cache.states().keep(sequence);
            if (!sequence.checkpoints.empty())
                QVERIFY(on.cache.states().host_layer(sequence.checkpoints[0].state, 0)[0] == 3.0f);
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestRecurrentStates)
#include "tst_recurrent_states.moc"
