#include "app/remote/here_or_there.h"

#include "app/remote/address.h"
#include "engine/caught.h"

#include <utility>

namespace remote {

HereOrThere::HereOrThere(std::unique_ptr<engine::Engine> here, std::shared_ptr<ServerBook> book)
    : here_(std::move(here))
    , there_(std::move(book))
    , now_(here_.get())
{
    here_->on_posted = [this] {
        if (on_posted)
            on_posted();
    };
}

engine::Result<engine::ModelInfo> HereOrThere::load(const engine::LoadRequest& request,
                                                    const engine::Listener& listener, std::stop_token stop)
try {
    engine::Engine* const next = model_at(request.model) ? static_cast<engine::Engine*>(&there_) : here_.get();
    if (next != now_)
        now_->unload();
    now_ = next;
    return now_->load(request, listener, std::move(stop));
} catch (...) {
    return engine::caught("for this model");
}

}  // namespace remote
