#include "app/fetching/hub_token.h"

#include "app/system/profile_folders.h"
#include "engine/utf8_path.h"

#include <QFile>
#include <QFileInfo>
#include <QSaveFile>

#include <algorithm>
#include <utility>

namespace {

using secrets::MayAsk;
using std::chrono::steady_clock;
using Code = engine::Error::Code;

/// How long a user who has closed the question is not asked again.
constexpr std::chrono::seconds kQuietAfterNo{30};

}  // namespace

HubToken::HubToken(std::string fromEnvironment, std::filesystem::path file, std::shared_ptr<secrets::SecretStore> store)
    : m_fromEnvironment(std::move(fromEnvironment))
    , m_file(std::move(file))
    , m_store(std::move(store))
    , m_kept(m_file.empty() ? net::KeptToken() : net::read_kept_token(m_file))
{
}

HubToken::Turn::Turn(HubToken& token, const std::stop_token& stop)
    : m_token(token)
{
    std::unique_lock lock(m_token.m_values);
    m_mine = m_token.m_rested.wait(lock, stop, [this] { return !m_token.m_asking; });
    m_token.m_asking = true;
}

HubToken::Turn::~Turn()
{
    if (!m_mine)
        return;
    {
        const std::lock_guard lock(m_token.m_values);
        m_token.m_asking = false;
    }
    m_token.m_rested.notify_one();
}

net::KeptToken HubToken::kept() const
{
    const std::lock_guard lock(m_values);
    return m_kept;
}

TokenPlace HubToken::place() const
{
    if (!m_fromEnvironment.empty())
        return TokenPlace::Environment;
    const net::KeptToken now = kept();
    if (!now.id.empty())
        return TokenPlace::Store;
    if (!now.token.empty())
        return TokenPlace::File;
    return now.unneeded.empty() ? TokenPlace::None : TokenPlace::Leaving;
}

GivenToken HubToken::get(MayAsk may, const std::stop_token& stop)
{
    if (!m_fromEnvironment.empty())
        return {m_fromEnvironment};
    const Turn turn(*this, stop);
    if (!turn)
        return {};
    std::string id;
    {
        const std::lock_guard lock(m_values);
        if (m_kept.id.empty() || !m_known.empty())
            return {m_kept.id.empty() ? m_kept.token : m_known};
        id = m_kept.id;
    }
    if (steady_clock::now() < m_quietUntil)
        may = MayAsk::No;
    auto token =
        m_store ? m_store->find(id, may, stop) : engine::fail(Code::CannotRead, "this system has no password store");
    if (!token) {
        if (may == MayAsk::Yes && !stop.stop_requested())  // if it was stopped, the user has not said no
            m_quietUntil = steady_clock::now() + kQuietAfterNo;
        return {{}, std::move(token.error())};
    }
    const std::lock_guard lock(m_values);
    m_known = std::move(*token);
    return {m_known};
}

engine::Status HubToken::keep(const std::string& token, const std::stop_token& stop)
{
    const Turn turn(*this, stop);
    if (!turn)
        return engine::fail(Code::Cancelled, "stopped");
    auto done = putIn(token, MayAsk::Yes, stop);
    forgetUnneeded(stop);
    return done;
}

void HubToken::settle(const std::stop_token& stop)
{
    const Turn turn(*this, stop);
    if (!turn || !m_store)
        return;
    const std::string inFile = kept().token;
    if (!inFile.empty() && m_store->access(stop) == secrets::Access::Open)
        static_cast<void>(putIn(inFile, MayAsk::No, stop));
    forgetUnneeded(stop);
}

/// Puts a token into the store, or else into the file. The one before stays valid until the file is written.
engine::Status HubToken::putIn(const std::string& token, MayAsk may, const std::stop_token& stop)
{
    const secrets::Secret secret{secrets::new_id(), "Spillway: token for Hugging Face", token};
    const secrets::Kept inStore = token.empty() ? secrets::Kept::No : putInStore(secret, may, stop);
    net::KeptToken next = kept();
    if (inStore == secrets::Kept::Perhaps)
        m_perhaps.push_back(secret.id);
    else
        std::erase(next.unneeded, secret.id);
    if (!next.id.empty())
        next.unneeded.push_back(std::exchange(next.id, {}));
    if (inStore == secrets::Kept::Yes)
        next.id = secret.id;
    next.token = inStore == secrets::Kept::Yes ? std::string() : token;
    auto done = change(next);
    const std::lock_guard lock(m_values);
    if (done)
        m_known = inStore == secrets::Kept::Yes ? token : std::string();
    return done;
}

/// Puts the token into the password store. First the file names it as one to forget, so that it is not left in the
/// store if the program ends before the file names it as the token.
secrets::Kept HubToken::putInStore(const secrets::Secret& secret, MayAsk may, const std::stop_token& stop)
{
    net::KeptToken before = kept();
    before.unneeded.push_back(secret.id);
    if (!m_store || !change(before))
        return secrets::Kept::No;
    return secrets::keep_in(*m_store, secret, may, stop);
}

void HubToken::forgetUnneeded(const std::stop_token& stop)
{
    net::KeptToken next = kept();
    const auto isForgotten = [&](const std::string& id) {
        return m_store && std::ranges::find(m_perhaps, id) == m_perhaps.end() && m_store->forget(id, stop);
    };
    if (std::erase_if(next.unneeded, isForgotten) > 0)
        static_cast<void>(change(next));  // if that fails, the next start forgets them once more
}

engine::Status HubToken::change(const net::KeptToken& kept)
{
    auto written = write(kept);
    const std::lock_guard lock(m_values);
    if (written)
        m_kept = kept;
    return written;
}

engine::Status HubToken::write(const net::KeptToken& kept) const
{
    if (m_file.empty())
        return {};
    const QString path = QString::fromStdU16String(m_file.u16string());
    if (kept == net::KeptToken()) {
        if (!QFile::exists(path) || QFile::remove(path))
            return {};
        return engine::fail(Code::CannotWrite, '\'' + engine::utf8_text(m_file) + "' cannot be removed");
    }
    ProfileFolders::make(QFileInfo(path).path());
    QSaveFile file(path);
    // Other users' rights are removed before there is anything in the file.
    if (file.open(QFile::WriteOnly) && file.setPermissions(QFile::ReadOwner | QFile::WriteOwner) &&
        file.write(QByteArray::fromStdString(net::text_of(kept))) >= 0 && file.commit())
        return {};
    return engine::fail(Code::CannotWrite, '\'' + engine::utf8_text(m_file) + "' cannot be written");
}
