// DriverGate keeps driver calls that may wait for the device apart from steps in which the device waits for the host:
// else each would wait for the other. An allocation or a page lock may wait until all that runs is done, and until then
// no other thread's call goes on; Windows' display driver model allows it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <mutex>

namespace engine {

class DriverGate
{
public:
    /// Returns the gate of a GPU: one for all of the process, since another model's calls wait for it as well.
    static DriverGate& of(int ordinal)
    {
        static std::array<DriverGate, 64> all;
        return all[std::size_t(ordinal) % all.size()];
    }

    /// Marks a driver call that may wait, for as long as the object lives. Waits until another thread's step is over; a
    /// step that begins meanwhile gets no gate.
    class Call
    {
    public:
        explicit Call(DriverGate& gate)
            : gate_(gate)
        {
            ++gate_.calls_;
            gate_.mutex_.lock();
        }
        ~Call()
        {
            gate_.mutex_.unlock();
            --gate_.calls_;
        }
        Call(const Call&) = delete;
        Call& operator=(const Call&) = delete;

    private:
        DriverGate& gate_;
    };

    /// Marks a step in which the device waits for the host, for as long as the object lives. False: another thread's
    /// Call is under way, so the step has to be done in another way. Never waits.
    class Step
    {
    public:
        explicit Step(DriverGate& gate)
            : gate_(gate)
            , begun_(gate.calls_ == 0 && gate.mutex_.try_lock())
        {
        }
        ~Step()
        {
            if (begun_)
                gate_.mutex_.unlock();
        }
        Step(const Step&) = delete;
        Step& operator=(const Step&) = delete;
        explicit operator bool() const { return begun_; }

    private:
        DriverGate& gate_;
        const bool begun_;
    };

private:
    std::recursive_mutex mutex_;
    std::atomic<int> calls_ = 0;  // under way, or waiting to be
};

}  // namespace engine
