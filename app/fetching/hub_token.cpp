#include "app/fetching/hub_token.h"

#include "app/system/profile_folders.h"
#include "engine/utf8_path.h"

#include <QFile>
#include <QFileInfo>
#include <QSaveFile>

#include <utility>

namespace {

using secrets::MayAsk;
using std::chrono::steady_clock;
using Code = engine::Error::Code;

/// For so long a user who has closed the question is not asked anew.
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

TokenPlace HubToken::place() const
{
    const std::lock_guard lock(m_values);
    if (!m_fromEnvironment.empty())
        return TokenPlace::Environment;
    if (!m_kept.id.empty())
        return TokenPlace::Store;
    return m_kept.token.empty() ? TokenPlace::None : TokenPlace::File;
}

std::string HubToken::get(const std::stop_token& stop)
{
    if (!m_fromEnvironment.empty())
        return m_fromEnvironment;
    const Turn turn(*this, stop);
    if (!turn)
        return {};
    std::string id;
    {
        const std::lock_guard lock(m_values);
        if (m_kept.id.empty() || !m_known.empty())
            return m_kept.id.empty() ? m_kept.token : m_known;
        id = m_kept.id;
    }
    const MayAsk may = steady_clock::now() < m_quietUntil ? MayAsk::No : MayAsk::Yes;
    auto token = m_store ? m_store->find(id, may, stop) : engine::fail(Code::CannotRead, {});
    if (!token) {
        if (!stop.stop_requested())  // who was not waited for has not said no
            m_quietUntil = steady_clock::now() + kQuietAfterNo;
        return {};
    }
    const std::lock_guard lock(m_values);
    m_known = std::move(*token);
    return m_known;
}

/// What was there is forgotten last: until the new one is written, it is the token.
engine::Status HubToken::keep(const std::string& token, const std::stop_token& stop)
{
    const Turn turn(*this, stop);
    if (!turn)
        return engine::fail(Code::Cancelled, "stopped");
    net::KeptToken kept{token};
    if (!token.empty() && m_store)
        kept.id = secrets::keep_in(*m_store, "Spillway: token for Hugging Face", token, MayAsk::Yes, stop);
    if (!kept.id.empty())
        kept.token.clear();
    if (auto written = write(kept); !written) {
        if (!kept.id.empty())
            m_store->forget(kept.id, {});
        return written;
    }
    std::string before;
    {
        const std::lock_guard lock(m_values);
        before = std::exchange(m_kept, kept).id;
        m_known = kept.id.empty() ? std::string() : token;
    }
    return before.empty() ? engine::Status() : forget(before, stop);
}

/// Asks the user to unlock the store if need be, since nothing tries again later.
engine::Status HubToken::forget(const std::string& id, const std::stop_token& stop)
{
    if (!m_store)
        return {};
    if (m_store->access(stop) == secrets::Access::Locked)
        static_cast<void>(m_store->find(id, MayAsk::Yes, stop));
    return m_store->forget(id, stop);
}

engine::Status HubToken::write(const net::KeptToken& kept) const
{
    if (m_file.empty())
        return {};
    const QString path = QString::fromStdU16String(m_file.u16string());
    if (kept == net::KeptToken()) {
        if (!QFile::exists(path) || QFile::remove(path))
            return {};
        return engine::fail(Code::CannotWrite, engine::utf8_text(m_file) + " cannot be removed");
    }
    ProfileFolders::make(QFileInfo(path).path());
    QSaveFile file(path);
    // Closed to others before there is anything in it.
    if (file.open(QFile::WriteOnly) && file.setPermissions(QFile::ReadOwner | QFile::WriteOwner) &&
        file.write(QByteArray::fromStdString(net::text_of(kept))) >= 0 && file.commit())
        return {};
    return engine::fail(Code::CannotWrite, engine::utf8_text(m_file) + " cannot be written");
}
