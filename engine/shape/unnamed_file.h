// UnnamedFile is a large temporary file without a name that other programs could find, where the system allows it.
#pragma once

#include "engine/result.h"

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace engine {

/// Written from its start to its end, then read by its path. The file is gone when the object is; where the system can,
/// also when the program is killed.
class UnnamedFile
{
public:
    /// Makes such a file. CannotWrite, with one sentence that names the folder.
    static Result<UnnamedFile> create(const std::filesystem::path& folder);
    UnnamedFile(UnnamedFile&&) noexcept;
    UnnamedFile& operator=(UnnamedFile&&) noexcept;
    ~UnnamedFile();

    /// Writes behind what is there. CannotWrite: the disk is full, or refuses.
    Status write(std::span<const std::byte> bytes);
    /// Ends writing; from now on path() may be opened.
    Status finish();
    /// Returns the path. Other processes of the same user may open it, too, as long as the object lives.
    const std::filesystem::path& path() const;

private:
    struct Open;
    explicit UnnamedFile(std::unique_ptr<Open> open);
    std::unique_ptr<Open> open_;
};

}  // namespace engine
