#include "app/server/offered_tools.h"

#include <algorithm>

namespace server {

const Json* offered_tool(const Json& tools, const std::string& name)
{
    const Json::json_pointer at("/function/name");
    for (const Json& one : tools)
        if (one.is_object() && one.contains(at) && one.at(at) == name)
            return &one;
    return nullptr;
}

bool begins_offered_tool(const Json& tools, const std::string& name)
{
    const Json::json_pointer at("/function/name");
    return std::ranges::any_of(tools, [&](const Json& one) {
        return one.is_object() && one.contains(at) && one.at(at).is_string() &&
               one.at(at).get<std::string>().starts_with(name);
    });
}

Json type_of_argument(const Json& tools, const std::string& name, const std::string& key)
{
    const Json::json_pointer at("/function/parameters/properties");
    if (const Json* known = offered_tool(tools, name); known && known->contains(at))
        if (const Json& all = known->at(at); all.is_object() && all.contains(key) && all[key].is_object())
            return all[key].value("type", Json());
    return {};
}

}  // namespace server
