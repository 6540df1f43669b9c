#include "app/cli/remote.h"

#include "app/cli/interrupt.h"
#include "app/remote/address.h"
#include "app/remote/probe.h"
#include "app/remote/remote_engine.h"
#include "app/remote/server_failure.h"

#include <cstdio>
#include <cstdlib>

namespace cli {

namespace {

using Code = engine::Error::Code;

/// Returns the key for a server, from a file or the environment. No option takes the key itself, since everybody on the
/// machine can read the options of a running program.
engine::Result<std::string> key_of(const RunOptions& options)
{
    std::string key;
    if (!options.api_key_file.empty()) {
        auto read = read_text(options.api_key_file);
        if (!read)
            return tl::unexpected(read.error());
        key = std::move(*read);
    } else if (const char* const given = std::getenv("SPILLWAY_API_KEY")) {
        key = given;
    }
    while (!key.empty() && (key.back() == '\n' || key.back() == '\r' || key.back() == ' '))
        key.pop_back();
    for (const char c : key)
        if (c <= ' ' || c > '~')
            return engine::fail(Code::BadRequest, "the key has characters that no key has");
    return key;
}

engine::Result<std::string> model_of(const std::string& server, const remote::ServerFacts& facts,
                                     const std::string& wanted)
{
    if (!wanted.empty())
        return wanted;
    if (facts.models.size() == 1)
        return facts.models.front().id;
    const std::string host = remote::host_of(server);
    if (facts.models.empty())
        return engine::fail(Code::BadRequest, host + " has no model");
    std::string names;
    constexpr std::size_t most = 20;
    for (std::size_t i = 0; i < facts.models.size() && i < most; ++i)
        names += (i > 0 ? ", " : "") + facts.models[i].id;
    if (facts.models.size() > most)
        names += ", ...";
    return engine::fail(Code::BadRequest, host + " has several models; say which with --remote-model: " + names);
}

}  // namespace

engine::Result<EngineElsewhere> engine_elsewhere(const RunOptions& options)
{
    const auto address = remote::read_address(options.remote);
    if (!address)
        return tl::unexpected(remote::error_of(address.error(), false));
    auto key = key_of(options);
    if (!key)
        return tl::unexpected(key.error());
    if (!key->empty() && remote::is_in_clear(*address))
        std::fprintf(stderr,
                     "note: nothing is encrypted on the way to %s: others there can read the key and the text\n",
                     for_terminal(remote::host_of(*address)).c_str());
    const remote::Server server{*address, std::move(*key)};
    const auto book = std::make_shared<remote::ServerBook>();
    book->set({{server}});
    const StopOnInterrupt stop;
    const auto facts = remote::probe(book->client(), server, stop.token());
    if (!facts)
        return tl::unexpected(remote::error_of(facts.error(), false));
    auto model = model_of(*address, *facts, options.remote_model);
    if (!model)
        return tl::unexpected(model.error());
    return EngineElsewhere{std::make_unique<remote::RemoteEngine>(book), remote::path_of({*address, *model})};
}

}  // namespace cli
