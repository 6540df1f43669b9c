// Replaces remote_door.cpp in a program that is built without the network.
#include "app/servers/remote_door.h"

std::shared_ptr<RemoteDoor> remoteDoor(std::shared_ptr<secrets::SecretStore> /*store*/)
{
    return nullptr;
}
