#include "kernels/cpu/dispatch/dispatch.h"

#include "kernels/cpu/amx/amx.h"
#include "kernels/cpu/avx2/avx2.h"
#include "kernels/cpu/avx512/avx512.h"
#include "kernels/cpu/avxvnni/avxvnni.h"
#include "kernels/cpu/dispatch/cpu_features.h"
#include "kernels/cpu/dispatch/faster_prompts.h"
#include "kernels/cpu/scalar/scalar.h"

#include <cstdlib>
#include <string>
#include <vector>

namespace kernels {

static std::vector<CpuKernels> build_tables()
{
    std::vector<CpuKernels> tables{scalar::table()};
#ifdef SPILLWAY_X86_TABLES
    const CpuFeatures cpu = detect_cpu_features();
    if (cpu.avx2_set)
        tables.push_back(avx2::improve(tables.back()));
    if (cpu.avxvnni_set)
        tables.push_back(avxvnni::improve(tables.back(), avxvnni::Encoding::Vex));
    else if (cpu.avx512_set)
        tables.push_back(avxvnni::improve(tables.back(), avxvnni::Encoding::Evex));
    if (cpu.avx512_set)
        tables.push_back(avx512::improve(tables.back()));
    if (cpu.amx_set && amx::permitted() && amx::tiles_agree())
        tables.push_back(amx::improve(tables.back(), amx::Tiles::Hardware));
#endif
    return tables;
}

std::span<const CpuKernels> all_cpu_kernels()
{
    static const std::vector<CpuKernels> tables = build_tables();
    return tables;
}

// This table differs from avx512's only in how it multiplies prompts, which on some machines is slower: for each weight
// type with_faster_prompts() takes the product that is faster here.
static constexpr std::string_view kTiles = "amx";

Choice choose_table(std::span<const CpuKernels> tables, const char* forced)
{
    if (!forced) {
        const bool tiles = tables.size() > 1 && std::string_view(tables.back().name) == kTiles;
        return {&tables[tables.size() - (tiles ? 2 : 1)]};
    }
    for (const CpuKernels& table : tables)
        if (std::string_view(table.name) == forced)
            return {&table};
    return {&tables.front(), true};
}

namespace {

struct Chosen {
    std::string forced;  // kept: the environment may change later
    Choice choice;
    CpuKernels table;
};

}  // namespace

static const Chosen& chosen()
{
    static const Chosen once = [] {
        const char* forced = std::getenv("SPILLWAY_CPU");
        if (forced && !*forced)
            forced = nullptr;  // an empty value counts as none
        const auto tables = all_cpu_kernels();
        const Choice choice = choose_table(tables, forced);
        const bool beside_tiles = !forced && choice.table != &tables.back();
        return Chosen{forced ? forced : "", choice,
                      beside_tiles ? with_faster_prompts(*choice.table, tables.back(), prompt_seconds) : *choice.table};
    }();
    return once;
}

const CpuKernels& cpu_kernels()
{
    return chosen().table;
}

std::string_view unknown_forced_table()
{
    return chosen().choice.unknown ? std::string_view(chosen().forced) : std::string_view();
}

}  // namespace kernels
