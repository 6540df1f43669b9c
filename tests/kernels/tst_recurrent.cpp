// Tests linear attention and short convolutions of every table against double precision, and that they have the same
// bits for any division of tokens and columns.
#include "kernels/cpu.h"
#include "tests/kernels/tested_tables.h"
#include "tests/support/test_program.h"

#include <QTest>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using kernels::Convolution;
using kernels::CpuKernels;
using kernels::LinearAttention;

namespace {

constexpr double kRounding = 0x1p-24;
constexpr float kUntouched = -12345.0f;  // in every gap: must survive

std::vector<float> normalValues(std::size_t n, float size, std::mt19937& rng)
{
    std::vector<float> x(n);
    std::normal_distribution<float> normal(0.0f, size);
    for (float& v : x)
        v = normal(rng);
    return x;
}

// Rows of `cols` values with a gap behind each.
std::vector<float> rowsWithGaps(int rows, int cols, int stride, float size, std::mt19937& rng)
{
    std::vector<float> x(std::size_t(rows) * std::size_t(stride), kUntouched);
    for (int r = 0; r < rows; ++r) {
        const std::vector<float> row = normalValues(std::size_t(cols), size, rng);
        std::copy(row.begin(), row.end(), x.begin() + std::ptrdiff_t(r) * stride);
    }
    return x;
}

bool gapsAreUntouched(const std::vector<float>& x, int cols, int stride)
{
    for (std::size_t i = 0; i < x.size(); ++i)
        if (int(i % std::size_t(stride)) >= cols && x[i] != kUntouched)
            return false;
    return true;
}

double length(const float* x, int n, std::size_t stride = 1)
{
    double squares = 0;
    for (int i = 0; i < n; ++i)
        squares += std::pow(double(x[std::size_t(i) * stride]), 2);
    return std::sqrt(squares);
}

struct Attention {
    int keys, values, tokens;
    bool deltaRule;
    int qkStride, vStride, stateStride, outStride;
    std::vector<float> q, k, v, decay, beta, state, out;

    Attention(int keys, int values, int tokens, bool deltaRule, std::mt19937& rng)
        : keys(keys)
        , values(values)
        , tokens(tokens)
        , deltaRule(deltaRule)
        , qkStride(keys + int(rng() % 9))
        , vStride(values + int(rng() % 9))
        , stateStride(values + int(rng() % 9))
        , outStride(values + int(rng() % 9))
        , q(rowsWithGaps(tokens, keys, qkStride, 1.0f, rng))
        , k(rowsWithGaps(tokens, keys, qkStride, 1.0f, rng))
        , v(rowsWithGaps(tokens, values, vStride, 1.0f, rng))
        , state(rowsWithGaps(keys, values, stateStride, 0.3f, rng))
        , out(std::size_t(tokens) * std::size_t(outStride), kUntouched)
    {
        std::uniform_real_distribution<float> upToOne(0.0f, 1.0f);
        for (int t = 0; t < tokens; ++t) {
            // The delta rule's keys have the length one: then it never makes an error larger (see exactAttention()).
            for (std::vector<float>* rows : {&q, &k}) {
                float* row = rows->data() + std::ptrdiff_t(t) * qkStride;
                const auto inverse = float((deltaRule ? 1.0 : 3.0) / length(row, keys) * (1 - 1e-6));
                for (int i = 0; i < keys; ++i)
                    row[i] *= inverse;
            }
            const unsigned kind = rng() % 8;
            decay.push_back(kind == 0 ? 1.0f : kind == 1 ? 0.0f : 1.0f - std::pow(upToOne(rng), 4.0f));
            beta.push_back(kind == 2 ? 0.0f : kind == 3 ? 1.0f : upToOne(rng));
        }
    }

    LinearAttention arguments()
    {
        return {.keys = keys,
                .values = values,
                .tokens = tokens,
                .delta_rule = deltaRule,
                .q = q.data(),
                .k = k.data(),
                .qk_stride = std::size_t(qkStride),
                .v = v.data(),
                .v_stride = std::size_t(vStride),
                .decay = decay.data(),
                .beta = beta.data(),
                .gate_stride = 1,
                .state = state.data(),
                .state_stride = std::size_t(stateStride),
                .out = out.data(),
                .out_stride = std::size_t(outStride)};
    }
};

// Tokens [first, last) and columns [left, right) of a call.
LinearAttention part(LinearAttention a, int first, int last, int left, int right)
{
    a.tokens = last - first;
    a.values = right - left;
    a.q += std::size_t(first) * a.qk_stride;
    a.k += std::size_t(first) * a.qk_stride;
    a.v += std::size_t(first) * a.v_stride + std::size_t(left);
    a.decay += std::size_t(first) * a.gate_stride;
    a.beta += std::size_t(first) * a.gate_stride;
    a.state += left;
    a.out += std::size_t(first) * a.out_stride + std::size_t(left);
    return a;
}

struct ExactAttention {
    std::vector<double> out, outError;      // (tokens, values)
    std::vector<double> state, stateError;  // (keys, values) (values,)
};

// In double precision, with how far floats may be off. A column's error, as a vector over the keys, goes through
// decay (I - beta k k^T), which makes no vector longer where |k| <= 1 and 0 <= beta <= 1; so its length grows by no
// more than what a token's roundings add. A sum of n products is off by n roundings of the lengths' product at most.
ExactAttention exactAttention(const Attention& a)
{
    const auto keys = std::size_t(a.keys), values = std::size_t(a.values);
    ExactAttention e{{}, {}, std::vector<double>(keys * values), std::vector<double>(values, 0.0)};
    for (std::size_t key = 0; key < keys; ++key)
        for (std::size_t c = 0; c < values; ++c)
            e.state[key * values + c] = double(a.state[key * std::size_t(a.stateStride) + c]);
    for (int t = 0; t < a.tokens; ++t) {
        const float* k = a.k.data() + std::ptrdiff_t(t) * a.qkStride;
        const float* q = a.q.data() + std::ptrdiff_t(t) * a.qkStride;
        const double decay = double(a.decay[std::size_t(t)]), beta = double(a.beta[std::size_t(t)]);
        const double kLength = length(k, a.keys), qLength = length(q, a.keys);
        for (std::size_t c = 0; c < values; ++c) {
            double seen = 0, before = 0;
            for (std::size_t key = 0; key < keys; ++key) {
                seen += e.state[key * values + c] * double(k[key]);
                before += std::pow(e.state[key * values + c], 2);
            }
            const double v = double(a.v[std::size_t(t) * std::size_t(a.vStride) + c]);
            const double d = beta * (a.deltaRule ? v - decay * seen : v);
            double out = 0, after = 0;
            for (std::size_t key = 0; key < keys; ++key) {
                double& m = e.state[key * values + c];
                m = decay * m + double(k[key]) * d;
                out += m * double(q[key]);
                after += m * m;
            }
            before = std::sqrt(before);
            after = std::sqrt(after);
            const double wrongSeen = a.deltaRule ? decay * (a.keys + 4) * kRounding * kLength * before : 0;
            const double wrongD = beta * (wrongSeen + 4 * kRounding * std::abs(v));
            double& error = e.stateError[c];
            error = decay * error + kLength * wrongD + 3 * kRounding * (decay * before + kLength * std::abs(d) + after);
            e.out.push_back(out);
            e.outError.push_back(qLength * (error + (a.keys + 1) * kRounding * after));
        }
    }
    return e;
}

struct Channels {
    int channels, width, tokens;
    int stride;  // of all rows
    bool silu, hasBias;
    std::vector<float> taps, bias, history, x;

    Channels(int channels, int width, int tokens, bool silu, bool hasBias, std::mt19937& rng)
        : channels(channels)
        , width(width)
        , tokens(tokens)
        , stride(channels + int(rng() % 9))
        , silu(silu)
        , hasBias(hasBias)
        , taps(rowsWithGaps(width, channels, stride, 1.0f, rng))
        , bias(normalValues(std::size_t(channels), 1.0f, rng))
        , history(rowsWithGaps(width - 1, channels, stride, 2.0f, rng))
        , x(rowsWithGaps(tokens, channels, stride, 2.0f, rng))
    {
    }

    Convolution arguments()
    {
        return {.channels = channels,
                .width = width,
                .taps = taps.data(),
                .bias = hasBias ? bias.data() : nullptr,
                .history = history.data(),
                .tap_stride = std::size_t(stride),
                .history_stride = std::size_t(stride),
                .tokens = tokens,
                .x = x.data(),
                .x_stride = std::size_t(stride),
                .silu = silu};
    }

    // Of the history and the tokens as one; t >= -(width - 1)
    float input(int t, int channel) const
    {
        const std::vector<float>& rows = t < 0 ? history : x;
        return rows[std::size_t(t < 0 ? t + width - 1 : t) * std::size_t(stride) + std::size_t(channel)];
    }
};

}  // namespace

class TestRecurrent : public QObject
{
    Q_OBJECT

    const unsigned m_seed = std::random_device{}();

    static void addTables()
    {
        QTest::addColumn<const CpuKernels*>("table");
        for (const CpuKernels& table : test_support::tested_tables())
            QTest::addRow("%s", table.name) << &table;
    }

    static void addRules()
    {
        QTest::addColumn<const CpuKernels*>("table");
        QTest::addColumn<bool>("deltaRule");
        for (const CpuKernels& table : test_support::tested_tables())
            for (bool deltaRule : {false, true})
                QTest::addRow("%s, %s", table.name, deltaRule ? "delta rule" : "plain sum") << &table << deltaRule;
    }

private slots:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void linearAttention_data() { addRules(); }
    void linearAttention()
    {
        QFETCH(const CpuKernels*, table);
        QFETCH(bool, deltaRule);
        std::mt19937 rng(m_seed);
        struct Shape {
            int keys, values, tokens;
        };
        for (const Shape& shape :
             {Shape{128, 128, 1}, Shape{128, 128, 20}, Shape{128, 64, 70}, Shape{16, 1, 3}, Shape{17, 7, 9},
              Shape{64, 30, 2}, Shape{256, 256, 9}, Shape{33, 100, 12}, Shape{96, 47, 7}, Shape{1, 16, 8}}) {
            Attention a(shape.keys, shape.values, shape.tokens, deltaRule, rng);
            const ExactAttention exact = exactAttention(a);
            table->linear_attention(a.arguments());
            QVERIFY(gapsAreUntouched(a.state, a.values, a.stateStride) &&
                    gapsAreUntouched(a.out, a.values, a.outStride));
            for (int t = 0; t < a.tokens; ++t)
                for (int c = 0; c < a.values; ++c) {
                    const auto i = std::size_t(t * a.values + c);
                    const double actual = double(a.out[std::size_t(t * a.outStride + c)]);
                    QVERIFY2(std::abs(actual - exact.out[i]) <= exact.outError[i] + 1e-30,
                             qPrintable(QString("%1 keys, token %2, column %3: %4 instead of %5, allowed is %6")
                                            .arg(a.keys)
                                            .arg(t)
                                            .arg(c)
                                            .arg(actual)
                                            .arg(exact.out[i])
                                            .arg(exact.outError[i])));
                }
            for (int c = 0; c < a.values; ++c) {
                double squares = 0;
                for (int key = 0; key < a.keys; ++key)
                    squares += std::pow(double(a.state[std::size_t(key * a.stateStride + c)]) -
                                            exact.state[std::size_t(key * a.values + c)],
                                        2);
                QVERIFY(std::sqrt(squares) <= exact.stateError[std::size_t(c)] + 1e-30);
            }
        }
    }

    void anyDivisionOfTokensAndColumnsGivesTheSameBits_data() { addRules(); }
    void anyDivisionOfTokensAndColumnsGivesTheSameBits()
    {
        QFETCH(const CpuKernels*, table);
        QFETCH(bool, deltaRule);
        std::mt19937 rng(m_seed);
        for (int run = 0; run < 12; ++run) {
            Attention whole(16 + int(rng() % 120), 1 + int(rng() % 256), 1 + int(rng() % 60), deltaRule, rng);
            Attention divided = whole;
            table->linear_attention(whole.arguments());
            for (int left = 0, right; left < whole.values; left = right) {
                right = std::min(whole.values, left + 1 + int(rng() % 140));
                for (int first = 0, last; first < whole.tokens; first = last) {
                    last = std::min(whole.tokens, first + 1 + int(rng() % 20));
                    table->linear_attention(part(divided.arguments(), first, last, left, right));
                }
            }
            QVERIFY(divided.out == whole.out);
            QVERIFY(divided.state == whole.state);
        }
    }

    void shortConvolution_data() { addTables(); }
    void shortConvolution()
    {
        QFETCH(const CpuKernels*, table);
        std::mt19937 rng(m_seed);
        for (int run = 0; run < 60; ++run) {
            Channels c(1 + int(rng() % 150), 1 + int(rng() % 5), 1 + int(rng() % 12), rng() % 2, rng() % 2, rng);
            const Channels before = c;
            table->short_convolution(c.arguments());
            QVERIFY(gapsAreUntouched(c.x, c.channels, c.stride) && gapsAreUntouched(c.history, c.channels, c.stride));
            for (int i = 0; i < c.channels; ++i) {
                for (int t = 0; t < c.tokens; ++t) {
                    double y = c.hasBias ? double(c.bias[std::size_t(i)]) : 0.0, parts = std::abs(y);
                    for (int j = 0; j < c.width; ++j) {
                        const double term = double(c.taps[std::size_t(j * c.stride + i)]) *
                                            double(before.input(t - c.width + 1 + j, i));
                        y += term;
                        parts += std::abs(term);
                    }
                    const double error = (c.width + 1) * kRounding * parts;
                    // silu's slope is at most 1.1; its own exponential and roundings as in tst_elementwise
                    const double out = c.silu ? y / (1 + std::exp(-y)) : y;
                    const double allowed =
                        c.silu ? 1.1 * error + std::abs(out) * 32 * kRounding * (1 + std::abs(y)) : error;
                    QVERIFY(std::abs(double(c.input(t, i)) - out) <= allowed);
                }
                for (int j = 1 - c.width; j < 0; ++j)
                    QCOMPARE(c.input(j, i), before.input(c.tokens + j, i));
            }
        }
    }

    void anyDivisionOfAConvolutionGivesTheSameBits_data() { addTables(); }
    void anyDivisionOfAConvolutionGivesTheSameBits()
    {
        QFETCH(const CpuKernels*, table);
        std::mt19937 rng(m_seed);
        for (int run = 0; run < 30; ++run) {
            Channels whole(1 + int(rng() % 300), 1 + int(rng() % 5), 1 + int(rng() % 40), rng() % 2, rng() % 2, rng);
            Channels divided = whole;
            table->short_convolution(whole.arguments());
            for (int left = 0, right; left < whole.channels; left = right) {
                right = std::min(whole.channels, left + 1 + int(rng() % 140));
                for (int first = 0, last; first < whole.tokens; first = last) {
                    last = std::min(whole.tokens, first + 1 + int(rng() % 6));
                    Convolution c = divided.arguments();
                    c.channels = right - left;
                    c.tokens = last - first;
                    c.taps += left;
                    c.bias = c.bias ? c.bias + left : nullptr;
                    c.history += left;
                    c.x += std::ptrdiff_t(first) * divided.stride + left;
                    table->short_convolution(c);
                }
            }
            QVERIFY(divided.x == whole.x);
            QVERIFY(divided.history == whole.history);
        }
    }
};

SPILLWAY_TEST(test_support::NoApplication, TestRecurrent)
#include "tst_recurrent.moc"
