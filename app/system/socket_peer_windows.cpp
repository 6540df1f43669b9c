#include "app/system/socket_peer.h"

#include <windows.h>

// Pipes have names, not paths.
QString privateSocketFolder()
{
    return {};
}

// The pipe is made for its user alone (QLocalServer::UserAccessOption).
bool isOfThisUser(qintptr)
{
    return true;
}

// Only the program in front may pass on the right to come to the front.
void letRaiseItsWindow(qintptr socket)
{
    ULONG server = 0;
    if (GetNamedPipeServerProcessId(reinterpret_cast<HANDLE>(socket), &server))
        AllowSetForegroundWindow(server);
}
