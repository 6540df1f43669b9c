// Tests that a mixture gives the bits of the CPU alone wherever its experts lie, and whatever is changed of that while
// it answers.
#include "tests/engine/run/device_engine.h"
#include "tests/support/part_of_all.h"
#include "tests/support/placement_run.h"
#include "tests/support/test_program.h"

#include "engine/shape_model.h"

#include <QTemporaryDir>
#include <QtTest>

#include <array>
#include <random>
#include <vector>

using namespace test_support;

namespace {

constexpr std::array kPolicies = {KvPolicy::Resident, KvPolicy::Stream, KvPolicy::Merge, KvPolicy::Auto,
                                  KvPolicy::CpuDecode};
// Layers whose experts lie on the host; empty: as KV drives them out.
constexpr std::array<std::optional<int>, 4> kPlaces = {0, 1, PlacementOptions::kAllLayers, std::nullopt};
// Room for copies, of what copies of all experts would take; empty: as much as the plan chooses.
constexpr std::array<std::optional<double>, 5> kRooms = {0.0, 0.1, 0.25, 1.0, std::nullopt};

struct Choice {
    std::optional<int> host_layers;
    std::optional<double> room;
    KvPolicy policy = KvPolicy::Auto;
};

QString text_of(const Choice& choice)
{
    return QStringLiteral("experts of %1 layers on the host, room for %2 of their copies, policy %3")
        .arg(choice.host_layers ? QString::number(*choice.host_layers) : QStringLiteral("auto"))
        .arg(choice.room ? QString::number(*choice.room) : QStringLiteral("auto"))
        .arg(int(choice.policy));
}

}  // namespace

class TestExpertPlaces : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { qInfo("seed %u", m_seed); }

    void anyPlaceGivesTheBitsOfTheCpu_data()
    {
        QTest::addColumn<QString>("shape");
        for (const char* const shape : {"tiny-qwen3moe-8", "tiny-qwen3moe-32", "tiny-qwen3moe-128"})
            QTest::newRow(shape) << QStringLiteral("%1:q8_0").arg(QLatin1String(shape));
    }
    void anyPlaceGivesTheBitsOfTheCpu()
    {
        QFETCH(QString, shape);
        const QTemporaryDir folder;
        const auto made = ShapeModel::make(shape.toStdString(), folder.path().toStdString());
        QVERIFY2(made, made ? "" : made.error().what.c_str());
        const auto cpu = load(on_cpu(*made));
        QVERIFY(cpu);
        const Run alone = run(*cpu);
        const std::int64_t all_copies = bytes_of_all_copies(*made);
        QVERIFY(all_copies > 0);

        PartOfAll part(6);
        std::int64_t hits = 0, misses = 0;
        for (const auto& host_layers : kPlaces)
            for (const auto& room : kRooms)
                for (const KvPolicy policy : kPolicies) {
                    if (!part.takes_next())
                        continue;
                    const Choice choice{host_layers, room, policy};
                    const auto model = load(with(*made, choice, all_copies));
                    QVERIFY2(model, qPrintable(text_of(choice)));
                    const Run here = run(*model, moves_in_mid_answer(*model, all_copies, choice));
                    QVERIFY2(here.status, here.status ? "" : here.status.error().what.c_str());
                    const int parted = first_difference(here.logits, alone.logits);
                    QVERIFY2(parted == -1, qPrintable(QStringLiteral("%1: step %2").arg(text_of(choice)).arg(parted)));
                    const DeviceTelemetry device = *model->placement().telemetry();
                    QVERIFY2(device.used_bytes() <= device.budget_bytes, qPrintable(text_of(choice)));
                    hits += device.expert_hits;
                    misses += device.expert_misses;
                }
        QVERIFY(hits > 0 && misses > 0);  // both ways were taken
    }

private:
    static LoadRequest on_cpu(const ShapeModel& made)
    {
        LoadRequest request = request_for({});
        request.model = made.path();
        return request;
    }

    static std::int64_t bytes_of_all_copies(const ShapeModel& made)
    {
        const auto model = load(with(made, {PlacementOptions::kAllLayers, 1.0, KvPolicy::Auto}, std::int64_t(1) << 40));
        if (!model)
            return 0;
        while (model->placement().advance()) {
        }
        return model->placement().telemetry()->expert_cache_bytes;
    }

    /// A device for `resident` has room for all tokens, since that policy ends an answer that finds none.
    static LoadRequest with(const ShapeModel& made, const Choice& choice, std::int64_t all_copies)
    {
        LoadRequest request = emulated({}, choice.policy == KvPolicy::Resident ? kTokens + 50 : 120, choice.policy);
        request.model = made.path();
        request.placement.host_expert_layers = choice.host_layers;
        request.placement.expert_cache_bytes = bytes_of(choice.room, all_copies);
        return request;
    }

    static std::optional<std::int64_t> bytes_of(const std::optional<double>& room, std::int64_t all_copies)
    {
        return room ? std::optional(std::int64_t(*room * double(all_copies))) : std::nullopt;
    }

    /// Every so many steps one of the places, rooms and policies is asked for; and often all copies have arrived.
    /// Under `resident` nothing is asked for that takes more memory than the device was made for.
    std::function<void(int)> moves_in_mid_answer(LoadedModel& model, std::int64_t all_copies, const Choice& first)
    {
        const bool resident = first.policy == KvPolicy::Resident;
        const std::int64_t most = model.placement().telemetry()->total_bytes;
        const std::int64_t least = resident ? most : most * 6 / 10;
        std::vector places(kPlaces.begin(), kPlaces.end());
        std::vector rooms(kRooms.begin(), kRooms.end());
        if (resident) {
            places = {first.host_layers, PlacementOptions::kAllLayers};
            rooms = {0.0, first.room};
        }
        return [this, &model, all_copies, most, least, places, rooms](int) {
            ModelPlacement& placement = model.placement();
            const auto below = [&](std::size_t n) { return std::size_t(m_random() % n); };
            if (below(2) == 0)
                placement.settle();
            Status asked;
            switch (below(60)) {
            case 0:
            case 1:
                asked = placement.apply(SetHostExperts{places[below(places.size())]});
                break;
            case 2:
            case 3:
                asked = placement.apply(SetExpertCache{bytes_of(rooms[below(rooms.size())], all_copies)});
                break;
            case 4:
                asked = placement.apply(SetKvPolicy{kPolicies[1 + below(kPolicies.size() - 1)]});
                break;
            case 5:
                asked = placement.apply(SetDeviceLayers{int(below(std::size_t(model.info().layers) + 1))});
                break;
            case 6:
                asked = placement.apply(SetVramBudget{least + std::int64_t(below(std::size_t(most - least) + 1))});
                break;
            default:
                break;
            }
            QVERIFY2(asked, asked ? "" : asked.error().what.c_str());
        };
    }

    const unsigned m_seed = std::random_device{}();
    std::mt19937 m_random{m_seed};
};

SPILLWAY_TEST(QCoreApplication, TestExpertPlaces)
#include "tst_expert_places.moc"
