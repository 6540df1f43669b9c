// Stands in for served_hub.cpp where the window is built without the network.
#include "tests/ui/served_hub.h"

std::unique_ptr<ServedHub> serveHub(const QString&)
{
    return nullptr;
}
