// spillway-cli: everything Spillway does, without a window. Numbers go to stdout, all else to stderr.
#include "app/cli/command.h"
#include "app/cli/system.h"
#include "engine/caught.h"
#include "engine/machine.h"

#include <algorithm>
#include <cstdio>

namespace {

/// Gives options of several letters a second dash: llama.cpp's users write them with one. Returns the arguments in
/// reverse order, as CLI11 takes them.
std::vector<std::string> with_two_dashes(std::vector<std::string> arguments)
{
    for (std::string& argument : arguments)
        for (const char* known :
             {"-ctk", "-ctv", "-ub", "-ngl", "-nkvo", "-np", "-jf", "-md", "-ot", "-cmoe", "-ncmoe"})
            if (argument == known)
                argument.insert(0, "-");
    std::reverse(arguments.begin(), arguments.end());
    return arguments;
}

/// Returns the exit code; kFailed in place of kDone if not all of the output could be written, as on a full disk.
int ended_with(int exit_code)
{
    const bool arrived = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (exit_code != cli::kDone || arrived)
        return exit_code;
    return cli::report({engine::Error::Code::CannotWrite, "not all of the output could be written"});
}

}  // namespace

int main(int argc, char** argv)
{
    cli::take_streams();
    CLI::App app("Chat with GGUF models, measure them, look into them.", "spillway-cli");
    app.set_version_flag("--version", std::string("spillway-cli ") + SPILLWAY_VERSION);
    app.require_subcommand(1);
    app.allow_windows_style_options(false);  // a prompt or a path may begin with a slash
    // The last one counts, as in llama.cpp: what is added to the end of a script's command replaces what is there.
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    int exit_code = cli::kDone;
    cli::add_run(app, exit_code);
    cli::add_pull(app, exit_code);
    cli::add_serve(app, exit_code);
    cli::add_numbers(app, exit_code);
    cli::add_text_tools(app, exit_code);
    cli::add_bench(app, exit_code);
    cli::add_inspect(app, exit_code);
    cli::add_calibrate(app, exit_code);
    cli::add_selftest(app, exit_code);
    if (const std::string warning = engine::forced_kernels_warning(); !warning.empty())
        std::fprintf(stderr, "note: %s\n", warning.c_str());
    try {
        app.parse(with_two_dashes(cli::arguments(argc, argv)));
    } catch (const CLI::ParseError& error) {
        return ended_with(app.exit(error) == 0 ? cli::kDone : cli::kUsage);
    } catch (...) {
        return cli::report(engine::caught("for so much").value());
    }
    return ended_with(exit_code);
}
