// A device for the tests of CUDA kernels: the emulated one, or a real one when SPILLWAY_TEST_DEVICE is "cuda".
#pragma once

#include "kernels/cuda/ops.h"
#include "tests/support/cuda/emulated_gpu.h"

#include <QTest>

#include <memory>
#include <vector>

/// The open device and one queue. Vectors go there and come back.
class OnDevice
{
public:
    OnDevice()
    {
        if (qEnvironmentVariable("SPILLWAY_TEST_DEVICE") == "cuda") {
            const auto& library = kernels::cuda::driver_library();
            if (!library.table)
                qFatal("%s", library.problem.c_str());
            open(*library.table, kernels::cuda::kernel_images());
        } else {
            m_own = std::make_unique<emulator::EmulatedGpu>();
            m_gpu = m_own.get();
            open(m_gpu->table(), m_gpu->images());
        }
    }
    /// On an emulated one that the test has made as it wants it.
    explicit OnDevice(emulator::EmulatedGpu& gpu)
        : m_gpu(&gpu)
    {
        open(gpu.table(), gpu.images());
    }
    ~OnDevice()
    {
        for (const kernels::cuda::DevicePtr ptr : m_allocations)
            must(m_driver->free(ptr));
        must(m_driver->destroy(m_queue));
        m_driver.reset();
        if (m_gpu && !m_gpu->leaks().empty())
            qFatal("%s", m_gpu->leaks().c_str());
    }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

    const kernels::cuda::Driver& driver() const { return *m_driver; }
    kernels::cuda::Queue queue() const { return m_queue; }

    /// Stops the test program where a call fails, with what a kernel did wrong.
    void must(kernels::cuda::Status status) const
    {
        if (status != kernels::cuda::Status::Ok)
            qFatal("%s %s", m_driver->error_text(status).c_str(), m_gpu ? m_gpu->fault().c_str() : "");
    }
    template <class T>
    T must(const kernels::cuda::Answer<T>& answer) const
    {
        must(answer.status);
        return answer.value;
    }

    template <class T>
    kernels::cuda::DevicePtr put(const std::vector<T>& values)
    {
        const kernels::cuda::DevicePtr at = room(values.size() * sizeof(T));
        must(m_driver->copy_to_device(at, values.data(), values.size() * sizeof(T), m_queue));
        return at;
    }
    /// Memory whose contents are undefined.
    kernels::cuda::DevicePtr room(std::size_t bytes)
    {
        return m_allocations.emplace_back(must(m_driver->alloc(bytes ? bytes : 1)));
    }
    template <class T>
    std::vector<T> get(kernels::cuda::DevicePtr at, std::size_t count) const
    {
        std::vector<T> values(count);
        must(m_driver->copy_to_host(values.data(), at, count * sizeof(T), m_queue));
        must(m_driver->synchronize(m_queue));
        return values;
    }

private:
    void open(const kernels::cuda::DriverTable& table, const kernels::cuda::KernelImages& images)
    {
        auto opened = kernels::cuda::Driver::open(table, images, 0);
        if (!opened.driver)
            qFatal("%s", opened.problem.c_str());
        m_driver = std::move(opened.driver);
        m_queue = must(m_driver->make_queue());
    }

    std::unique_ptr<emulator::EmulatedGpu> m_own;
    emulator::EmulatedGpu* m_gpu = nullptr;  // none on a real device
    std::unique_ptr<kernels::cuda::Driver> m_driver;
    kernels::cuda::Queue m_queue = nullptr;
    std::vector<kernels::cuda::DevicePtr> m_allocations;
};
