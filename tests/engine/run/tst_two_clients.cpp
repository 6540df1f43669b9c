// Tests two clients of one engine which begin, cancel and end turns of their conversations at random, beside each other
// and beside somebody who moves layers and changes budgets: what each hears is, bit by bit, what a second engine says
// that does nothing else. For longer: SPILLWAY_SECONDS.
#include "tests/support/placement_run.h"
#include "tests/support/test_program.h"

#include <QElapsedTimer>
#include <QRandomGenerator>
#include <QtTest>

#include <atomic>
#include <cstring>
#include <list>
#include <thread>

using namespace test_support;

namespace {

/// Holds what is heard of a turn: its text, and how likely each token was, of which other keys and values would make
/// others.
struct Heard {
    std::string text;
    std::vector<int> ids;
    std::vector<float> logprobs;

    Listener listener()
    {
        Listener listener;
        listener.on_text = [this](std::string_view piece) { text += piece; };
        listener.on_token = [this](const TokenLogprobs& token) {
            ids.push_back(token.written.id);
            for (const LikelyToken& likely : token.likeliest)
                logprobs.push_back(likely.logprob);
        };
        return listener;
    }
    /// Says whether the other one says the same as far as this one was let.
    bool begins(const Heard& all) const
    {
        return all.text.starts_with(text) && ids.size() <= all.ids.size() && logprobs.size() <= all.logprobs.size() &&
               std::equal(ids.begin(), ids.end(), all.ids.begin()) &&
               std::memcmp(logprobs.data(), all.logprobs.data(), logprobs.size() * sizeof(float)) == 0;
    }
};

/// The engine that answers one turn at a time, all on the CPU, each in a conversation of its own.
class Reference
{
public:
    explicit Reference(LoadRequest request)
        : m_engine(make_engine())
    {
        request.placement = {};
        if (const auto info = m_engine->load(request, {}, {}); !info)
            qFatal("%s", info.error().what.c_str());
    }
    Heard answer(Request request)
    {
        request.most_drafted = 0;
        Heard heard;
        const SequenceId sequence = *m_engine->create_sequence();
        const auto turn = m_engine->generate(sequence, request, heard.listener(), {});
        if (!turn)
            qFatal("%s", turn.error().what.c_str());
        m_engine->end_sequence(sequence);
        return heard;
    }

private:
    std::unique_ptr<Engine> m_engine;
};

struct Counts {
    int turns = 0, cancelled = 0, ended = 0, branches = 0, tokens = 0;
};

/// A client with some conversations, which does one thing at a time.
class Client
{
public:
    Client(Engine& engine, Reference& reference, quint32 seed, Counts& counts)
        : m_engine(engine)
        , m_reference(reference)
        , m_random(seed)
        , m_counts(counts)
    {
    }

    void act()
    {
        switch (m_random() % 8) {
        case 0:
            if (m_conversations.size() < 4)
                begin_conversation();
            break;
        case 1:
            branch();
            break;
        case 2:
            cancel();
            break;
        case 3:
            end_early();
            break;
        case 4:
            if (m_random() % 4 == 0)
                end_conversation();
            break;
        default:
            ask();
        }
    }

    /// Takes the ends of those of these turns that are its own.
    void hear(const std::vector<TurnId>& over)
    {
        for (Conversation& one : m_conversations)
            if (one.turn != 0 && std::ranges::count(over, one.turn) > 0)
                finish(one);
    }

    /// Says whether none of its turns runs.
    bool done() const
    {
        return std::ranges::all_of(m_conversations, [](const Conversation& one) { return one.turn == 0; });
    }
    void leave()
    {
        while (!m_conversations.empty())
            end_conversation();
    }

private:
    struct Conversation {
        SequenceId sequence = 0;
        std::string text;  // so far
        TurnId turn = 0;   // that runs
        Request request = {};
        Heard heard = {};
        std::stop_source stop = {};
    };

    void begin_conversation()
    {
        if (const auto sequence = m_engine.create_sequence())
            m_conversations.push_back({*sequence, words(4 + int(m_random() % 30))});
    }
    Conversation* any(bool running)
    {
        std::vector<Conversation*> fit;
        for (Conversation& one : m_conversations)
            if ((one.turn != 0) == running)
                fit.push_back(&one);
        return fit.empty() ? nullptr : fit[m_random() % fit.size()];
    }
    void branch()
    {
        Conversation* const from = any(false);
        if (!from || m_conversations.size() >= 4)
            return;
        if (const auto sequence = m_engine.branch(from->sequence, -1)) {
            m_conversations.push_back({*sequence, from->text});
            ++m_counts.branches;
        }
    }
    void ask()
    {
        Conversation* const one = any(false);
        if (!one)
            return;
        if (one->text.size() > 600)
            one->text.resize(300);
        one->text += ' ' + words(1 + int(m_random() % 12));
        Request request;
        request.raw_prompt = one->text;
        request.max_tokens = 1 + int(m_random() % 40);
        request.ignore_end = m_random() % 2 == 0;
        request.most_drafted = m_random() % 2 ? int(m_random() % 16) : 0;
        request.sampling.temperature = m_random() % 2 ? 0.0f : 0.3f * float(m_random() % 4);
        request.sampling.seed = m_random();
        request.top_logprobs = 3;
        one->request = request;
        one->heard = {};
        one->stop = {};
        const auto turn = m_engine.begin(one->sequence, request, one->heard.listener(), one->stop.get_token());
        if (turn)
            one->turn = *turn;
        m_counts.turns += turn.has_value();
    }
    void cancel()
    {
        if (Conversation* const one = any(true)) {
            one->stop.request_stop();
            ++m_counts.cancelled;
        }
    }
    void end_early()
    {
        if (Conversation* const one = any(true)) {
            finish(*one);
            ++m_counts.ended;
        }
    }
    void end_conversation()
    {
        if (m_conversations.empty())
            return;
        const auto one = std::next(m_conversations.begin(), int(m_random() % m_conversations.size()));
        m_engine.end_sequence(one->sequence);  // whatever runs there
        m_conversations.erase(one);
    }
    void finish(Conversation& one)
    {
        const auto turn = m_engine.end(std::exchange(one.turn, 0));
        QVERIFY2(turn, turn ? "" : turn.error().what.c_str());
        const Heard all = m_reference.answer(one.request);
        QVERIFY2(one.heard.begins(all),
                 qPrintable(QString("'%1' where it is '%2' alone")
                                .arg(QString::fromStdString(one.heard.text), QString::fromStdString(all.text))));
        if (turn->reason != StopReason::Cancelled)
            QCOMPARE(one.heard.text, all.text);
        m_counts.tokens += int(one.heard.ids.size());
        one.text += one.heard.text;
    }
    std::string words(int count)
    {
        static constexpr const char* kWords[] = {"the", "cat", "sat", "on", "a", "mat", "and", "rain", "fell"};
        std::string text;
        for (int i = 0; i < count; ++i)
            text += std::string(i ? " " : "") + kWords[m_random() % std::size(kWords)];
        return text;
    }

    Engine& m_engine;
    Reference& m_reference;
    std::mt19937 m_random;
    Counts& m_counts;
    std::list<Conversation> m_conversations;
};

/// Posts from a thread of its own what a user does meanwhile.
class Meddler
{
public:
    Meddler(Engine& engine, int layers, bool device, quint32 seed)
        : m_thread([this, &engine, layers, device, seed] {
            std::mt19937 random(seed);
            while (!m_over) {
                if (random() % 4 == 0)
                    engine.post(SetThreads{1 + int(random() % 2)});
                else if (device)
                    engine.post(PlacementCommand(SetDeviceLayers{int(random() % unsigned(layers + 1))}));
                std::this_thread::sleep_for(std::chrono::milliseconds(1 + random() % 20));
            }
        })
    {
    }
    ~Meddler()
    {
        m_over = true;
        m_thread.join();
    }
    Meddler(const Meddler&) = delete;
    Meddler& operator=(const Meddler&) = delete;

private:
    std::atomic<bool> m_over{false};
    std::thread m_thread;
};

}  // namespace

class TestTwoClients : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void eachHearsWhatItWouldAlone_data()
    {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("where");
        QTest::newRow("all on the CPU") << "llama"
                                        << "cpu";
        QTest::newRow("spilled, merged") << "llama"
                                         << "merge";
        QTest::newRow("sliding windows, spilled, streamed") << "gemma3"
                                                            << "stream";
        QTest::newRow("recurrent layers") << "qwen35"
                                          << "merge";
    }
    void eachHearsWhatItWouldAlone()
    {
        QFETCH(const QString, name);
        QFETCH(const QString, where);
        bool given = false;
        const auto wanted = quint32(qEnvironmentVariableIntValue("SPILLWAY_SEED", &given));
        const quint32 seed = given ? wanted : QRandomGenerator::global()->generate();
        const int seconds = std::max(1, qEnvironmentVariableIntValue("SPILLWAY_SECONDS"));
        LoadRequest request = where == "cpu"
                                  ? request_for(name)
                                  : emulated(name, 100, where == "merge" ? KvPolicy::Merge : KvPolicy::Stream);
        request.context_tokens = 1024;
        Reference reference(request);
        const auto engine = make_engine();
        const auto info = engine->load(request, {}, {});
        QVERIFY2(info, info ? "" : info.error().what.c_str());

        Counts counts;
        std::mt19937 random(seed);
        Client one(*engine, reference, quint32(random()), counts), other(*engine, reference, quint32(random()), counts);
        {
            const Meddler meddler(*engine, info->layers, where != "cpu", quint32(random()));
            QElapsedTimer timer;
            timer.start();
            while (!timer.hasExpired(seconds * 1000LL) && !QTest::currentTestFailed()) {
                if (random() % 3 == 0)
                    (random() % 2 ? one : other).act();
                const std::vector<TurnId> over = engine->step({});
                one.hear(over);
                other.hear(over);
            }
            while (!(one.done() && other.done()) && !QTest::currentTestFailed()) {
                const std::vector<TurnId> over = engine->step({});
                one.hear(over);
                other.hear(over);
            }
        }
        qInfo("seed %u: %d turns, %d cancelled, %d ended early, %d branches, %d tokens", seed, counts.turns,
              counts.cancelled, counts.ended, counts.branches, counts.tokens);
        QVERIFY(counts.turns > 0);
        QVERIFY(counts.tokens > 0);
        one.leave();
        other.leave();
    }
};

SPILLWAY_TEST(QCoreApplication, TestTwoClients)
#include "tst_two_clients.moc"
