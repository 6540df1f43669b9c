// Tests that blocks which leave the device and come back say of which conversations they were.
#include "tests/engine/run/device_engine.h"
#include "tests/support/test_program.h"

#include <QtTest>

#include <set>

using namespace test_support;

class TestWhoseBlocks : public QObject
{
    Q_OBJECT

    static constexpr int kBlockTokens = 16;

    static Request saying(const char* prompt, int max_tokens)
    {
        Request request = raw(max_tokens);
        request.raw_prompt = prompt;
        return request;
    }

    static bool moved(const Event& event)
    {
        return event.kind == Event::Kind::Offload || event.kind == Event::Kind::Fetch;
    }

    /// Answers both in the same steps; returns the context of each afterwards.
    static std::pair<int, int> answer_together(DeviceEngine& here, SequenceId a, const Request& of_a, SequenceId b,
                                               const Request& of_b)
    {
        const auto first = here.engine->begin(a, of_a, here.listener(), {});
        const auto second = here.engine->begin(b, of_b, here.listener(), {});
        if (!first || !second)
            return {};
        std::set<TurnId> over;
        while (over.size() < 2)
            for (const TurnId turn : here.engine->step(here.listener()))
                over.insert(turn);
        const auto one = here.engine->end(*first), other = here.engine->end(*second);
        return one && other ? std::pair(one->telemetry.context_tokens, other->telemetry.context_tokens)
                            : std::pair(0, 0);
    }

private Q_SLOTS:
    void eachMoveSaysWhoseItWas()
    {
        DeviceEngine here(emulated_device(128));
        const SequenceId longer = here.sequence, shorter = here.engine->create_sequence().value_or(0);
        const auto [all_of_longer, all_of_shorter] = answer_together(
            here, longer, raw(300), shorter,
            saying("Another one that begins with other words and goes on like this for more than a block", 60));
        QVERIFY2(all_of_longer > all_of_shorter + 4 * kBlockTokens && all_of_shorter > 2 * kBlockTokens,
                 qPrintable(QString("%1 and %2 tokens").arg(all_of_longer).arg(all_of_shorter)));

        int of_longer = 0, of_shorter = 0;
        for (const Event& event : here.events) {
            if (!moved(event)) {
                QVERIFY(event.sequences.empty());
                continue;
            }
            QCOMPARE(event.sequences.size(), std::size_t(1));
            const bool is_of_longer = event.sequences.front() == longer;
            QVERIFY(is_of_longer || event.sequences.front() == shorter);
            (is_of_longer ? of_longer : of_shorter)++;
            QVERIFY(event.tokens.first < (is_of_longer ? all_of_longer : all_of_shorter));
        }
        QVERIFY(of_longer > 0 && of_shorter > 0);
    }

    void whatBranchesShareIsOfAllOfThem()
    {
        DeviceEngine here(emulated_device(160));
        QVERIFY(here.engine->generate(here.sequence, raw(80), here.listener(), {}));
        const SequenceId branch = here.engine->branch(here.sequence, 3 * kBlockTokens).value_or(0);
        QVERIFY(branch != 0);
        const SequenceId other = here.engine->create_sequence().value_or(0);
        here.events.clear();
        QVERIFY(here.engine->generate(other, saying("Something else", 300), here.listener(), {}));
        bool shared = false, own = false;
        for (const Event& event : here.events)
            if (event.kind == Event::Kind::Offload && event.sequences != std::vector{other}) {
                const bool by_both = event.tokens.first < 3 * kBlockTokens;
                QCOMPARE(event.sequences,
                         by_both ? std::vector({here.sequence, branch}) : std::vector({here.sequence}));
                (by_both ? shared : own) = true;
            }
        QVERIFY(shared && own);
    }
};

SPILLWAY_TEST(QCoreApplication, TestWhoseBlocks)
#include "tst_whose_blocks.moc"
