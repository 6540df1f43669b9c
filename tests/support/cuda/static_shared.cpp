// Finds the `__shared__` variables of kernels: each is a thread_local one within a function, and the program's own
// table of symbols says where such lie from the beginning of a thread's variables on.
#include "tests/support/cuda/static_shared.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>

#include <elf.h>
#include <link.h>

namespace emulator {

namespace {

struct Variable {
    std::size_t offset, bytes;
};

template <class T>
T at(const std::string& file, std::size_t offset)
{
    T value{};
    if (offset + sizeof value <= file.size())
        std::memcpy(&value, file.data() + offset, sizeof value);
    return value;
}

// Of a function in a .cu file, or in the kernels' namespace, which headers' functions are in.
bool is_of_a_kernel(std::string_view name, std::string_view file)
{
    return name.starts_with("_ZZN7kernels4cuda") || (name.starts_with("_ZZ") && file.ends_with(".cu"));
}

std::vector<Variable> read_symbols()
{
    std::ifstream in("/proc/self/exe", std::ios::binary | std::ios::ate);
    std::string file(std::size_t(in.tellg()), '\0');  // in one go: it has some hundred megabytes
    in.seekg(0).read(file.data(), std::streamsize(file.size()));
    const auto header = at<Elf64_Ehdr>(file, 0);
    std::vector<Variable> found;
    for (unsigned i = 0; i < header.e_shnum; ++i) {
        const auto section = at<Elf64_Shdr>(file, header.e_shoff + std::size_t(i) * header.e_shentsize);
        if (section.sh_type != SHT_SYMTAB)
            continue;
        const auto names = at<Elf64_Shdr>(file, header.e_shoff + std::size_t(section.sh_link) * header.e_shentsize);
        std::string_view source;
        for (std::size_t s = 0; s + sizeof(Elf64_Sym) <= section.sh_size; s += sizeof(Elf64_Sym)) {
            const auto symbol = at<Elf64_Sym>(file, section.sh_offset + s);
            const std::size_t begin = names.sh_offset + symbol.st_name;
            const std::string_view name(begin < file.size() ? file.data() + begin : "");
            if (ELF64_ST_TYPE(symbol.st_info) == STT_FILE)
                source = name;
            else if (ELF64_ST_TYPE(symbol.st_info) == STT_TLS && symbol.st_shndx != SHN_UNDEF &&
                     is_of_a_kernel(name, ELF64_ST_BIND(symbol.st_info) == STB_LOCAL ? source : ""))
                found.push_back({symbol.st_value, symbol.st_size});
        }
    }
    return found;
}

const std::vector<Variable>& variables()
{
    static const std::vector<Variable> all = read_symbols();
    return all;
}

// Where the calling thread has the program's own thread_local variables.
std::byte* beginning_of_this_thread()
{
    void* beginning = nullptr;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* to) {
            *static_cast<void**>(to) = info->dlpi_tls_data;
            return 1;  // the program comes first, and the rest is of no interest
        },
        &beginning);
    if (!beginning) {
        std::fputs("emulated GPU: this thread's variables are not found\n", stderr);
        std::abort();
    }
    return static_cast<std::byte*>(beginning);
}

void fill_with_pattern(std::span<std::byte> bytes)
{
    std::memset(bytes.data(), int(kNeverWritten), bytes.size());
}

// Places spread over the variable, the first and the last bytes among them: arrays are written from their beginning on.
bool is_written(std::span<const std::byte> bytes)
{
    constexpr std::size_t kPlaces = 8, kBytes = 16;
    if (bytes.size() <= kPlaces * kBytes)
        return std::any_of(bytes.begin(), bytes.end(), [](std::byte b) { return b != kNeverWritten; });
    for (std::size_t place = 0; place < kPlaces; ++place) {
        const std::size_t at = (bytes.size() - kBytes) / (kPlaces - 1) * place;
        std::uint64_t words[2];
        std::memcpy(words, &bytes[at], sizeof words);
        if ((words[0] & words[1]) != ~std::uint64_t(0))
            return true;
    }
    return false;
}

}  // namespace

StaticShared::StaticShared()
{
    std::byte* const begin = beginning_of_this_thread();
    for (const Variable& variable : variables())
        variables_.emplace_back(begin + variable.offset, variable.bytes);
    std::for_each(variables_.begin(), variables_.end(), fill_with_pattern);
}

void StaticShared::clean()
{
    for (const std::span<std::byte> bytes : variables_)
        if (is_written(bytes))
            fill_with_pattern(bytes);
}

std::size_t StaticShared::count()
{
    return variables().size();
}

}  // namespace emulator
