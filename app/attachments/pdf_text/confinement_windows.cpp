#include "app/attachments/pdf_text/confinement.h"

#include <windows.h>

#include <cstddef>

namespace {

// Only an app container could close it, which a process gets from the one that starts it.
constexpr const char* kNetworkStaysOpen = "the network stays open to it";

/// Lowers the integrity level: the process can write nothing any more that belongs to the user.
bool lowerIntegrity(HANDLE token)
{
    SID_IDENTIFIER_AUTHORITY authority = SECURITY_MANDATORY_LABEL_AUTHORITY;
    PSID low = nullptr;
    if (!AllocateAndInitializeSid(&authority, 1, SECURITY_MANDATORY_LOW_RID, 0, 0, 0, 0, 0, 0, 0, &low))
        return false;
    TOKEN_MANDATORY_LABEL label{};
    label.Label.Attributes = SE_GROUP_INTEGRITY;
    label.Label.Sid = low;
    const bool done =
        SetTokenInformation(token, TokenIntegrityLevel, &label, DWORD(sizeof label) + GetLengthSid(low)) != 0;
    FreeSid(low);
    return done;
}

bool dropPrivileges(HANDLE token)
{
    return AdjustTokenPrivileges(token, TRUE, nullptr, 0, nullptr, nullptr) != 0;
}

}  // namespace

std::string confineThisProcess()
{
    HANDLE token = nullptr;
    if (!OpenProcessToken(GetCurrentProcess(), TOKEN_ADJUST_DEFAULT | TOKEN_ADJUST_PRIVILEGES | TOKEN_QUERY, &token))
        return "no access to its own token";
    const bool dropped = dropPrivileges(token);
    const bool lowered = lowerIntegrity(token);
    CloseHandle(token);
    if (dropped && lowered)
        return kNetworkStaysOpen;
    return std::string(lowered ? "its privileges could not be dropped" : "no low integrity") + ", and " +
           kNetworkStaysOpen;
}
