// Tests that recurrent layers on the CPU agree with double precision, and have the same bits for any batches and
// threads.
#include "engine/exec/cpu_recurrent.h"
#include "tests/engine/exec/recurrent_layers.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

using namespace engine;
using recurrent_layers::Layer;

namespace {

struct Computed {
    std::vector<float> out, state;
    bool operator==(const Computed&) const = default;
};

/// Computes the layer's rows in batches of these lengths.
Computed compute(CpuRecurrent& on, const Layer& l, const std::vector<int>& batches)
{
    const auto place = [](const std::vector<float>& numbers) { return numbers.empty() ? nullptr : numbers.data(); };
    Computed c{{}, l.state};
    Rows mixed(l.rows, l.cols()), out(l.rows, l.space.inner());
    const float* from = l.mixed.data();
    for (const int rows : batches) {
        mixed.set_shape(rows, l.cols());
        std::copy_n(from, rows * l.cols(), mixed.row(0));
        from += rows * l.cols();
        if (l.delta) {
            DeltaNetParameters p = l.delta_net(place);
            p.state = c.state.data();
            on.delta_net(mixed, p, out);
        } else {
            Mamba2Parameters p = l.mamba2(place);
            p.state = c.state.data();
            on.mamba2(mixed, p, out);
        }
        c.out.insert(c.out.end(), out.row(0), out.row(0) + rows * l.space.inner());
    }
    return c;
}

std::vector<int> random_batches(int rows, std::mt19937& random)
{
    std::vector<int> batches;
    for (int most = 1 + int(random() % 90); rows > 0; rows -= batches.back())
        batches.push_back(std::min(rows, 1 + int(random() % unsigned(most))));
    return batches;
}

struct Shape {
    const char* name;
    bool delta;
    StateSpace space;  // taps, length of keys, groups, heads, length of values
    int rows;
};

const Shape kShapes[] = {
    {"delta net as published", true, {4, 128, 2, 4, 128}, 20}, {"delta net, one row", true, {4, 128, 2, 4, 128}, 1},
    {"delta net, long", true, {4, 32, 2, 6, 32}, 150},         {"delta net, odd", true, {3, 20, 1, 3, 12}, 9},
    {"mamba-2 as published", false, {4, 128, 1, 6, 64}, 20},   {"mamba-2, large state", false, {4, 256, 2, 4, 32}, 5},
    {"mamba-2, long", false, {4, 16, 2, 6, 24}, 150},          {"mamba-2, odd", false, {2, 17, 1, 3, 7}, 2},
};

}  // namespace

class TestCpuRecurrent : public QObject
{
    Q_OBJECT

    const unsigned m_seed = std::random_device{}();

private slots:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void layersMatchDoubles_data()
    {
        QTest::addColumn<const Shape*>("shape");
        for (const Shape& shape : kShapes)
            QTest::addRow("%s", shape.name) << &shape;
    }
    void layersMatchDoubles()
    {
        QFETCH(const Shape*, shape);
        std::mt19937 random(m_seed);
        ThreadPool pool(2);
        CpuRecurrent cpu(pool);
        for (int run = 0; run < 4; ++run) {  // with norms, biases and orders of heads as chance will have it
            const Layer l = recurrent_layers::random_layer(shape->delta, shape->space, shape->rows, random);
            const Computed c = compute(cpu, l, {l.rows});
            const double worst = recurrent_layers::worst_share(l, recurrent_layers::expected(l), c.out, c.state);
            QVERIFY2(worst <= 1, qPrintable(QString("%1 times what is allowed").arg(worst)));
        }
    }

    void batchesAndThreadsGiveTheSameBits()
    {
        std::mt19937 random(m_seed);
        ThreadPool one(1), three(3);
        for (const StateSpace& space : {StateSpace{4, 128, 2, 8, 128}, StateSpace{4, 24, 1, 5, 40}})
            for (const bool delta : {false, true}) {
                const Layer l = recurrent_layers::random_layer(delta, space, 150, random);
                CpuRecurrent cpu(one);
                const Computed whole = compute(cpu, l, {l.rows});
                QVERIFY(compute(cpu, l, std::vector<int>(std::size_t(l.rows), 1)) == whole);
                for (int run = 0; run < 3; ++run)
                    QVERIFY(compute(cpu, l, random_batches(l.rows, random)) == whole);
                cpu.use(three);
                QVERIFY(compute(cpu, l, {l.rows}) == whole);
                QVERIFY(compute(cpu, l, random_batches(l.rows, random)) == whole);
            }
    }

    void shortConvolution()
    {
        std::mt19937 random(m_seed);
        ThreadPool pool(2);
        CpuRecurrent cpu(pool);
        for (const auto& [width, channels, rows] :
             {std::array{3, 200, 90}, std::array{3, 2048, 1}, std::array{1, 7, 4}, std::array{4, 129, 2}}) {
            const recurrent_layers::ShortConvolution l(width, channels, rows, random);
            const auto compute_in = [&, channels = channels](const std::vector<int>& batches) {
                Computed c{{}, l.state};
                Rows mixed(l.rows, 3 * channels), out(l.rows, channels);
                const float* from = l.mixed.data();
                for (const int count : batches) {
                    mixed.set_shape(count, 3 * channels);
                    std::copy_n(from, count * 3 * channels, mixed.row(0));
                    from += count * 3 * channels;
                    cpu.short_convolution(mixed, {l.width, channels, l.taps.data(), c.state.data()}, out);
                    c.out.insert(c.out.end(), out.row(0), out.row(0) + count * channels);
                }
                return c;
            };
            const Computed whole = compute_in({rows});
            QVERIFY(l.worst_share(whole.out, whole.state) <= 1);
            QVERIFY(compute_in(random_batches(rows, random)) == whole);
        }
    }
};

SPILLWAY_TEST(QCoreApplication, TestCpuRecurrent)
#include "tst_cpu_recurrent.moc"
