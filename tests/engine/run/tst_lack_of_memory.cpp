// Tests that the engine survives the failure of any one allocation of the host: on the way through loading, a turn, a
// branch, other KV types and counting. Memory that is asked of the system in pages (mmap) is refused as well. What
// failed says so in a sentence, and the next turn has the bits that it always has.
#include "engine/engine.h"
#include "engine/kv/kv_cache.h"
#include "engine/run/conversations.h"
#include "engine/run/saved_conversations.h"
#include "tests/support/placement_run.h"

#include <QTemporaryDir>
#include <QTest>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <dlfcn.h>
#include <execinfo.h>
#include <new>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

using namespace engine;

namespace {

#ifdef SPILLWAY_SANITIZED
constexpr int kTried = 10;  // allocations of each phase; the unsanitized test tries more, in the same order
#else
constexpr int kTried = 24;
#endif

// Allocations that still succeed; those after them fail, as many as g_refused_at_once. Below that: nothing fails.
constexpr std::int64_t kNever = std::int64_t(1) << 60;
std::atomic<std::int64_t> g_left = kNever;
std::atomic<std::int64_t> g_refused_at_once = 1;

/// Says whether one of those asks that end the process where there is no memory, and are not ours: the destructor of
/// nlohmann's JSON (3.11), which takes memory to go without recursion, and libstdc++'s directory iterator. The
/// allocation after it is refused instead.
bool in_unforgiving_library()
{
    std::array<void*, 16> frames = {};
    const int count = backtrace(frames.data(), int(frames.size()));
    for (int i = 0; i < count; ++i) {
        Dl_info symbol = {};
        if (dladdr(frames[std::size_t(i)], &symbol) == 0 || !symbol.dli_sname)
            continue;
        const std::string_view name = symbol.dli_sname;
        if (name.find("json_value7destroy") != name.npos || name.find("18directory_iterator") != name.npos)
            return true;
    }
    return false;
}

bool refused()
{
    const std::int64_t left = g_left.fetch_sub(1, std::memory_order_relaxed);
    if (left > 0 || left <= -g_refused_at_once.load(std::memory_order_relaxed))
        return false;
    if (!in_unforgiving_library())
        return true;
    g_left.fetch_add(1, std::memory_order_relaxed);
    return false;
}

void* allocate(std::size_t bytes, std::size_t alignment)
{
    if (refused())
        throw std::bad_alloc();
    const std::size_t whole = (std::max<std::size_t>(bytes, 1) + alignment - 1) / alignment * alignment;
    if (void* const memory = std::aligned_alloc(alignment, whole))
        return memory;
    throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t bytes)
{
    return allocate(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
}
void* operator new(std::size_t bytes, std::align_val_t alignment)
{
    return allocate(bytes, std::size_t(alignment));
}
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept
{
    try {
        return operator new(bytes);
    } catch (const std::bad_alloc&) {
        return nullptr;
    }
}
#ifndef SPILLWAY_SANITIZED  // which has an mmap of its own
/// Pages of the engine: weights, KV, files. The C library's own take another way.
extern "C" void* mmap(void* address, size_t bytes, int protection, int flags, int file, off_t offset) noexcept
{
    if (refused()) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return reinterpret_cast<void*>(syscall(SYS_mmap, address, bytes, protection, flags, file, offset));
}
#endif
void operator delete(void* memory) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, std::align_val_t) noexcept
{
    std::free(memory);
}
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept
{
    std::free(memory);
}

namespace {

/// Says whether the n-th allocation of some work (from 0 on) was refused, and nobody could do without it.
template <class Work>
bool runs_short(std::int64_t n, const Work& work)
{
    g_refused_at_once = 1;
    g_left = n;
    bool refused = false;
    try {
        work();
    } catch (const std::bad_alloc&) {
        refused = true;
    }
    g_left = kNever;
    return refused;
}

/// A small cache of a model with a recurrent layer.
struct SmallCache {
    kernels::KvBlockLayout block{kernels::KvType::F16, kernels::KvType::F16, 8, 8, 16};
    KvCache cache{{{1, block}, {0, block}}, 16, 16, RecurrentStates({0, 24}, 12)};

    /// Takes memory for tokens of any numbers.
    bool fill(KvSequence& sequence, int tokens)
    {
        const bool done = cache.reserve(sequence, tokens).has_value();
        sequence.ids.assign(std::size_t(done ? tokens : 0), 7);
        return done;
    }
    bool empty() const { return cache.used_pages() == 0 && cache.states().used() == 0; }
};

const char* const kPhases[] = {"load", "turn", "branch", "types", "count", "unload"};

Request question(std::string text, int max_tokens = 24)
{
    Request request;
    request.messages = {{"user", std::move(text), {}}};
    request.sampling.seed = 4711;
    request.max_tokens = max_tokens;
    request.saved_as = "one";
    return request;
}

/// Runs one engine through all that is asked of it, a phase at a time.
class Journey
{
public:
    Journey(LoadRequest load, std::filesystem::path folder)
        : load_(std::move(load))
    {
        for (Request* const request : {&first_, &second_}) {
            request->most_drafted = load_.draft_model.empty() ? 0 : 4;
            request->draft_depth = DraftDepth::Fixed;
        }
        engine_ = make_engine();
        engine_->post(SetSavedKv{std::move(folder), 1 << 30});
        listener_.on_text = [this](std::string_view text) { heard_ += text; };
        listener_.on_event = [this](const Event& event) { events_.push_back(event); };
        listener_.on_telemetry = [this](const Telemetry& frame) { last_ = frame; };
    }

    /// From now on `n` allocations of the engine succeed, and then `at_once` of them fail.
    void run_short(std::int64_t n, std::int64_t at_once)
    {
        left_ = n;
        g_refused_at_once = at_once;
    }
    /// Returns how many are left of them; less than nothing where some failed.
    std::int64_t run_on() { return std::exchange(left_, kNever); }

    /// Returns what went wrong; empty: nothing.
    std::string phase(std::string_view name)
    {
        if (name == "load")
            return error_of(ask([&] { return engine_->load(load_, listener_, {}); }));
        if (name == "turn") {
            const auto made = ask([&] { return engine_->create_sequence(); });
            if (!made)
                return error_of(made);
            sequence_ = *made;
            return error_of(ask([&] { return engine_->generate(sequence_, first_, listener_, {}); }));
        }
        if (name == "branch") {
            const auto copy = ask([&] { return engine_->branch(sequence_, -1); });
            if (!copy)
                return error_of(copy);
            std::string error = error_of(ask([&] { return engine_->generate(*copy, second_, listener_, {}); }));
            ask([&] { return engine_->end_sequence(*copy), true; });
            return error;
        }
        if (name == "types")
            return set_types(KvType::F32, KvType::F32);
        if (name == "count") {
            const std::string error = error_of(ask([&] { return engine_->count_tokens("a few words more", {}); }));
            const std::string other = error_of(ask([&] { return engine_->count_prompt(second_, {}); }));
            return error.empty() ? other : error;
        }
        ask([&] { return engine_->unload(), true; });
        sequence_ = 0;
        return {};
    }

    /// Returns how many layers a device then has, and what the next turns say: in the conversation that was there, if
    /// there is one, and in a new one.
    std::vector<std::string> next_turns()
    {
        if (!engine_->loaded())
            if (std::string error = phase("load"); !error.empty())
                return {error};
        set_types(load_.k_type, load_.v_type);
        std::vector<std::string> texts;
        // What is posted is done while the engine is idle, and it knows that it is.
        for (const int layers : {0, 1}) {
            engine_->post(SetDeviceLayers{layers});
            engine_->poll(listener_);
            texts.push_back(last_.device ? std::to_string(last_.device->layers) + " layers" : "no device");
        }
        for (const bool again : {true, false}) {
            const SequenceId sequence = again && sequence_ ? sequence_ : engine_->create_sequence().value_or(0);
            const auto turn = engine_->generate(sequence, first_, {}, {});
            texts.push_back(turn ? turn->text : turn.error().what);
        }
        return texts;
    }

private:
    /// What the test itself takes is not refused.
    template <class Work>
    std::invoke_result_t<Work> ask(const Work& work)
    {
        g_left = left_;
        auto result = work();
        left_ = std::min(left_, g_left.exchange(kNever));
        return result;
    }

    template <class T>
    static std::string error_of(const Result<T>& result)
    {
        if (result)
            return {};
        return (result.error().code == Error::Code::NoMemory ? "" : "not for lack: ") + result.error().what;
    }

    std::string set_types(KvType k_type, KvType v_type)
    {
        const auto id = ask([&] { return engine_->post(SetKvTypes{k_type, v_type}); });
        if (id == 0)
            return "no memory to post it";
        const std::size_t before = events_.size();
        ask([&] { return engine_->poll(listener_), true; });
        for (std::size_t i = before; i < events_.size(); ++i)
            if (events_[i].command == id)
                return events_[i].sentence;
        return "no memory for its answer";
    }

    LoadRequest load_;
    Request first_ = question("how are the weights kept?"), second_ = question("and the KV?", 4);
    std::unique_ptr<Engine> engine_;
    Listener listener_;
    std::string heard_;
    std::vector<Event> events_;
    Telemetry last_;
    SequenceId sequence_ = 0;
    std::int64_t left_ = kNever;
};

}  // namespace

class TestLackOfMemory : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    /// Pages and states of which a list could not note that they are taken, or shared, are not lost.
    void whatFindsNoListIsNotLost()
    {
        SmallCache small;
        KvCache& cache = small.cache;
        int refused = 0;
        for (std::int64_t n = 0; n < 8; ++n) {
            KvSequence from, to;
            refused += runs_short(n, [&] { (void)cache.reserve(from, 40); });
            QVERIFY(small.fill(from, 20));
            refused += runs_short(n, [&] { cache.states().keep(from); });
            QVERIFY(small.fill(from, 40));
            refused += runs_short(n, [&] { to = cache.branch(from, 40); });
            cache.truncate(from, 0);
            cache.truncate(to, 0);
            QVERIFY(small.empty());
        }
        QVERIFY(refused > 4);
    }

    /// The same holds for what is read from a file.
    void whatIsRestoredWithoutAListIsNotLost()
    {
        SmallCache small;
        KvCache& cache = small.cache;
        const QTemporaryDir folder;
        const std::filesystem::path path = folder.filePath("one").toStdString();
        const auto format = std::make_shared<const SavedKvFormat>(1, cache.layers(), cache.states().bytes());
        KvSequence saved;
        QVERIFY(small.fill(saved, 40));
        const std::vector<int> ids = saved.ids;
        auto writer = SavedKvWriter::open(path, format, ids);
        QVERIFY(writer);
        while (writer->has_next()) {
            const PageId page = saved.pages[std::size_t(writer->next_page())];
            const std::array<const std::byte*, 2> blocks{cache.host_block(page, 0), cache.host_block(page, 1)};
            QVERIFY(writer->write_page(blocks));
        }
        const std::array<SavedState, 2> states{SavedState{20, cache.states().host_bytes(saved.state)},
                                               SavedState{40, cache.states().host_bytes(saved.state)}};
        for (const SavedState& state : states)
            QVERIFY(writer->write_state(state));
        QVERIFY(writer->finish({}));
        cache.truncate(saved, 0);

        int refused = 0, whole = 0;
        for (std::int64_t n = 0; whole == 0 && n < 100; ++n) {
            auto reader = SavedKvReader::open(path, format);
            QVERIFY(reader);
            KvSequence restored;
            refused += runs_short(n, [&] {
                (void)restore(
                    cache, restored, *reader, ids, [](int) { return true; }, [] { return false; });
            });
            whole += restored.length() == 40 && restored.checkpoints.size() == 2;
            cache.truncate(restored, 0);
            QVERIFY(small.empty());
        }
        QVERIFY(refused > 4);
        QCOMPARE(whole, 1);
    }

    /// A branch that finds no memory is no conversation: nobody could end it.
    void aBranchWithoutMemoryIsNoConversation()
    {
        SmallCache small;
        bool refused = true;
        int tried = 0;
        for (; refused && tried < 100; ++tried) {
            Conversations all;
            const SequenceId from = all.create();
            QVERIFY(small.fill(all.find(from)->kv, 40));
            SequenceId copy = from;
            refused = runs_short(tried, [&] { copy = all.branch(from, 40, small.cache); });
            QCOMPARE(copy == from, refused);
            QCOMPARE(all.create(), copy + 1);
            for (const SequenceId sequence : {from, copy})
                all.end(sequence, small.cache);
            QVERIFY(small.empty());
        }
        QVERIFY(tried > 2);
        QVERIFY(!refused);
    }

    void oneAllocationFails_data()
    {
        QTest::addColumn<QString>("model");
        QTest::addColumn<bool>("emulated");
        QTest::addColumn<QString>("phase");
        QTest::addColumn<QString>("draft");
        for (const bool emulated : {false, true}) {
            for (const char* phase : kPhases)
                QTest::addRow("%s, %s", emulated ? "emulated" : "cpu", phase)
                    << "llama" << emulated << QString(phase) << QString();
            // A state that a step has half changed cannot be computed on.
            for (const char* phase : {"turn", "branch"})
                QTest::addRow("recurrent, %s, %s", emulated ? "emulated" : "cpu", phase)
                    << "qwen35" << emulated << QString(phase) << QString();
        }
        // What a draft model lacks costs guesses.
        for (const char* phase : {"load", "turn", "branch"})
            for (const char* draft : {"qwen2", "qwen35"})
                QTest::addRow("%s guesses, %s", draft, phase) << "llama" << false << QString(phase) << QString(draft);
    }

    void oneAllocationFails()
    {
        QFETCH(QString, model);
        QFETCH(bool, emulated);
        QFETCH(QString, phase);
        QFETCH(QString, draft);
        LoadRequest load = emulated ? test_support::emulated(model, 48) : test_support::request_for(model);
        load.threads = 2;
        if (!draft.isEmpty())
            load.draft_model = test_support::request_for(draft).model;

        // How many there are, and what comes of it when none fails.
        std::vector<std::string> expected;
        const std::int64_t allocations = journey(load, phase, kNever / 2, 1, expected);
        QVERIFY(!expected.empty() && !QTest::currentTestFailed());

        // The first ones each, then further and further apart; two in a row fail as well.
        const int one_by_one = qEnvironmentVariableIntValue("SPILLWAY_ALLOCATIONS");
        int tried = 0, noticed = 0;
        for (std::int64_t n = 0; n < allocations && (tried < kTried || n < one_by_one); ++tried) {
            std::vector<std::string> texts;
            const std::int64_t done = journey(load, phase, n, 1 + tried % 3, texts);
            noticed += done >= n ? 1 : 0;
            QVERIFY2(texts == expected, qPrintable(QString("%1 of %2: %3 | expected %4")
                                                       .arg(n)
                                                       .arg(allocations)
                                                       .arg(joined(texts), joined(expected))));
            QVERIFY(!QTest::currentTestFailed());
            n += n < one_by_one ? 1 : 1 + n / 6;
        }
        qInfo("%lld allocations, %d of them tried", static_cast<long long>(allocations), tried);
        QVERIFY(tried == 0 || noticed > 0);
    }

private:
    static QString joined(const std::vector<std::string>& texts)
    {
        QStringList all;
        for (const std::string& text : texts)
            all << QString::fromStdString(text);
        return all.join(" / ");
    }

    /// Allocations of the phase; those after the first `n` fail. `texts`: what the next turns say.
    static std::int64_t journey(const LoadRequest& load, const QString& failing, std::int64_t n, std::int64_t at_once,
                                std::vector<std::string>& texts)
    {
        const QTemporaryDir folder;
        Journey all(load, folder.path().toStdString());
        for (const char* phase : kPhases) {
            if (failing == phase)
                all.run_short(n, at_once);
            const std::string error = all.phase(phase);
            const bool says_what_lacks =
                error.find("memory") != error.npos || error.find("address space") != error.npos;  // to map a file
            const bool expected = failing == phase && says_what_lacks;
            if (!error.empty() && !expected)
                QTest::qFail(qPrintable(QString("%1: %2").arg(phase, error.c_str())), __FILE__, __LINE__);
            if (failing == phase)
                break;
        }
        const std::int64_t left = all.run_on();
        texts = all.next_turns();
        return n - left;
    }
};

QTEST_GUILESS_MAIN(TestLackOfMemory)
#include "tst_lack_of_memory.moc"
