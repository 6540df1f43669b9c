// PrintedMarks prints what a model thinks, and without_thoughts() says what it reads again of its answer.
#pragma once

#include <string>
#include <string_view>

namespace cli {

/// Most models put what they think between <think> and </think> or marks much like them, which are printed as they are.
/// The marks of gpt-oss are long and stand within a line: they are replaced by <think> and </think>. Text may come in
/// pieces; what could be the beginning of a mark waits for the next piece.
class PrintedMarks
{
public:
    std::string add(std::string_view piece);
    std::string end();  // no more text comes

private:
    std::string held_;
    bool in_thought_ = false;
};

/// Returns an answer without what was thought before it, as models are made to read their answers. If the answer has
/// only a thought, returns that without its mark.
std::string without_thoughts(std::string_view answer);

}  // namespace cli
