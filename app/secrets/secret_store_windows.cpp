// Uses Windows' Credential Manager, which is open as long as the user is logged in, and asks nobody.
#include "app/secrets/secret_store.h"
#include "engine/caught.h"
#include "engine/utf8_path.h"

#include <string>
#include <windows.h>

#include <wincred.h>

namespace secrets {

namespace {

using Code = engine::Error::Code;

std::wstring target_of(const std::string& id)
{
    return L"Spillway/" + std::wstring(id.begin(), id.end());
}

std::string reason()
{
    return "Windows' Credential Manager refuses it, error " + std::to_string(GetLastError());
}

class CredentialManager final : public SecretStore
{
public:
    Access access(const std::stop_token&) override
    {
        CREDENTIALW* found = nullptr;
        if (CredReadW(L"Spillway/", CRED_TYPE_GENERIC, 0, &found)) {
            CredFree(found);
            return Access::Open;
        }
        return GetLastError() == ERROR_NOT_FOUND ? Access::Open : Access::None;
    }

    engine::Result<std::string> find(const std::string& id, MayAsk, const std::stop_token&) override
    try {
        const std::wstring target = target_of(id);
        CREDENTIALW* found = nullptr;
        if (!CredReadW(target.c_str(), CRED_TYPE_GENERIC, 0, &found))
            return engine::fail(GetLastError() == ERROR_NOT_FOUND ? Code::NotFound : Code::CannotRead, reason());
        const std::unique_ptr<CREDENTIALW, void (*)(void*)> credential(found, CredFree);
        return std::string(reinterpret_cast<const char*>(found->CredentialBlob), found->CredentialBlobSize);
    } catch (...) {
        return engine::caught("for this secret");
    }

    engine::Status keep(const Secret& secret, MayAsk, const std::stop_token&) override
    try {
        std::wstring target = target_of(secret.id);
        std::wstring label = engine::utf8_path(secret.label).wstring();
        if (secret.text.size() > CRED_MAX_CREDENTIAL_BLOB_SIZE)
            return engine::fail(Code::CannotWrite, "Windows' Credential Manager takes no secret as long as this one");
        std::string text = secret.text;  // the function's parameter is not const
        CREDENTIALW credential{};
        credential.Type = CRED_TYPE_GENERIC;
        credential.TargetName = target.data();
        credential.UserName = label.data();
        credential.CredentialBlob = reinterpret_cast<BYTE*>(text.data());
        credential.CredentialBlobSize = DWORD(text.size());
        credential.Persist = CRED_PERSIST_LOCAL_MACHINE;
        if (!CredWriteW(&credential, 0))
            return engine::fail(Code::CannotWrite, reason());
        return {};
    } catch (...) {
        return engine::caught("for this secret");
    }

    engine::Status forget(const std::string& id, const std::stop_token&) override
    try {
        const std::wstring target = target_of(id);
        if (!CredDeleteW(target.c_str(), CRED_TYPE_GENERIC, 0) && GetLastError() != ERROR_NOT_FOUND)
            return engine::fail(Code::CannotWrite, reason());
        return {};
    } catch (...) {
        return engine::caught("for this secret");
    }
};

}  // namespace

std::shared_ptr<SecretStore> system_secret_store()
{
    return std::make_shared<CredentialManager>();
}

}  // namespace secrets
