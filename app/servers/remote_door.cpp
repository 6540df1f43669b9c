#include "app/servers/remote_door.h"

#include "app/remote/address.h"
#include "app/remote/chat_body.h"
#include "app/remote/here_or_there.h"
#include "app/remote/probe.h"

#include <utility>

namespace {

class OpenDoor : public RemoteDoor
{
public:
    explicit OpenDoor(std::shared_ptr<secrets::SecretStore> store)
        : m_book(std::make_shared<remote::ServerBook>(std::move(store)))
    {
    }

    std::unique_ptr<engine::Engine> engine(std::unique_ptr<engine::Engine> here) override
    {
        return std::make_unique<remote::HereOrThere>(std::move(here), m_book);
    }

    engine::Result<engine::ModelInfo> inspect(const std::filesystem::path& path, secrets::MayAsk may,
                                              const std::stop_token& stop) override
    {
        return remote::inspect_remote_model(*m_book, path, may, stop);
    }

    net::Result<std::string> address(std::string_view typed) const override { return remote::read_address(typed); }
    bool inClear(const std::string& url) const override { return remote::is_in_clear(url); }
    std::filesystem::path pathOf(const std::string& server, const std::string& model) const override
    {
        return remote::path_of(remote::RemoteModel{server, model});
    }
    bool knows(remote::Kind kind, std::string_view sampling) const override { return remote::knows(kind, sampling); }
    std::string kindName(remote::Kind kind) const override { return remote::name_of(kind); }

    void setServers(std::vector<remote::ListedServer> servers) override { m_book->set(std::move(servers)); }

    net::Result<remote::ServerFacts> probe(const remote::Server& server, secrets::MayAsk may,
                                           const std::stop_token& stop) override
    {
        return remote::probe(m_book->client(), m_book->keys().with_key(server, may, stop), stop);
    }
    remote::ServerKeys& keys() override { return m_book->keys(); }

    net::Result<remote::ServerNumbers> numbers(const std::filesystem::path& model, engine::SequenceId conversation,
                                               const std::stop_token& stop) override
    {
        const auto place = remote::model_at(model);
        const auto server = place ? m_book->answering(place->server, conversation) : std::nullopt;
        if (!server)
            return net::fail(net::Failure::Kind::BadRequest, "this is none of your servers any more");
        return remote::ask_numbers(m_book->client(), *server, stop);
    }

    std::vector<net::Connection> connections() const override { return m_book->connections(); }

private:
    const std::shared_ptr<remote::ServerBook> m_book;
};

}  // namespace

std::shared_ptr<RemoteDoor> remoteDoor(std::shared_ptr<secrets::SecretStore> store)
{
    return std::make_shared<OpenDoor>(std::move(store));
}
