// Heard collects what a worker on another thread has said.
#pragma once

#include <QObject>

#include <tuple>
#include <vector>

/// Collects a signal's arguments on the test's own thread. QSignalSpy would write from the emitting one.
template <class... Args>
class Heard
{
public:
    template <class Sender>
    Heard(const Sender* sender, void (Sender::*signal)(Args...))
    {
        QObject::connect(sender, signal, &context_, [this](Args... args) { calls.emplace_back(args...); });
    }

    size_t size() const { return calls.size(); }
    template <size_t argument>
    const auto& at(size_t call) const
    {
        return std::get<argument>(calls[call]);
    }

    std::vector<std::tuple<std::decay_t<Args>...>> calls;

private:
    QObject context_;  // the receiver's thread; ends the connection with this object
};
