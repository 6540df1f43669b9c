#include "app/server/plain_answers.h"

#include "app/server/dialect.h"

namespace server {

namespace {

Json model_object(const Served& served)
{
    const engine::ModelInfo& info = served.info;
    return {{"id", served.name},
            {"object", "model"},
            {"created", 0},
            {"owned_by", "spillway"},
            {"meta",
             {{"n_ctx", info.context_in_use},
              {"n_ctx_train", info.context_tokens},
              {"n_embd", info.embedding_length},
              {"n_params", info.parameters},
              {"n_vocab", info.vocabulary},
              {"size", info.file_bytes}}}};
}

}  // namespace

PlainAnswer openai_models(const PlainRequest& request)
{
    return text_of({{"object", "list"}, {"data", Json::array({model_object(request.served)})}});
}

PlainAnswer openai_model(const PlainRequest& request)
{
    const std::string name = request.path.substr(std::string("/v1/models/").size());
    if (name != request.served.name)
        return tl::unexpected(Refusal{Refusal::Kind::NotFound, "there is no model '" + name + "' here", "model"});
    return text_of(model_object(request.served));
}

}  // namespace server
