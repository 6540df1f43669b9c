// pull in a program that was built without libcurl: it says so.
#include "app/cli/command.h"
#include "app/cli/pull.h"

#include <memory>

namespace cli {

namespace {

const engine::Error kWithoutNet = {engine::Error::Code::Unsupported,
                                   "this spillway-cli was built without libcurl and cannot fetch models"};

}  // namespace

void add_pull(CLI::App& app, int& exit_code)
{
    auto* command = app.add_subcommand("pull", "Fetch a model (not in this build)");
    command->allow_extras();
    command->callback([&exit_code] { exit_code = report(kWithoutNet); });
}

engine::Result<std::filesystem::path> fetched_model(const std::string&)
{
    report(kWithoutNet);
    return tl::unexpected(kWithoutNet);
}

bool names_a_model_elsewhere(const std::string& typed)
{
    for (const char* const begins : {"https://", "http://", "hf.co/", "huggingface.co/", "ollama.com/"})
        if (typed.starts_with(begins))
            return true;
    return false;
}

}  // namespace cli
