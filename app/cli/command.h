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

    /// Adds -m and --shape, and the options that decide how a model is loaded. `file`: other names of -m. Returns the
    /// group of -m and --shape, of which one must be given.
    CLI::Option_group* add_to(CLI::App& command, const std::string& file = {});
    /// Returns the request, or a sentence about an option that makes no sense. The model of a shape is made on the
    /// first call; its file exists as long as this object.
    engine::Result<engine::LoadRequest> request(Computes who = Computes::Here);

private:
    void add_placement_to(CLI::App& command);
    engine::Status make_shape();
    std::optional<engine::ShapeModel> made_;
};

/// Adds --temp and the other sampling options.
void add_sampling(CLI::App& command, engine::SamplingOptions& sampling);

/// Prints "error: ..." on stderr and returns kFailed.
int report(const engine::Error& error);

/// Returns a listener that prints warnings on stderr, and the progress of a load where that is a terminal.
engine::Listener progress_on_stderr();

/// Reads a whole file in UTF-8, without its byte order mark; for "-" standard input, as it comes. CannotRead;
/// BadRequest for a file in UTF-16.
engine::Result<std::string> read_text(const std::string& path);

/// Returns a text as a terminal may show it: control characters other than newline and tab, and those that reorder
/// text, are left out, so that a model cannot control the terminal. Takes whole UTF-8 characters only.
std::string for_terminal(std::string_view text);

// Each adds its subcommand, which sets `exit_code` when the command line has been parsed and the command has run.
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
