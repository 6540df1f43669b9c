// serveHub() puts a few models on a hub on this machine, for the tests of the page that finds them.
#pragma once

#include <QString>

#include <memory>

/// Serves as long as it lives. UI thread.
class ServedHub
{
public:
    virtual ~ServedHub() = default;
    /// Gives every answer this status from now on.
    virtual void answerWith(int status) = 0;
    /// Sets how long each answer and each piece of a file takes.
    virtual void slowDown(int answerMs, int pieceMs) = 0;
    virtual int requests() const = 0;
};

/// Returns null where the program was built without the network. `cache`: where what is fetched will lie.
std::unique_ptr<ServedHub> serveHub(const QString& cache);
