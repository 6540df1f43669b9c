// serve: lets other programs use the model over HTTP.
#include "app/cli/command.h"
#include "app/cli/draft_options.h"
#include "app/cli/interrupt.h"

#include "app/server/server.h"
#include "engine/utf8_path.h"

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <system_error>
#include <vector>

namespace cli {

namespace {

struct ServeOptions {
    CommonOptions common;
    server::ServerOptions server;
    DraftOptions draft;
    std::string alias, key, key_file;
    std::vector<std::string> folders;
    double idle_minutes = 0;
};

/// Returns the keys that clients may use: that of the command line, and those of a file with one on each line.
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

/// Returns the name by which clients call the model.
std::string name_of(const ServeOptions& options)
{
    if (!options.alias.empty())
        return options.alias;
    return options.common.shape.empty() ? engine::utf8_text(engine::utf8_path(options.common.model).stem())
                                        : options.common.shape;
}

bool names_a_model(const ServeOptions& options)
{
    return !options.common.model.empty() || !options.common.shape.empty();
}

/// Returns the folders in which models are looked for. An error: one of the names is not a folder.
engine::Result<std::vector<std::filesystem::path>> folders_of(const ServeOptions& options)
{
    std::vector<std::filesystem::path> folders;
    for (const std::string& name : options.folders) {
        std::error_code error;
        folders.push_back(engine::utf8_path(name));
        if (!std::filesystem::is_directory(folders.back(), error))
            return engine::fail(engine::Error::Code::CannotRead, "there is no folder " + name);
    }
    return folders;
}

int serve(ServeOptions& options)
{
    if (!names_a_model(options) && options.folders.empty()) {
        std::fprintf(stderr, "error: it needs a model, -m FILE or --shape, or --models FOLDER\n");
        return kUsage;
    }
    catch_interrupts();
    catch_termination();
    auto keys = keys_of(options);
    if (!keys)
        return report(keys.error());
    options.server.door.keys = std::move(*keys);
    auto request = options.common.request();
    if (!request)
        return report(request.error());
    if (const engine::Status ok = options.draft.add_to(*request); !ok)
        return report(ok.error());

    auto folders = folders_of(options);
    if (!folders)
        return report(folders.error());
    options.server.http.inherits = true;
    options.server.door.by_command = true;
    options.server.folders = std::move(*folders);
    options.server.desk.load = *request;
    options.server.desk.idle_unload = std::chrono::duration_cast<std::chrono::milliseconds>(
        std::chrono::duration<double, std::ratio<60>>(options.idle_minutes));
    options.server.desk.most_drafted = options.draft.most_drafted();
    options.server.desk.drafters = options.draft.drafters();

    server::Server server(engine::make_engine(), options.server);
    if (const engine::Status open = server.open(); !open)
        return report(open.error());
    const StopOnInterrupt interrupt;
    const std::stop_callback stop(interrupt.token(), [&] { server.stop(); });
    if (names_a_model(options)) {
        const engine::Status loaded = server.load(*request, name_of(options), progress_on_stderr());
        if (!loaded && loaded.error().code != engine::Error::Code::Cancelled)
            return report(loaded.error());
    }
    if (interrupted())
        return kDone;
    std::printf("listening on %s\n", for_terminal(server.url()).c_str());
    std::fflush(stdout);
    server.run();
    return kDone;
}

}  // namespace

void add_serve(CLI::App& app, int& exit_code)
{
    auto* command = app.add_subcommand("serve", "Let other programs use the model over HTTP");
    command->footer(
        "It speaks the APIs of OpenAI, Anthropic and Ollama and llama-server's own, and is reached from this\n"
        "machine only, unless --host says otherwise.\n"
        "Ctrl+C or SIGTERM ends it, once the answers are finished that are being written.");
    auto s = std::make_shared<ServeOptions>();
    s->common.add_to(*command)->require_option(0, 1);
    command
        ->add_option("--models", s->folders,
                     "folder of models, which are loaded when a client asks for one by its name; may be given several "
                     "times")
        ->allow_extra_args(false);  // else "[models]" is a list
    command
        ->add_option("--idle-unload", s->idle_minutes,
                     "minutes after which a model that nobody asks leaves memory, until it is asked again; 0: it stays")
        ->check(CLI::Range(0.0, 1e6));
    command
        ->add_option("--host", s->server.http.host, "address to listen on; one that other machines reach needs a key")
        ->capture_default_str();
    command->add_option("--port", s->server.http.port, "port to listen on; 0: a free one")
        ->check(CLI::Range(0, 65535))
        ->capture_default_str();
    command->add_option("-a,--alias", s->alias, "how clients call the model; else its file's name");
    command->add_option("--api-key", s->key, "key that clients must send; others on this machine may see it here");
    command->add_option("--api-key-file", s->key_file, "file with such keys, one a line");
    command
        ->add_option("--allow-host", s->server.door.hosts,
                     "a name by which clients may call this server, besides localhost; may be given several times")
        ->allow_extra_args(false);  // else "[::1]" is a list
    command
        ->add_option("--allow-origin", s->server.door.origins,
                     "web pages that may ask, such as https://chat.example; may be given several times")
        ->allow_extra_args(false);
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
    add_sampling(*command, s->server.desk.unsaid.sampling);
    command->add_option("-n,--predict,--n-predict", s->server.desk.unsaid.max_tokens,
                        "tokens of an answer at most, where a request does not say; -1: until it ends");
    s->draft.add_to(*command);
    command->callback([s, &exit_code] { exit_code = serve(*s); });
}

}  // namespace cli
