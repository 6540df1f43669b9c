// OnDevice opens a device for the tests of CUDA kernels: the emulated one, or a real one when SPILLWAY_TEST_DEVICE is
// "cuda".
#pragma once

#include "kernels/cuda/checks/device_memory.h"
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
    /// Opens an emulated device that the test has made as it wants it.
    explicit OnDevice(emulator::EmulatedGpu& gpu)
        : m_gpu(&gpu)
    {
        open(gpu.table(), gpu.images());
    }
    ~OnDevice()
    {
        must(m_memory->status());
        m_memory.reset();
        m_driver.reset();
        if (m_gpu && !m_gpu->leaks().empty())
            qFatal("%s", m_gpu->leaks().c_str());
    }
    OnDevice(const OnDevice&) = delete;
    OnDevice& operator=(const OnDevice&) = delete;

    const kernels::cuda::Driver& driver() const { return *m_driver; }
    kernels::cuda::Queue queue() const { return m_memory->queue(); }
    kernels::cuda::DeviceMemory& memory() { return *m_memory; }

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
        return done(m_memory->put(values));
    }
    /// Memory whose contents are undefined.
    kernels::cuda::DevicePtr room(std::size_t bytes) { return done(m_memory->room(bytes)); }
    template <class T>
    std::vector<T> get(kernels::cuda::DevicePtr at, std::size_t count) const
    {
        return done(m_memory->get<T>(at, count));
    }

private:
    void open(const kernels::cuda::DriverTable& table, const kernels::cuda::KernelImages& images)
    {
        auto opened = kernels::cuda::Driver::open(table, images, 0);
        if (!opened.driver)
            qFatal("%s", opened.problem.c_str());
        m_driver = std::move(opened.driver);
        m_memory = std::make_unique<kernels::cuda::DeviceMemory>(*m_driver);
        must(m_memory->status());
    }
    template <class T>
    T done(T value) const
    {
        must(m_memory->status());
        return value;
    }

    std::unique_ptr<emulator::EmulatedGpu> m_own;
    emulator::EmulatedGpu* m_gpu = nullptr;  // none on a real device
    std::unique_ptr<kernels::cuda::Driver> m_driver;
    std::unique_ptr<kernels::cuda::DeviceMemory> m_memory;
};
