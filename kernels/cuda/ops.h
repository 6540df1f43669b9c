// Declares the CUDA operations the engine may call: launchers that compute a grid and queue a kernel. They return the
// driver's status, or InvalidValue for a shape they cannot do; they allocate nothing and wait for nothing, so all of
// them may be captured in a graph.
//
// Rows of activations are floats; a matrix of them is given by its address and the floats from one row to the next.
// Addresses and strides are multiples of 16 bytes unless said otherwise.
#pragma once

#include "kernels/cuda/driver.h"
#include "kernels/cuda/experts.h"
#include "kernels/cuda/gating.h"
#include "kernels/cuda/halves.h"
#include "kernels/cuda/host_partials.h"
#include "kernels/cuda/recurrent.h"
#include "kernels/cuda/streams.h"
#include "kernels/kv_block.h"
#include "kernels/types.h"

#include <limits>
#include <span>

namespace kernels::cuda {

/// (rows, columns) floats on the device.
struct Rows {
    DevicePtr at = 0;
    int stride = 0;  // floats
};

/// (rows, n) activations rounded to 8 bits, laid out as on the CPU (kernels/cpu.h: Q8Row).
struct Q8Rows {
    DevicePtr at = 0;
    std::size_t stride = 0;  // bytes: activation_row_bytes(Activation::Q8, n)
};

/// Says where a result is also written as rounded rows.
struct Rounded {
    Q8Rows rows = {};        // none: it is not
    DevicePtr residual = 0;  // what rounding lost, rounded in its turn, at the same stride; or 0
};

/// The KV of one layer of one sequence.
struct KvBlocks {
    KvBlockLayout layout;  // of one KV head; dimensions are multiples of 4
    int heads = 0;         // KV heads
    // (blocks,) std::uint64_t on the device: where the block column of each run of layout.tokens tokens begins (its KV
    // heads one after the other), or 0 where it is not on the device. May change between launches of a graph.
    DevicePtr blocks = 0;
};

// ---- rows ----

// out[r] = scale * row ids[r] of a table. table: (entries, row_bytes(type, n)); ids: (rows,) ints; out: (rows, n)
Status embed(const Driver& driver, Queue queue, TensorType type, DevicePtr table, DevicePtr ids, float scale, int rows,
             int n, Rows out);

// out[r] = x[r] * weight / rms(x[r]). x, out: (rows, dim), of any alignment; weight: (dim,); out may be x; dim is a
// multiple of 32 where the result is rounded
Status rms_norm(const Driver& driver, Queue queue, Rows x, DevicePtr weight, float eps, int rows, int dim, Rows out,
                const Rounded& rounded = {});

// Norms with the mean taken off first: out[r] = (x[r] - mean) * weight / standard deviation. Shapes as of rms_norm.
Status layer_norm(const Driver& driver, Queue queue, Rows x, DevicePtr weight, float eps, int rows, int dim, Rows out);

/// Heads of rows: `length` values each, and `stride` floats from one to the next.
struct Heads {
    int count = 0, length = 0, stride = 0;
};

// rms_norm for each head by itself. x: (rows, heads); out: (rows, heads, length) of any stride; out may be x where the
// heads of x follow each other.
Status norm_heads(const Driver& driver, Queue queue, Rows x, const Heads& heads, DevicePtr weight, float eps, int rows,
                  Rows out);

// layer_norm for each head by itself, in place. x: (rows, heads); weights: (heads, length)
Status layer_norm_heads(const Driver& driver, Queue queue, Rows x, const Heads& heads, DevicePtr weights, float eps,
                        int rows);

// x times the sigmoid of the gates. gates: (rows, heads); x: (rows, heads, length)
Status gate_heads(const Driver& driver, Queue queue, Rows gates, const Heads& heads, int rows, Rows x);

// out = x. x, out: (rows, heads), of any alignment; heads of as many and as long, at their own strides
Status copy_heads(const Driver& driver, Queue queue, Rows x, const Heads& heads, int rows, Rows out, int out_stride);

// x[r] times the sigmoid of weights[r]. weights: (rows,) of any alignment and stride; x: (rows, n)
Status weigh_rows(const Driver& driver, Queue queue, Rows weights, int rows, int n, Rows x);

// Turns the first 2 * pairs values of each head, in place. x: (rows, heads, length); cos, sin: (rows, pairs)
enum class RopePairs { Neighbours, Halves };  // (2i, 2i + 1), or (i, i + pairs) as neox does
Status rope(const Driver& driver, Queue queue, Rows x, int heads, int length, DevicePtr cos, DevicePtr sin, int pairs,
            RopePairs order, int rows);

// x[r] += y[r]. x, y: (rows, n)
Status add(const Driver& driver, Queue queue, Rows y, int rows, int n, Rows x);

// x[r] = cap * tanh(x[r] / cap). x: (rows, n)
Status soft_cap(const Driver& driver, Queue queue, float cap, int rows, int n, Rows x);

// x[r] *= factor. x: (rows, n)
Status scale(const Driver& driver, Queue queue, float factor, int rows, int n, Rows x);

// out = gate times up. gates, up, out: (rows, n), of any alignment; out may begin where the gates do.
Status gated(const Driver& driver, Queue queue, const Gating& gating, Rows gates, Rows up, int rows, int n, Rows out);

// The same, rounded as quantize_q8 does; the values themselves are not written. n: a multiple of 32; rows of gates and
// up begin at multiples of 16 bytes.
Status gated_q8(const Driver& driver, Queue queue, const Gating& gating, Rows gates, Rows up, int rows, int n,
                const Rounded& out);

// Replaces each row's first n columns by max(x - bound, 0), where bound is their mean plus this many standard
// deviations.
Status keep_above(const Driver& driver, Queue queue, float deviations, int rows, int n, Rows x);

// Copies the first n columns of each row. out: (rows, n)
Status take_columns(const Driver& driver, Queue queue, Rows x, int rows, int n, Rows out);

// Rounds activations as a product over quantised weights takes them. x: (rows, n), n a multiple of 32; residual: where
// what rounding lost goes, rounded in its turn, at the same stride; or 0
Status quantize_q8(const Driver& driver, Queue queue, Rows x, int rows, int n, Q8Rows out, DevicePtr residual = 0);

/// Rows of halves, all of them multiplied by one power of two: by 1 unless a value is beyond the range of halves.
struct HalfRows {
    DevicePtr at = 0;       // (rows, n)
    DevicePtr scalars = 0;  // a HalfScalars
};

// x: (rows, n), n a multiple of 4
Status rows_to_halves(const Driver& driver, Queue queue, Rows x, int rows, int n, const HalfRows& to);

// Packed weights (rows, row_bytes(type, n)) to halves. to: (rows, n)
Status weights_to_halves(const Driver& driver, Queue queue, TensorType type, DevicePtr weights, int rows, int n,
                         DevicePtr to);

// ---- products ----

enum class Into { Place, Sum };  // the result takes the place of what was there, or is added to it

/// out[t][r] = sum over i of weights[r][i] * x[t][i], plus bias[r].
struct Product {
    TensorType type = TensorType::F32;
    int n = 0;              // length of a row: a multiple of the type's block length, or of 8 for floats
    int rows = 0;           // weight rows
    DevicePtr weights = 0;  // (rows, row_bytes(type, n)), as in the file
    DevicePtr scale = 0;    // one float by which sums are multiplied, with experts one for each; or 0
    DevicePtr bias = 0;     // (rows,) or 0
    int tokens = 0;
    DevicePtr x = 0;         // (tokens, x_stride bytes) in the form that activation_of(type) names: floats or Q8Rows
    DevicePtr residual = 0;  // the same for what rounding to 8 bits lost, which is multiplied too; or 0
    std::size_t x_stride = 0;
    std::size_t stack_stride = 0;  // bytes from one expert's matrix to the next; 0: they follow each other
    Rows out = {};                 // (tokens, rows), of any alignment
    Into into = Into::Place;
};

/// Weights that the next launch in the queue reads; 0: they are not known. On devices from 9.0 on a launch prefetches
/// some of them into the second-level cache as it ends, so that the memory is busy until the next launch has begun. No
/// result depends on it.
struct NextWeights {
    DevicePtr at = 0;
    std::size_t bytes = 0;
};

// For few tokens: the weights are read once for every eight of them. A token's result does not depend on the others.
Status matvec(const Driver& driver, Queue queue, const Product& p);

/// Says what the result of a product is normed with, and where that goes.
struct NormOfResult {
    DevicePtr weight = 0;  // (p.rows,)
    float epsilon = 0.0f;
    Rows out = {};
    Rounded rounded = {};
    NextWeights next = {};
};

// A product of one token, and rms_norm of its result, in one launch; p.rows is a multiple of 32. The results are those
// of both one after another. counter: one unsigned zero, which is zero again after the launch
Status matvec_and_norm(const Driver& driver, Queue queue, const Product& p, const NormOfResult& norm,
                       DevicePtr counter);

// Up to kMostTogether products of few tokens with the same activations: with one token in one launch, with more in one
// launch for each type. The results are those of matvec. The types are all the same, or two that multiplied_together()
// allows; with more than one token all results have the same stride. InvalidValue: more than kFewTokens.
constexpr int kMostTogether = 4;
bool multiplied_together(std::span<const TensorType> types);
Status matvec_together(const Driver& driver, Queue queue, std::span<const Product> products);

/// Up to this many tokens the weights are read twice rather than unpacked.
constexpr int kFewTokens = 16;

// For any number of tokens: few are multiplied as by matvec, many on tensor cores.
Status matmul(const Driver& driver, Queue queue, const Product& p);

/// Products of rows that consist of heads: head h with matrix h of a stack, whose matrices follow each other.
struct HeadProducts {
    Product product = {};      // of head 0; a scale or bias has an entry, or a row, for each head
    int heads = 0;             // 65535 at most
    std::size_t x_stride = 0;  // bytes from one head's activations to the next
    int out_stride = 0;        // floats from one head's results to the next
};

// For any number of tokens, as matmul.
Status head_matmul(const Driver& driver, Queue queue, const HeadProducts& h);

/// Both products of a gated layer, and the gate: nothing but its result is written.
struct GatedProduct {
    Product gate = {};         // into its place
    DevicePtr up_weights = 0;  // as gate.weights
    DevicePtr up_scale = 0;    // as gate.scale
    DevicePtr up_bias = 0;     // as gate.bias
    Gating gating = {};
    // With one token, or with experts, the result may be rounded as well: where to, and (tokens, gate.rows / 32)
    // unsigned zeros, which are zeros again after the launch. gate.rows is a multiple of 32 then. 0: it is not rounded
    Rounded rounded = {};
    DevicePtr counters = 0;
    NextWeights next = {};
};

// For few tokens, as matvec. The results are those of matvec, gated and quantize_q8 one after another.
Status gated_matvec(const Driver& driver, Queue queue, const GatedProduct& p);

// ---- sampling ----

constexpr int kMostRanked = 256;

/// The largest of a row's logits, best first, and among equals the lower index first. Infinities count as the outermost
/// finite values, and NaN as the smallest.
struct Ranked {
    DevicePtr logits = 0;   // (kept,) floats
    DevicePtr indices = 0;  // (kept,) ints
    DevicePtr log_sum = 0;  // one float: the logarithm of the sum of exp(logit) over the whole row
};

/// Says how the search divides its scratch memory, in bytes.
struct RankLayout {
    std::size_t other, sums;
    std::size_t bytes;
    RankLayout(int n, int kept);
};

// logits: (n,), of any alignment; kept: 1 to kMostRanked, n at most; scratch: RankLayout::bytes
Status rank(const Driver& driver, Queue queue, DevicePtr logits, int n, int kept, DevicePtr scratch, const Ranked& to);

// ---- experts ----

/// Says which experts the rows of a batch go to. Pair r * used + s is row r with the s-th of its experts.
struct Routing {
    int rows = 0, used = 0, experts = 0;  // used <= experts
    DevicePtr chosen = 0;                 // (rows, used) ints: the largest logit first, among equals the lower index
    DevicePtr weights = 0;                // (rows, used) floats
    // (experts,) std::uint64_t on the device: where each expert's matrices are, or 0: its pairs are left out. Then the
    // `weights` of products are numbers of bytes from there. 0: matrices are in stacks
    DevicePtr places = 0;
    // Of more than kFewTokens rows:
    DevicePtr sorted = 0;  // (rows * used,) ints: the pairs by expert
    DevicePtr begin = 0;   // (experts + 1,) ints: each expert's first in `sorted`
    // Products with weights in places are computed for experts [first, first + count) only. count 0: for all
    int first = 0, count = 0;
};

/// Says how experts are chosen and weighed: those with the largest score + bias, by their score.
struct Choice {
    enum class Scores { Softmax, Sigmoid };
    Scores scores = Scores::Softmax;
    bool sum_to_one = true;  // weights are divided by their sum, or by least_sum where it is less
    float least_sum = 0.0f;
    float scale = 1.0f;  // then multiplied by this
    DevicePtr bias = 0;  // (experts,) or 0: then experts are chosen by their logits
    // Experts in groups, kMostExpertGroups at most: those of the groups_used groups whose two best have the largest sum
    // of score + bias are chosen from. 0: from all
    int groups = 0, groups_used = 0;
};

// Fills what `to` points at. logits: (rows, experts)
Status route(const Driver& driver, Queue queue, Rows logits, const Choice& choice, const Routing& to);

// Scales the weights of routed pairs: weights[pair] *= scale[the pair's expert]. scale: (experts,)
Status scale_weights(const Driver& driver, Queue queue, DevicePtr scale, const Routing& routing);

// A product for each pair, with its expert's matrix. p.tokens: pairs; p.weights, p.bias: a stack of as many as there
// are experts; p.x: rows that `pairs_of_each_row` pairs share
Status expert_matmul(const Driver& driver, Queue queue, const Product& p, const Routing& routing,
                     int pairs_of_each_row);

// The same for the products of a gated layer, for few rows: kFewTokens at most.
Status gated_expert_matvec(const Driver& driver, Queue queue, const GatedProduct& p, const Routing& routing,
                           int pairs_of_each_row);

// out[pair] = the pair's weight times its row of x. x: (rows, n); out: (pairs, n)
Status weigh_pairs(const Driver& driver, Queue queue, Rows x, const Routing& routing, int n, Rows out);

// out[r] = sum over the pairs of row r, in their order, of weight * y[pair]; routing.weights 0: all weights are 1. With
// routing.places it is added to what was there. y: (pairs, n); out: (rows, n)
Status sum_experts(const Driver& driver, Queue queue, Rows y, const Routing& routing, int n, Rows out);

// ---- in the middle of a graph: with the host ----

// Flags are ints that device and host both reach. One is raised by writing the number of the step into it, which is in
// the device's memory, so that a graph may be launched for many steps.

// Raises a flag. When the host sees it, all before it in the queue is done, and the host can read what that wrote.
Status raise_flag(const Driver& driver, Queue queue, DevicePtr step, DevicePtr flag);

/// A wait for the host, of a bounded time by the device's clock.
struct HostWait {
    DevicePtr step = 0;
    DevicePtr answer = 0;  // two flags of the host's side by side: what is waited for is there; it will not come
    DevicePtr late = 0;    // raised where it did not come in time; then the step's other waits end at once
    DevicePtr passed = 0;  // raised when the wait is over
    unsigned most_ms = 0;
};
Status wait_for_host(const Driver& driver, Queue queue, const HostWait& wait);

// ---- KV ----

// Writes the keys and values of `tokens` tokens, the first of which is token *first of the sequence. k, v: (tokens, KV
// heads, k_dim or v_dim), token t at t * stride floats; first: one int on the device
Status store_kv(const Driver& driver, Queue queue, const KvBlocks& kv, DevicePtr k, DevicePtr v, int stride,
                DevicePtr first, int tokens);

/// Heads between their products and attention. They are normed where there are weights for it; queries and keys are
/// then turned.
struct PreparedHeads {
    int heads = 0;                                 // of queries
    DevicePtr q = 0, k = 0, v = 0;                 // (rows, heads, k_dim), (rows, KV heads, k_dim or v_dim)
    int stride = 0;                                // floats between rows of these
    DevicePtr q_norm = 0, k_norm = 0, v_norm = 0;  // (length,) weights, or 0: these are not normed
    float epsilon = 0.0f;
    DevicePtr cos = 0, sin = 0;  // (rows, pairs)
    int pairs = 0;               // 0: none is turned
    RopePairs order = RopePairs::Neighbours;
    DevicePtr first = 0;  // one int on the device: the first row's token
    int rows = 0;
};

// Queries stay in their place; keys and values are written as by store_kv, and their place has undefined contents then.
Status prepare_heads(const Driver& driver, Queue queue, const KvBlocks& kv, const PreparedHeads& p);

// Products of one token as those of matvec_together, and then prepare_heads of their results, in one launch. Each head
// is written whole by one of the products, or by none: then it is left as it is. counters: an unsigned zero for each
// head of queries, keys and values, which are zeros again after the launch. InvalidValue for a layout that
// can_multiply_and_prepare() does not take
bool can_multiply_and_prepare(const KvBlockLayout& layout);
Status matvec_and_prepare(const Driver& driver, Queue queue, std::span<const Product> products, const KvBlocks& kv,
                          const PreparedHeads& heads, DevicePtr counters);

// ---- attention ----

/// Says which tokens a window of n has: the last n, the row's own included; or those since the last multiple of n.
enum class WindowKind { Sliding, Chunks };

/// A row that sees more than this many pieces of 64 tokens has longer pieces, of 256 tokens at most.
constexpr int kManyPieces = 128;

/// Attention of a few rows, each over the tokens before it and itself. One partial for each piece of a KV block, then
/// the merge, in a launch of its own or at the end of the same.
struct Attention {
    KvBlocks kv = {};     // v_dim is a multiple of 8
    int group = 1;        // query heads that share a KV head
    int rows = 1;         // row r is token *first + r, whose keys and values are stored already
    DevicePtr first = 0;  // one int on the device
    int window = 0;       // tokens that a row sees; 0: all
    WindowKind window_kind = WindowKind::Sliding;
    float softcap = 0.0f;   // 0: none
    Rows q = {};            // (rows, heads, k_dim)
    DevicePtr q_scale = 0;  // (rows,) factor on each row's queries
    // KV blocks [begin, end) are attended by this launch, of those that the rows see; those that are not on the device
    // are left out.
    int begin = 0;
    int end = std::numeric_limits<int>::max();
    int max_blocks = 0;  // KV blocks that there is room for in partials
    int many_pieces = kManyPieces;
    DevicePtr partials = 0;  // PartialsLayout::bytes bytes
};

/// Says where the parts of the partials lie, by row, piece of a KV block and head.
struct PartialsLayout {
    std::size_t max;  // (rows, heads, pieces) largest score
    std::size_t sum;  // (rows, heads, pieces) sum of exp(score - max)
    std::size_t out;  // (rows, pieces, heads, v_dim) sum of exp(score - max) * v
    std::size_t bytes;
    PartialsLayout(int rows, int max_blocks, int block_tokens, int heads, int v_dim, int many_pieces = kManyPieces);
};

// Computes the partials of the KV blocks of this launch.
Status attend_blocks(const Driver& driver, Queue queue, const Attention& a);

// Joins the partials of all blocks that the rows see and that are on the device, and those of the host. host_partials:
// (rows,) HostPartialsLayout, all other blocks of a row together, or 0. sinks: (heads,) logits that join the softmax
// and carry no value, or 0; out: (rows, heads, v_dim); v_dim is a multiple of 32 where it is rounded
Status merge_partials(const Driver& driver, Queue queue, const Attention& a, DevicePtr host_partials, DevicePtr sinks,
                      Rows out, const Rounded& rounded = {});

// Both in one launch, which attends all blocks that the rows see: what comes is what attend_blocks and merge_partials
// make one after another, to the bit. counters: (rows, heads) unsigned zeros, which are zeros again behind the launch.
// InvalidValue where `a` leaves blocks to other launches
Status attend_and_merge(const Driver& driver, Queue queue, const Attention& a, DevicePtr sinks, Rows out,
                        const Rounded& rounded, DevicePtr counters, const NextWeights& next = {});
// Says whether that is likely to be faster: a thread block joins by itself all that its heads have of a row.
bool merges_fast_at_end(const Attention& a);

/// Says how several launches of attend_many share one attention: what is not finished goes from one to the next.
struct Carried {
    DevicePtr state = 0;  // carried_bytes(); 0: there is one launch only
    bool begins = true, ends = true;
};
constexpr std::size_t carried_bytes(int rows, int heads, int v_dim)
{
    return std::size_t(rows) * std::size_t(heads) * std::size_t(2 + v_dim) * sizeof(float);
}

// Computes attention of many rows (prefill) on tensor cores, without partials: a.max_blocks and a.partials are not
// used. InvalidValue for what attend_many_can() does not take.
bool attend_many_can(const Attention& a);  // f16 or q8_0, head dimensions up to 576
Status attend_many(const Driver& driver, Queue queue, const Attention& a, const Carried& carried, DevicePtr sinks,
                   Rows out);

// ---- residual streams ----

/// Streams of a row follow each other: (rows, count, dim). 1 to kMostStreams of them.
struct Streams {
    Rows rows = {};
    int count = 0, dim = 0;
};

/// Holds the outputs of a layer's router for its streams, and the matrix that turns them into coefficients.
struct RoutedStreams {
    Rows routed = {};  // (rows, streams)
    DevicePtr coefficients = 0;
};

// streams[to] += sum over `from` of (coefficients routed)[to][from] * streams[from]; active: (rows, dim), the first of
// them then. coefficients: (count * count, count)
Status predict_streams(const Driver& driver, Queue queue, const RoutedStreams& by, int rows, const Streams& streams,
                       Rows active);

// streams[to] += (active - streams[0]) * (1 + (coefficients routed)[to]); first = streams[0] * weight then.
// coefficients: (count, count); weight: (dim,); active, first: (rows, dim)
Status correct_streams(const Driver& driver, Queue queue, const RoutedStreams& by, int rows, Rows active,
                       DevicePtr weight, const Streams& streams, Rows first);

// streams[s] += y for all but the first. y: (rows, dim)
Status add_to_streams(const Driver& driver, Queue queue, Rows y, int rows, const Streams& streams);

// first = the mean of it and the other streams, each brought to its length before. first: (rows, dim)
Status join_streams(const Driver& driver, Queue queue, const Streams& streams, int rows, Rows first);

// out = the mean of the streams. out: (rows, dim)
Status mean_of_streams(const Driver& driver, Queue queue, const Streams& streams, int rows, Rows out);

// streams[s] += 2 sigmoid(shares[s]) * y. shares: (rows, count), of any alignment; y: (rows, dim)
Status inject_into_streams(const Driver& driver, Queue queue, Rows shares, Rows y, int rows, const Streams& streams);

// keys[s] = sigmoid(root(keys[s] . queries[s] / sqrt(dim))) * values, root(x) = sign(x) sqrt(max(|x|, 1e-6)). queries:
// (rows, count, dim); values: (rows, dim)
Status gate_ngrams(const Driver& driver, Queue queue, Rows queries, Rows values, int rows, const Streams& keys);

// x = silu of a causal convolution of each channel by itself, of more taps than those of recurrent layers have:
// kMostSpreadTaps at most. x: (rows, channels)
struct Convolution;
Status convolve_ngrams(const Driver& driver, Queue queue, const Convolution& c, Rows x);

// ---- recurrent layers ----
//
// Their states are floats that a launch reads, and leaves as the rows have changed them: rows one after another, so
// that it makes no difference how they are divided among launches. Addresses are multiples of 4 bytes.

/// A causal convolution of each channel by itself (kernels/cpu.h).
struct Convolution {
    int channels = 0;
    int width = 0;          // taps: 1 .. kMostTaps
    DevicePtr taps = 0;     // (width, channels), oldest first
    DevicePtr bias = 0;     // (channels,) or 0
    DevicePtr history = 0;  // (width - 1, channels), oldest first: read and moved on
    int rows = 0;
};

// x = silu of the convolution; then the first channels are normed as `heads` says. x: (rows, channels)
Status convolve_silu(const Driver& driver, Queue queue, const Convolution& c, Rows x, const NormedHeads& heads);

// out = c * convolution of b * u. mixed: (rows, [b (channels,) | c | u]); out: (rows, channels)
Status gated_convolution(const Driver& driver, Queue queue, const Convolution& c, Rows mixed, Rows out);

/// Linear attention of all heads (kernels/cpu.h) with gates that are computed on the way.
struct LinearAttention {
    int keys = 0;               // of a head: 1 .. kMostStateKeys
    int values = 0;             // of a head
    int heads = 0;              // of values
    int key_heads = 0;          // of keys and queries; divides heads
    bool keys_in_runs = false;  // head h has key head h / (heads / key_heads), else h % key_heads
    StateGates gates = StateGates::DeltaRule;
    int rows = 0;
    int stride = 0;                // floats between rows of what follows
    DevicePtr q = 0, k = 0;        // (rows, key_heads, keys)
    DevicePtr v = 0;               // (rows, heads, values)
    DevicePtr gate = 0;            // (rows, heads): of the delta rule
    DevicePtr step = 0;            // (rows, heads)
    DevicePtr dt_bias = 0, a = 0;  // (heads,)
    DevicePtr state = 0;           // (heads, keys, values): read and moved on
    Rows out = {};                 // (rows, heads, values)
};
Status linear_attention(const Driver& driver, Queue queue, const LinearAttention& l);

// y = y * weight / rms(y) * gate(z), each head by itself, in place. y, z: (rows, heads, length); weight: (length,)
enum class StateGate { Silu, Sigmoid };
Status norm_and_gate(const Driver& driver, Queue queue, Rows y, Rows z, int heads, int length, DevicePtr weight,
                     float eps, StateGate gate, int rows);

/// y = (y + d x) * silu(z), in place; then each group of heads is normed by itself.
struct GateAndNorm {
    int heads = 0, length = 0;    // of a head
    int groups = 0;               // divides heads
    Rows y = {}, x = {}, z = {};  // (rows, heads, length); x and z of one stride
    DevicePtr d = 0;              // (heads,)
    DevicePtr weight = 0;         // (heads, length), or 0: no norm
    float epsilon = 0.0f;
};
Status gate_and_norm(const Driver& driver, Queue queue, const GateAndNorm& g, int rows);

}  // namespace kernels::cuda
