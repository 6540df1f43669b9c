// InputHistory keeps what was typed before.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Keeps what was typed in a file that only its user may read, one entry on each line, with the entry's own line breaks
/// escaped. A file that cannot be read counts as empty; one that cannot be written stays as it is. Only the newest
/// entries are kept.
class InputHistory
{
public:
    /// Reads the file. `file` empty: nothing is kept from one run to the next.
    explicit InputHistory(std::filesystem::path file);

    const std::vector<std::string>& lines() const { return lines_; }
    /// Adds a line, also to the file, unless it is the same as the one before, empty or very long.
    void add(const std::string& line);

private:
    void rewrite() const;

    std::filesystem::path file_;
    std::vector<std::string> lines_;
};

}  // namespace cli
