// serveModel() puts a server with one model on this machine, for the tests of models that run elsewhere.
#pragma once

#include <QString>

#include <memory>

/// Ends when it goes. UI thread.
class ServedModel
{
public:
    virtual ~ServedModel() = default;
    virtual QString url() const = 0;
    /// What it answers from now on; where it is not whole, the connection ends behind it.
    virtual void says(const QString& text, bool whole) = 0;
    /// Its page of numbers from now on.
    virtual void counts(const QString& page) = 0;
};

/// Nothing: this program was built without the network.
std::unique_ptr<ServedModel> serveModel();
