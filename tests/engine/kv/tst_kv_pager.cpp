// Tests which blocks the pager sends away, keeps and brings back, with a cache and an emulated device, without a model.
#include "engine/device/emulated_device.h"
#include "engine/kv/kv_pager.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace engine;

namespace {

constexpr int kTokens = 16, kPages = 32;
constexpr kernels::KvBlockLayout kBlock{kernels::KvType::F16, kernels::KvType::F16, 8, 8, kTokens};
constexpr int kBlockBytes = int(kBlock.bytes());
constexpr int kColumnBytes = 2 * kBlockBytes;  // two layers
const KvLayerShape kFull{1, kBlock}, kSliding{1, kBlock, 2 * kTokens};

EmulatedDeviceOptions link(int lose_at_call = 0, int refuse_allocation = 0)
{
    EmulatedDeviceOptions options;
    options.link_bytes_per_s = 0;
    options.lose_at_call = lose_at_call;
    options.refuse_allocation = refuse_allocation;
    return options;
}

/// A device with room for this many columns of two layers. Each token is written with a stamp of its own, and each step
/// reads all that its layers see.
struct Paged {
    explicit Paged(int columns, const EmulatedDeviceOptions& options = link(),
                   std::vector<KvLayerShape> layers = {kFull, kFull}, std::size_t slab_bytes = 0)
        : cache(std::move(layers), kTokens, kPages)
        , device(options, std::int64_t(columns) * kColumnBytes)
        , kv(vram, cache.layers(), cache.page_limit(), slab_bytes)
    {
        vram.set_watermark(1.0);
        cache.set_device(&kv, &stream);
        put_layers(cache.num_layers());
    }
    ~Paged() { cache.set_device(nullptr, nullptr); }

    void put_layers(int count)
    {
        pager.set_layers(count);
        device_layers = count;
    }

    std::byte value(PageId page, int l, int t) const
    {
        return std::byte(stamps[std::size_t(page)][std::size_t(t)] + 85 * l);
    }
    void write(std::byte* block, PageId page, int l, int t) const
    {
        for (int d = 0; d < kBlock.k_dim; ++d)
            std::memset(block + 2 * kBlock.k_index(t, d), int(value(page, l, t)), 2);
        std::memset(block + kBlock.v_offset() + std::size_t(2 * t * kBlock.v_dim), int(value(page, l, t)),
                    2 * kBlock.v_dim);
    }
    bool holds(const std::byte* block, PageId page, int l, int tokens) const
    {
        bool same = true;
        for (int t = 0; t < tokens; ++t) {
            for (int d = 0; d < kBlock.k_dim; ++d)
                same = same && block[2 * kBlock.k_index(t, d)] == value(page, l, t);
            for (int d = 0; d < 2 * kBlock.v_dim; ++d)
                same = same && block[kBlock.v_offset() + std::size_t(2 * t * kBlock.v_dim + d)] == value(page, l, t);
        }
        return same;
    }

    /// A step that computes this many tokens.
    Status step(KvSequence& sequence, int tokens = kTokens, LayerOn on = LayerOn::Device)
    {
        const int first = sequence.length();
        const std::vector<PageId> before = sequence.pages;
        if (Status ok = cache.reserve(sequence, first + tokens); !ok)
            return ok;
        for (std::size_t b = 0; b < before.size(); ++b)  // a shared page was copied
            stamps[std::size_t(sequence.pages[b])] = stamps[std::size_t(before[b])];
        if (Status ok = on == LayerOn::Device ? pager.prepare(sequence, first, tokens)
                                              : pager.prepare_on_host(sequence, first, tokens);
            !ok)
            return ok;
        for (int i = first; i < first + tokens; ++i)
            stamps[std::size_t(sequence.pages[std::size_t(i / kTokens)])][std::size_t(i % kTokens)] = ++last_stamp;
        std::int64_t on_host_bytes = 0;
        for (int l = 0; l < cache.num_layers(); ++l)
            on_host_bytes +=
                compute(sequence, l, on == LayerOn::Device && l < device_layers ? on : LayerOn::Host, first, tokens);
        if (on == LayerOn::Device) {
            right = right && on_host_bytes == pager.attended_on_host_bytes();
            if (Status ok = pager.finish(sequence, first, tokens); !ok)
                return ok;
        }
        sequence.ids.resize(std::size_t(first + tokens));
        return {};
    }
    /// Returns the bytes of a device's layer that are to be attended on the host.
    std::int64_t compute(const KvSequence& sequence, int l, LayerOn on, int first, int tokens)
    {
        for (int i = first; i < first + tokens; ++i) {
            const PageId page = sequence.pages[std::size_t(i / kTokens)];
            write(cache.block(page, l, on, 0), page, l, i % kTokens);
        }
        const int begin = cache.layer(l).first_block(first), end = (first + tokens - 1) / kTokens + 1;
        std::int64_t on_host_bytes = 0;
        KvBlocks on_host = cache.open_host(sequence, l, begin, end);
        on_host.next();
        for (int b = begin; b < end && on == LayerOn::Device; ++b)
            on_host_bytes += on_host.block(b) ? kBlockBytes : 0;
        KvBlocks blocks = cache.open(sequence, l, on, begin, end);
        int read = begin;
        while (blocks.next())
            for (; read < blocks.last(); ++read)
                right = right && holds(blocks.block(read), sequence.pages[std::size_t(read)], l,
                                       std::min(kTokens, first + tokens - read * kTokens));
        right = right && read == end;
        return on_host_bytes;
    }
    bool steps(KvSequence& sequence, int count)
    {
        for (int i = 0; i < count; ++i)
            if (!step(sequence))
                return false;
        return right;
    }

    /// One letter a column: D on the device, h on the host; of one layer, or of both.
    std::string places(const KvSequence& sequence, int l) const
    {
        std::string places;
        for (const PageId page : sequence.pages)
            places += kv.holds(page, l) ? 'D' : 'h';
        return places;
    }
    std::string places(const KvSequence& sequence) const
    {
        std::string places;
        for (const PageId page : sequence.pages)
            places += kv.holds(page, 0) && kv.holds(page, 1) ? 'D' : 'h';
        return places;
    }
    /// Says whether the host has all of it, and all steps so far have read what was written.
    bool intact(const KvSequence& sequence)
    {
        bool whole = right && cache.wait_mirrored(sequence).has_value();
        for (int b = 0; b * kTokens < sequence.length(); ++b)
            for (int l = 0; l < cache.num_layers(); ++l) {
                const PageId page = sequence.pages[std::size_t(b)];
                whole = whole &&
                        holds(cache.host_block(page, l), page, l, std::min(kTokens, sequence.length() - b * kTokens));
            }
        return whole;
    }

    KvCache cache;
    EmulatedDevice device;
    Vram vram{device};
    DeviceKv kv;
    KvStream stream{vram, std::size_t(kPages) * 4};
    KvPager pager{cache, vram, kv, stream};
    int device_layers = 0;
    std::array<std::array<unsigned char, kTokens>, kPages> stamps = {};
    unsigned char last_stamp = 0;
    bool right = true;  // what was read
};

/// Three conversations, and whatever may happen to them between steps.
struct Chance {
    Chance(std::mt19937& random, std::size_t slab_bytes)
        : random(random)
        , here(14, link(), {kFull, kSliding, kFull}, slab_bytes)
    {
        here.stream.set_slots(below(4), kBlockBytes);
        here.pager.set_stream_choice([](int, int on_host, int) { return on_host / 2; });
    }
    int below(int end) { return int(random() % unsigned(end)); }
    KvSequence& any() { return conversations[std::size_t(below(3))]; }

    void act()
    {
        switch (below(20)) {
        case 0:
            here.pager.set_policy(KvPolicy(below(5)));
            break;
        case 1:
            here.pager.set_offload_share(0.25 * below(5));
            break;
        case 2:
            here.vram.set_limit(below(2) ? 0 : (12 + below(20)) * kBlockBytes);
            here.pager.trim_windows();
            here.pager.make_room(0, Event::Cause::User);
            break;
        case 3:
            here.device.set_other_programs_bytes(below(8) * kBlockBytes);
            break;
        case 4:
            here.pager.set_pins(any().pages, some_pins());
            break;
        case 5:
            move_a_layer();
            break;
        case 6:
            here.cache.truncate(any(), below(100));
            break;
        case 7:
            branch();
            break;
        case 8:
        case 9:
            here.pager.bring_back(Event::Cause::User);
            break;
        case 10:
            here.pager.settle();
            break;
        case 11:
            compute(any(), 1, LayerOn::Host);
            break;
        case 12:
        case 13:
            compute(any(), 1 + below(2 * kTokens), LayerOn::Device);
            break;
        default:
            compute(*newest, 1, LayerOn::Device);
        }
    }
    std::vector<TokenRange> some_pins()
    {
        const int first = below(100);
        return below(2) ? std::vector<TokenRange>() : std::vector<TokenRange>{{first, first + 1 + below(40)}};
    }
    void compute(KvSequence& conversation, int tokens, LayerOn on)
    {
        if (conversation.length() + tokens > 8 * kTokens)
            here.cache.truncate(conversation, below(kTokens));
        if (&conversation != newest && below(2))
            here.pager.end_turn(newest->pages);
        if (&conversation != newest)
            here.pager.begin_turn(some_pins());
        newest = &conversation;
        const Status done = here.step(conversation, tokens, on);
        if (!done && done.error().code != Error::Code::DeviceFull && done.error().code != Error::Code::ContextFull)
            here.right = false;
        if (done && on == LayerOn::Device)
            for (int l = 0; l < here.device_layers; ++l)
                here.right = here.right &&
                             here.kv.holds(conversation.pages[std::size_t(conversation.length() - 1) / kTokens], l);
    }
    void branch()
    {
        KvSequence& from = any();
        KvSequence& to = any();
        if (&from == &to)
            return;
        here.cache.truncate(to, 0);
        to = here.cache.branch(from, below(from.length() + 1));
    }
    void move_a_layer()
    {
        const int layers = here.device_layers;
        if (layers > 0 && below(2)) {
            here.right = here.right && here.pager.leave(layers - 1).has_value();
            here.put_layers(layers - 1);
        } else if (layers < here.cache.num_layers()) {
            here.put_layers(layers + 1);
            (void)here.pager.join(layers);  // what finds no room comes later
        }
    }
    bool all_intact()
    {
        for (const KvSequence& conversation : conversations)
            if (!here.intact(conversation))
                return false;
        return true;
    }

    std::mt19937& random;
    Paged here;
    std::array<KvSequence, 3> conversations;
    KvSequence* newest = &conversations[0];
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

    void hostBlocksTravelThroughTheRing()
    {
        Paged here(5);
        QCOMPARE(here.stream.set_slots(2, kBlockBytes), 2);  // leaves room for four columns
        here.pager.set_policy(KvPolicy::Stream);
        KvSequence a;
        QVERIFY(here.steps(a, 7));
        QCOMPARE(here.places(a), "DhhhDDD");
        QCOMPARE(here.pager.streamed_bytes(), std::int64_t(3 * kColumnBytes));
        QVERIFY(here.intact(a));
    }

    void thePolicySaysWhatOfATokenTravels()
    {
        Paged here(5);
        here.stream.set_slots(2, kBlockBytes);
        KvSequence a;
        QVERIFY(here.steps(a, 8));
        QCOMPARE(here.places(a), "DhhhhDDD");
        const auto travels = [&](KvPolicy policy) {
            here.pager.set_policy(policy);
            const bool done = here.step(a, 1).has_value() && here.right;
            return std::pair(done ? here.pager.streamed_bytes() : -1, here.pager.attended_on_host_bytes());
        };
        using Bytes = std::pair<std::int64_t, std::int64_t>;
        QCOMPARE(travels(KvPolicy::Merge), Bytes(0, 5 * kColumnBytes));  // a column more has left
        QCOMPARE(travels(KvPolicy::Stream), Bytes(5 * kColumnBytes, 0));
        QCOMPARE(travels(KvPolicy::Auto), Bytes(0, 5 * kColumnBytes));
        here.pager.set_stream_choice([](int, int, int) { return 2; });
        QCOMPARE(travels(KvPolicy::Auto), Bytes(2 * kColumnBytes, 3 * kColumnBytes));
        QVERIFY(here.intact(a));
    }

    void windowsSlideAndTheirRoomIsLeftToThem()
    {
        Paged here(3, link(), {kFull, kSliding});
        KvSequence a;
        QVERIFY(here.steps(a, 6));
        QCOMPARE(here.places(a, 0), "DhhhDD");
        QCOMPARE(here.places(a, 1), "hhhDDD");
        here.pager.trim_windows();
        QCOMPARE(here.places(a, 1), "hhhhDD");
        // The next token's block needs the room again.
        QVERIFY(!here.pager.bring_back(Event::Cause::User));
        QVERIFY(here.steps(a, 1));
        QVERIFY(here.intact(a));
    }

    /// Two conversations go on by turns; when another one has come, nothing of them is in its way.
    void windowsOfEarlierConversationsLeaveByThemselves()
    {
        Paged here(5, link(), {kFull, kSliding});
        KvSequence a, b, later;
        for (int i = 0; i < 6; ++i)
            QVERIFY(here.steps(a, 1) && here.steps(b, 1));
        QVERIFY(here.steps(b, 6));
        QCOMPARE(here.places(a, 0), "hhhhhh");
        QVERIFY(here.places(a, 1).find('D') != std::string::npos);
        here.pager.begin_turn({});
        QVERIFY(here.steps(later, 1));
        here.vram.set_limit(kColumnBytes);
        QVERIFY(here.pager.make_room(0, Event::Cause::OtherProgram));
        for (const KvSequence* const earlier : {&a, &b})
            for (const int l : {0, 1})
                QVERIFY(here.places(*earlier, l).find('D') == std::string::npos);
        QCOMPARE(here.places(later), "D");
        QVERIFY(here.intact(a) && here.intact(b) && here.intact(later));
    }

    /// Two conversations go on by turns. When one of them is over its blocks leave first, whichever was used last.
    void whatIsOverLeavesBeforeWhatGoesOn()
    {
        for (const bool used_last : {false, true}) {
            Paged here(6);
            KvSequence over, goes_on;
            for (int i = 0; i < 3; ++i)
                QVERIFY(here.steps(used_last ? goes_on : over, 1) && here.steps(used_last ? over : goes_on, 1));
            QVERIFY(here.pager.others_in_use());
            here.pager.end_turn(over.pages);
            QVERIFY(here.steps(goes_on, 3));
            QVERIFY(!here.pager.others_in_use());
            QCOMPARE(here.places(over), "hhh");
            QCOMPARE(here.places(goes_on), "DDDDDD");
            QVERIFY(here.steps(over, 1));  // it is asked again
            QVERIFY(here.pager.others_in_use());
            QVERIFY(here.intact(over) && here.intact(goes_on));
        }
    }

    /// Pages that branches share are in use as long as one of the branches goes on.
    void whatABranchSharesStaysInUse()
    {
        Paged here(8);
        KvSequence over;
        QVERIFY(here.steps(over, 2));
        KvSequence goes_on = here.cache.branch(over, over.length());
        QVERIFY(here.steps(over, 2) && here.steps(goes_on, 2));
        here.pager.end_turn(over.pages);
        QVERIFY(!here.pager.others_in_use());
        QVERIFY(here.steps(goes_on, 4));
        QCOMPARE(here.places(over), "DDhh");
        QCOMPARE(here.places(goes_on), "DDDDDDDD");
        QVERIFY(here.intact(over) && here.intact(goes_on));
    }

    /// A conversation is over, but its pages are the first ones of a branch that goes on.
    void aBranchOfWhatIsOverStaysInUse()
    {
        Paged here(8);
        KvSequence over, another;
        QVERIFY(here.steps(over, 2));
        KvSequence goes_on = here.cache.branch(over, over.length());
        QVERIFY(here.steps(goes_on, 2));
        here.pager.end_turn(over.pages);
        QVERIFY(here.steps(another, 1));
        QVERIFY(here.pager.others_in_use());
        QVERIFY(here.intact(over) && here.intact(goes_on) && here.intact(another));
    }

    /// Its last tokens were taken back before, as those that were guessed wrong.
    void aShortenedConversationIsOverAsAWhole()
    {
        Paged here(8);
        KvSequence over, goes_on;
        QVERIFY(here.steps(over, 3));
        QCOMPARE(here.cache.truncate(over, 2 * kTokens), 2 * kTokens);
        here.pager.end_turn(over.pages);
        QVERIFY(here.steps(goes_on, 1));
        QVERIFY(!here.pager.others_in_use());
        QVERIFY(here.intact(over) && here.intact(goes_on));
    }

    void aLayerThatComesTakesItsBlocksAlong()
    {
        Paged here(2);
        here.put_layers(1);
        KvSequence a;
        QVERIFY(here.steps(a, 4));
        QCOMPARE(here.places(a, 0), "DDDD");
        QCOMPARE(here.places(a, 1), "hhhh");
        here.put_layers(2);
        const auto joined = here.pager.join(1);
        QVERIFY(joined);
        QCOMPARE(*joined, 2);  // those that stay are whole
        QCOMPARE(here.places(a, 0), "DhhD");
        QCOMPARE(here.places(a, 1), "DhhD");
        for (const Event& event : here.pager.take_events())
            QCOMPARE(event.cause, Event::Cause::Split);
        QVERIFY(here.steps(a, 1));
        QVERIFY(here.pager.leave(1));
        here.put_layers(1);
        QCOMPARE(here.places(a, 1), "hhhhh");
        QVERIFY(here.steps(a, 1));
        QVERIFY(here.intact(a));
    }

    void aStepOnTheHostWritesItsPages()
    {
        Paged here(8);
        KvSequence a;
        QVERIFY(here.steps(a, 3));
        QVERIFY(here.step(a, 1, LayerOn::Host));
        QCOMPARE(here.places(a), "DDDh");
        QCOMPARE(here.pager.attended_on_host_bytes(), std::int64_t(3 * kColumnBytes));
        QVERIFY(here.steps(a, 1));  // goes on within the block that the host has begun
        QCOMPARE(here.places(a), "DDDDD");
        QVERIFY(here.step(a, 1, LayerOn::Host));  // within one that the device has begun
        QCOMPARE(here.places(a), "DDDDh");
        QVERIFY(here.intact(a));
    }

    void whatEndedADeviceGoesWithIt()
    {
        for (const bool goes : {false, true}) {
            Paged here(4, link(20));
            KvSequence a;
            while (here.step(a, 1)) {
            }
            here.cache.bring_home(a, 0, 0, a.length());
            if (goes)
                here.cache.set_device(nullptr, nullptr);
            QCOMPARE(bool(here.cache.take_status()), goes);
        }
    }

    void stepsOnTheHostLeaveNoWindowBehind()
    {
        Paged here(20, link(), {kFull, kSliding});
        KvSequence a;
        QVERIFY(here.steps(a, 3));
        for (int i = 0; i < 6; ++i)
            QVERIFY(here.step(a, kTokens, LayerOn::Host));
        QCOMPARE(here.places(a, 1), "hhhhhhhhh");
        QVERIFY(here.steps(a, 1));
        QCOMPARE(here.places(a, 1), "hhhhhhhDDD");
        QVERIFY(here.intact(a));
    }

    void aLostDeviceDamagesWhatTheHostDoesNotHave()
    {
        EmulatedDeviceOptions slow = link();
        slow.link_bytes_per_s = 4 * kColumnBytes;
        Paged here(4, slow);
        KvSequence a;
        QVERIFY(here.step(a));
        QVERIFY(here.cache.wait_mirrored(a));
        QVERIFY(here.step(a));
        here.pager.mark_lost();
        const bool on_its_way = !here.kv.mirror_complete(a.pages[1], 1);
        QVERIFY(!here.cache.damaged(a.pages[0]));
        if (!on_its_way)
            QSKIP("this machine let the copy arrive first");
        QVERIFY(here.cache.damaged(a.pages[1]));
        QCOMPARE(here.cache.intact_tokens(a), kTokens);
    }

    void aColumnThatFindsNoMemoryComesTheNextTime()
    {
        Paged here(6, link(0, 14));
        here.vram.set_limit(4 * kColumnBytes);
        KvSequence a;
        QVERIFY(here.steps(a, 6));
        QCOMPARE(here.places(a), "DhhDDD");
        here.pager.take_events();
        here.vram.set_limit(0);
        QVERIFY(!here.pager.bring_back(Event::Cause::User));  // the second of its two blocks
        QCOMPARE(here.places(a), "DhhDDD");
        QVERIFY(here.pager.bring_back(Event::Cause::User));
        here.pager.settle();
        QCOMPARE(here.places(a), "DhDDDD");
        const auto events = here.pager.take_events();
        QCOMPARE(events.size(), std::size_t(1));
        QCOMPARE(events[0].kind, Event::Kind::Fetch);
        QCOMPARE(events[0].blocks, 1);
        QVERIFY(here.steps(a, 1));
        QVERIFY(here.intact(a));
    }

    // Whatever happens, each step reads what was written, and the host has all of it in the end.
    void conversationsStayWhole()
    {
        const unsigned seed = qEnvironmentVariableIsSet("SPILLWAY_SEED")
                                  ? qEnvironmentVariable("SPILLWAY_SEED").toUInt()
                                  : std::random_device{}();
        qInfo("SPILLWAY_SEED=%u", seed);
        std::mt19937 random(seed);
        for (int round = 0; round < 40; ++round) {
            Chance chance(random, std::size_t(round % 2 * 5 * kBlockBytes));  // blocks by themselves, and in slabs
            for (int i = 0; i < 100; ++i) {
                chance.act();
                QVERIFY2(chance.here.right, qPrintable(QString("round %1, act %2").arg(round).arg(i)));
                QCOMPARE(chance.here.vram.used(Vram::Use::Kv), chance.here.kv.blocks() * std::int64_t(kBlockBytes));
            }
            QVERIFY2(chance.all_intact(), qPrintable(QString("round %1").arg(round)));
        }
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestKvPager)
#include "tst_kv_pager.moc"
