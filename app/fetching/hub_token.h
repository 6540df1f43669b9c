// HubToken gives and keeps the token that tells the hub who the user is.
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

/// Holds a token, or why it is not given now.
struct GivenToken {
    std::string token;                           // empty: there is none, or it is withheld
    std::optional<engine::Error> withheld = {};  // why the password store does not give it
};

/// Takes the token from the environment, else from the system's password store, else from a file. Any thread but the
/// UI's, which may only call place().
class HubToken
{
public:
    /// `fromEnvironment` is used before any that is kept; empty: there is none. `file` empty: nothing is kept.
    HubToken(std::string fromEnvironment, std::filesystem::path file, std::shared_ptr<secrets::SecretStore> store);

    TokenPlace place() const;
    /// Returns the token. `may`: whether the user may be asked to unlock the password store. A user who has closed that
    /// question is not asked again for some seconds.
    GivenToken get(secrets::MayAsk may, const std::stop_token& stop);
    /// Keeps a token that the user has entered; empty: none. The user may be asked to unlock the store.
    engine::Status keep(const std::string& token, const std::stop_token& stop);
    /// Moves the token from the file into the store, and removes tokens from there that are not needed, if the store is
    /// unlocked. The user is not asked.
    void settle(const std::stop_token& stop);

private:
    /// Lets one thread at a time ask the store, which may wait for the user. False: the thread was told to stop before.
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
    mutable std::mutex m_values;  // guards m_asking, m_kept and m_known; never held while the store is asked
    std::condition_variable_any m_rested;
    bool m_asking = false;
    net::KeptToken m_kept;
    std::vector<std::string> m_perhaps;                    // ids the store may yet take: the next start forgets them
    std::string m_known;                                   // the store's token, once it has given it
    std::chrono::steady_clock::time_point m_quietUntil{};  // used by the thread whose turn it is
};
