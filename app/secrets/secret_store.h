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

/// Says whether the user may be asked to unlock the store meanwhile.
enum class MayAsk { No, Yes };

struct Secret {
    std::string id;     // by which it is found again: new_id()
    std::string label;  // for people who look into the store
    std::string text;
};

/// A call waits for another program, and for the user where it may ask, but never without end: not for the UI thread.
/// Any thread.
class SecretStore
{
public:
    virtual ~SecretStore() = default;

    virtual Access access(const std::stop_token& stop) = 0;
    /// NotFound: the store has none of this id. CannotRead: it does not give it now.
    virtual engine::Result<std::string> find(const std::string& id, MayAsk may, const std::stop_token& stop) = 0;
    /// Keeps a secret in place of one of the same id. CannotWrite. Cancelled: it was not waited for any longer, and may
    /// be kept yet.
    virtual engine::Status keep(const Secret& secret, MayAsk may, const std::stop_token& stop) = 0;
    /// There is none of this id any more; nobody is asked. CannotWrite: it is locked, or does not answer.
    virtual engine::Status forget(const std::string& id, const std::stop_token& stop) = 0;
};

/// Returns the store of this system: the Secret Service of the user's session (GNOME Keyring, KWallet, KeePassXC), or
/// Windows' Credential Manager. Nobody is asked before the first call.
std::shared_ptr<SecretStore> system_secret_store();

/// Says what became of a secret that was given to a store.
enum class Kept {
    No,  // it is not there, and has to be kept elsewhere
    Yes,
    Perhaps,  // the store does not give it back, and cannot be told to forget it now; or it has not answered
};

/// Gives a secret to a store, and asks whether it is there. Its id has to be written down before, as one that nobody
/// needs: where the program ends in the middle, nobody else knows that the store has it.
Kept keep_in(SecretStore& store, const Secret& secret, MayAsk may, const std::stop_token& stop);

/// 32 hexadecimal digits that nobody else has: two profiles never mean the same secret.
std::string new_id();
bool is_id(const std::string& text);

}  // namespace secrets
