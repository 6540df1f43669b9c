// Tests that recurrent layers on a GPU agree with double precision, have the same bits for any batches, and can be
// given to the device as a graph. The GPU is the emulated one, or a real one where SPILLWAY_TEST_DEVICE is "cuda".
#include "engine/exec/cuda_address.h"
#include "engine/exec/cuda_recurrent.h"
#include "kernels/cuda/checks/device_memory.h"
#include "tests/engine/exec/recurrent_layers.h"
#include "tests/support/cuda/emulated_gpu.h"

#include <QtTest>

#include <algorithm>
#include <array>
#include <memory>
#include <random>
#include <vector>

using namespace engine;
using recurrent_layers::Layer;

namespace cuda = kernels::cuda;

namespace {

struct Computed {
    std::vector<float> out, state;
    bool operator==(const Computed&) const = default;
};

float* on_device(cuda::DevicePtr at)
{
    return reinterpret_cast<float*>(static_cast<std::uintptr_t>(at));
}

/// Rows in a device's memory.
class DeviceRowMemory final : public RowMemory
{
public:
    explicit DeviceRowMemory(cuda::DeviceMemory& on)
        : m_on(on)
    {
    }
    std::byte* take(std::size_t bytes) override { return reinterpret_cast<std::byte*>(on_device(m_on.room(bytes))); }
    void give_back(std::byte*) override {}

private:
    cuda::DeviceMemory& m_on;
};

/// One device for a test.
class Machine
{
public:
    Machine()
    {
        if (qEnvironmentVariable("SPILLWAY_TEST_DEVICE") != "cuda") {
            m_emulated = std::make_unique<emulator::EmulatedGpu>();
            cuda::set_platform({&emulator::EmulatedGpu::table(), emulator::EmulatedGpu::images(), {}});
        }
        auto opened = CudaDevice::open(0);
        if (!opened)
            qFatal("%s", opened.error().what.c_str());
        m_device = std::move(*opened);
        m_calls = std::make_unique<CudaCalls>(*m_device);
    }
    ~Machine()
    {
        (void)m_device->finish_work();
        m_calls.reset();
        m_device.reset();
        cuda::set_platform({});
        if (m_emulated && !(m_emulated->fault() + m_emulated->leaks()).empty())
            qFatal("%s", (m_emulated->fault() + m_emulated->leaks()).c_str());
    }
    CudaCalls& calls() { return *m_calls; }
    const cuda::Driver& driver() const { return m_device->driver(); }

private:
    std::unique_ptr<emulator::EmulatedGpu> m_emulated;
    std::unique_ptr<CudaDevice> m_device;
    std::unique_ptr<CudaCalls> m_calls;
};

/// A layer whose numbers and state lie on the device.
class PlacedLayer
{
public:
    PlacedLayer(Machine& machine, const Layer& layer)
        : m_machine(machine)
        , m_layer(layer)
        , m_on(machine.driver())
        , m_memory(m_on)
        , m_state(m_on.put(layer.state))
        , m_mixed(layer.rows, layer.cols(), m_memory)
        , m_out(layer.rows, layer.space.inner(), m_memory)
        , m_recurrent(machine.calls())
    {
        const auto place = [&](const std::vector<float>& numbers) {
            return numbers.empty() ? nullptr : on_device(m_on.put(numbers));
        };
        m_delta_net = layer.delta_net(place);
        m_mamba2 = layer.mamba2(place);
        m_delta_net.state = m_mamba2.state = on_device(m_state);
        m_on.keep(machine.driver().synchronize(m_on.queue()));  // the kernels have a queue of their own
    }

    /// Copies the next rows to where the kernels look for them.
    void bring(int first, int rows)
    {
        m_mixed.set_shape(rows, m_layer.cols());
        const std::size_t row_bytes = std::size_t(m_layer.cols()) * sizeof(float);
        finish(m_machine.driver().copy_to_device(cuda_address(m_mixed.row(0)),
                                                 m_layer.mixed.data() + std::ptrdiff_t(first) * m_layer.cols(),
                                                 std::size_t(rows) * row_bytes, queue()));
    }
    void queue_kernels()
    {
        if (m_layer.delta)
            m_recurrent.delta_net(m_mixed, m_delta_net, m_out);
        else
            m_recurrent.mamba2(m_mixed, m_mamba2, m_out);
    }
    void finish(cuda::Status status)
    {
        m_on.keep(status);
        m_on.keep(m_machine.calls().failed());
        m_on.keep(m_machine.driver().synchronize(queue()));
        if (!m_on.ok())
            qFatal("the device answers %d", int(m_on.status()));
    }
    std::vector<float> out() const
    {
        return m_on.get<float>(cuda_address(m_out.row(0)), std::size_t(m_out.count() * m_out.cols()));
    }
    std::vector<float> state() const { return m_on.get<float>(m_state, m_layer.state.size()); }
    cuda::Queue queue() const { return m_machine.calls().queue(); }

private:
    Machine& m_machine;
    const Layer& m_layer;
    cuda::DeviceMemory m_on;
    DeviceRowMemory m_memory;
    cuda::DevicePtr m_state;
    Rows m_mixed, m_out;
    CudaRecurrent m_recurrent;
    DeltaNetParameters m_delta_net;
    Mamba2Parameters m_mamba2;
};

Computed compute(Machine& machine, const Layer& l, const std::vector<int>& batches)
{
    PlacedLayer placed(machine, l);
    Computed c;
    int first = 0;
    for (const int rows : batches) {
        placed.bring(first, rows);
        placed.queue_kernels();
        placed.finish(cuda::Status::Ok);
        const std::vector<float> out = placed.out();
        c.out.insert(c.out.end(), out.begin(), out.end());
        first += rows;
    }
    c.state = placed.state();
    return c;
}

struct Shape {
    const char* name;
    bool delta;
    StateSpace space;  // taps, length of keys, groups, heads, length of values
    int rows;
};

const Shape kShapes[] = {
    {"delta net, one row", true, {4, 128, 1, 2, 128}, 1},
    {"delta net", true, {4, 32, 2, 6, 40}, 21},
    {"delta net, odd", true, {3, 20, 1, 3, 12}, 9},
    {"mamba-2, one row", false, {4, 128, 1, 4, 64}, 1},
    {"mamba-2", false, {4, 16, 2, 6, 24}, 21},
    {"mamba-2, odd", false, {2, 17, 1, 3, 7}, 2},
};

}  // namespace

class TestCudaRecurrent : public QObject
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
        Machine machine;
        for (int run = 0; run < 4; ++run) {  // with norms, biases and orders of heads as chance will have it
            const Layer l = recurrent_layers::random_layer(shape->delta, shape->space, shape->rows, random);
            const Computed c = compute(machine, l, {l.rows});
            const double worst = recurrent_layers::worst_share(l, recurrent_layers::expected(l), c.out, c.state);
            QVERIFY2(worst <= 1, qPrintable(QString("%1 times what is allowed").arg(worst)));
        }
    }

    void batchesGiveTheSameBits()
    {
        std::mt19937 random(m_seed);
        Machine machine;
        for (const bool delta : {false, true}) {
            const Layer l = recurrent_layers::random_layer(delta, {4, 24, 1, 3, 40}, 20, random);
            const Computed whole = compute(machine, l, {l.rows});
            QVERIFY(compute(machine, l, std::vector<int>(20, 1)) == whole);
            QVERIFY(compute(machine, l, {3, 9, 1, 7}) == whole);
        }
    }

    void aGraphMovesTheStateOn()
    {
        std::mt19937 random(m_seed);
        Machine machine;
        for (const bool delta : {false, true}) {
            const Layer l = recurrent_layers::random_layer(delta, {4, 24, 1, 3, 40}, 5, random);
            const Computed expected = compute(machine, l, {l.rows});
            PlacedLayer placed(machine, l);
            placed.bring(0, 1);
            const cuda::Status begun = machine.driver().begin_capture(placed.queue());
            placed.queue_kernels();
            const auto graph = machine.driver().end_capture(placed.queue());
            placed.finish(begun);
            placed.finish(graph.status);
            Computed c;
            for (int row = 0; row < l.rows; ++row) {
                placed.bring(row, 1);
                placed.finish(machine.driver().launch(graph.value, placed.queue()));
                const std::vector<float> out = placed.out();
                c.out.insert(c.out.end(), out.begin(), out.end());
            }
            c.state = placed.state();
            placed.finish(machine.driver().destroy(graph.value));
            QVERIFY(c == expected);
        }
    }

    void shortConvolution()
    {
        std::mt19937 random(m_seed);
        Machine machine;
        for (const auto& [width, channels, rows] : {std::array{3, 200, 13}, std::array{4, 7, 1}}) {
            const recurrent_layers::ShortConvolution l(width, channels, rows, random);
            cuda::DeviceMemory on(machine.driver());
            DeviceRowMemory memory(on);
            const cuda::DevicePtr state = on.put(l.state), taps = on.put(l.taps), from = on.put(l.mixed);
            Rows mixed(rows, 3 * channels, memory), out(rows, channels, memory);
            mixed.set_shape(rows, 3 * channels);
            on.keep(machine.driver().copy_on_device(cuda_address(mixed.row(0)), from, l.mixed.size() * sizeof(float),
                                                    on.queue()));
            on.keep(machine.driver().synchronize(on.queue()));
            CudaRecurrent(machine.calls())
                .short_convolution(mixed, {width, channels, on_device(taps), on_device(state)}, out);
            on.keep(machine.calls().failed());
            on.keep(machine.driver().synchronize(machine.calls().queue()));
            const auto actual = on.get<float>(cuda_address(out.row(0)), std::size_t(rows * channels));
            const auto after = on.get<float>(state, l.state.size());
            QVERIFY(on.ok());
            QVERIFY(l.worst_share(actual, after) <= 1);
        }
    }

    void whatNoKernelDoesIsSaid()
    {
        QVERIFY(CudaRecurrent::supports({4, 256, 2, 4, 64}).has_value());
        QVERIFY(!CudaRecurrent::supports({5, 128, 2, 4, 64}).has_value());
        QVERIFY(!CudaRecurrent::supports({4, 257, 2, 4, 64}).has_value());
    }
};

QTEST_GUILESS_MAIN(TestCudaRecurrent)
#include "tst_cuda_recurrent.moc"
