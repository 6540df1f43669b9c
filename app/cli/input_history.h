// InputHistory keeps what was typed before.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

/// Lines in a file that only its user may read: one to a line, its own line breaks escaped. A file that cannot be read
/// counts as empty, one that cannot be written is let be. The newest lines are kept.
class InputHistory
{
public:
    /// Reads the file. Empty: there is none.
    explicit InputHistory(std::filesystem::path file);

    const std::vector<std::string>& lines() const { return lines_; }
    /// Adds a line, also to the file; not the same twice in a row.
    void add(const std::string& line);

private:
    void rewrite() const;

    std::filesystem::path file_;
    std::vector<std::string> lines_;
};

}  // namespace cli
