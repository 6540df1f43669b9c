// Stands in for served_model.cpp where the window is built without the network.
#include "tests/ui/served_model.h"

std::unique_ptr<ServedModel> serveModel()
{
    return nullptr;
}
