// serve: other programs reach the model over HTTP.
#include "app/cli/command.h"
#include "app/cli/interrupt.h"

#include "app/server/server.h"
#include "engine/utf8_path.h"

#include <cstdio>
#include <memory>
#include <sstream>

namespace cli {

namespace {

struct ServeOptions {
    CommonOptions common;
    server::ServerOptions server;
    std::string alias, key, key_file;
};

/// The keys that clients may use: of the command line, and of a file with one on each line.
engine::Result<std::vector<std::string>> keys_of(const ServeOptions& options)
{
    std::vector<std::string> keys;
    if (!options.key.empty())
        keys.push_back(options.key);
    if (options.key_file.empty())
        return keys;
    const auto text = read_text(options.key_file);
    if (!text)
        return tl::unexpected(text.error());
    std::istringstream lines(*text);
    for (std::string line; std::getline(lines, line);) {
        if (line.ends_with('\r'))
            line.pop_back();
        if (!line.empty())
            keys.push_back(line);
    }
    if (keys.empty())
        return engine::fail(engine::Error::Code::BadRequest, "there is no key in " + options.key_file);
    return keys;
}

/// As clients call the model.
std::string name_of(const ServeOptions& options)
{
    if (!options.alias.empty())
        return options.alias;
    return options.common.shape.empty() ? engine::utf8_text(engine::utf8_path(options.common.model).stem())
                                        : options.common.shape;
}

int serve(ServeOptions& options)
{
    catch_interrupts();
    catch_termination();
    auto keys = keys_of(options);
    if (!keys)
        return report(keys.error());
    options.server.door.keys = std::move(*keys);
    const auto request = options.common.request();
    if (!request)
        return report(request.error());

    server::Server server(engine::make_engine(), options.server);
    if (const engine::Status open = server.open(); !open) {
        report(open.error());
        if (options.server.door.keys.empty())
            std::fprintf(stderr, "note: other machines may reach it only with a key: --api-key or --api-key-file\n");
        return kFailed;
    }
    if (const engine::Status loaded = server.load(*request, name_of(options), progress_on_stderr()); !loaded)
        return report(loaded.error());
    if (interrupted())
        return kDone;
    std::printf("listening on %s\n", for_terminal(server.url()).c_str());
    std::fflush(stdout);
    const StopOnInterrupt interrupt;
    const std::stop_callback stop(interrupt.token(), [&] { server.stop(); });
    server.run();
    return kDone;
}

}  // namespace

void add_serve(CLI::App& app, int& exit_code)
{
    auto* command = app.add_subcommand("serve", "Let other programs use the model over HTTP");
    command->footer(
        "It speaks the APIs of OpenAI, and is reached from this machine only, unless --host says otherwise.\n"
        "Ctrl+C or SIGTERM ends it, once the answers are finished that are being written.");
    auto s = std::make_shared<ServeOptions>();
    s->common.add_to(*command);
    command
        ->add_option("--host", s->server.http.host, "address to listen on; one that other machines reach needs a key")
        ->capture_default_str();
    command->add_option("--port", s->server.http.port, "port to listen on; 0: a free one")
        ->check(CLI::Range(0, 65535))
        ->capture_default_str();
    command->add_option("-a,--alias", s->alias, "how clients call the model; else its file's name");
    command->add_option("--api-key", s->key, "key that clients must send; others on this machine may see it here");
    command->add_option("--api-key-file", s->key_file, "file with such keys, one a line");
    command->add_option("--allow-host", s->server.door.hosts,
                        "a name by which clients may call this server, besides localhost; may be given several times");
    command->add_option("--allow-origin", s->server.door.origins,
                        "web pages that may ask, such as https://chat.example; may be given several times");
    command
        ->add_option("--np,--parallel", s->server.desk.turns,
                     "turns that are answered side by side, at most; more wait for theirs")
        ->check(CLI::Range(1, engine::kMostRowsTogether))
        ->capture_default_str();
    command
        ->add_option("--queue", s->server.desk.waiting,
                     "requests that may wait for their turn; more are told to come again")
        ->check(CLI::Range(1, 100000))
        ->capture_default_str();
    command
        ->add_option("--draft-max", s->server.desk.most_drafted,
                     "tokens that are guessed from what repeats and checked in one step, at most; 0: none")
        ->check(CLI::Range(0, 1000))
        ->capture_default_str();
    command->callback([s, &exit_code] { exit_code = serve(*s); });
}

}  // namespace cli
