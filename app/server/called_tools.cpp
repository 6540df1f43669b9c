#include "app/server/called_tools.h"

#include <algorithm>
#include <utility>

namespace server {

namespace {

constexpr std::size_t kMostPassedOver = 64;  // calls, while one of a name is looked for

/// Nine letters and digits: Mistral's templates take no other.
std::string id_of_place(std::size_t place)
{
    const std::string number = std::to_string(place);
    return "call" + std::string(5 - std::min<std::size_t>(number.size(), 5), '0') + number;
}

}  // namespace

void CalledTools::add(Json& calls)
{
    next_ = calls_.size();
    for (Json& call : calls) {
        if (!call.is_object())
            continue;
        Fields fields(call);
        Call added;
        added.id = fields.text("id").value_or("");
        if (const Json* function = fields.object("function"))
            added.name = Fields(*function).text("name").value_or("");
        if (added.id.empty())
            call["id"] = added.id = id_of_place(calls_.size());
        by_id_.insert_or_assign(added.id, calls_.size());
        calls_.push_back(std::move(added));
    }
}

Json CalledTools::result_of(std::string id, std::string name)
{
    const auto known = by_id_.find(id);
    const auto place = id.empty() ? next_of(name) : known != by_id_.end() ? std::optional(known->second) : std::nullopt;
    if (place) {
        Call& call = calls_[*place];
        call.has_result = true;
        id = call.id;
        if (name.empty())
            name = call.name;
    }
    Json result = Json::object();
    if (!id.empty())
        result["tool_call_id"] = id;
    if (!name.empty())
        result["name"] = name;
    return result;
}

std::optional<std::size_t> CalledTools::next_of(const std::string& name)
{
    while (next_ < calls_.size() && calls_[next_].has_result)
        ++next_;
    if (next_ == calls_.size())
        return std::nullopt;
    for (std::size_t i = next_; i < std::min(calls_.size(), next_ + kMostPassedOver); ++i)
        if (!calls_[i].has_result && calls_[i].name == name)
            return i;
    return next_;
}

}  // namespace server
