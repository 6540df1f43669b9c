#include "engine/exec/host_weights.h"

#include "engine/metrics/host_probe.h"
#include "kernels/read_ahead_choice.h"

#include <algorithm>
#include <chrono>
#include <new>

namespace engine {

namespace {

// A piece of work has this many rows.
constexpr int kGrain = 8 * kernels::kInterleavedRows;
constexpr std::size_t kAlignment = 64;

std::size_t aligned(std::size_t bytes)
{
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

template <class Visit>
void for_each_matrix(HeadWeights& w, const Visit& visit)
{
    visit(w.output, 1);
    for (Matrix& m : w.stream_out)
        if (m)
            visit(m, 1);
    for (Matrix* m : {&w.streams.down, &w.streams.up})
        if (*m)
            visit(*m, 1);
}

}  // namespace

HostWeights::HostWeights(const GgufFile& file, const Weights& weights, const Hyperparameters& h,
                         std::optional<std::int64_t> keep_free_bytes)
    : file_(file)
    , source_(weights)
    , kernels_(kernels::cpu_kernels())
    , experts_(h.experts)
    , keep_free_bytes_(keep_free_bytes)
{
    layers_.resize(weights.layers.size());
    for (std::size_t l = 0; l < layers_.size(); ++l)
        layers_[l].weights = weights.layers[l];
    head_ = weights.head;
}

bool HostWeights::find_memory(HugeArray& memory, std::size_t bytes) const
{
    if (!keep_free_bytes_)
        return false;
    const auto free = host_memory().available_bytes;
    if (free && *free < std::int64_t(bytes) + *keep_free_bytes_)
        return false;
    try {
        memory = HugeArray(bytes);
    } catch (const std::bad_alloc&) {
        return false;
    }
    return true;
}

void HostWeights::interleave(const Matrix& from, int stack, std::byte* to, ThreadPool& pool) const
{
    const auto interleave = kernels_.interleave[std::size_t(from.type)];
    const std::size_t row_bytes = kernels::row_bytes(from.type, from.n);
    const int pieces = (from.rows + kGrain - 1) / kGrain;
    pool.for_each(stack * pieces, 1, [&](int begin, int end, int) {
        for (int piece = begin; piece < end; ++piece) {
            const int row = piece % pieces * kGrain;
            const std::size_t at = std::size_t(piece / pieces) * from.bytes() + std::size_t(row) * row_bytes;
            interleave(from.n, std::min(kGrain, from.rows - row), from.data + at, to + at);
        }
    });
    file_.release_pages({from.data, from.bytes() * std::size_t(stack)});
}

/// Copies a part that is not copied yet. for_each_matrix(visit) visits its matrices. False: it was used already.
template <class ForEachMatrix>
bool HostWeights::use(Copy& copy, ThreadPool& pool, const ForEachMatrix& for_each_matrix)
{
    if (copy.used)
        return false;
    copy.used = true;
    const auto gains = [&](const Matrix& m) { return kernels_.interleave[std::size_t(m.type)] != nullptr; };
    std::size_t bytes = 0;
    for_each_matrix([&](const Matrix& m, int stack) {
        if (gains(m))
            bytes += aligned(m.bytes() * std::size_t(stack));
    });
    if (bytes == 0)
        return true;
    if (!find_memory(copy.memory, bytes)) {
        lack_memory_ = true;
        return true;
    }
    std::byte* to = copy.memory.data();
    for_each_matrix([&](Matrix& m, int stack) {
        if (!gains(m))
            return;
        interleave(m, stack, to, pool);
        copied_bytes_[std::size_t(m.type)] += m.bytes() * std::size_t(stack);
        m.data = to;
        m.interleaved = true;
        to += aligned(m.bytes() * std::size_t(stack));
    });
    return true;
}

/// Returns copies of this type to measure with: together more than caches hold, those first that were copied first,
/// since the newest may be in a cache. Empty: there are too few of them.
std::vector<HostWeights::Piece> HostWeights::pieces_to_measure(kernels::TensorType type)
{
    std::vector<Piece> pieces;
    std::size_t bytes = 0;
    const auto cut = [&](const Matrix& m, int stack) {
        if (!m.interleaved || m.type != type || m.rows % kernels::kInterleavedRows != 0)
            return;
        const std::size_t row_bytes = kernels::row_bytes(type, m.n);
        const int panels = int(kernels::kReadAheadPieceBytes / row_bytes) / kernels::kInterleavedRows;
        const int most = std::max(1, panels) * kernels::kInterleavedRows;
        for (int first = 0; first < stack * m.rows && bytes < kernels::kReadAheadBytes; first += most) {
            pieces.push_back({&m, first, std::min(most, stack * m.rows - first)});
            bytes += std::size_t(pieces.back().count) * row_bytes;
        }
    };
    for (Layer& layer : layers_)
        for_each_matrix(layer.weights, experts_, LayerPart::Whole, cut);
    for_each_matrix(head_, cut);
    return bytes < kernels::kReadAheadBytes ? std::vector<Piece>() : pieces;
}

double HostWeights::product_seconds(const Piece& piece, ThreadPool& pool) const
{
    const Matrix& m = *piece.matrix;
    const auto product = kernels_.matmul_interleaved[std::size_t(m.type)];
    const std::size_t row_bytes = kernels::row_bytes(m.type, m.n);
    const std::vector<std::byte> x(kernels::activation_row_bytes(kernels::activation_of(m.type), m.n));
    std::vector<float> out(static_cast<std::size_t>(piece.count));
    const auto start = std::chrono::steady_clock::now();
    pool.for_each(piece.count / kernels::kInterleavedRows, 1, [&](int begin, int end, int) {
        const int row = begin * kernels::kInterleavedRows;
        product({.n = m.n,
                 .rows = (end - begin) * kernels::kInterleavedRows,
                 .weights = m.data + std::size_t(piece.first + row) * row_bytes,
                 .tokens = 1,
                 .x = x.data(),
                 .x_stride = x.size(),
                 .out = out.data() + row,
                 .out_stride = out.size()});
    });
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Chooses for each type whether its products prefetch, once enough of it was copied to tell.
void HostWeights::choose_read_ahead(ThreadPool& pool)
{
    for (std::size_t type = 0; type < copied_bytes_.size(); ++type) {
        if (read_ahead_is_chosen_[type] || copied_bytes_[type] < 2 * kernels::kReadAheadBytes)
            continue;
        const std::vector<Piece> pieces = pieces_to_measure(kernels::TensorType(type));
        read_ahead_is_chosen_[type] = !pieces.empty();
        kernels::choose_read_ahead(kernels::TensorType(type), int(pieces.size()),
                                   [&](int piece) { return product_seconds(pieces[std::size_t(piece)], pool); });
    }
}

bool HostWeights::use_part(Layer& layer, LayerPart part, ThreadPool& pool)
{
    return use(part == LayerPart::Experts ? layer.experts : layer.rest, pool,
               [&](const auto& visit) { for_each_matrix(layer.weights, experts_, part, visit); });
}

bool HostWeights::use_layer(int l, LayerPart part, ThreadPool& pool)
{
    Layer& layer = layers_[std::size_t(l)];
    const bool rest = part != LayerPart::Experts && use_part(layer, LayerPart::WithoutExperts, pool);
    const bool experts =
        part != LayerPart::WithoutExperts && layer.weights.router && use_part(layer, LayerPart::Experts, pool);
    if (rest || experts)
        choose_read_ahead(pool);
    return rest || experts;
}

bool HostWeights::use_head(ThreadPool& pool)
{
    const bool made = use(head_copy_, pool, [&](const auto& visit) { for_each_matrix(head_, visit); });
    if (made)
        choose_read_ahead(pool);
    return made;
}

void HostWeights::drop_layer(int l, LayerPart part)
{
    Layer& layer = layers_[std::size_t(l)];
    const LayerWeights& source = source_.layers[std::size_t(l)];
    if (part != LayerPart::Experts) {
        const LayerWeights now = layer.weights;
        layer.weights = source;
        take_expert_stacks(now, layer.weights);
        layer.rest = {};
    }
    if (part != LayerPart::WithoutExperts) {
        take_expert_stacks(source, layer.weights);
        layer.experts = {};
    }
}

void HostWeights::drop_head()
{
    head_ = source_.head;
    head_copy_ = {};
}

}  // namespace engine
