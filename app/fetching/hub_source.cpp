#include "app/fetching/fetched_hashes.h"
#include "app/fetching/hub_token.h"
#include "app/fetching/model_source.h"
#include "app/net/gguf_head.h"
#include "app/net/hf_cache.h"
#include "app/net/pull.h"
#include "app/net/url.h"
#include "engine/machine.h"
#include "engine/utf8_path.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <system_error>
#include <utility>

namespace {

using secrets::MayAsk;
using Paths = std::vector<std::filesystem::path>;

constexpr int kModelsOfAPage = 30;

net::FetchSettings settingsHere(const std::filesystem::path& data)
{
    const auto variable = [](const char* name) {
        const char* const value = std::getenv(name);
        return std::string(value ? value : "");
    };
    return net::fetch_settings(variable, engine::utf8_path(variable("HOME")), data);
}

std::string lastName(const std::string& path)
{
    return path.substr(path.rfind('/') + 1);
}

/// Returns the path of the file with the bytes, and that of the link to it if it lies in the cache.
std::vector<std::filesystem::path> namesOf(const net::PullFile& file)
{
    std::vector<std::filesystem::path> names{file.file.target};
    if (file.place && file.place->name != file.file.target)
        names.push_back(file.place->name);
    return names;
}

class HubSource : public ModelSource
{
public:
    HubSource(const std::filesystem::path& data, std::shared_ptr<secrets::SecretStore> store)
        : m_settings(settingsHere(data))
        , m_hashes(data.empty() ? data : data / "fetched-files.json")
        , m_token(m_settings.hub_token, net::kept_token_file(data), std::move(store))
    {
    }

    std::string host() const override
    {
        const auto origin = net::origin_of(m_settings.hub);
        return origin ? origin->text() : m_settings.hub;
    }

    TokenPlace token_place() const override { return m_token.place(); }
    engine::Status keep_token(const std::string& token, const std::stop_token& stop) override
    {
        return m_token.keep(token, stop);
    }
    void settle_token(const std::stop_token& stop) override { m_token.settle(stop); }

    net::Result<net::FoundModels> search(const std::string& words, const std::string& next,
                                         const std::stop_token& stop) override
    {
        const GivenToken token = m_token.get(MayAsk::Yes, stop);
        const net::Hub hub = this->hub(token);
        return told(next.empty() ? hub.search(words, kModelsOfAPage, stop) : hub.search_on(next, stop), token);
    }

    std::optional<std::string> named(const std::string& text) const override
    {
        if (text.empty() || text.find_first_of(" \t\r\n") != std::string::npos)
            return {};
        if (net::names_a_remote_model(text))
            return text;
        if (text.find(':') == std::string::npos)
            return {};  // words to search for, which may be a part of an id
        return (text.find('/') == std::string::npos ? "ollama.com/" : "hf.co/") + text;
    }

    net::Result<FoundRepository> repository(const std::string& id, std::optional<std::int64_t> memory_bytes,
                                            const std::stop_token& stop) override
    {
        const auto reference = referenceTo(id);
        if (!reference)
            return tl::unexpected(reference.error());
        const auto* const onHub = std::get_if<net::HubReference>(&*reference);
        if (!onHub)
            return singleModel(*reference, id, stop);
        const GivenToken token = m_token.get(MayAsk::Yes, stop);
        return told(repositoryOfHub(hub(token), *onHub, memory_bytes, stop), token);
    }

    net::Result<LookedAt> look(const FoundRepository& found, const net::ModelChoice& choice,
                               const std::stop_token& stop) override
    {
        const auto reference = referenceTo(found.wanted);
        if (!reference)
            return tl::unexpected(reference.error());
        const std::optional<GivenToken> token = tokenFor(*reference, MayAsk::Yes, stop);
        std::string note;
        const auto parts = partsOf(found, *reference, choice, token, note, stop);
        if (!parts)
            return tl::unexpected(parts.error());
        auto model = told(net::inspect_remote(client(), *parts, stop), token);
        if (!model)
            return tl::unexpected(model.error());
        LookedAt looked{std::move(model->info)};
        if (!note.empty())
            looked.info.warnings.push_back(std::move(note));
        if (!looked.info.runnable)
            return looked;
        if (auto plan = engine::Planner::open(model->header)) {
            looked.header = std::move(model->header);
            looked.kept = std::move(model->kept);
            looked.plan = std::move(*plan);
        }
        return looked;
    }

    std::vector<std::filesystem::path> places(const FoundRepository& found, const std::vector<net::HubFile>& files,
                                              const std::filesystem::path& to) const override
    {
        const auto reference = referenceTo(found.wanted);
        const bool onHub = reference && std::holds_alternative<net::HubReference>(*reference);
        std::vector<std::filesystem::path> places;
        for (const net::HubFile& file : files) {
            std::vector<std::filesystem::path> mayBe;
            const std::filesystem::path name = engine::utf8_path(lastName(file.path));
            if (!to.empty())
                mayBe.push_back(to / name);
            if (onHub && !m_settings.hub_cache.empty())
                mayBe.push_back(
                    net::cache_place(m_settings.hub_cache, found.repository.id, found.repository.commit, file).name);
            if (!onHub && !m_settings.models.empty())
                mayBe.push_back(m_settings.models / name);
            const auto is = std::ranges::find_if(mayBe, [&](const std::filesystem::path& path) {
                std::error_code none;
                const std::uintmax_t bytes = std::filesystem::file_size(path, none);
                return !none && bytes == std::uintmax_t(file.bytes) && m_hashes.mayBe(path, file.sha256);
            });
            places.push_back(is == mayBe.end() ? std::filesystem::path() : *is);
        }
        return places;
    }

    net::Result<FetchedModel> fetch(const WantedModel& wanted, const OnPlaces& on_places, const OnWhole& on_whole,
                                    const OnProgress& on_progress, const std::stop_token& stop) override
    {
        auto reference = referenceTo(wanted.repository);
        if (!reference)
            return tl::unexpected(reference.error());
        if (auto* const onHub = std::get_if<net::HubReference>(&*reference)) {
            onHub->file = wanted.file;
            onHub->quant.clear();
        }
        const std::optional<GivenToken> token = tokenFor(*reference, wanted.may_ask, stop);
        net::FetchSettings settings = m_settings;
        settings.hub_token = token.value_or(GivenToken()).token;
        net::Puller puller(client(), settings);
        const auto plan = told(puller.plan({*reference, wanted.to, false, {}, wanted.companions}, stop), token);
        if (!plan)
            return tl::unexpected(plan.error());
        Paths places;
        std::vector<std::int64_t> before;  // by file: bytes of all files before it
        std::int64_t sum = 0;
        std::size_t ownFiles = 0;  // the model's own files, which come before its companions
        Paths model;
        for (const net::PullFile& file : plan->files) {
            for (std::filesystem::path& name : namesOf(file))
                places.push_back(std::move(name));
            before.push_back(std::exchange(sum, sum + file.file.bytes.value_or(0)));
            if (!file.companion) {
                ++ownFiles;
                model = places;
            }
        }
        const auto ofEarlierVersion = [&](Paths paths) {
            std::erase_if(paths, [&](const auto& path) { return std::ranges::find(places, path) != places.end(); });
            return paths;
        };
        discard(ofEarlierVersion(wanted.places), ofEarlierVersion(wanted.came));
        on_places(places);
        const auto tell = [&](const net::PullProgress& now) {
            const net::PullFile& file = plan->files[now.file];
            if (now.whole && !file.place && !file.file.sha256.empty())
                m_hashes.note(file.file.target, file.file.sha256);
            if (now.whole)
                on_whole(now.came ? namesOf(file) : Paths(), now.file + 1 == ownFiles ? model : Paths());
            const net::FetchProgress& p = now.progress;
            const bool checking = p.done_bytes == p.total_bytes && p.checked_bytes < p.total_bytes;
            on_progress({before[now.file] + p.done_bytes, sum, checking, p.note, p.again});
        };
        const net::FetchLimits limits{.most_bytes_per_s = wanted.most_bytes_per_s};
        const auto fetched = told(puller.fetch(*plan, limits, tell, stop), token);
        if (!fetched)
            return tl::unexpected(fetched.error());
        return FetchedModel{plan->model, fetched->checked};
    }

    void discard(const std::vector<std::filesystem::path>& places,
                 const std::vector<std::filesystem::path>& whole) override
    {
        for (const auto& place : places)
            net::forget_part(place);
        std::error_code ignored;
        for (const auto& file : whole)
            std::filesystem::remove(file, ignored);
    }

    std::vector<net::Connection> connections() const override
    {
        const std::lock_guard lock(m_mutex);
        return m_client ? m_client->connections().connections() : std::vector<net::Connection>();
    }

private:
    /// Reads a model's id. It may come from a file or a server, so it is checked. BadRequest: it is no id.
    static net::Result<net::ModelReference> referenceTo(const std::string& id)
    {
        if (net::names_a_remote_model(id))
            return net::read_reference(id);
        auto read = net::read_reference("hf.co/" + id);
        if (!read)
            return tl::unexpected(read.error());
        if (const auto* const hub = std::get_if<net::HubReference>(&*read); hub && hub->repository == id)
            return read;
        return net::fail(net::Failure::Kind::BadRequest, "'" + id + "' names no repository");
    }

    net::Result<FoundRepository> repositoryOfHub(const net::Hub& hub, const net::HubReference& reference,
                                                 std::optional<std::int64_t> memory_bytes, const std::stop_token& stop)
    {
        auto repository = hub.repository(reference, stop);
        if (!repository)
            return tl::unexpected(repository.error());
        auto card = hub.card(*repository, stop);
        if (!card)
            return tl::unexpected(card.error());
        FoundRepository found{.repository = std::move(*repository), .card = std::move(*card), .recommended = {}};
        found.wanted = found.title = found.repository.id;
        if (reference.revision != net::HubReference().revision)
            found.wanted = "https://huggingface.co/" + found.repository.id + "/tree/" + reference.revision;
        found.page = hub.page_url(reference);
        auto chosen = net::choose(found.repository.files, reference.file, reference.quant, memory_bytes);
        if (chosen)
            found.recommended = std::move(*chosen);
        else if (!reference.file.empty() || !reference.quant.empty())  // the named file or quantisation does not exist
            return tl::unexpected(chosen.error());
        return found;
    }

    /// Makes a page with one choice, for a file by its address or a model of Ollama's registry.
    net::Result<FoundRepository> singleModel(const net::ModelReference& reference, const std::string& id,
                                             const std::stop_token& stop)
    {
        auto plan = net::Puller(client(), m_settings).plan({reference, {}, false, {}, {}}, stop);
        if (!plan)
            return tl::unexpected(plan.error());
        const net::PullFile& file = plan->files.front();
        net::ModelChoice choice{file.name, plan->quant, {}, file.file.bytes.value_or(0)};
        choice.files.push_back({file.name, choice.bytes, file.file.sha256, {}});
        if (choice.name.ends_with(".gguf"))
            choice.name.resize(choice.name.size() - 5);
        FoundRepository found;
        found.wanted = id;
        const bool link = std::holds_alternative<net::LinkReference>(reference);
        found.title = link ? choice.name : plan->title;
        found.repository.id = plan->title;
        found.repository.files.choices.push_back(choice);
        found.repository.files.companions = std::move(plan->companions);
        found.recommended = net::Chosen{std::move(choice), net::Chosen::Why::Named, {}};
        return found;
    }

    /// Returns the addresses of the model's files. `note` gets a sentence about what is left out, if anything is.
    net::Result<std::vector<net::RemotePart>> partsOf(const FoundRepository& found,
                                                      const net::ModelReference& reference,
                                                      const net::ModelChoice& choice,
                                                      const std::optional<GivenToken>& token, std::string& note,
                                                      const std::stop_token& stop)
    {
        std::vector<net::RemotePart> parts;
        if (std::holds_alternative<net::HubReference>(reference)) {
            const net::Hub hub = this->hub(token.value_or(GivenToken()));
            for (const net::HubFile& file : choice.files)
                parts.push_back({hub.file_url(found.repository, file), hub.token(), lastName(file.path), file.bytes});
            return parts;
        }
        const auto plan = net::Puller(client(), m_settings).plan({reference, {}, false, {}, {}}, stop);
        if (!plan)
            return tl::unexpected(plan.error());
        note = plan->note;
        const net::PullFile& file = plan->files.front();
        parts.push_back({file.file.url, file.file.token, lastName(file.name), file.file.bytes.value_or(0)});
        return parts;
    }

    /// Returns the client, which is made at the first request: until then the program does nothing with the network.
    net::HttpClient& client()
    {
        const std::lock_guard lock(m_mutex);
        if (!m_client)
            m_client = std::make_unique<net::HttpClient>();
        return *m_client;
    }

    net::Hub hub(const GivenToken& token) { return {client(), m_settings.hub, token.token}; }

    /// Returns the token if the model is on the hub; nothing else is sent the token, so that the store is not asked.
    std::optional<GivenToken> tokenFor(const net::ModelReference& reference, MayAsk may, const std::stop_token& stop)
    {
        return std::holds_alternative<net::HubReference>(reference) ? std::optional(m_token.get(may, stop))
                                                                    : std::nullopt;
    }

    /// Returns the answer; if it is a refusal, says in it whether a token may help. If the hub refuses because the
    /// store withholds the token, the failure says that. `token`: nothing if it was not the hub that was asked.
    template <typename Answer>
    net::Result<Answer> told(net::Result<Answer> answer, const std::optional<GivenToken>& token) const
    {
        using Kind = net::Failure::Kind;
        if (answer || !token || (answer.error().kind != Kind::NeedsToken && answer.error().kind != Kind::NoAccess))
            return answer;
        net::Failure failure = std::move(answer.error());
        if (const auto& withheld = token->withheld) {
            failure = {Kind::KeyMissing, "the token for " + host() + " is missing: " + withheld->what};
            failure.token_helps = withheld->code == engine::Error::Code::NotFound;  // the store has none any more
        } else {
            failure.token_helps = failure.kind == Kind::NeedsToken || token->token.empty();
        }
        return tl::unexpected(std::move(failure));
    }

    const net::FetchSettings m_settings;
    FetchedHashes m_hashes;
    HubToken m_token;
    mutable std::mutex m_mutex;
    std::unique_ptr<net::HttpClient> m_client;
};

}  // namespace

std::unique_ptr<ModelSource> hubSource(const std::filesystem::path& data, std::shared_ptr<secrets::SecretStore> store)
{
    return std::make_unique<HubSource>(data, std::move(store));
}
