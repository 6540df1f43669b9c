// SecretStore is where the operating system keeps a user's secrets: encrypted on the disk, open while the user is
// there.
#pragma once

#include "engine/result.h"

#include <memory>
#include <stop_token>
#include <string>

namespace secrets {

/// Says whether a store takes secrets now.
enum class Access {
    Open,
    Locked,  // the user would be asked to unlock it
    None,    // this system has none, or it does not answer
};

/// Says whether the user may be asked to unlock the store during a call.
enum class MayAsk { No, Yes };

struct Secret {
    std::string id;     // made by new_id(); the secret is found again by it
    std::string label;  // for people who look into the store
    std::string text;
};

/// A call waits for another program, and for the user where it may ask, so it must not be made on the UI thread; it
/// gives up after a time. Any other thread.
class SecretStore
{
public:
    virtual ~SecretStore() = default;

    virtual Access access(const std::stop_token& stop) = 0;
    /// Returns the text of a secret. NotFound: the store has none of this id. CannotRead: it does not give it now.
    virtual engine::Result<std::string> find(const std::string& id, MayAsk may, const std::stop_token& stop) = 0;
    /// Keeps a secret in place of one of the same id. CannotWrite: the store did not take it. Cancelled: the call gave
    /// up waiting, and the store may still take it.
    virtual engine::Status keep(const Secret& secret, MayAsk may, const std::stop_token& stop) = 0;
    /// Removes the secret of this id, if there is one; the user is never asked. CannotWrite: the store is locked, or
    /// does not answer.
    virtual engine::Status forget(const std::string& id, const std::stop_token& stop) = 0;
};

/// Returns the store of this system: the Secret Service of the user's session (GNOME Keyring, KWallet, KeePassXC), or
/// Windows' Credential Manager. Nobody is asked before the first call.
std::shared_ptr<SecretStore> system_secret_store();

/// Says whether a store has a secret that was given to it.
enum class Kept {
    No,  // it is not there, and has to be kept elsewhere
    Yes,
    Perhaps,  // the store does not give it back, and cannot be told to forget it now; or it has not answered
};

/// Gives a secret to a store, and checks that it is there. Before the call the id has to be written down as unneeded:
/// where the program ends in the middle, the next start can then remove the secret.
Kept keep_in(SecretStore& store, const Secret& secret, MayAsk may, const std::stop_token& stop);

/// Returns 32 random hexadecimal digits, so that two profiles never use the same id.
std::string new_id();
bool is_id(const std::string& text);

}  // namespace secrets
