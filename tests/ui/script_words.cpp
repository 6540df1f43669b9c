#include "tests/ui/script_words.h"

#include <chrono>

namespace {

std::chrono::microseconds milliseconds(const QVariant& value)
{
    return std::chrono::milliseconds(value.toInt());
}

/// Returns "device emulated fit 1024 link 16" (tokens, GB/s), "device cuda:0 budget 1024" (MiB) or "device cpu".
QString nameOf(const engine::PlacementOptions& placement)
{
    using Kind = engine::PlacementOptions::Device;
    if (placement.device == Kind::Cuda)
        return QStringLiteral("device cuda:%1 budget %2")
            .arg(placement.cuda_ordinal)
            .arg(placement.vram_budget_bytes >> 20);
    if (placement.device == Kind::Cpu)
        return QStringLiteral("device cpu");
    const engine::EmulatedDeviceOptions& emulated = placement.emulated;
    return QStringLiteral("device emulated %1 link %2")
        .arg(emulated.fit_tokens > 0 ? QStringLiteral("fit %1").arg(emulated.fit_tokens)
                                     : QStringLiteral("mib %1").arg(emulated.vram_bytes >> 20))
        .arg(emulated.link_bytes_per_s / 1e9);
}

QStringList nameOf(const engine::PlacementCommand& command)
{
    if (const auto* layers = std::get_if<engine::SetDeviceLayers>(&command))
        return {layers->layers ? QStringLiteral("layers %1").arg(*layers->layers) : QStringLiteral("layers auto")};
    if (const auto* experts = std::get_if<engine::SetHostExperts>(&command))
        return {experts->layers ? QStringLiteral("experts %1").arg(*experts->layers) : QStringLiteral("experts auto")};
    if (const auto* cache = std::get_if<engine::SetExpertCache>(&command))
        return {cache->bytes ? QStringLiteral("copies %1").arg(*cache->bytes) : QStringLiteral("copies auto")};
    if (const auto* budget = std::get_if<engine::SetVramBudget>(&command))
        return {QStringLiteral("budget %1").arg(budget->bytes)};
    if (const auto* mark = std::get_if<engine::SetWatermark>(&command))
        return {QStringLiteral("watermark %1").arg(mark->share)};
    if (const auto* policy = std::get_if<engine::SetKvPolicy>(&command))
        return {QStringLiteral("policy %1").arg(int(policy->policy))};
    if (const auto* share = std::get_if<engine::SetKvOffloadShare>(&command))
        return {QStringLiteral("offload %1").arg(share->share)};
    return {};
}

}  // namespace

void changeScript(FakeScript::Settings& settings, const QVariantMap& changes)
{
    const auto with = [&](const char* key, auto&& use) {
        if (const auto found = changes.find(QLatin1String(key)); found != changes.end())
            use(*found);
    };
    with("text", [&](const QVariant& value) { settings.words = {value.toString().toStdString()}; });
    with("stream", [&](const QVariant& value) {
        constexpr qsizetype kToken = 4;  // characters
        const QString text = value.toString();
        settings.words.clear();
        for (qsizetype at = 0; at < text.size(); at += kToken)
            settings.words.push_back(text.mid(at, kToken).toStdString());
    });
    with("tokens", [&](const QVariant& value) {
        settings.words.clear();
        for (int i = 0; i < value.toInt(); ++i)
            settings.words.push_back(i % 12 == 11 ? "word\n" : "word ");
    });
    with("tokenMs", [&](const QVariant& value) { settings.per_token = milliseconds(value); });
    with("prefillMs", [&](const QVariant& value) { settings.prefill = milliseconds(value); });
    with("loadMs", [&](const QVariant& value) { settings.load = milliseconds(value); });
    with("drafted", [&](const QVariant& value) {
        settings.drafted_tokens = value.toInt();
        settings.accepted_tokens = value.toInt() / 2;
    });
    with("byBlock", [&](const QVariant& value) { settings.by_block = value.toBool(); });
    with("guessed", [&](const QVariant& value) {  // bytes of every answer, from and to by turns
        const QVariantList places = value.toList();
        settings.guessed.clear();
        for (qsizetype i = 0; i + 1 < places.size(); i += 2)
            settings.guessed.push_back({places[i].toInt(), places[i + 1].toInt()});
    });
    with("inLongStep", [&](const QVariant& value) { settings.in_long_step = value.toBool(); });
    with("context", [&](const QVariant& value) { settings.context_tokens = value.toInt(); });
    with("modelContext", [&](const QVariant& value) { settings.model_context_tokens = value.toInt(); });
    with("errorAfter", [&](const QVariant& value) { settings.tokens_before_error = value.toInt(); });
    with("shares", [&](const QVariant& value) {  // seconds of ten steps
        const QVariantMap map = value.toMap();
        engine::StepShares shares;
        shares.steps = 10;
        shares.prefill_s = map.value(QStringLiteral("prefill")).toDouble();
        shares.device_layers_s = map.value(QStringLiteral("deviceLayers")).toDouble();
        shares.host_layers_s = map.value(QStringLiteral("hostLayers")).toDouble();
        shares.kv_link_s = map.value(QStringLiteral("link")).toDouble();
        settings.shares = shares;
    });
    with("device", [&](const QVariant& value) {
        const QVariantMap map = value.toMap();
        const auto bytes = [&](const char* key) { return std::int64_t(map.value(QLatin1String(key)).toDouble()); };
        engine::DeviceTelemetry device;
        device.id = "emulated";
        device.layers = map.value(QStringLiteral("layers"), 16).toInt();
        device.expert_layers = map.value(QStringLiteral("experts"), 0).toInt();
        device.layers_without_experts = map.value(QStringLiteral("hostExperts"), 0).toInt();
        device.host_expert_layers = device.layers_without_experts;
        device.expert_cache_bytes = bytes("copies");
        device.cached_experts = map.value(QStringLiteral("copied"), 0).toInt();
        device.layers_wanted = map.value(QStringLiteral("wanted"), device.layers).toInt();
        device.total_bytes = bytes("total");
        device.budget_bytes = device.total_bytes;
        device.watermark_bytes = device.total_bytes * 95 / 100;
        device.weight_bytes = bytes("weights");
        device.kv_bytes = bytes("kv");
        device.state_bytes = bytes("state");
        settings.device = device;
    });
    with("kvColumns", [&](const QVariant& value) {
        auto kv_map = std::make_shared<engine::KvMap>();
        kv_map->block_tokens = 256;
        kv_map->layers = 16;
        kv_map->columns = value.toInt();
        kv_map->cells.assign(std::size_t(kv_map->columns) * 16, std::uint8_t(engine::KvMap::Place::Device));
        // The first layers are recurrent; of them the first half lies on the device.
        const int recurrent = changes.value(QStringLiteral("recurrentLayers")).toInt();
        for (int l = 0; recurrent > 0 && l < 16; ++l) {
            const bool there = l < recurrent / 2;
            kv_map->states.push_back({l < recurrent ? 100'000 : 0, engine::Residency(there ? 1 : 0)});
            for (int column = 0; l < recurrent && column < kv_map->columns; ++column)
                kv_map->cells[std::size_t(column) * 16 + std::size_t(l)] = std::uint8_t(engine::KvMap::Place::None);
        }
        settings.kv_map = kv_map;
    });
    with("expertMap", [&](const QVariant& value) {
        const QVariantMap map = value.toMap();
        auto experts = std::make_shared<engine::ExpertMap>();
        experts->layers = map.value(QStringLiteral("layers")).toInt();
        experts->experts = map.value(QStringLiteral("experts")).toInt();
        const std::size_t cells = experts->at(experts->layers, 0);
        for (std::size_t i = 0; i < cells; ++i) {
            // The first layer is dense, half of the next one's experts have copies, and the last is on the device.
            const int layer = int(i) / experts->experts, expert = int(i) % experts->experts;
            using Place = engine::ExpertMap::Place;
            experts->places.push_back(layer == 0                                    ? Place::None
                                      : layer + 1 == experts->layers                ? Place::Device
                                      : layer == 1 && expert < experts->experts / 2 ? Place::Copy
                                                                                    : Place::Host);
            experts->in_answer.push_back(std::uint32_t(expert % 3));
            experts->in_conversation.push_back(std::uint32_t(10 * expert));
        }
        experts->counted_on_device = !map.value(QStringLiteral("gpu")).toBool();
        settings.expert_map = experts;
    });
    with("recurrentLayers", [&](const QVariant& value) { settings.recurrent_layers = value.toInt(); });
    with("template", [&](const QVariant& value) { settings.has_chat_template = value.toBool(); });
    with("arguments", [&](const QVariant& value) {
        settings.template_arguments.clear();
        for (const QString& name : value.toStringList())
            settings.template_arguments.push_back(name.toStdString());
    });
    with("runnable", [&](const QVariant& value) { settings.runnable = value.toBool(); });
    const auto error = [](const QVariant& value) -> std::optional<engine::Error> {
        if (value.toString().isEmpty())
            return {};
        const bool lost = value.toString().contains(QLatin1String("went away"));
        return engine::Error{lost ? engine::Error::Code::CannotRead : engine::Error::Code::NoMemory,
                             value.toString().toStdString()};
    };
    with("error", [&](const QVariant& value) { settings.generate_error = error(value); });
    with("loadError", [&](const QVariant& value) { settings.load_error = error(value); });
    with("deviceError", [&](const QVariant& value) { settings.device_error = value.toString().toStdString(); });
    with("warning", [&](const QVariant& value) { settings.warning = value.toString().toStdString(); });
}

QStringList inWords(const std::vector<engine::Command>& commands)
{
    QStringList names;
    for (const engine::Command& command : commands) {
        if (const auto* placement = std::get_if<engine::PlacementCommand>(&command))
            names += nameOf(*placement);
        else if (const auto* types = std::get_if<engine::SetKvTypes>(&command))
            names += QStringLiteral("types %1 %2").arg(int(types->k_type)).arg(int(types->v_type));
        else if (const auto* pins = std::get_if<engine::SetPins>(&command))
            names += QStringLiteral("pins %1").arg(pins->tokens.size());
        else if (const auto* device = std::get_if<engine::SetDevice>(&command))
            names += nameOf(device->placement);
    }
    return names;
}
