// The pager with a cache and an emulated device, without a model: what leaves, what stays and what comes back.
#include "engine/device/emulated_device.h"
#include "engine/kv/kv_pager.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <cstring>
#include <string>

using namespace engine;

namespace {

constexpr int kTokens = 16;
constexpr kernels::KvBlockLayout kBlock{kernels::KvType::F16, kernels::KvType::F16, 8, 8, kTokens};
constexpr int kColumnBytes = 2 * int(kBlock.bytes());  // two layers

EmulatedDeviceOptions link(int lose_at_call = 0, int refuse_allocation = 0)
{
    EmulatedDeviceOptions options;
    options.link_bytes_per_s = 0;
    options.lose_at_call = lose_at_call;
    options.refuse_allocation = refuse_allocation;
    return options;
}

/// A device with room for so many columns of two layers.
struct Paged {
    explicit Paged(int columns, const EmulatedDeviceOptions& options = link())
        : device(options, std::int64_t(columns) * kColumnBytes)
    {
        vram.set_watermark(1.0);
        cache.set_device(&kv, &stream);
        pager.set_layers(2);
    }
    ~Paged() { cache.set_device(nullptr, nullptr); }

    static int value(PageId page, int l) { return 1 + page * 2 + l; }

    /// A step that writes one block.
    Status step(KvSequence& sequence)
    {
        const int first = sequence.length();
        if (Status ok = cache.reserve(sequence, first + kTokens); !ok)
            return ok;
        if (Status ok = pager.prepare(sequence, first, kTokens); !ok)
            return ok;
        for (int l = 0; l < 2; ++l)
            std::memset(cache.block(sequence.pages.back(), l, LayerOn::Device, 0), value(sequence.pages.back(), l),
                        kBlock.bytes());
        if (Status ok = pager.finish(sequence, first, kTokens); !ok)
            return ok;
        sequence.ids.resize(std::size_t(first + kTokens));
        return {};
    }
    bool steps(KvSequence& sequence, int count)
    {
        for (int i = 0; i < count; ++i)
            if (!step(sequence))
                return false;
        return true;
    }
    /// One letter a column: D on the device, h on the host.
    std::string places(const KvSequence& sequence) const
    {
        std::string places;
        for (const PageId page : sequence.pages)
            places += kv.holds(page, 0) && kv.holds(page, 1) ? 'D' : 'h';
        return places;
    }
    bool intact(const KvSequence& sequence)
    {
        if (!cache.wait_mirrored(sequence))
            return false;
        for (const PageId page : sequence.pages)
            for (int l = 0; l < 2; ++l)
                for (std::size_t i = 0; i < kBlock.bytes(); ++i)
                    if (cache.host_block(page, l)[i] != std::byte(value(page, l)))
                        return false;
        return true;
    }

    KvCache cache{{{1, kBlock}, {1, kBlock}}, kTokens, 32};
    EmulatedDevice device;
    Vram vram{device};
    DeviceKv kv{vram, cache.layers(), cache.page_limit()};
    KvStream stream{vram, 64};
    KvPager pager{cache, vram, kv, stream};
};

}  // namespace

class TestKvPager : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void theOldestLeavesButNeverTheFirst()
    {
        Paged here(4);
        KvSequence a;
        QVERIFY(here.steps(a, 4));
        QCOMPARE(here.places(a), "DDDD");
        QVERIFY(here.steps(a, 2));
        QCOMPARE(here.places(a), "DhhDDD");
        QVERIFY(here.intact(a));
        const auto events = here.pager.take_events();
        QCOMPARE(events.size(), std::size_t(2));
        QCOMPARE(events[0].tokens.first, kTokens);
        QCOMPARE(events[0].bytes, std::int64_t(kColumnBytes));
        QCOMPARE(events[0].cause, Event::Cause::Watermark);
    }

    void theMarkIsBelowTheBudget()
    {
        Paged here(4);
        here.vram.set_watermark(0.8);  // three columns
        KvSequence a;
        QVERIFY(here.steps(a, 4));
        QCOMPARE(here.places(a), "DhDD");
    }

    void residentStopsAtTheBudget()
    {
        Paged here(4);
        here.vram.set_watermark(0.8);
        here.pager.set_policy(KvPolicy::Resident);
        KvSequence a;
        QVERIFY(here.steps(a, 4));
        QCOMPARE(here.places(a), "DDDD");
        const Status full = here.step(a);
        QVERIFY(!full);
        QCOMPARE(full.error().code, Error::Code::ContextFull);
    }

    void anotherConversationLeavesFirstAndOneComesBackInItsPlace()
    {
        Paged here(4);
        KvSequence a, b;
        QVERIFY(here.steps(a, 3));
        here.pager.begin_turn({});
        QVERIFY(here.steps(b, 3));
        QCOMPARE(here.places(a), "hhD");
        QCOMPARE(here.places(b), "DDD");
        here.pager.begin_turn({});
        here.pager.use(a.pages, a.length());
        while (here.pager.bring_back(Event::Cause::User))
            here.pager.settle();
        QCOMPARE(here.places(a), "DDD");
        QCOMPARE(here.places(b), "hhD");
    }

    void pinsLeaveLastAndSaySo()
    {
        Paged here(4);
        here.pager.begin_turn({{kTokens, 2 * kTokens}});
        KvSequence a;
        QVERIFY(here.steps(a, 6));
        QCOMPARE(here.places(a), "DDhhDD");
        here.vram.set_limit(2 * kColumnBytes);
        QVERIFY(here.pager.make_room(0, Event::Cause::User));
        QCOMPARE(here.places(a), "DhhhhD");
        const auto events = here.pager.take_events();
        QCOMPARE(events.back().kind, Event::Kind::Warning);
    }

    void aForcedShareLiesOnTheHost()
    {
        Paged here(16);
        here.pager.set_offload_share(0.5);
        KvSequence a;
        QVERIFY(here.steps(a, 6));  // four may leave
        QCOMPARE(here.places(a), "DhhDDD");
        QVERIFY(!here.pager.bring_back(Event::Cause::User));
        here.pager.set_offload_share(0);
        QVERIFY(here.pager.bring_back(Event::Cause::User));
        here.pager.settle();
        QCOMPARE(here.places(a), "DhDDDD");  // the newest first
    }

    void aRefusedAllocationIsAnAnswer()
    {
        Paged here(4, link(0, 3));
        KvSequence a;
        QVERIFY(here.step(a));
        const Status refused = here.step(a);
        QVERIFY(!refused);
        QCOMPARE(refused.error().code, Error::Code::DeviceFull);
        QVERIFY(here.step(a));
        QVERIFY(here.intact(a));
    }

    void aLostDeviceIsAnAnswer()
    {
        Paged here(4, link(20));
        KvSequence a;
        Status status;
        while (status)
            status = here.step(a);
        QCOMPARE(status.error().code, Error::Code::DeviceLost);
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestKvPager)
#include "tst_kv_pager.moc"
