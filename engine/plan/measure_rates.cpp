#include "engine/plan/measure_rates.h"

#include "engine/caught.h"
#include "engine/device/copy_queue.h"
#include "engine/exec/thread_pool.h"
#include "engine/machine.h"
#include "engine/metrics/clock.h"
#include "engine/metrics/host_probe.h"
#include "engine/plan/dram_bandwidth.h"
#include "engine/plan/model_costs.h"
#include "engine/sampling/sampler.h"
#include "kernels/read_ahead_choice.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <limits>
#include <new>
#include <random>
#include <system_error>

namespace engine {

namespace {

constexpr std::size_t kMiB = std::size_t(1) << 20;
// Close to each other where caches end.
constexpr std::array kSets = {1 * kMiB,  4 * kMiB,  8 * kMiB,  12 * kMiB, 16 * kMiB,
                              24 * kMiB, 32 * kMiB, 48 * kMiB, 64 * kMiB, 128 * kMiB};
constexpr int kLongestRow = 8192;  // of weights and activations, values; longer ones are as fast
constexpr int kRowsAtOnce = 256;   // weight rows in a piece of work, as the decoder divides them
constexpr int kExpertTokens = 32;  // of a prompt, that choose the same expert
constexpr int kExpertRows = 512;   // weight rows of one
constexpr std::size_t kMostWeights = std::size_t(kExpertRows) * kLongestRow * sizeof(float);
constexpr int kMostQueries = 4096;  // head length x group
constexpr int kMostGroup = 16;
constexpr int kMostTokens = 256;  // of a KV block
constexpr int kFewestPasses = 3;
constexpr std::int64_t kShortestPassUs = 500;

kernels::KvBlockLayout layout_of(const KvForm& form)
{
    const int length = std::min(form.head_length, kMostQueries);
    return {kernel_type(form.k_type), kernel_type(form.v_type), length, length,
            std::min(form.block_tokens, kMostTokens)};
}

int group_of(const KvForm& form)
{
    return std::clamp(form.group, 1, std::clamp(kMostQueries / std::max(1, form.head_length), 1, kMostGroup));
}

}  // namespace

std::span<const std::size_t> RateMeter::sets()
{
    return std::span(kSets).first(measures_small_sets() ? 2 : kSets.size());
}

RateMeter::RateMeter(ThreadPool& pool, int least_ms)
    : pool_(pool)
    , least_us_(measures_small_sets() ? 0 : std::int64_t(least_ms) * 1000)
    , kernels_(kernels::cpu_kernels())
    , bytes_(std::max(sets().back(), kMostWeights))
    , in_large_pages_(bytes_)
    , memory_(aligned_array<std::byte>(bytes_))
    , x_(aligned_array<std::byte>(std::size_t(kLongestRow) * 8))
{
    // Sane numbers in every format: no infinities or subnormals among values and scales.
    std::mt19937_64 random(1);
    std::vector<std::uint64_t> some(kMiB / sizeof(std::uint64_t));
    for (std::uint64_t& bits : some)
        bits = random() & 0x3bff3bff3bff3bffu;
    for (std::size_t at = 0; at < bytes_; at += kMiB) {
        std::memcpy(memory_.get() + at, some.data(), kMiB);
        std::memcpy(in_large_pages_.data() + at, some.data(), kMiB);
    }
    for (int worker = 0; worker < pool.size(); ++worker) {
        Scratch s{aligned_array<float>(kMostQueries), aligned_array<float>(kMostGroup * kMostTokens),
                  aligned_array<float>(kMostQueries + 2 * kMostGroup),
                  aligned_array<float>(kMostQueries + 2 * kMostGroup), aligned_array<float>(kLongestRow)};
        std::fill_n(s.q.get(), kMostQueries, 0.1f);
        std::fill_n(s.sums.get(), kMostQueries + 2 * kMostGroup, 0.0f);
        std::fill_n(s.out.get(), kLongestRow, 0.5f);
        scratch_.push_back(std::move(s));
    }
}

template <class Work>
double RateMeter::seconds(const Work& work)
{
    const ThreadPool::Step step(pool_);
    work();
    std::vector<double> passes;
    const std::int64_t begin = now_us();
    while (int(passes.size()) < kFewestPasses || now_us() - begin < least_us_) {
        const std::int64_t start = now_us();
        int calls = 0;
        do {  // a call may take less than the clock can tell
            work();
            ++calls;
        } while (now_us() - start < kShortestPassUs);
        passes.push_back(double(now_us() - start) / 1e6 / calls);
    }
    std::ranges::sort(passes);
    return passes[passes.size() / 2];
}

/// Returns the weights as they are computed with: interleaved where HostWeights copies such.
RateMeter::Weights RateMeter::weights_of(kernels::TensorType type) const
{
    const auto interleaved = kernels_.matmul_interleaved[std::size_t(type)];
    return interleaved ? Weights{interleaved, in_large_pages_.data()}
                       : Weights{kernels_.matmul[std::size_t(type)], memory_.get()};
}

void RateMeter::product_pass(const kernels::TypeTraits& type, int row_length, int first, int rows)
{
    const bool floats = kernels::activation_of(type.type) == kernels::Activation::F32;
    const std::size_t row_bytes = kernels::row_bytes(type.type, row_length);
    const Weights weights = weights_of(type.type);
    pool_.for_each(rows, kRowsAtOnce, [&](int begin, int end, int worker) {
        for (int row = begin; row < end; row += kRowsAtOnce) {
            kernels::MatMul args;
            args.n = row_length;
            args.rows = std::min(kRowsAtOnce, end - row);
            args.weights = weights.rows + std::size_t(first + row) * row_bytes;
            args.tokens = 1;
            args.x = x_.get();
            args.x_stride =
                kernels::activation_row_bytes(floats ? kernels::Activation::F32 : kernels::Activation::Q8, row_length);
            args.out = scratch_[std::size_t(worker)].out.get();
            args.out_stride = kRowsAtOnce;
            weights.multiply(args);
        }
    });
}

/// Chooses as HostWeights does with the weights of a model.
void RateMeter::choose_read_ahead(const kernels::TypeTraits& type, int row_length)
{
    if (!kernels_.matmul_interleaved[std::size_t(type.type)] || sets().back() < kernels::kReadAheadBytes)
        return;
    const std::size_t row_bytes = kernels::row_bytes(type.type, row_length);
    const int rows = int(kernels::kReadAheadPieceBytes / row_bytes) / kRowsAtOnce * kRowsAtOnce;
    const int pieces = rows > 0 ? int(kernels::kReadAheadBytes / (std::size_t(rows) * row_bytes)) : 0;
    const ThreadPool::Step step(pool_);
    kernels::choose_read_ahead(type.type, pieces, [&](int piece) {
        const std::int64_t start = now_us();
        product_pass(type, row_length, piece * rows, rows);
        return double(now_us() - start);
    });
}

ProductRate RateMeter::product(const kernels::TypeTraits& type, int row_length)
{
    row_length = std::min(row_length, kLongestRow);
    std::vector<float> row(std::size_t(row_length), 0.25f);
    if (kernels::activation_of(type.type) == kernels::Activation::F32)
        std::memcpy(x_.get(), row.data(), row.size() * sizeof(float));
    else
        kernels_.quantize_q8(row_length, row.data(), x_.get());
    const std::size_t row_bytes = kernels::row_bytes(type.type, row_length);
    choose_read_ahead(type, row_length);
    std::vector<RateCurve::Point> points;
    for (const std::size_t set : sets()) {
        const int rows = int(set / row_bytes);
        const double took = seconds([&] { product_pass(type, row_length, 0, rows); });
        points.push_back({double(set), double(rows) * double(row_bytes) / took});
    }
    return {type.name, row_length, RateCurve(std::move(points)),
            matmul_ops_per_s(type, row_length, kExpertTokens, kExpertRows)};
}

double RateMeter::matmul_ops_per_s(const kernels::TypeTraits& type, int row_length, int tokens, int rows)
{
    constexpr int kPieces = 32;
    const kernels::Activation form = kernels::activation_of(type.type);
    const std::size_t stride = kernels::activation_row_bytes(form, row_length);
    const auto x = aligned_array<std::byte>(stride * std::size_t(tokens));
    const std::vector<float> row(std::size_t(row_length), 0.25f);
    for (int t = 0; t < tokens; ++t) {
        std::byte* const to = x.get() + std::size_t(t) * stride;
        if (form == kernels::Activation::F32)
            std::memcpy(to, row.data(), row.size() * sizeof(float));
        else
            kernels_.quantize_q8(row_length, row.data(), to);
    }
    const auto out = aligned_array<float>(std::size_t(rows) * std::size_t(tokens));
    const std::size_t row_bytes = kernels::row_bytes(type.type, row_length);
    const Weights weights = weights_of(type.type);
    rows = std::min(rows, int(bytes_ / row_bytes) / kPieces * kPieces);
    const double took = seconds([&] {
        pool_.for_each(rows, rows / kPieces, [&](int begin, int end, int) {
            weights.multiply({row_length, end - begin, weights.rows + std::size_t(begin) * row_bytes, tokens, x.get(),
                              stride, out.get() + begin, std::size_t(rows)});
        });
    });
    return 2.0 * row_length * rows * tokens / took;
}

void RateMeter::attention_pass(const kernels::KvBlockLayout& layout, int group, const std::byte* memory, int pages,
                               int per_page)
{
    // As a layer's head finds its blocks: one in each page, the pages far apart.
    const int blocks = pages * per_page;
    pool_.for_each(blocks, std::max(1, blocks / (2 * pool_.size())), [&](int begin, int end, int worker) {
        Scratch& scratch = scratch_[std::size_t(worker)];
        kernels::AttendBlock args;
        args.layout = layout;
        args.last = layout.tokens;
        args.group = group;
        args.q = scratch.q.get();
        args.scores = scratch.scores.get();
        args.max = scratch.partial.get();
        args.sum = args.max + group;
        args.out = args.sum + group;
        float* const sums = scratch.sums.get();
        std::fill_n(sums, group, -std::numeric_limits<float>::infinity());
        const auto block = [&](int i) {
            return memory + std::size_t(i % pages * per_page + i / pages) * layout.bytes();
        };
        for (int i = begin; i < end; ++i) {
            args.block = block(i);
            args.next = i + 1 < end ? block(i + 1) : nullptr;
            kernels_.attend_block(args);
            for (int g = 0; g < group; ++g)
                kernels_.merge_partial(layout.v_dim, args.max[g], args.sum[g], args.out + g * layout.v_dim, sums[g],
                                       sums[group + g], sums + 2 * group + g * layout.v_dim);
        }
    });
}

AttentionRate RateMeter::attention(const KvForm& form)
{
    const kernels::KvBlockLayout layout = layout_of(form);
    const int group = group_of(form);
    std::vector<RateCurve::Point> points;
    for (const std::size_t set : sets()) {
        const int per_page = std::max(1, int(kMiB / layout.bytes()));
        const int pages = std::max(1, int(set / std::max(kMiB, layout.bytes())));
        const double took = seconds([&] { attention_pass(layout, group, in_large_pages_.data(), pages, per_page); });
        points.push_back({double(set), double(pages) * per_page * double(layout.bytes()) / took});
    }
    return {form.k_type, form.v_type, layout.k_dim, group, RateCurve(std::move(points))};
}

/// The small operations of a layer, in about the mix of a decoder's.
double RateMeter::values_per_s()
{
    constexpr int kLength = 2048, kHead = 64;
    float* const a = scratch_[0].out.get();
    float* const b = a + kLength;
    const std::vector<float> weight(kLength, 1.0f);
    const double took = seconds([&] {
        kernels_.rms_norm(kLength, a, weight.data(), 1e-5f, b);
        kernels_.quantize_q8(kLength, b, x_.get());
        for (int head = 0; head < kLength; head += kHead)
            kernels_.rope(true, kHead, weight.data(), weight.data(), b + head);
        kernels_.silu_mul(kLength, b, weight.data(), b);
        kernels_.add(kLength, weight.data(), b);
    });
    return 5.0 * kLength / took;
}

double RateMeter::wake_s()
{
    constexpr int kTimes = 100;
    return seconds([&] {
               for (int i = 0; i < kTimes; ++i)
                   pool_.for_each(pool_.size(), 1, [](int, int, int) {});
           }) /
           kTimes;
}

RateMeter::Choice RateMeter::choice()
{
    constexpr std::array kVocabularies = {2048, 32768};
    constexpr double kLeast = 1e-12;
    const std::vector<int> history(64, 1);
    std::array<double, 2> took = {};
    for (std::size_t i = 0; i < took.size(); ++i) {
        std::mt19937 random(1);
        std::normal_distribution<float> likely(0.0f, 3.0f);
        const auto values = std::size_t(kVocabularies[i]);
        std::vector<float> logits(values);
        for (float& logit : logits)
            logit = likely(random);
        Sampler sampler({}, kVocabularies[i], 1);
        took[i] = seconds([&] { sampler.sample(logits, history); });
    }
    const double per_value = std::max(kLeast, (took[1] - took[0]) / (kVocabularies[1] - kVocabularies[0]));
    return {std::max(kLeast, took[0] - per_value * kVocabularies[0]), per_value};
}

double RateMeter::copy_start_s()
{
    constexpr std::size_t kBytes = 1024;  // what one layer writes for a token
    constexpr int kTimes = 50;
    constexpr std::int64_t kPauseUs = 20;  // in which the layer computes and the thread goes to sleep
    CopyQueue queue(0);
    std::vector<double> times;
    for (int i = 0; i < kTimes; ++i) {
        const std::int64_t pause = now_us() + kPauseUs;
        while (now_us() < pause) {
        }
        const auto start = std::chrono::steady_clock::now();
        queue.wait(queue.give(memory_.get(), x_.get(), kBytes) - 1);  // the one before ended long ago
        times.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    std::ranges::sort(times);
    return times[times.size() / 2];
}

double RateMeter::stream_bytes_per_s(const KvForm& form, int kv_heads)
{
    constexpr std::size_t kSlots = DeviceLayout::kFewestRingSlots;
    const kernels::KvBlockLayout layout = layout_of(form);
    const int group = group_of(form);
    kv_heads = std::clamp(kv_heads, 1, std::max(1, int(8 * kMiB / layout.bytes())));
    const std::size_t block_bytes = std::size_t(kv_heads) * layout.bytes();
    const std::size_t blocks = std::max(kSlots, std::min(bytes_, 64 * kMiB) / block_bytes);
    const auto ring = aligned_array<std::byte>(kSlots * block_bytes);
    const auto slot = [&](std::size_t b) { return ring.get() + b % kSlots * block_bytes; };
    const auto source = [&](std::size_t b) { return memory_.get() + b * block_bytes % (bytes_ - block_bytes); };
    CopyQueue queue(0);
    std::uint64_t before = 0;  // copies of the passes before
    const double took = seconds([&] {
        std::size_t sent = 0;
        for (std::size_t b = 0; b < blocks; ++b) {
            for (; sent < blocks && sent < b + kSlots; ++sent)
                queue.give(source(sent), slot(sent), block_bytes);
            queue.wait(before + b + 1);
            attention_pass(layout, group, slot(b), 1, kv_heads);
        }
        before += blocks;
    });
    return double(blocks) * double(block_bytes) / took;
}

Result<MachineRates> measure_machine_rates(int threads, const std::function<bool(double)>& on_progress)
try {
    constexpr std::array kRowLengths = {256, 2048};
    constexpr std::array kHeadLengths = {64, 128};
    constexpr std::array kGroups = {1, 4, 8};
    ThreadPool pool(threads > 0 ? threads : physical_cores());
    RateMeter meter(pool, 6);
    MachineRates rates;
    rates.cpu = cpu_device().description;
    rates.kernels = kernels::cpu_kernels().name;
    rates.threads = pool.size();
    rates.dram_read_bytes_per_s = measure_dram_read(pool);
    rates.values_per_s = meter.values_per_s();
    rates.wake_s = meter.wake_s();
    const RateMeter::Choice choice = meter.choice();
    rates.token_s = choice.token_s;
    rates.choice_s_per_value = choice.s_per_value;
    rates.copy_start_s = meter.copy_start_s();
    rates.stream_bytes_per_s = meter.stream_bytes_per_s({}, 4);

    const std::size_t curves = kernels::all_tensor_types().size() * kRowLengths.size() +
                               kKvTypes.size() * kHeadLengths.size() * kGroups.size();
    std::size_t done = 0;
    const auto goes_on = [&] { return !on_progress || on_progress(double(done++) / double(curves)); };
    for (const kernels::TypeTraits& type : kernels::all_tensor_types())
        for (const int length : kRowLengths) {
            if (!goes_on())
                return fail(Error::Code::Cancelled, "measuring was cancelled");
            rates.products.push_back(meter.product(type, length));
        }
    for (const auto& [type, name] : kKvTypes)
        for (const int head_length : kHeadLengths)
            for (const int group : kGroups) {
                if (!goes_on())
                    return fail(Error::Code::Cancelled, "measuring was cancelled");
                rates.attention.push_back(meter.attention({type, type, head_length, group, kMostTokens}));
            }
    return rates;
} catch (...) {
    return caught("to measure this machine");
}

}  // namespace engine
