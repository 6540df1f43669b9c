// HubToken is the token that says to the hub who the user is, wherever it is kept.
#pragma once

#include "app/fetching/model_source.h"
#include "app/net/kept_token.h"

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

/// A token, or why it is not given now.
struct GivenToken {
    std::string token;                           // empty: there is none, or it is withheld
    std::optional<engine::Error> withheld = {};  // by the password store
};

/// Any thread but the UI's; place() from there, too.
class HubToken
{
public:
    /// `fromEnvironment`: is used before any that is kept; empty: there is none. `file`: empty: nothing is kept.
    HubToken(std::string fromEnvironment, std::filesystem::path file, std::shared_ptr<secrets::SecretStore> store);

    TokenPlace place() const;
    /// `may`: whether the user may be asked to unlock the password store. Who has closed that question is left alone
    /// for a while.
    GivenToken get(secrets::MayAsk may, const std::stop_token& stop);
    /// The user has entered it, and may be asked to unlock the store.
    engine::Status keep(const std::string& token, const std::stop_token& stop);
    /// Moves the token from the file into the store, and removes from that what nobody needs, as far as it is open.
    /// Nobody is asked.
    void settle(const std::stop_token& stop);

private:
    /// One after another asks the store, which may take as long as a user does: who is told to stop waits no longer.
    class Turn
    {
    public:
        Turn(HubToken& token, const std::stop_token& stop);
        ~Turn();
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;
        explicit operator bool() const { return m_mine; }

    private:
        HubToken& m_token;
        bool m_mine;
    };
    net::KeptToken kept() const;
    engine::Status putIn(const std::string& token, secrets::MayAsk may, const std::stop_token& stop);
    secrets::Kept putInStore(const secrets::Secret& secret, secrets::MayAsk may, const std::stop_token& stop);
    void forgetUnneeded(const std::stop_token& stop);
    engine::Status change(const net::KeptToken& kept);
    engine::Status write(const net::KeptToken& kept) const;

    const std::string m_fromEnvironment;
    const std::filesystem::path m_file;
    const std::shared_ptr<secrets::SecretStore> m_store;
    mutable std::mutex m_values;  // held for a moment; of all below
    std::condition_variable_any m_rested;
    bool m_asking = false;
    net::KeptToken m_kept;
    std::vector<std::string> m_perhaps;                    // ids that the store may take yet: for the next start
    std::string m_known;                                   // of the store's
    std::chrono::steady_clock::time_point m_quietUntil{};  // of the one whose turn it is
};
