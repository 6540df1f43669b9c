#include "app/fetching/model_page.h"

#include "app/fetching/failure_sentence.h"
#include "app/system/log_lines.h"
#include "app/text/visible_text.h"

#include <QClipboard>
#include <QFileInfo>
#include <QGuiApplication>

#include <algorithm>
#include <utility>

namespace {

QString termsSentence(const ModelSource& source)
{
    return ModelPage::tr("Its terms have to be accepted on %1 first, and a token has to say who you are.")
        .arg(QString::fromStdString(source.host()));
}

constexpr qsizetype kLongestCard = 128 << 10;  // characters; nobody reads more, and the window would wait for it

}  // namespace

ModelPage::ModelPage(ModelSource* source, const FetchingWorld& world, QObject* parent)
    : QObject(parent)
    , m_source(source)
    , m_world(world)
    , m_outlook(world)
    , m_trial(world)
{
}

ModelPage::~ModelPage() = default;

QString ModelPage::title() const
{
    return VisibleText::of(m_found ? QString::fromStdString(m_found->title) : m_id);
}

QString ModelPage::webPage() const
{
    return m_found ? QString::fromStdString(m_found->page) : QString();
}

QString ModelPage::licence() const
{
    return m_found ? VisibleText::of(QString::fromStdString(m_found->card.licence)) : QString();
}

void ModelPage::open(const QString& id)
{
    close();
    if (!m_source || !m_world.allowed() || id.isEmpty())
        return;
    m_id = id;
    m_busy = true;
    m_thread.ask([source = m_source, id = id.toStdString(), memory = m_world.memory().for_next_model_bytes()](
                     const std::stop_token& stop) { return source->repository(id, memory, stop); },
                 [this](net::Result<FoundRepository> found) { onFound(std::move(found)); });
    Q_EMIT changed();
}

void ModelPage::close()
{
    m_thread.stop();
    m_diskThread.stop();
    m_id.clear();
    m_busy = false;
    m_error.clear();
    m_wantsToken = false;
    m_found.reset();
    const auto gone = std::move(m_card);  // deleted after the page has been told
    m_choices.clear();
    m_companions.clear();
    m_chosen = -1;
    m_looking = false;
    m_looked = {};
    m_lookError.clear();
    m_barrier.clear();
    m_barrierWantsToken = false;
    lookAt({});
    Q_EMIT changed();
    Q_EMIT companionsChanged();
    Q_EMIT lookedChanged();
}

void ModelPage::retry()
{
    open(QString(m_id));
}

void ModelPage::onToken()
{
    if (m_wantsToken)
        retry();
    else if (!m_barrier.isEmpty())
        look(m_chosen);
}

void ModelPage::onFound(net::Result<FoundRepository> found)
{
    m_busy = false;
    if (!found) {
        m_error = failureSentence(found.error());
        m_wantsToken = found.error().token_helps;
        logWarning(QStringLiteral("finding models: ") + QString::fromStdString(found.error().what));
        Q_EMIT changed();
        return;
    }
    m_found = std::move(*found);
    if (!m_found->card.text.empty()) {
        m_card = std::make_unique<BlockModel>(BlockModel::Format::Card);
        m_card->append(QString::fromStdString(m_found->card.text).left(kLongestCard));
        m_card->finish();
    }
    if (gated())
        m_barrier = termsSentence(*m_source);
    m_choices.set(m_found->repository.files.choices, m_found->recommended);
    for (const net::HubFile& file : m_found->repository.files.companions)
        m_companions.append(ModelCompanion(file));
    Q_EMIT changed();
    Q_EMIT companionsChanged();
    Q_EMIT lookedChanged();
    lookAtDisk();
    if (m_choices.recommended() >= 0)
        look(m_choices.recommended());
}

void ModelPage::look(int row)
{
    if (!m_found || row < 0 || row >= m_choices.rowCount() || !m_world.allowed())
        return;
    m_chosen = row;
    m_looking = true;
    m_looked = {};
    m_lookError.clear();
    lookAt({});
    m_thread.ask([source = m_source, found = *m_found, choice = m_choices.choice(row)](
                     const std::stop_token& stop) { return source->look(found, choice, stop); },
                 [this, row](const net::Result<LookedAt>& looked) { onLooked(row, looked); });
    Q_EMIT lookedChanged();
}

void ModelPage::fetch(int row)
{
    if (!m_found || row < 0 || row >= m_choices.rowCount())
        return;
    const net::ModelChoice& choice = m_choices.choice(row);
    double bytes = double(choice.bytes);
    for (const ModelCompanion& companion : std::as_const(m_companions))
        bytes += companion.wanted ? companion.bytes : 0;
    Q_EMIT fetchRequested(QString::fromStdString(m_found->wanted), QString::fromStdString(choice.files.front().path),
                          QString::fromStdString(choice.quant), bytes, wantedCompanions());
}

QStringList ModelPage::wantedCompanions() const
{
    QStringList wanted;
    for (const ModelCompanion& companion : m_companions)
        if (companion.wanted)
            wanted.append(companion.path);
    return wanted;
}

bool ModelPage::wantsMore() const
{
    return std::ranges::any_of(m_companions,
                               [](const ModelCompanion& companion) { return companion.wanted && !companion.here; });
}

void ModelPage::openHere(int row)
{
    const QString path = m_choices.place(row);
    if (!path.isEmpty() && QFileInfo(path).isFile())
        Q_EMIT openRequested(path, QFileInfo(path).completeBaseName());
    else
        lookAtDisk();
}

void ModelPage::lookAtDisk()
{
    if (!m_found)
        return;
    std::vector<net::HubFile> files;
    for (const net::ModelChoice& choice : m_found->repository.files.choices)
        files.insert(files.end(), choice.files.begin(), choice.files.end());
    const auto& companions = m_found->repository.files.companions;
    files.insert(files.end(), companions.begin(), companions.end());
    const QString folder = m_world.folder ? m_world.folder() : QString();
    using Places = std::vector<std::filesystem::path>;
    m_diskThread.ask(
        [source = m_source, found = *m_found, files, folder](const std::stop_token&) -> net::Result<Places> {
            return source->places(found, files, std::filesystem::path(folder.toStdU16String()));
        },
        [this](const net::Result<Places>& places) {
            if (places)
                onPlaces(*places);
        });
}

/// Takes the places in the order in which lookAtDisk() asks for them.
void ModelPage::onPlaces(const std::vector<std::filesystem::path>& places)
{
    auto place = places.begin();
    QStringList firsts;
    for (const net::ModelChoice& choice : m_found->repository.files.choices) {
        const auto end = place + std::ptrdiff_t(choice.files.size());
        const bool whole = std::none_of(place, end, [](const auto& path) { return path.empty(); });
        firsts.append(whole ? QString::fromStdU16String(place->u16string()) : QString());
        place = end;
    }
    m_choices.setPlaces(firsts);
    for (ModelCompanion& companion : m_companions)
        companion.here = !(place++)->empty();
    Q_EMIT companionsChanged();
}

void ModelPage::setWanted(int companion, bool wanted)
{
    if (companion < 0 || companion >= m_companions.size() || m_companions[companion].wanted == wanted)
        return;
    m_companions[companion].wanted = wanted;
    Q_EMIT companionsChanged();
}

void ModelPage::copy(const QString& text) const
{
    QGuiApplication::clipboard()->setText(text);
}

void ModelPage::onLooked(int row, const net::Result<LookedAt>& looked)
{
    m_looking = false;
    if (looked) {
        if (looked->info.runnable)
            m_choices.setFits(row, looked->info, m_world.request(), m_world.memory());
        else
            m_choices.setUnusable(row);
        engine::ModelInfo named = looked->info;
        named.path = m_choices.choice(row).files.front().path;
        m_looked = ModelFacts(named);
        lookAt(*looked);
        m_barrier.clear();  // who gets a header gets the other bytes, too
    } else {
        onRefused(row, looked.error());
    }
    Q_EMIT lookedChanged();
}

void ModelPage::onRefused(int row, const net::Failure& failure)
{
    using Kind = net::Failure::Kind;
    const bool stranger =
        failure.kind == Kind::NoAccess || failure.kind == Kind::NeedsToken || failure.kind == Kind::KeyMissing;
    if (gated() && stranger) {  // one sentence says so for the whole page
        m_barrier = failure.kind == Kind::NoAccess ? termsSentence(*m_source) : failureSentence(failure);
        m_barrierWantsToken = failure.token_helps;
        return;
    }
    m_lookError = failureSentence(failure);
    if (failure.kind == Kind::BadAnswer)  // the file is no model that can be read
        m_choices.setUnusable(row);
}

/// The outlook comes first: it drops the old planner, which reads the header's file that the trial then deletes.
void ModelPage::lookAt(const LookedAt& looked)
{
    m_outlook.show(looked.plan);
    m_trial.show(looked);
}

#include "moc_model_companion.cpp"
#include "moc_model_page.cpp"
