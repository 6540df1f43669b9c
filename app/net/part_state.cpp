#include "app/net/part_state.h"

#include "app/net/sha256.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <system_error>

namespace net {

namespace {

constexpr int kForm = 1;
constexpr std::uintmax_t kLongest = 4 << 20;  // bytes; a longer file is no state

std::filesystem::path with_ending(std::filesystem::path path, const char* ending)
{
    path += ending;
    return path;
}

}  // namespace

std::filesystem::path part_path(const std::filesystem::path& target)
{
    return with_ending(target, ".spillway-part");
}

std::filesystem::path state_path(const std::filesystem::path& target)
{
    return with_ending(target, ".spillway-part.json");
}

std::optional<PartState> read_part_state(const std::filesystem::path& file)
{
    std::error_code error;
    if (const auto size = std::filesystem::file_size(file, error); error || size > kLongest)
        return {};
    std::ifstream in(file, std::ios::binary);
    const auto json = nlohmann::json::parse(in, nullptr, false);
    if (!json.is_object())
        return {};
    try {
        PartState state;
        state.bytes = json.at("bytes").get<std::int64_t>();
        state.sha256 = json.at("sha256").get<std::string>();
        state.validator = json.at("validator").get<std::string>();
        if (json.at("form").get<int>() != kForm || state.bytes <= 0 ||
            (!state.sha256.empty() && !is_sha256(state.sha256)))
            return {};
        for (const auto& range : json.at("done")) {
            const ByteRange r{range.at(0).get<std::int64_t>(), range.at(1).get<std::int64_t>()};
            if (r.begin < 0 || r.end <= r.begin || r.end > state.bytes)
                return {};
            state.done.add(r);
        }
        return state;
    } catch (const nlohmann::json::exception&) {
        return {};
    }
}

Status write_part_state(const std::filesystem::path& file, const PartState& state)
{
    auto done = nlohmann::json::array();
    for (const ByteRange& r : state.done.ranges())
        done.push_back({r.begin, r.end});
    const nlohmann::json json = {{"form", kForm},
                                 {"bytes", state.bytes},
                                 {"sha256", state.sha256},
                                 {"validator", state.validator},
                                 {"done", done}};
    const std::filesystem::path next = with_ending(file, ".next");
    {
        std::ofstream out(next, std::ios::binary | std::ios::trunc);
        out << json.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) << '\n';
        out.close();
        if (!out)
            return fail(Failure::Kind::CannotWrite, "'" + next.string() + "' cannot be written");
    }
    std::error_code error;
    std::filesystem::rename(next, file, error);
    if (error)
        return fail(Failure::Kind::CannotWrite, "'" + file.string() + "' cannot be written");
    return {};
}

}  // namespace net
