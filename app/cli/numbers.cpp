// logits and perplexity: print what a model computes, as numbers.
#include "app/cli/command.h"

#include "engine/evaluate.h"
#include "engine/utf8_path.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace cli {

namespace {

struct LogitsOptions {
    CommonOptions common;
    std::vector<int> tokens;
    std::string batch;
    std::string out;
};

/// Reads lines of ids, which are separated by commas or spaces; empty lines are left out.
engine::Result<std::vector<std::vector<int>>> read_batch(const std::string& path)
{
    const auto text = read_text(path);
    if (!text)
        return tl::unexpected(text.error());
    std::vector<std::vector<int>> lines;
    std::istringstream stream(*text);
    int number = 0;
    for (std::string line; std::getline(stream, line);) {
        ++number;
        std::ranges::replace(line, ',', ' ');
        std::istringstream ids(line);
        std::vector<int> tokens;
        for (int id = 0; ids >> id;)
            tokens.push_back(id);
        if (!ids.eof())
            return engine::fail(engine::Error::Code::BadRequest,
                                path + ": line " + std::to_string(number) + " holds something that is no token id");
        if (!tokens.empty())
            lines.push_back(std::move(tokens));
    }
    if (lines.empty())
        return engine::fail(engine::Error::Code::BadRequest, path + " holds no token ids");
    return lines;
}

int logits(LogitsOptions& options)
{
    const auto request = options.common.request();
    if (!request)
        return report(request.error());
    std::vector<std::vector<int>> texts{options.tokens};
    if (!options.batch.empty()) {
        auto read = read_batch(options.batch);
        if (!read)
            return report(read.error());
        texts = std::move(*read);
    }
    auto model = engine::Evaluator::open(*request, progress_on_stderr());
    if (!model)
        return report(model.error());
    std::ofstream file(engine::utf8_path(options.out), std::ios::binary);
    std::size_t rows = 0;
    const auto done = model->logits_together(texts, [&](int number, std::span<const float> row) {
        ++rows;
        file.seekp(std::streamoff(number) * std::streamoff(row.size_bytes()));
        file.write(reinterpret_cast<const char*>(row.data()), std::streamsize(row.size_bytes()));
        return bool(file);
    });
    file.close();
    if (!done)
        return report(done.error());
    if (!file)
        return report({engine::Error::Code::CannotRead, "cannot write " + options.out});
    if (options.common.json)
        std::printf("%s\n",
                    nlohmann::ordered_json{{"rows", rows}, {"n_vocab", model->info().vocabulary}, {"out", options.out}}
                        .dump()
                        .c_str());
    return kDone;
}

struct PerplexityOptions {
    CommonOptions common;
    std::string file;
    int chunks = 0;
};

int perplexity(PerplexityOptions& options)
{
    auto request = options.common.request();
    if (!request)
        return report(request.error());
    const int window = request->context_tokens > 0 ? request->context_tokens : 512;
    request->context_tokens = window;
    const auto text = read_text(options.file);
    if (!text)
        return report(text.error());
    auto model = engine::Evaluator::open(*request, progress_on_stderr());
    if (!model)
        return report(model.error());
    const auto result = model->perplexity(*text, window, options.chunks, [](const engine::Perplexity& p) {
        std::fprintf(stderr, "[%d] %.4f\n", p.windows, p.perplexity);
        return true;
    });
    if (!result)
        return report(result.error());
    if (options.common.json)
        std::printf("%s\n", nlohmann::ordered_json{{"mean_nll", result->mean_nll},
                                                   {"perplexity", result->perplexity},
                                                   {"tokens", result->tokens},
                                                   {"windows", result->windows},
                                                   {"window_tokens", window}}
                                .dump()
                                .c_str());
    else
        std::printf("perplexity %.6f  mean NLL %.6f  tokens %d\n", result->perplexity, result->mean_nll,
                    result->tokens);
    return kDone;
}

}  // namespace

void add_numbers(CLI::App& app, int& exit_code)
{
    auto* command = app.add_subcommand("logits", "Write the logits after each token: float32 rows of n_vocab values");
    auto l = std::make_shared<LogitsOptions>();
    l->common.add_to(*command);
    auto* const input = command->add_option_group("input");
    input->add_option("--tokens", l->tokens, "token ids, separated by commas")->delimiter(',');
    input->add_option("--batch", l->batch,
                      "file with a line of token ids for each of several sequences, computed in the same steps; rows "
                      "come in the order of the lines; - is standard input");
    input->require_option(1);
    command->add_option("--out", l->out, "file to write")->required();
    command->callback([l, &exit_code] { exit_code = logits(*l); });

    command = app.add_subcommand("perplexity", "How well the model predicts a text; -c is the window (512)");
    auto p = std::make_shared<PerplexityOptions>();
    p->common.add_to(*command);
    command->add_option("-f,--file", p->file, "text file; - is standard input")->required();
    command->add_option("--chunks", p->chunks, "at most so many windows; 0: all");
    command->callback([p, &exit_code] { exit_code = perplexity(*p); });
}

}  // namespace cli
