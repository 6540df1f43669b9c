// Writes values as text: Python's str() and repr().
#pragma once

#include "engine/template/heap.h"

namespace engine::jinja {

class Conversion;

/// Returns str(value). For a string this is the same object.
Value str(Heap& heap, const Value& value);
TracedText traced_text(Heap& heap, const Value& value);
std::string str_text(Heap& heap, const Value& value);
TracedText traced_repr(Heap& heap, const Value& value);
std::string repr(Heap& heap, const Value& value);

/// Writes the repr of text: quoted, with escapes.
std::string repr_text(std::string_view text);
std::string repr_text(std::string_view text, Conversion& conversion);

/// Writes the shortest digits that give the same number back, in Python's notation.
std::string float_text(double value);

/// Writes the repr of a string, shortened for error sentences.
std::string quote(std::string_view text);

}  // namespace engine::jinja
