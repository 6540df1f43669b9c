// Attention over one KV block. Scores: a register holds four dimensions of four tokens, so sums run across lanes once
// for 16 tokens. Values: token after token, or where they are the first part of their keys as in values_in_keys.h. Up
// to four query heads share each key and value that is loaded. Keys and values of 8 bits: see attend_q8.h.
#include "kernels/cpu/avx512/attend_q8.h"
#include "kernels/cpu/avx512/lanes.h"
#include "kernels/cpu/avx512/slots.h"
#include "kernels/cpu/avx512/values_in_keys.h"
#include "kernels/cpu/thread_scratch.h"

#include <array>
#include <utility>

namespace kernels::avx512 {

namespace {

constexpr int kHeadsAtOnce = 4;
constexpr int kValuesAtOnce = 4;  // registers of V: 64 values of a token

struct F32Values {
    static constexpr int kBytes = 4;
    static __m512 load(const std::byte* at) { return _mm512_loadu_ps(at); }
    static __m512 load(const std::byte* at, __mmask16 lanes) { return _mm512_maskz_loadu_ps(lanes, at); }
};

struct F16Values {
    static constexpr int kBytes = 2;
    static __m512 load(const std::byte* at) { return _mm512_cvtph_ps(_mm256_loadu_epi16(at)); }
    static __m512 load(const std::byte* at, __mmask16 lanes)
    {
        return _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(lanes, at));
    }
};

// s[j] holds four partial sums for each of tokens 4 j .. 4 j + 3; the result holds one sum for each of the 16.
__m512 join_fours(const __m512 (&s)[4])
{
    const __m512 s01 = _mm512_add_ps(_mm512_unpacklo_ps(s[0], s[1]), _mm512_unpackhi_ps(s[0], s[1]));
    const __m512 s23 = _mm512_add_ps(_mm512_unpacklo_ps(s[2], s[3]), _mm512_unpackhi_ps(s[2], s[3]));
    const __m512 low = _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(s01), _mm512_castps_pd(s23)));
    const __m512 high = _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(s01), _mm512_castps_pd(s23)));
    // 128-bit lane L, element j: token 4 j + L
    return _mm512_permutexvar_ps(_mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15),
                                 _mm512_add_ps(low, high));
}

// softcap * tanh(s / softcap), tanh(x) = 1 - 2 / (e^2x + 1)
__m512 soft_capped(__m512 s, float softcap)
{
    const __m512 one = _mm512_set1_ps(1.0f);
    const __m512 e = exp_of(_mm512_mul_ps(s, _mm512_set1_ps(2.0f / softcap)));
    const __m512 tanh = _mm512_sub_ps(one, _mm512_div_ps(_mm512_set1_ps(2.0f), _mm512_add_ps(e, one)));
    return _mm512_mul_ps(tanh, _mm512_set1_ps(softcap));
}

void store_scores(const AttendBlock& a, int head, int t, __m512 scores)
{
    if (a.softcap > 0.0f)
        scores = soft_capped(scores, a.softcap);
    _mm512_storeu_ps(a.scores + std::ptrdiff_t(head) * a.layout.tokens + t, scores);
}

// The loops over registers are unrolled by pragmas: GCC keeps the sums in memory if a single index is not a constant.

// Computes the scores of the 16 tokens from `t` on for heads head .. head + Heads - 1.
template <class Keys, int Heads>
void score_sixteen(const AttendBlock& a, int head, int t)
{
    const KvBlockLayout& l = a.layout;
    const std::byte* k = a.block + l.k_index(t, 0) * Keys::kBytes;
    const std::byte* ahead = values_ahead(a, t);
    const float* q = a.q + std::ptrdiff_t(head) * l.k_dim;
    __m512 sums[Heads][4];
#pragma GCC unroll 8
    for (int h = 0; h < Heads; ++h)
#pragma GCC unroll 8
        for (int j = 0; j < 4; ++j)
            sums[h][j] = _mm512_setzero_ps();
    for (int d = 0; d < l.k_dim; d += kKvGroupValues, k += 64 * Keys::kBytes, ahead += 64 * Keys::kBytes) {
        read_ahead(ahead, 64 * Keys::kBytes);
        __m512 keys[4];
#pragma GCC unroll 8
        for (int j = 0; j < 4; ++j)
            keys[j] = Keys::load(k + 16 * j * Keys::kBytes);
#pragma GCC unroll 8
        for (int h = 0; h < Heads; ++h) {
            const __m512 four = _mm512_broadcast_f32x4(_mm_loadu_ps(q + std::ptrdiff_t(h) * l.k_dim + d));
#pragma GCC unroll 8
            for (int j = 0; j < 4; ++j)
                sums[h][j] = _mm512_fmadd_ps(keys[j], four, sums[h][j]);
        }
    }
#pragma GCC unroll 8
    for (int h = 0; h < Heads; ++h)
        store_scores(a, head + h, t, join_fours(sums[h]));
}

// Returns a mask of the attended tokens among the 16 from `t` on.
__mmask16 attended(const AttendBlock& a, int t)
{
    if (a.first <= t && t + kLanes <= a.last)
        return 0xffff;
    return __mmask16(first_lanes(a.last - t) & ~first_lanes(a.first - t));
}

// Turns a head's scores into the weights of its values; sets max and sum. Returns false if every score is -inf.
bool weigh(const AttendBlock& a, int head)
{
    float* scores = a.scores + std::ptrdiff_t(head) * a.layout.tokens;
    const __m512 none = _mm512_set1_ps(-__builtin_inff());
    const int begin = a.first / kLanes * kLanes;
    __m512 largest = none;
    for (int t = begin; t < a.last; t += kLanes)
        largest = _mm512_max_ps(largest, _mm512_mask_loadu_ps(none, attended(a, t), scores + t));
    const float max = _mm512_reduce_max_ps(largest);
    a.max[head] = max;
    a.sum[head] = 0.0f;
    if (max == -__builtin_inff())
        return false;
    __m512 sums = _mm512_setzero_ps();
    for (int t = begin; t < a.last; t += kLanes) {
        const __m512 distance = _mm512_sub_ps(_mm512_loadu_ps(scores + t), _mm512_set1_ps(max));
        __m512 weight = _mm512_maskz_mov_ps(attended(a, t), exp_of(distance));
        sums = _mm512_add_ps(sums, weight);
        if (a.layout.v_type == KvType::Q8_0)
            weight = _mm512_maskz_mul_ps(attended(a, t), weight,
                                         _mm512_loadu_ps(a.block + a.layout.v_scales_offset() + std::size_t(t) * 4));
        _mm512_storeu_ps(scores + t, weight);
    }
    a.sum[head] = sum_of(sums);
    return true;
}

// Sets out[d .. d + 63] of some heads to weighted sums of the values of the attended tokens.
template <class Values, int Heads>
void sum_values(const AttendBlock& a, int head, int d)
{
    const KvBlockLayout& l = a.layout;
    const std::byte* v = a.block + l.v_offset() + std::ptrdiff_t(d) * Values::kBytes;
    const std::ptrdiff_t stride = std::ptrdiff_t(l.v_dim) * Values::kBytes;
    __mmask16 lanes[kValuesAtOnce];
#pragma GCC unroll 8
    for (int j = 0; j < kValuesAtOnce; ++j)
        lanes[j] = first_lanes(l.v_dim - d - kLanes * j);
    __m512 sums[Heads][kValuesAtOnce];
#pragma GCC unroll 8
    for (int h = 0; h < Heads; ++h)
#pragma GCC unroll 8
        for (int j = 0; j < kValuesAtOnce; ++j)
            sums[h][j] = _mm512_setzero_ps();
    const std::byte* ahead = keys_ahead(a, d);
    const float* weights = a.scores + std::ptrdiff_t(head) * l.tokens;
    for (int t = a.first; t < a.last; ++t, ahead += 64 * Values::kBytes) {
        read_ahead(ahead, 64 * Values::kBytes);
        __m512 values[kValuesAtOnce];
#pragma GCC unroll 8
        for (int j = 0; j < kValuesAtOnce; ++j)
            values[j] = Values::load(v + t * stride + kLanes * j * Values::kBytes, lanes[j]);
#pragma GCC unroll 8
        for (int h = 0; h < Heads; ++h) {
            const __m512 weight = _mm512_set1_ps(weights[std::ptrdiff_t(h) * l.tokens + t]);
#pragma GCC unroll 8
            for (int j = 0; j < kValuesAtOnce; ++j)
                sums[h][j] = _mm512_fmadd_ps(weight, values[j], sums[h][j]);
        }
    }
#pragma GCC unroll 8
    for (int h = 0; h < Heads; ++h)
#pragma GCC unroll 8
        for (int j = 0; j < kValuesAtOnce; ++j)
            _mm512_mask_storeu_ps(a.out + std::ptrdiff_t(head + h) * l.v_dim + d + kLanes * j, lanes[j], sums[h][j]);
}

void clear(const AttendBlock& a, int head)
{
    for_lanes(a.layout.v_dim, [&](int d, __mmask16 lanes) {
        _mm512_mask_storeu_ps(a.out + std::ptrdiff_t(head) * a.layout.v_dim + d, lanes, _mm512_setzero_ps());
    });
}

template <class Keys, int Heads>
void score(const AttendBlock& a, int head)
{
    for (int t = a.first / kKvGroupTokens * kKvGroupTokens; t < a.last; t += kKvGroupTokens)
        score_sixteen<Keys, Heads>(a, head, t);
}

template <class Values, int Heads>
void values(const AttendBlock& a, int head)
{
    if (a.layout.values_in_keys)
        for (int d = 0; d < a.layout.v_dim; d += kLanes)
            sum_values_in_keys<Values, Heads>(a, head, d);
    else
        for (int d = 0; d < a.layout.v_dim; d += kLanes * kValuesAtOnce)
            sum_values<Values, Heads>(a, head, d);
}

// Says where the integers of some heads lie in the thread's scratch.
struct Q8Scratch {
    const KvBlockLayout& layout;
    std::byte* base;

    static std::size_t sums_bytes(const KvBlockLayout& l)
    {
        return std::size_t((l.v_dim + 63) / 64) * sizeof(ValueSums);
    }
    static std::size_t bytes(const KvBlockLayout& l)  // of one head
    {
        return (sums_bytes(l) + 2 * (std::size_t(l.k_dim) + std::size_t(l.tokens)) + 63) / 64 * 64;
    }
    // (v_dim / 64 rounded up, heads)
    ValueSums* sums() const { return reinterpret_cast<ValueSums*>(base); }
    std::byte* query(int h, int heads) const
    {
        return base + std::size_t(heads) * sums_bytes(layout) +
               2 * std::size_t(h) * (std::size_t(layout.k_dim) + std::size_t(layout.tokens));
    }
    std::byte* weights(int h, int heads) const { return query(h, heads) + 2 * std::size_t(layout.k_dim); }
};

template <int... H, class Make>
auto each(std::integer_sequence<int, H...>, const Make& make)
{
    return std::array{make(H)...};
}
template <int Heads, class Make>
auto for_each_head(const Make& make)
{
    return each(std::make_integer_sequence<int, Heads>(), make);
}

template <int Heads>
void score_all_q8(const AttendBlock& a, int head, const Q8Scratch& scratch)
{
    const int k_dim = a.layout.k_dim;
    const std::byte* const scales = a.block + a.layout.k_scales_offset();
    const bool scales_too = a.layout.v_type == KvType::Q8_0;
    const auto queries = for_each_head<Heads>([&](int h) {
        auto* bytes = reinterpret_cast<std::int8_t*>(scratch.query(h, Heads));
        return SplitQuery(a.q + std::ptrdiff_t(head + h) * k_dim, k_dim, bytes, bytes + k_dim);
    });
    for (int t = a.first / kKvGroupTokens * kKvGroupTokens; t < a.last; t += kKvGroupTokens) {
        if (scales_too)
            read_ahead(a.block + a.layout.v_scales_offset() + std::ptrdiff_t(t) * 4, 64);
        __m512 scores[Heads];
        score_sixteen_q8<Heads>(a, queries, t, scores);
        const __m512 scale = _mm512_loadu_ps(scales + std::ptrdiff_t(t) * 4);
        for (int h = 0; h < Heads; ++h)
            store_scores(a, head + h, t, _mm512_mul_ps(scores[h], scale));
    }
}

// Sums the values, for two heads at a time, whose sums fill the registers. As many tokens as stay in the first cache
// are added for all heads and dimensions before the next tokens.
template <int Heads>
void values_q8(const AttendBlock& a, int head, const Q8Scratch& scratch)
{
    const KvBlockLayout& l = a.layout;
    const int begin = a.first / kLanes * kLanes, end = (a.last + kLanes - 1) / kLanes * kLanes;
    const auto weights = for_each_head<Heads>([&](int h) {
        auto* bytes = reinterpret_cast<std::uint8_t*>(scratch.weights(h, Heads));
        return SplitWeights(a.scores + std::ptrdiff_t(head + h) * l.tokens, begin, end, bytes, bytes + l.tokens);
    });
    constexpr int kTokens = 128, kTogether = Heads == 1 ? 1 : 2;
    if (l.values_in_keys) {
        for (int d = 0; d < l.v_dim; d += kLanes)
            for (int h = 0; h < Heads; h += kTogether)
                sum_values_in_keys_q8<kTogether>(a, weights.data() + h, head + h, d);
        return;
    }
    constexpr int kAhead = Heads == 4 ? 2 : 4;  // all of the next keys, where they are as long as values
    ValueSums* const sums = scratch.sums();
    for (int i = 0; i < (l.v_dim + 63) / 64 * Heads; ++i)
        sums[i] = ValueSums{};
    const std::byte* ahead = keys_ahead(a, 0);
    const bool scales_too = a.next && l.k_type == KvType::Q8_0;
    for (int t = a.first / 4 * 4; t < a.last; t += kTokens) {
        const int stop = t + kTokens < a.last ? t + kTokens : (a.last + 3) / 4 * 4;
        if (scales_too)
            read_ahead(a.next + l.k_scales_offset() + std::ptrdiff_t(t) * 4, kTokens * 4);
        for (int d = 0; d < l.v_dim; d += 64)
            for (int h = 0; h < Heads; h += kTogether) {
                const auto add = l.v_dim - d >= 64 ? add_values_q8<kTogether, true, kAhead>
                                                   : add_values_q8<kTogether, false, kAhead>;
                add(a, weights.data() + h, d, t, stop, ahead, sums + d / 64 * Heads + h);
                ahead += std::ptrdiff_t(kTokens) / 4 * 64 * kAhead;
            }
    }
    float* const out = a.out + std::ptrdiff_t(head) * l.v_dim;
    for (int d = 0; d < l.v_dim; d += 64)
        for (int h = 0; h < Heads; ++h)
            store_values(sums[d / 64 * Heads + h], weights[std::size_t(h)].scale, l.v_dim - d,
                         out + std::ptrdiff_t(h) * l.v_dim + d);
}

template <int Heads>
void attend_heads(const AttendBlock& a, int head)
{
    const bool whole_numbers = a.layout.k_type == KvType::Q8_0 || a.layout.v_type == KvType::Q8_0;
    const Q8Scratch scratch{a.layout, whole_numbers ? thread_scratch(Heads * Q8Scratch::bytes(a.layout)) : nullptr};
    switch (a.layout.k_type) {
    case KvType::F32:
        score<F32Values, Heads>(a, head);
        break;
    case KvType::F16:
        score<F16Values, Heads>(a, head);
        break;
    case KvType::Q8_0:
        score_all_q8<Heads>(a, head, scratch);
        break;
    }
    bool empty[Heads];
    for (int h = 0; h < Heads; ++h)
        empty[h] = !weigh(a, head + h);
    switch (a.layout.v_type) {
    case KvType::F32:
        values<F32Values, Heads>(a, head);
        break;
    case KvType::F16:
        values<F16Values, Heads>(a, head);
        break;
    case KvType::Q8_0:
        values_q8<Heads>(a, head, scratch);
        break;
    }
    for (int h = 0; h < Heads; ++h)
        if (empty[h])
            clear(a, head + h);
}

}  // namespace

void attend_block(const AttendBlock& a)
{
    int head = 0;
    for (; head + kHeadsAtOnce <= a.group; head += kHeadsAtOnce)
        attend_heads<kHeadsAtOnce>(a, head);
    for (; head + 2 <= a.group; head += 2)
        attend_heads<2>(a, head);
    if (head < a.group)
        attend_heads<1>(a, head);
}

void merge_partial(int dim, float max, float sum, const float* out, float& acc_max, float& acc_sum, float* acc_out)
{
    const float none = -__builtin_inff();
    if (max == none)
        return;
    const float joint = acc_max < max ? max : acc_max;
    const float keep = acc_max == none ? 0.0f : exp_of(acc_max - joint);
    const float take = exp_of(max - joint);
    // An empty accumulator's values may never have been written: they are not read.
    acc_sum = keep == 0.0f ? take * sum : keep * acc_sum + take * sum;
    for_lanes(dim, [&](int d, __mmask16 lanes) {
        const __m512 taken = _mm512_mul_ps(_mm512_maskz_loadu_ps(lanes, out + d), _mm512_set1_ps(take));
        const __mmask16 kept_lanes = keep == 0.0f ? __mmask16(0) : lanes;
        const __m512 kept = _mm512_maskz_loadu_ps(kept_lanes, acc_out + d);
        _mm512_mask_storeu_ps(acc_out + d, lanes, _mm512_fmadd_ps(kept, _mm512_set1_ps(keep), taken));
    });
    acc_max = joint;
}

}  // namespace kernels::avx512
