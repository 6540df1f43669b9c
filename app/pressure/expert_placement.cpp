#include "app/pressure/expert_placement.h"

#include <algorithm>
#include <utility>

ExpertPlacement::ExpertPlacement(engine::PlacementOptions& wish, const Device& device, const int& layers, Post post)
    : m_wish(wish)
    , m_device(device)
    , m_layers(layers)
    , m_post(std::move(post))
{
}

int ExpertPlacement::hostLayers() const
{
    if (!m_device || m_device->expert_layers == 0)
        return -1;
    return std::min(m_wish.host_expert_layers.value_or(m_device->host_expert_layers), m_layers);
}

bool ExpertPlacement::takesCopies() const
{
    return m_device && m_device->layers_without_experts > 0;
}

double ExpertPlacement::mostRoom() const
{
    if (!m_device)
        return 0;
    return double(m_device->budget_bytes > 0 ? m_device->budget_bytes : m_device->total_bytes);
}

void ExpertPlacement::setHostLayers(int layers)
{
    m_wish.host_expert_layers = layers < 0 ? std::nullopt : std::optional(std::min(layers, m_layers));
    m_post(engine::SetHostExperts{m_wish.host_expert_layers});
}

void ExpertPlacement::setRoomForCopies(double bytes)
{
    m_wish.expert_cache_bytes =
        bytes < 0 ? std::nullopt : std::optional(std::int64_t(std::clamp(bytes, 0.0, mostRoom())));
    m_post(engine::SetExpertCache{m_wish.expert_cache_bytes});
}

#include "moc_expert_placement.cpp"
