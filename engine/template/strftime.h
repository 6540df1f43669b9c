// Writes dates as text, the same on every system and in every locale.
#pragma once

#include "engine/template/heap.h"

#include <ctime>
#include <string_view>

namespace engine::jinja {

/// Does Python's strftime in the C locale, with the flags of glibc (%-d).
std::string strftime(Heap& heap, std::string_view format, const std::tm& time);

std::tm local_time_now();

}  // namespace engine::jinja
