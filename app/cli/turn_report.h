// Reports what an answer took, as JSON and as a line for people.
#pragma once

#include "engine/engine.h"

#include <chrono>
#include <map>
#include <string>
#include <vector>

namespace cli {

/// Collects the tokens of an answer as they come.
class AnswerTokens
{
public:
    void add(int id);
    const std::vector<int>& ids() const { return ids_; }
    const std::vector<double>& ms() const { return ms_; }  // from each to the next: one fewer

private:
    std::vector<int> ids_;
    std::vector<double> ms_;
    std::chrono::steady_clock::time_point last_;
};

/// Returns one JSON object on one line. `events`: how many of each kind there were. `tokens`: null where nobody asked.
std::string to_json(const engine::Turn& turn, const std::map<std::string, int>& events,
                    const AnswerTokens* tokens = nullptr);

/// Prints the rates on stderr.
void print_rates(const engine::Telemetry& telemetry);

/// Returns the name of an event's kind in JSON results.
const char* kind_name(engine::Event::Kind kind);

}  // namespace cli
