#include "app/system/socket_peer.h"

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
