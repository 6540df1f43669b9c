// serveModel() puts a server with one model on this machine, for the tests of models that run elsewhere.
#pragma once

#include <QString>

#include <memory>

/// Serves as long as it lives. UI thread.
class ServedModel
{
public:
    virtual ~ServedModel() = default;
    virtual QString url() const = 0;
    /// Sets what it answers from now on. Where that is not whole, the connection ends after it.
    virtual void says(const QString& text, bool whole) = 0;
    /// Sets its page of numbers.
    virtual void counts(const QString& page) = 0;
};

/// Returns null where the program was built without the network.
std::unique_ptr<ServedModel> serveModel();
