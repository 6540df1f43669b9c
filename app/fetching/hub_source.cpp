#include "app/fetching/model_source.h"
#include "app/net/gguf_head.h"
#include "app/net/part_state.h"
#include "app/net/pull.h"
#include "app/net/url.h"
#include "engine/machine.h"
#include "engine/utf8_path.h"

#include <cstdlib>
#include <mutex>
#include <system_error>
#include <utility>

namespace {

constexpr int kModelsOfAPage = 30;

net::FetchSettings settingsHere(const std::filesystem::path& data)
{
    const auto variable = [](const char* name) {
        const char* const value = std::getenv(name);
        return std::string(value ? value : "");
    };
    return net::fetch_settings(variable, engine::utf8_path(variable("HOME")), data);
}

class HubSource : public ModelSource
{
public:
    explicit HubSource(const std::filesystem::path& data)
        : m_settings(settingsHere(data))
    {
    }

    std::string host() const override
    {
        const auto origin = net::origin_of(m_settings.hub);
        return origin ? origin->text() : m_settings.hub;
    }

    bool has_token() const override { return !m_settings.hub_token.empty(); }

    net::Result<net::FoundModels> search(const std::string& words, const std::string& next,
                                         const std::stop_token& stop) override
    {
        return next.empty() ? hub().search(words, kModelsOfAPage, stop) : hub().search_on(next, stop);
    }

    net::Result<FoundRepository> repository(const std::string& id, std::optional<std::int64_t> memory_bytes,
                                            const std::stop_token& stop) override
    {
        const auto reference = referenceTo(id);
        if (!reference)
            return tl::unexpected(reference.error());
        auto repository = hub().repository(*reference, stop);
        if (!repository)
            return tl::unexpected(repository.error());
        auto card = hub().card(*repository, stop);
        if (!card)
            return tl::unexpected(card.error());
        FoundRepository found{std::move(*repository), std::move(*card), {}};
        if (auto chosen = net::choose(found.repository.files, {}, {}, memory_bytes))
            found.recommended = std::move(*chosen);
        return found;
    }

    net::Result<engine::ModelInfo> look(const net::HubRepository& repository, const net::ModelChoice& choice,
                                        const std::stop_token& stop) override
    {
        std::vector<net::RemotePart> parts;
        for (const net::HubFile& file : choice.files)
            parts.push_back({hub().file_url(repository, file), m_settings.hub_token,
                             file.path.substr(file.path.rfind('/') + 1), file.bytes});
        return net::inspect_remote(client(), parts, stop);
    }

    net::Result<std::filesystem::path> fetch(const WantedModel& wanted, const OnPlaces& on_places,
                                             const OnProgress& on_progress, const std::stop_token& stop) override
    {
        auto reference = referenceTo(wanted.repository);
        if (!reference)
            return tl::unexpected(reference.error());
        reference->file = wanted.file;
        net::Puller puller(client(), m_settings);
        const auto plan = puller.plan({*reference, {}, false, {}}, stop);
        if (!plan)
            return tl::unexpected(plan.error());
        std::vector<std::filesystem::path> places;
        std::vector<std::int64_t> before;  // bytes of the files that come first
        std::int64_t sum = 0;
        for (const net::PullFile& file : plan->files) {
            places.push_back(file.file.target);
            before.push_back(std::exchange(sum, sum + file.file.bytes.value_or(0)));
        }
        on_places(places);
        const auto tell = [&](const net::PullProgress& now) {
            const net::FetchProgress& p = now.progress;
            const bool checking = p.done_bytes == p.total_bytes && p.checked_bytes < p.total_bytes;
            on_progress({before[now.file] + p.done_bytes, sum, checking, p.note});
        };
        if (const net::Status fetched = puller.fetch(*plan, {}, tell, stop); !fetched)
            return tl::unexpected(fetched.error());
        return plan->model;
    }

    void discard(const std::vector<std::filesystem::path>& places) override
    {
        std::error_code ignored;
        for (const auto& place : places) {
            std::filesystem::remove(net::part_path(place), ignored);
            std::filesystem::remove(net::state_path(place), ignored);
        }
    }

    std::vector<net::Connection> connections() const override
    {
        const std::lock_guard lock(m_mutex);
        return m_client ? m_client->connections().connections() : std::vector<net::Connection>();
    }

private:
    /// An id may come from a file or a server: it has to be one.
    static net::Result<net::HubReference> referenceTo(const std::string& id)
    {
        auto read = net::read_reference("hf.co/" + id);
        if (!read)
            return tl::unexpected(read.error());
        if (auto* const hub = std::get_if<net::HubReference>(&*read); hub && hub->repository == id)
            return std::move(*hub);
        return net::fail(net::Failure::Kind::BadRequest, "'" + id + "' names no repository");
    }

    /// Made when somebody is asked first: until then there is nothing of the network in the program.
    net::HttpClient& client()
    {
        const std::lock_guard lock(m_mutex);
        if (!m_client)
            m_client = std::make_unique<net::HttpClient>();
        return *m_client;
    }

    net::Hub hub() { return {client(), m_settings.hub, m_settings.hub_token}; }

    const net::FetchSettings m_settings;
    mutable std::mutex m_mutex;
    std::unique_ptr<net::HttpClient> m_client;
};

}  // namespace

std::unique_ptr<ModelSource> hubSource(const std::filesystem::path& data)
{
    return std::make_unique<HubSource>(data);
}
