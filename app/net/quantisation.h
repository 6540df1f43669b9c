// group_files() groups the GGUF files of a repository by quantisation, and choose() chooses one.
#pragma once

#include "app/net/failure.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace net {

/// One file of a repository.
struct HubFile {
    std::string path;
    std::int64_t bytes = 0;
    std::string sha256;  // empty: the hub does not say it
    std::string oid;     // the name of its bytes in git
};

/// One model that can be fetched: a file, or the parts of a split one in their order.
struct ModelChoice {
    std::string name;   // of the file, without folder, part and ending
    std::string quant;  // "Q4_K_M", "UD-Q4_K_XL"; empty: the name does not say
    std::vector<HubFile> files;
    std::int64_t bytes = 0;
};

struct ModelFiles {
    std::vector<ModelChoice> choices;  // the smallest first
    std::vector<HubFile> companions;   // what goes with any of them: projectors for pictures, layers that draft
};

/// Returns the quantisation that a file's name tells, in capitals; empty: none.
std::string quant_of(std::string_view file);

/// Groups the files. Those that are no GGUF model are left out, and split models of which a part is missing.
ModelFiles group_files(const std::vector<HubFile>& files);

struct Chosen {
    /// Why this one: it was named, or is the best for the memory.
    enum class Why { Named, SmallModel, BestBalance, LargestThatFits, NoneFits };
    ModelChoice choice;
    Why why = Why::Named;
    std::string reason;  // the same as part of an English sentence; empty: it was named
};

/// Returns the model of `file` or of `quant`; if both are empty, the best for `memory_bytes`, the free memory of this
/// machine (nothing: not known). NotFound: there is none; the sentence says which there are.
Result<Chosen> choose(const ModelFiles& files, const std::string& file, const std::string& quant,
                      std::optional<std::int64_t> memory_bytes);

}  // namespace net
