#include "engine/device/huge_array.h"

#include "engine/metrics/host_probe.h"
#include "engine/metrics/proc_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <vector>

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace engine {

namespace {

constexpr std::size_t kPage = 4096;

std::size_t rounded_up(std::size_t bytes, std::size_t to)
{
    return (bytes + to - 1) / to * to;
}

// A bit for each node that is used.
struct NodeMask {
    static constexpr int kWordBits = 8 * sizeof(unsigned long);
    static constexpr int kBits = 1024;  // at least as many as the kernel knows
    std::array<unsigned long, kBits / kWordBits> words{};
    int count = 0;

    void add(int node)
    {
        words[std::size_t(node / kWordBits)] |= 1ul << node % kWordBits;
        ++count;
    }
    bool has(int node) const { return (words[std::size_t(node / kWordBits)] >> node % kWordBits & 1) != 0; }
};

bool has_one_of(int node, const std::vector<int>& cpus)
{
    std::ifstream file("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist");
    const std::string text(std::istreambuf_iterator<char>(file), {});
    const auto of_node = cpu_list(text);
    return of_node &&
           std::ranges::any_of(*of_node, [&](int cpu) { return std::ranges::find(cpus, cpu) != cpus.end(); });
}

NodeMask nodes_to_use()
{
    int policy = MPOL_DEFAULT;
    NodeMask allowed, used;
    if (syscall(SYS_get_mempolicy, &policy, nullptr, 0, nullptr, 0) != 0 || policy != MPOL_DEFAULT)
        return {};  // forbidden, or the user has chosen
    if (syscall(SYS_get_mempolicy, nullptr, allowed.words.data(), NodeMask::kBits, nullptr, MPOL_F_MEMS_ALLOWED) != 0)
        return {};
    const std::vector<int> cpus = core_cpus();
    for (int node = 0; node < NodeMask::kBits; ++node)
        if (allowed.has(node) && has_one_of(node, cpus))
            used.add(node);
    return used;
}

const NodeMask& used_nodes()
{
    static const NodeMask nodes = nodes_to_use();
    return nodes;
}

}  // namespace

int HugeArray::nodes()
{
    return std::max(1, used_nodes().count);
}

// A large page begins at a multiple of its size, so one page more is taken, and what lies around the array is given
// back.
std::byte* HugeArray::take_pages(std::size_t bytes)
{
    const std::size_t wanted = rounded_up(bytes, kPage), all = wanted + kLargePage;
    void* const taken = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (taken == MAP_FAILED)
        throw std::bad_alloc();
    auto* const begin = static_cast<std::byte*>(taken);
    const auto address = reinterpret_cast<std::uintptr_t>(taken);
    const std::size_t before = rounded_up(address, kLargePage) - address;
    if (before > 0)
        (void)munmap(begin, before);
    if (before < kLargePage)
        (void)munmap(begin + before + wanted, kLargePage - before);
    (void)madvise(begin + before, wanted, MADV_HUGEPAGE);  // pages of the usual size work, too
    if (nodes() > 1)
        (void)syscall(SYS_mbind, begin + before, wanted, MPOL_INTERLEAVE, used_nodes().words.data(), NodeMask::kBits,
                      0);
    return begin + before;
}

void HugeArray::give_back_pages(std::byte* memory, std::size_t bytes)
{
    (void)munmap(memory, rounded_up(bytes, kPage));
}

}  // namespace engine
