#include "app/pressure/doctor_facts.h"

#include "engine/memory_plan.h"

#include <algorithm>
#include <array>

using Action = DoctorAction::Kind;

DoctorFacts doctorFacts(const engine::Telemetry& last, const engine::ModelInfo& model,
                        const engine::LoadRequest& request)
{
    engine::LoadRequest whole = request;
    whole.context_tokens = std::max(1, last.context_limit);
    DoctorFacts facts;
    facts.last = last;
    facts.layers = model.layers;
    facts.experts = model.experts;
    facts.expertsUsed = model.experts_used;
    facts.weightBytes = model.weight_bytes;
    facts.stateBytes = engine::memory_need(model, whole).state_bytes;
    facts.kvBytesPerToken = double(engine::memory_need(model, whole).kv_bytes) / whole.context_tokens;
    if (request.k_type != engine::KvType::Q8_0 || request.v_type != engine::KvType::Q8_0) {
        whole.k_type = whole.v_type = engine::KvType::Q8_0;
        facts.kvBytesPerTokenAsQ8 = double(engine::memory_need(model, whole).kv_bytes) / whole.context_tokens;
    }
    facts.policy = request.placement.kv_policy;
    const engine::PlacementOptions& placement = request.placement;
    if (placement.device == engine::PlacementOptions::Device::Emulated && placement.emulated.link_bytes_per_s > 0)
        facts.linkBytesPerSecond = placement.emulated.link_bytes_per_s;
    return facts;
}

DoctorDraft doctorDraft(const ModelEntry& draft, const engine::LoadRequest& request, int contextTokens)
{
    const engine::LoadRequest beside = engine::as_draft(request, std::max(1, contextTokens));
    const engine::MemoryNeed need = engine::memory_need(draft.info, beside);
    return {draft.path, draft.titleWithQuantisation(), double(need.weight_bytes + need.kv_bytes)};
}

void addPredictions(DoctorFacts& facts, const engine::Planner& planner, engine::LoadRequest request,
                    const engine::MachineRates* rates, std::optional<qint64> grown)
{
    request.draft_model.clear();  // it changes no prediction, and its file may be gone by now
    // Every prediction assumes that other programs keep what they hold now.
    if (facts.last.device)
        request.placement.other_programs_bytes = facts.last.device->other_programs_bytes;
    if (rates && facts.last.device)
        if (const auto device = rates->devices.find(facts.last.device->id); device != rates->devices.end())
            facts.linkBytesPerSecond = device->second.to_device_bytes_per_s;

    const std::array contexts = {facts.last.context_tokens};
    const auto plan = planner.plan(request, contexts, rates);
    if (!plan)
        return;
    facts.spillTokens = plan->spill_tokens;
    facts.predicted = plan->rows[0].tok_s;
    if (!facts.last.device)
        return;
    const auto add = [&](const engine::LoadRequest& other, const DoctorAction& action) {
        const auto changed = planner.plan(other, contexts, rates);
        const bool differs =
            action.kind != Action::SetLayers || (changed && changed->device_layers != plan->device_layers);
        if (changed && differs && !changed->rows[0].stops)
            facts.options.push_back({action, changed->rows[0].tok_s});
    };
    engine::LoadRequest other = request;
    if (grown) {
        other.placement.vram_budget_bytes = *grown;
        add(other, {Action::GrowBack});
        other = request;
    }
    other.placement.device_layers = std::nullopt;
    add(other, {Action::SetLayers, -1});
    other = request;
    other.placement.host_expert_layers = std::nullopt;
    if (request.placement.host_expert_layers && plan->expert_layers > 0)
        add(other, {Action::SetHostExperts, -1});
    other = request;
    other.placement.expert_cache_bytes = 2 * facts.last.device->expert_cache_bytes;
    if (facts.last.device->cached_experts > 0)
        add(other, {Action::SetRoomForCopies, 2 * facts.last.device->expert_cache_bytes});
    for (const engine::KvPolicy policy : {engine::KvPolicy::Stream, engine::KvPolicy::Merge, engine::KvPolicy::Auto}) {
        other = request;
        other.placement.kv_policy = policy;
        if (policy != request.placement.kv_policy)
            add(other, {Action::SetPolicy, qint64(policy)});
    }
    other = request;
    other.k_type = other.v_type = engine::KvType::Q8_0;
    if (facts.kvBytesPerTokenAsQ8)
        add(other, {Action::SetKvType, qint64(engine::KvType::Q8_0)});
}
