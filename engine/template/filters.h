// Lists the filters of `|`.
#pragma once

#include "engine/template/value.h"

#include <string>
#include <string_view>

namespace engine::jinja {

using FilterBody = Value (*)(Interpreter&, const Value& input, Arguments&);

/// Returns null where there is no such filter.
FilterBody find_filter(std::string_view name);

/// Applies a filter. Throws TemplateError where there is no such filter, or it cannot be applied.
Value apply_filter(Interpreter& in, const std::string& name, const Value& input, Arguments& arguments);

// These find a filter by its name, each in one of the four families; null: it has none of that name.
FilterBody find_text_filter(std::string_view name);
FilterBody find_number_filter(std::string_view name);
FilterBody find_list_filter(std::string_view name);
FilterBody find_select_filter(std::string_view name);  // map, select, sort and others that look into the items

}  // namespace engine::jinja
