// Holds what every command of spillway-cli shares: common options, exit codes, and how an error is said.
#pragma once

#include "engine/engine.h"
#include "engine/placement_text.h"
#include "engine/shape_model.h"

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace cli {

constexpr int kDone = 0;
constexpr int kFailed = 1;  // one sentence on stderr says why
constexpr int kUsage = 2;

/// Says whose processors compute.
enum class Computes { Here, AServer };

struct CommonOptions {
    engine::LoadRequest load;
    engine::PlacementText placement;
    std::optional<int> ubatch_tokens;  // in place of load.prefill_chunk_tokens
    std::string k_type = "f16", v_type = "f16";
    std::string model;
    std::string shape;  // in place of a file
    bool json = false;

    /// -m or --shape, and what decides how a model is loaded. `file`: other names of -m. The group of which one option
    /// must be there.
    CLI::Option_group* add_to(CLI::App& command, const std::string& file = {});
    /// The request, or a sentence about an option that makes no sense. A shape's model is made on the first call and
    /// is there as long as the options are.
    engine::Result<engine::LoadRequest> request(Computes who = Computes::Here);

private:
    void add_placement_to(CLI::App& command);
    engine::Status make_shape();
    std::optional<engine::ShapeModel> made_;
};

/// -n, --temp and the other options of an answer.
void add_sampling(CLI::App& command, engine::SamplingOptions& sampling);

/// "error: ..." on stderr.
int report(const engine::Error& error);

/// Load progress and warnings on stderr; progress only where that is a terminal.
engine::Listener progress_on_stderr();

/// A whole file in UTF-8, without a byte order mark; or standard input for "-", as it comes.
engine::Result<std::string> read_text(const std::string& path);

/// Text as a terminal may show it: control characters other than newline and tab, and those that reorder text, are left
/// out, so that a model cannot drive the terminal. Whole UTF-8 characters only.
std::string for_terminal(std::string_view text);

// Each adds its subcommand; the result is the exit code once the command line was parsed and the command ran.
void add_run(CLI::App& app, int& exit_code);
void add_numbers(CLI::App& app, int& exit_code);     // logits, perplexity
void add_text_tools(CLI::App& app, int& exit_code);  // tokenize, template
void add_bench(CLI::App& app, int& exit_code);
void add_calibrate(CLI::App& app, int& exit_code);
void add_inspect(CLI::App& app, int& exit_code);  // inspect, devices
void add_pull(CLI::App& app, int& exit_code);
void add_serve(CLI::App& app, int& exit_code);
void add_selftest(CLI::App& app, int& exit_code);

}  // namespace cli
