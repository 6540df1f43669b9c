// FakeSecretStore is a password store in memory that does what a test wants of it.
#pragma once

#include "app/secrets/secret_store.h"

#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>

namespace support {

/// May be used from any thread.
class FakeSecretStore final : public secrets::SecretStore
{
public:
    using Access = secrets::Access;
    using MayAsk = secrets::MayAsk;
    using Code = engine::Error::Code;

    void becomes(Access access)
    {
        const std::lock_guard lock(mutex_);
        access_ = access;
    }
    /// Sets whether the user unlocks the store when asked.
    void isUnlockedWhenAsked(bool unlocked)
    {
        const std::lock_guard lock(mutex_);
        unlocks_ = unlocked;
    }
    /// Lets it give other text back than it was given.
    void garbles()
    {
        const std::lock_guard lock(mutex_);
        garbles_ = true;
    }
    /// Lets it take a secret after nobody waits for its answer any more.
    void answersLate(bool late)
    {
        const std::lock_guard lock(mutex_);
        late_ = late;
    }
    /// Lets the next who looks for something wait until it is told to stop, as where a user does not answer.
    void holdsUntilStopped()
    {
        const std::lock_guard lock(mutex_);
        holds_ = true;
    }
    /// Has `told` called when a secret comes, before it is in the store.
    void tellsWhenOneComes(std::function<void()> told)
    {
        const std::lock_guard lock(mutex_);
        told_ = std::move(told);
    }
    int held() const
    {
        const std::lock_guard lock(mutex_);
        return held_;
    }
    std::map<std::string, secrets::Secret> all() const
    {
        const std::lock_guard lock(mutex_);
        return secrets_;
    }
    int timesAsked() const  // the user
    {
        const std::lock_guard lock(mutex_);
        return asked_;
    }
    int calls() const
    {
        const std::lock_guard lock(mutex_);
        return calls_;
    }

    Access access(const std::stop_token&) override
    {
        const std::lock_guard lock(mutex_);
        ++calls_;
        return access_;
    }
    engine::Result<std::string> find(const std::string& id, MayAsk may, const std::stop_token& stop) override
    {
        std::unique_lock lock(mutex_);
        if (holds_) {
            ++held_;
            holds_ = false;
            std::condition_variable_any().wait(lock, stop, [] { return false; });
            return engine::fail(Code::CannotRead, "the system's password store is locked");
        }
        if (!opens(may))
            return engine::fail(Code::CannotRead, "the system's password store is locked");
        const auto found = secrets_.find(id);
        if (found == secrets_.end())
            return engine::fail(Code::NotFound, "the system's password store does not have it any more");
        return garbles_ ? "garbled" : found->second.text;
    }
    engine::Status keep(const secrets::Secret& secret, MayAsk may, const std::stop_token&) override
    {
        const std::lock_guard lock(mutex_);
        if (!opens(may))
            return engine::fail(Code::CannotWrite, "the system's password store is locked");
        if (told_)
            told_();
        secrets_[secret.id] = secret;
        if (late_)
            return engine::fail(Code::Cancelled, "the system's password store does not answer");
        return {};
    }
    engine::Status forget(const std::string& id, const std::stop_token&) override
    {
        const std::lock_guard lock(mutex_);
        if (!opens(MayAsk::No))
            return engine::fail(Code::CannotWrite, "the system's password store is locked");
        secrets_.erase(id);
        return {};
    }

private:
    bool opens(MayAsk may)
    {
        ++calls_;
        if (access_ == Access::Locked && may == MayAsk::Yes) {
            ++asked_;
            if (unlocks_)
                access_ = Access::Open;
        }
        return access_ == Access::Open;
    }

    mutable std::mutex mutex_;
    Access access_ = Access::Open;
    bool unlocks_ = false, garbles_ = false, late_ = false, holds_ = false;
    int asked_ = 0, calls_ = 0, held_ = 0;
    std::function<void()> told_;
    std::map<std::string, secrets::Secret> secrets_;
};

}  // namespace support
