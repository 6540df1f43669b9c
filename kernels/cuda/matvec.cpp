#include "kernels/cuda/matvec.h"

#include "kernels/cuda/launching.h"
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/of_type.h"
#include "kernels/cuda/ops.h"

#include <algorithm>

namespace kernels::cuda {

static MatvecArguments arguments_of(const Product& p)
{
    return {
        .n = p.n,
        .rows = p.rows,
        .tokens = p.tokens,
        .weights = pointer<std::byte>(p.weights),
        .row_bytes = row_bytes(p.type, p.n),
        .x = pointer<std::byte>(p.x),
        .residual = pointer<std::byte>(p.residual),
        .x_stride = p.x_stride,
        .scale = pointer<float>(p.scale),
        .bias = pointer<float>(p.bias),
        .accumulate = p.into == Into::Sum,
        .out = pointer<float>(p.out.at),
        .out_stride = p.out.stride,
        .expert = {},
        .head = {},
    };
}

static unsigned pieces(int count, int at_once)
{
    return unsigned((count + at_once - 1) / at_once);
}

static bool can_multiply(const Product& p)
{
    return p.n % (is_packed(p.type) ? type_traits(p.type).block_len : 8) == 0;
}

/// Returns how many thread blocks `rows` rows need.
static unsigned blocks_of_rows(int rows, int tokens)
{
    return pieces(rows, tokens == 1 ? kMatvecWarps : kMatvecWarps * kFewRowsOfWarp);
}

static GatedMatvecArguments not_gated(const MatvecArguments& product)
{
    GatedMatvecArguments gated{};
    gated.gate = product;
    return gated;
}

/// Launches matvec8 for more tokens than one.
static Status launch_few(const Driver& driver, Queue queue, TensorType type, unsigned blocks, int heads,
                         const GatedMatvecArguments& gated, const MatvecParts& parts)
{
    const int at_once = gated.gate.residual ? kMatvecTokens / 2 : kMatvecTokens;
    const Dim grid{blocks, pieces(gated.gate.tokens, at_once), unsigned(heads)};
    return driver.launch_early(of_type(Kernel::matvec8_f32, type), grid, {32 * kMatvecWarps}, 0, queue, gated, parts);
}

static Status launch_matvec(const Driver& driver, Queue queue, const Product& p, const MatvecArguments& arguments,
                            int heads)
{
    const unsigned blocks = blocks_of_rows(p.rows, p.tokens);
    if (p.tokens > 1)
        return launch_few(driver, queue, p.type, blocks, heads, not_gated(arguments), {});
    return driver.launch_early(of_type(Kernel::matvec_f32, p.type), {blocks, 1, unsigned(heads)}, {32 * kMatvecWarps},
                               0, queue, arguments, MatvecParts{}, MatvecEnd{});
}

Status matvec(const Driver& driver, Queue queue, const Product& p)
{
    return can_multiply(p) ? launch_matvec(driver, queue, p, arguments_of(p), 1) : Status::InvalidValue;
}

Status matvec_and_norm(const Driver& driver, Queue queue, const Product& p, const NormOfResult& norm, DevicePtr counter)
{
    if (!can_multiply(p) || p.tokens != 1 || p.rows % 32 != 0)
        return Status::InvalidValue;
    MatvecEnd end{};
    end.counters = pointer<unsigned>(counter);
    end.norm = {pointer<float>(norm.weight), norm.epsilon, pointer<float>(norm.out.at), rounded_rows(norm.rounded)};
    const unsigned blocks = blocks_of_rows(p.rows, 1);
    end.next = next_read(driver, norm.next, blocks, kMatvecBlocks);
    return driver.launch_early(of_type(Kernel::matvec_f32, p.type), {blocks}, {32 * kMatvecWarps}, 0, queue,
                               arguments_of(p), MatvecParts{}, end);
}

// ---- several at once ----

/// Types that a file mixes in one layer, as llama.cpp's recipes do with attn_v.
struct TypesTogether {
    TensorType first, second;
    Kernel kernel;
};
static constexpr TypesTogether kTogether[] = {
    {TensorType::Q4_K, TensorType::Q6_K, Kernel::matvec_q4_k_q6_k},
    {TensorType::Q5_K, TensorType::Q6_K, Kernel::matvec_q5_k_q6_k},
    {TensorType::Q4_K, TensorType::Q5_K, Kernel::matvec_q4_k_q5_k},
    {TensorType::Q3_K, TensorType::Q5_K, Kernel::matvec_q3_k_q5_k},
};

/// Returns the kernel for these two types, in either order; null: there is none.
static const TypesTogether* types_together(TensorType a, TensorType b)
{
    for (const TypesTogether& t : kTogether)
        if ((t.first == a && t.second == b) || (t.first == b && t.second == a))
            return &t;
    return nullptr;
}

/// Returns the first type that is another than that of the first element; if all are the same, that type.
template <class Range, class TypeOf>
static TensorType other_type(const Range& all, const TypeOf& type_of)
{
    const TensorType first = type_of(all.front());
    for (const auto& one : all)
        if (type_of(one) != first)
            return type_of(one);
    return first;
}

bool multiplied_together(std::span<const TensorType> types)
{
    const TensorType first = types.front();
    const TensorType other = other_type(types, [](TensorType type) { return type; });
    return types.size() <= kMostTogether && (first == other || types_together(first, other)) &&
           std::ranges::all_of(types, [&](TensorType type) { return type == first || type == other; });
}

/// The products of a launch: the first one, and the others as parts.
struct TogetherLaunch {
    MatvecArguments first{};
    MatvecParts parts{};
    unsigned blocks = 0;

    void add(const Product& p, bool is_second_type)
    {
        const MatvecArguments a = arguments_of(p);
        if (blocks == 0)
            first = a;
        else
            parts.part[parts.count++] = {a.weights, a.row_bytes, a.scale,     a.bias,
                                         a.out,     a.rows,      int(blocks), int(is_second_type)};
        blocks += blocks_of_rows(p.rows, p.tokens);
    }
};

static bool are_together(std::span<const Product> products)
{
    const Product& first = products.front();
    return std::ranges::all_of(products, [&](const Product& p) {
        return can_multiply(p) && p.tokens == first.tokens && p.tokens <= kFewTokens && p.into != Into::Sum &&
               p.n == first.n && p.x == first.x && p.residual == first.residual &&
               (p.tokens == 1 || (p.x_stride == first.x_stride && p.out.stride == first.out.stride));
    });
}

static Status launch_together(const Driver& driver, Queue queue, std::span<const Product> products,
                              const MatvecEnd& end)
{
    TensorType types[kMostTogether];
    if (products.empty() || products.size() > kMostTogether || !are_together(products))
        return Status::InvalidValue;
    std::ranges::transform(products, types, &Product::type);
    if (!multiplied_together({types, products.size()}))
        return Status::InvalidValue;
    const TensorType other = other_type(products, [](const Product& p) { return p.type; });
    const TypesTogether* two = other == types[0] ? nullptr : types_together(types[0], other);

    // Products of the kernel's first type come first. The first of `products` may be of either type.
    const auto is_second = [&](const Product& p) { return two && p.type == two->second; };
    TogetherLaunch launches[2];  // for more tokens than one, each type has a launch of its own
    const bool in_one = products[0].tokens == 1;
    for (const bool second : {false, true})
        for (const Product& p : products)
            if (second == is_second(p))
                launches[in_one ? 0 : int(second)].add(p, second);
    if (in_one)
        return driver.launch_early(two ? two->kernel : of_type(Kernel::matvec_f32, types[0]), {launches[0].blocks},
                                   {32 * kMatvecWarps}, 0, queue, launches[0].first, launches[0].parts, end);
    Status status = Status::Ok;
    for (const bool second : {false, true})
        if (const TogetherLaunch& l = launches[int(second)]; l.blocks > 0 && status == Status::Ok)
            status = launch_few(driver, queue, two ? (second ? two->second : two->first) : types[0], l.blocks, 1,
                                not_gated(l.first), l.parts);
    return status;
}

Status matvec_together(const Driver& driver, Queue queue, std::span<const Product> products)
{
    return launch_together(driver, queue, products, {});
}

bool can_multiply_and_prepare(const KvBlockLayout& layout)
{
    static_assert(kMatvecWarps == 4);  // the rows of a thread block are of one head
    return layout.k_dim % 4 == 0 && layout.v_dim % 4 == 0 && std::max(layout.k_dim, layout.v_dim) <= kLongestHead;
}

Status matvec_and_prepare(const Driver& driver, Queue queue, std::span<const Product> products, const KvBlocks& kv,
                          const PreparedHeads& heads, DevicePtr counters)
{
    if (!can_multiply_and_prepare(kv.layout) || !can_prepare(kv, heads) || heads.rows != 1 || products.empty() ||
        products.front().tokens != 1)
        return Status::InvalidValue;
    MatvecEnd end{};
    end.counters = pointer<unsigned>(counters);
    end.heads = prepare_arguments(kv, heads);
    return launch_together(driver, queue, products, end);
}

// ---- gated ----

static Status launch_gated(const Driver& driver, Queue queue, const GatedProduct& p, const ExpertArguments& expert)
{
    const bool few = p.gate.tokens > 1 && !expert.chosen;
    if (!can_multiply(p.gate) || p.gate.into == Into::Sum || (p.counters && (few || p.gate.rows % 32 != 0)))
        return Status::InvalidValue;
    GatedMatvecArguments arguments{
        .gate = arguments_of(p.gate),
        .up = pointer<std::byte>(p.up_weights),
        .up_scale = pointer<float>(p.up_scale),
        .up_bias = pointer<float>(p.up_bias),
        .gating = p.gating,
        .rounded = rounded_rows(p.rounded),
        .counters = pointer<unsigned>(p.counters),
        .next = {},
    };
    arguments.gate.expert = expert;
    const unsigned blocks = pieces(p.gate.rows, kMatvecWarps);
    if (few)
        return launch_few(driver, queue, p.gate.type, blocks, 1, arguments, {});
    const Dim grid{blocks, unsigned(p.gate.tokens)};
    if (p.gate.tokens == 1)
        arguments.next = next_read(driver, p.next, blocks, kWideMatvecBlocks);
    return driver.launch_early(of_type(Kernel::gated_matvec_f32, p.gate.type), grid, {32 * kMatvecWarps}, 0, queue,
                               arguments);
}

Status gated_matvec(const Driver& driver, Queue queue, const GatedProduct& p)
{
    return launch_gated(driver, queue, p, {});
}

static unsigned shared_bytes_of(TensorType type)
{
    return is_packed(type) ? kMatmulSharedBytes : 0;
}

static Status launch_matmul(const Driver& driver, Queue queue, const Product& p, const MatmulArguments& arguments,
                            int heads)
{
    if (p.tokens <= kFewTokens)
        return launch_matvec(driver, queue, p, arguments, heads);
    const Dim grid{pieces(p.tokens, kMatmulTokens), pieces(p.rows, kMatmulRows), unsigned(heads)};
    return driver.launch(of_type(Kernel::matmul_f32, p.type), grid, {kMatmulThreads}, shared_bytes_of(p.type), queue,
                         arguments);
}

Status matmul(const Driver& driver, Queue queue, const Product& p)
{
    return can_multiply(p) ? launch_matmul(driver, queue, p, arguments_of(p), 1) : Status::InvalidValue;
}

Status head_matmul(const Driver& driver, Queue queue, const HeadProducts& h)
{
    constexpr int kMostHeads = 65535;  // of a grid
    const Product& p = h.product;
    if (!can_multiply(p) || h.heads < 1 || h.heads > kMostHeads)
        return Status::InvalidValue;
    MatmulArguments arguments = arguments_of(p);
    arguments.expert.bytes = std::size_t(p.rows) * row_bytes(p.type, p.n);
    arguments.head = {h.x_stride, h.out_stride};
    return launch_matmul(driver, queue, p, arguments, h.heads);
}

/// Returns the experts of pairs in the order of the batch.
static ExpertArguments chosen_experts(const Product& p, const Routing& routing, int pairs_of_each_row)
{
    return {.chosen = pointer<int>(routing.chosen),
            .sorted = nullptr,
            .begin = nullptr,
            .bytes = p.stack_stride > 0 ? p.stack_stride : std::size_t(p.rows) * row_bytes(p.type, p.n),
            .places = pointer<std::uint64_t>(routing.places),
            .pairs_of_each_row = pairs_of_each_row};
}

Status gated_expert_matvec(const Driver& driver, Queue queue, const GatedProduct& p, const Routing& routing,
                           int pairs_of_each_row)
{
    if (routing.rows > kFewTokens)
        return Status::InvalidValue;
    return launch_gated(driver, queue, p, chosen_experts(p.gate, routing, pairs_of_each_row));
}

Status expert_matmul(const Driver& driver, Queue queue, const Product& p, const Routing& routing, int pairs_of_each_row)
{
    const bool of_some = routing.first > 0 || routing.count > 0;
    if (!can_multiply(p) || (of_some && (routing.places == 0 || routing.rows <= kFewTokens)))
        return Status::InvalidValue;
    MatmulArguments arguments = arguments_of(p);
    arguments.expert = chosen_experts(p, routing, pairs_of_each_row);
    if (routing.rows <= kFewTokens) {
        const Dim grid{pieces(p.rows, kMatvecWarps), unsigned(p.tokens)};
        return driver.launch_early(of_type(Kernel::matvec_f32, p.type), grid, {32 * kMatvecWarps}, 0, queue, arguments,
                                   MatvecParts{}, MatvecEnd{});
    }
    ExpertArguments& expert = arguments.expert;
    const auto first = std::size_t(routing.first);
    expert.chosen = nullptr;
    expert.sorted = pointer<int>(routing.sorted);
    expert.begin = pointer<int>(routing.begin) + first;
    if (expert.places)
        expert.places += first;
    if (arguments.scale)
        arguments.scale += first;
    if (arguments.bias)
        arguments.bias += first * std::size_t(p.rows);
    const int experts = routing.count > 0 ? routing.count : routing.experts;
    // An expert gets each row once at most; thread blocks beyond the rows that it gets have nothing to do.
    const Dim grid{pieces(routing.rows, kMatmulTokens), pieces(p.rows, kMatmulRows), unsigned(experts)};
    return driver.launch(of_type(Kernel::matmul_f32, p.type), grid, {kMatmulThreads}, shared_bytes_of(p.type), queue,
                         arguments);
}

}  // namespace kernels::cuda
