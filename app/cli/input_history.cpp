#include "app/cli/input_history.h"

#include "engine/private_folder.h"

#include <algorithm>
#include <fstream>
#include <system_error>

namespace cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostLines = 1000;
constexpr std::uintmax_t kLargestFile = 16 << 20;
constexpr std::size_t kLongestLine = 64 << 10;  // bytes; a pasted book is not kept

std::string escaped(std::string_view line)
{
    std::string out;
    for (const char c : line) {
        if (c == '\\')
            out += "\\\\";
        else if (c == '\n')
            out += "\\n";
        else
            out += c;
    }
    return out;
}

std::string unescaped(std::string_view line)
{
    std::string out;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] != '\\' || i + 1 == line.size())
            out += line[i];
        else
            out += line[++i] == 'n' ? '\n' : line[i];
    }
    return out;
}

}  // namespace

InputHistory::InputHistory(fs::path file)
    : file_(std::move(file))
{
    std::error_code error;
    if (file_.empty() || !fs::is_regular_file(file_, error))
        return;
    const std::uintmax_t bytes = fs::file_size(file_, error);
    if (error)
        return;
    std::ifstream in(file_, std::ios::binary);
    std::string line;
    if (bytes > kLargestFile) {
        in.seekg(std::streamoff(bytes - kLargestFile));
        std::getline(in, line);  // the rest of an entry that begins before
    }
    while (std::getline(in, line))
        if (!line.empty())
            lines_.push_back(unescaped(line));
    if (bytes <= kLargestFile && lines_.size() <= kMostLines)
        return;
    lines_.erase(lines_.begin(), lines_.end() - std::ptrdiff_t(std::min(lines_.size(), kMostLines)));
    in.close();
    rewrite();
}

void InputHistory::add(const std::string& line)
{
    if (line.empty() || line.size() > kLongestLine || (!lines_.empty() && lines_.back() == line))
        return;
    lines_.push_back(line);
    if (file_.empty())
        return;
    std::error_code error;
    if (const bool fresh = !fs::exists(file_, error); fresh) {
        (void)engine::make_private_folder(file_.parent_path());
        rewrite();
        return;
    }
    std::ofstream(file_, std::ios::binary | std::ios::app) << escaped(line) + '\n';
}

void InputHistory::rewrite() const
{
    fs::path whole = file_;
    whole += ".new";
    std::ofstream out(whole, std::ios::binary | std::ios::trunc);
    std::error_code error;
    fs::permissions(whole, fs::perms::owner_read | fs::perms::owner_write, error);  // before anything is in it
    for (const std::string& line : lines_)
        out << escaped(line) << '\n';
    out.close();
    if (out)
        fs::rename(whole, file_, error);
    else
        fs::remove(whole, error);  // the disk may be full: the old file stays
}

}  // namespace cli
