#include "engine/run/model_placement.h"

#include "engine/metrics/clock.h"

#include <algorithm>
#include <iterator>

namespace engine {

ModelPlacement::ModelPlacement(const Hyperparameters& h, const Weights& weights, HostWeights& host_weights,
                               CpuBackend& cpu, KvCache& cache)
    : h_(h)
    , weights_(weights)
    , host_weights_(host_weights)
    , cpu_(cpu)
    , cache_(cache)
    , layout_({}, cache.block_tokens(), 0, DeviceLayout::Road::Copies)
    , host_(host_weights, cpu)
    , split_(host_weights, cpu)
{
}

ModelPlacement::~ModelPlacement()
{
    cache_.set_device(nullptr, nullptr);
}

int ModelPlacement::step_rows(int rows) const
{
    if (!device_ || layers() == 0)
        return rows;
    const std::int64_t left =
        vram_->high_mark() - vram_->used() + vram_->used(Vram::Use::Kv) - layout_.windows(layers());
    // The first block stays, and a step that begins within a block touches one more than it fills.
    const std::int64_t blocks = left / layout_.block_row(layers()) - 2;
    return int(std::clamp<std::int64_t>(blocks * cache_.block_tokens(), 1, rows));
}

void ModelPlacement::begin_turn(std::vector<TokenRange> pins)
{
    returning_ = Event::Cause::Watermark;  // what was asked for before has come
    if (pager_)
        pager_->begin_turn(std::move(pins));
}

/// Which copies the next step uses.
void ModelPlacement::set_layer_flags(bool on_device)
{
    for (int l = 0; l < cache_.num_layers(); ++l)
        cache_.set_on_device(l, on_device && l < layers());
}

Status ModelPlacement::prepare(const KvSequence& sequence, int first, int count)
{
    on_host_ = !device_ || (options_.kv_policy == KvPolicy::CpuDecode && count == 1);
    while (use_host_part()) {
    }
    if (!device_)
        return {};
    set_layer_flags(!on_host_);
    return on_host_ ? pager_->prepare_on_host(sequence, first, count) : pager_->prepare(sequence, first, count);
}

/// Gives back the host's copies of weights that only the device reads.
void ModelPlacement::drop_host_copies()
{
    if (options_.kv_policy == KvPolicy::CpuDecode)
        return;  // the host computes it, too
    for (int l = 0; l < layers(); ++l)
        host_weights_.drop_layer(l);
    if (head_)
        host_weights_.drop_head();
}

bool ModelPlacement::ready_host_part()
{
    on_host_ = !device_ || options_.kv_policy == KvPolicy::CpuDecode;
    return use_host_part();
}

/// One more part of what the step in preparation computes on the host is as its kernels like it best. False: all are.
bool ModelPlacement::use_host_part()
{
    for (int l = on_host_ ? 0 : layers(); l < host_weights_.layers(); ++l)
        if (host_weights_.use_layer(l, cpu_.pool()))
            return true;
    return placement().head_on_host() && host_weights_.use_head(cpu_.pool());
}

Status ModelPlacement::finish(const KvSequence& sequence, int first, int count)
{
    Status done = device_ && !on_host_ ? backend().take_status() : Status();
    if (done && device_ && !on_host_)
        done = pager_->finish(sequence, first, count);
    if (std::string warning = cuda_ ? cuda_->take_warning() : std::string(); !warning.empty())
        note(Event::Kind::Warning, Event::Cause::None, std::move(warning));
    if (device_)
        set_layer_flags(true);
    return done;
}

bool ModelPlacement::advance()
{
    if (next_ && layers() == 0) {
        change_over();
        return true;
    }
    if (!device_)
        return false;
    set_layer_flags(true);
    pager_->trim_windows();
    if (layers() > wanted_layers()) {
        move_to_host(layers() - 1, Event::Cause::Split);
        return true;
    }
    if (layers() < wanted_layers()) {
        if (const Status moved = move_to_device(layers()); !moved) {
            if (moved.error().code == Error::Code::DeviceLost) {
                lose(moved.error());
                return false;
            }
            note(Event::Kind::Warning, Event::Cause::Split,
                 "only " + std::to_string(layers()) + " of the " + std::to_string(wanted_) +
                     " layers asked for find room on the device " + std::string(device_->id()));
            wanted_ = layers();
        }
        return true;
    }
    return pager_->bring_back(returning_);
}

void ModelPlacement::settle()
{
    if (pager_)
        pager_->settle();
}

Status ModelPlacement::move_to_device(int l)
{
    Event event;
    event.kind = Event::Kind::LayerMove;
    event.cause = Event::Cause::Split;
    event.time_us = now_us();
    event.layer = l;
    if (!cuda_)
        host_weights_.use_layer(l, cpu_.pool());  // the device computes with the host's kernels
    const LayerWeights& on_host = cuda_ ? weights_.layers[std::size_t(l)] : host_weights_.layer(l);
    event.bytes = DeviceLayer::bytes(on_host, h_, l);
    if (!pager_->make_room(event.bytes, Event::Cause::Split))
        return fail(Error::Code::DeviceFull, "the layer does not fit");
    auto layer = DeviceLayer::copy(*vram_, on_host, h_, l);
    if (!layer)
        return tl::unexpected(layer.error());
    if (Status ok = layer->wait(); !ok)
        return ok;
    layers_.push_back(std::move(*layer));
    ++kv_changes_;
    split_.place(l, backend(), layers_.back().weights());
    drop_host_copies();
    set_layer_flags(true);
    const auto kv = pager_->join(l);
    if (!kv && kv.error().code == Error::Code::DeviceLost)
        return tl::unexpected(kv.error());
    event.blocks = kv.value_or(0);
    event.bytes += std::int64_t(event.blocks) * std::int64_t(cache_.layer(l).bytes());
    if (layers() == cache_.num_layers()) {
        Status head = move_head();
        if (!head && head.error().code == Error::Code::DeviceLost)
            return head;
        if (head)
            event.bytes += head_->bytes();
    }
    event.duration_us = now_us() - event.time_us;
    event.sentence = "layer " + std::to_string(l) + " moved to the device";
    events_.push_back(std::move(event));
    return {};
}

/// Moves the head to the device after the last layer. DeviceFull: it stays on the host, which costs speed only.
Status ModelPlacement::move_head()
{
    if (!pager_->make_room(DeviceHead::bytes(weights_.head, h_, layers()), Event::Cause::Split))
        return fail(Error::Code::DeviceFull, "the output matrix does not fit");
    if (!cuda_)
        host_weights_.use_head(cpu_.pool());
    auto head = DeviceHead::copy(*vram_, cuda_ ? weights_.head : host_weights_.head(), h_, layers());
    if (!head)
        return tl::unexpected(head.error());
    if (Status ok = head->wait(); !ok)
        return ok;
    head_.emplace(std::move(*head));
    split_.place_head(backend(), head_->weights());
    drop_host_copies();
    return {};
}

void ModelPlacement::move_to_host(int l, Event::Cause cause)
{
    Event event;
    event.kind = Event::Kind::LayerMove;
    event.cause = cause;
    event.time_us = now_us();
    event.layer = l;
    event.bytes = layers_.back().bytes() + (head_ ? head_->bytes() : 0);
    split_.place_head(cpu_, host_weights_.head());
    head_.reset();
    // A device that is lost here is noticed by the next step.
    (void)pager_->leave(l);
    split_.place(l, cpu_, host_weights_.layer(l));
    layers_.pop_back();
    ++kv_changes_;
    set_layer_flags(true);
    event.duration_us = now_us() - event.time_us;
    event.sentence = "layer " + std::to_string(l) + " moved to the host";
    events_.push_back(std::move(event));
}

bool ModelPlacement::give_up_layer()
{
    if (layers() == 0)
        return false;
    move_to_host(layers() - 1, Event::Cause::Watermark);
    wanted_ = layers();
    return true;
}

void ModelPlacement::lose(const Error& error)
{
    pager_->mark_lost();
    std::ranges::move(pager_->take_events(), std::back_inserter(events_));
    close();
    note(Event::Kind::DeviceLost, Event::Cause::DeviceLost, error.what + "; the model goes on from the host's memory");
}

void ModelPlacement::close()
{
    kv_changes_ = kv_changes() + 1;
    if (device_) {
        moved_to_device_ += device_->bytes_moved(Device::Road::ToDevice);
        moved_to_host_ += device_->bytes_moved(Device::Road::ToHost);
    }
    cache_.set_device(nullptr, nullptr);
    split_ = Placement(host_weights_, cpu_);
    set_layer_flags(false);
    layers_.clear();
    head_.reset();
    stream_.reset();
    device_kv_.reset();
    pager_.reset();
    cuda_.reset();
    vram_.reset();
    emulated_ = nullptr;
    device_.reset();
    wanted_ = 0;
    on_host_ = true;
}

std::vector<Event> ModelPlacement::take_events()
{
    if (pager_)
        std::ranges::move(pager_->take_events(), std::back_inserter(events_));
    return std::exchange(events_, {});
}

void ModelPlacement::note(Event::Kind kind, Event::Cause cause, std::string sentence)
{
    Event event;
    event.kind = kind;
    event.cause = cause;
    event.time_us = now_us();
    event.sentence = std::move(sentence);
    events_.push_back(std::move(event));
}

}  // namespace engine
