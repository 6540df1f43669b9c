#include "app/system/process_age.h"

#include <ctime>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>

std::optional<std::chrono::milliseconds> processAge()
{
    std::ifstream file("/proc/self/stat");
    std::string line;
    if (!std::getline(file, line))
        return {};
    const auto name = line.rfind(')');  // of the process, which may hold anything
    if (name == std::string::npos)
        return {};
    std::istringstream fields(line.substr(name + 1));
    std::string skipped;
    for (int i = 0; i < 19; ++i)
        fields >> skipped;
    long long startTicks = 0;
    timespec now{};
    if (!(fields >> startTicks) || clock_gettime(CLOCK_BOOTTIME, &now) != 0)
        return {};
    const long long sinceBootMs = now.tv_sec * 1000LL + now.tv_nsec / 1000000;
    return std::chrono::milliseconds(sinceBootMs - startTicks * 1000 / sysconf(_SC_CLK_TCK));
}
