// Counts what this process had to fetch from a disk: /proc/self/io.
#include "engine/disk_reads.h"

#include "engine/metrics/proc_text.h"

#include <fstream>
#include <iterator>
#include <string>

namespace engine {

std::optional<std::int64_t> disk_read_bytes()
{
    std::ifstream file("/proc/self/io");
    return fetched_bytes(std::string{std::istreambuf_iterator<char>(file), {}});
}

}  // namespace engine
