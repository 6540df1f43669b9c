// Attention over one KV block. Scores: a register holds four dimensions of two tokens, so sums run across lanes once
// for 16 tokens. Values: token after token, also where they are the first part of their keys.
#include "kernels/cpu/avx2/lanes.h"
#include "kernels/cpu/avx2/slots.h"

#include <cstring>

namespace kernels::avx2 {

namespace {

// load(at, next): four values at `at` and four at `next`.

struct F32Values {
    static constexpr int kBytes = 4;
    static __m256 load(const std::byte* at) { return _mm256_loadu_ps(reinterpret_cast<const float*>(at)); }
    static __m256 load(const std::byte* at, const std::byte* next)
    {
        return _mm256_loadu2_m128(reinterpret_cast<const float*>(next), reinterpret_cast<const float*>(at));
    }
};

struct F16Values {
    static constexpr int kBytes = 2;
    static __m256 load(const std::byte* at)
    {
        return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
    }
    static __m256 load(const std::byte* at, const std::byte* next)
    {
        const __m128i four = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(at));
        return _mm256_cvtph_ps(_mm_unpacklo_epi64(four, _mm_loadl_epi64(reinterpret_cast<const __m128i*>(next))));
    }
};

struct Q8Values {
    static constexpr int kBytes = 1;
    static __m256 load(const std::byte* at)
    {
        long long eight;
        std::memcpy(&eight, at, 8);
        return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_cvtsi64_si128(eight)));
    }
    static __m256 load(const std::byte* at, const std::byte* next)
    {
        int fours[2];
        std::memcpy(fours, at, 4);
        std::memcpy(fours + 1, next, 4);
        return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_setr_epi32(fours[0], fours[1], 0, 0)));
    }
};

// Values lie token by token, or as the first part of their keys.
template <class Values, bool in_keys>
struct PlacedValues {
    // From four values of a token to the next four.
    static constexpr int kStep = (in_keys ? kKvGroupTokens * kKvGroupValues : kKvGroupValues) * Values::kBytes;
    static const std::byte* at(const AttendBlock& a, int t, int d)
    {
        const KvBlockLayout& l = a.layout;
        const std::size_t index = in_keys ? l.k_index(t, d) : std::size_t(t) * std::size_t(l.v_dim) + std::size_t(d);
        return a.block + l.v_offset() + index * Values::kBytes;
    }
    static __m256 eight(const std::byte* at) { return in_keys ? Values::load(at, at + kStep) : Values::load(at); }
};

// s[j] holds four partial sums for each of tokens 2 j and 2 j + 1; the result holds one sum for each of the eight.
__m256 join_fours(const __m256* s)
{
    const __m256 s01 = _mm256_add_ps(_mm256_unpacklo_ps(s[0], s[1]), _mm256_unpackhi_ps(s[0], s[1]));
    const __m256 s23 = _mm256_add_ps(_mm256_unpacklo_ps(s[2], s[3]), _mm256_unpackhi_ps(s[2], s[3]));
    const __m256 low = _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(s01), _mm256_castps_pd(s23)));
    const __m256 high = _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(s01), _mm256_castps_pd(s23)));
    // 128-bit lane L, element j: token 2 j + L
    return _mm256_permutevar8x32_ps(_mm256_add_ps(low, high), _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

// softcap * tanh(s / softcap), tanh(x) = 1 - 2 / (e^2x + 1)
__m256 soft_capped(__m256 s, float softcap)
{
    const __m256 one = _mm256_set1_ps(1.0f);
    const __m256 e = exp_of(_mm256_mul_ps(s, _mm256_set1_ps(2.0f / softcap)));
    const __m256 tanh = _mm256_sub_ps(one, _mm256_div_ps(_mm256_set1_ps(2.0f), _mm256_add_ps(e, one)));
    return _mm256_mul_ps(tanh, _mm256_set1_ps(softcap));
}

// The loops over registers are unrolled by pragmas: GCC keeps the sums in memory if a single index is not a constant.

// Computes the scores of the 16 tokens from `t` on.
template <class Keys>
void score_sixteen(const AttendBlock& a, int head, int t)
{
    const KvBlockLayout& l = a.layout;
    const std::byte* k = a.block + l.k_index(t, 0) * Keys::kBytes;
    const float* q = a.q + std::ptrdiff_t(head) * l.k_dim;
    __m256 sums[8];
#pragma GCC unroll 8
    for (int j = 0; j < 8; ++j)
        sums[j] = _mm256_setzero_ps();
    for (int d = 0; d < l.k_dim; d += kKvGroupValues, k += 64 * Keys::kBytes) {
        const __m256 four = _mm256_broadcast_ps(reinterpret_cast<const __m128*>(q + d));
#pragma GCC unroll 8
        for (int j = 0; j < 8; ++j)
            sums[j] = _mm256_fmadd_ps(Keys::load(k + 8 * j * Keys::kBytes), four, sums[j]);
    }
    const auto* scales = reinterpret_cast<const float*>(a.block + l.k_scales_offset());
#pragma GCC unroll 2
    for (int half = 0; half < 2; ++half) {
        const int first = t + kLanes * half;
        __m256 s = join_fours(sums + 4 * half);
        if (l.k_type == KvType::Q8_0)
            s = _mm256_mul_ps(s, _mm256_loadu_ps(scales + first));
        if (a.softcap > 0.0f)
            s = soft_capped(s, a.softcap);
        _mm256_storeu_ps(a.scores + std::ptrdiff_t(head) * l.tokens + first, s);
    }
}

// Returns a mask of the attended tokens among the eight from `t` on.
__m256 attended(const AttendBlock& a, int t)
{
    return _mm256_castsi256_ps(_mm256_andnot_si256(first_lanes(a.first - t), first_lanes(a.last - t)));
}

// Turns a head's scores into the weights of its values; sets max and sum. Returns false if every score is -inf.
bool weigh(const AttendBlock& a, int head)
{
    float* scores = a.scores + std::ptrdiff_t(head) * a.layout.tokens;
    const auto* v_scales = reinterpret_cast<const float*>(a.block + a.layout.v_scales_offset());
    const __m256 none = _mm256_set1_ps(-__builtin_inff());
    const int begin = a.first / kLanes * kLanes;
    __m256 largest = none;
    for (int t = begin; t < a.last; t += kLanes)
        largest = _mm256_max_ps(largest, _mm256_blendv_ps(none, _mm256_loadu_ps(scores + t), attended(a, t)));
    const float max = max_of(largest);
    a.max[head] = max;
    a.sum[head] = 0.0f;
    if (max == -__builtin_inff())
        return false;
    __m256 sums = _mm256_setzero_ps();
    for (int t = begin; t < a.last; t += kLanes) {
        const __m256 distance = _mm256_sub_ps(_mm256_loadu_ps(scores + t), _mm256_set1_ps(max));
        __m256 weight = _mm256_and_ps(attended(a, t), exp_of(distance));
        sums = _mm256_add_ps(sums, weight);
        if (a.layout.v_type == KvType::Q8_0)
            weight = _mm256_mul_ps(weight, _mm256_loadu_ps(v_scales + t));
        _mm256_storeu_ps(scores + t, weight);
    }
    a.sum[head] = sum_of(sums);
    return true;
}

// Sets Registers * 8 values of one head from out[d] on to weighted sums of the values of the attended tokens.
template <class Placed, int Registers>
void sum_values(const AttendBlock& a, int head, int d)
{
    const KvBlockLayout& l = a.layout;
    const float* weights = a.scores + std::ptrdiff_t(head) * l.tokens;
    __m256 sums[Registers];
#pragma GCC unroll 8
    for (int j = 0; j < Registers; ++j)
        sums[j] = _mm256_setzero_ps();
    for (int t = a.first; t < a.last; ++t) {
        const __m256 weight = _mm256_set1_ps(weights[t]);
        const std::byte* v = Placed::at(a, t, d);
#pragma GCC unroll 8
        for (int j = 0; j < Registers; ++j)
            sums[j] = _mm256_fmadd_ps(weight, Placed::eight(v + 2 * j * Placed::kStep), sums[j]);
    }
#pragma GCC unroll 8
    for (int j = 0; j < Registers; ++j)
        _mm256_storeu_ps(a.out + std::ptrdiff_t(head) * l.v_dim + d + kLanes * j, sums[j]);
}

// Sums the last values of a head whose dimension is not a multiple of eight; of values in keys these are four.
template <class Values, class Placed>
void sum_last_values(const AttendBlock& a, int head, int d)
{
    const KvBlockLayout& l = a.layout;
    const auto bytes = std::size_t(l.v_dim - d) * Values::kBytes;
    __m256 sums = _mm256_setzero_ps();
    for (int t = a.first; t < a.last; ++t) {
        std::byte values[kLanes * 4] = {};
        std::memcpy(values, Placed::at(a, t, d), bytes);
        const __m256 weight = _mm256_set1_ps(a.scores[std::ptrdiff_t(head) * l.tokens + t]);
        sums = _mm256_fmadd_ps(weight, Values::load(values), sums);
    }
    _mm256_maskstore_ps(a.out + std::ptrdiff_t(head) * l.v_dim + d, first_lanes(l.v_dim - d), sums);
}

template <class Keys>
void score(const AttendBlock& a, int head)
{
    for (int t = a.first / kKvGroupTokens * kKvGroupTokens; t < a.last; t += kKvGroupTokens)
        score_sixteen<Keys>(a, head, t);
}

template <class Values, bool in_keys>
void placed_values(const AttendBlock& a, int head)
{
    using Placed = PlacedValues<Values, in_keys>;
    int d = 0;
    for (; d + 8 * kLanes <= a.layout.v_dim; d += 8 * kLanes)
        sum_values<Placed, 8>(a, head, d);
    for (; d + kLanes <= a.layout.v_dim; d += kLanes)
        sum_values<Placed, 1>(a, head, d);
    if (d < a.layout.v_dim)
        sum_last_values<Values, Placed>(a, head, d);
}

template <class Values>
void values(const AttendBlock& a, int head)
{
    a.layout.values_in_keys ? placed_values<Values, true>(a, head) : placed_values<Values, false>(a, head);
}

void attend_head(const AttendBlock& a, int head)
{
    switch (a.layout.k_type) {
    case KvType::F32:
        score<F32Values>(a, head);
        break;
    case KvType::F16:
        score<F16Values>(a, head);
        break;
    case KvType::Q8_0:
        score<Q8Values>(a, head);
        break;
    }
    if (!weigh(a, head)) {
        for_lanes(a.layout.v_dim, [&](int d, __m256i lanes) {
            _mm256_maskstore_ps(a.out + std::ptrdiff_t(head) * a.layout.v_dim + d, lanes, _mm256_setzero_ps());
        });
        return;
    }
    switch (a.layout.v_type) {
    case KvType::F32:
        return values<F32Values>(a, head);
    case KvType::F16:
        return values<F16Values>(a, head);
    case KvType::Q8_0:
        return values<Q8Values>(a, head);
    }
}

}  // namespace

void attend_block(const AttendBlock& a)
{
    for (int head = 0; head < a.group; ++head)
        attend_head(a, head);
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
    for_lanes(dim, [&](int d, __m256i lanes) {
        const __m256 taken = _mm256_mul_ps(load(out + d, lanes), _mm256_set1_ps(take));
        const __m256i kept_lanes = keep == 0.0f ? _mm256_setzero_si256() : lanes;
        const __m256 kept = load(acc_out + d, kept_lanes);
        _mm256_maskstore_ps(acc_out + d, lanes, _mm256_fmadd_ps(kept, _mm256_set1_ps(keep), taken));
    });
    acc_max = joint;
}

}  // namespace kernels::avx2
