#include "engine/tokenizer/same_vocabulary.h"

#include <algorithm>
#include <string>

namespace engine {

namespace {

TokenType type_of(const Vocabulary& vocabulary, std::size_t id)
{
    return id < vocabulary.types.size() ? vocabulary.types[id] : TokenType::Normal;
}

tl::unexpected<Error> other(const std::string& how)
{
    return fail(Error::Code::BadRequest, "the draft model has another vocabulary than the model: " + how);
}

}  // namespace

Status same_vocabulary(const Vocabulary& model, const Vocabulary& draft)
{
    if (model.model != draft.model)
        return other("it is of the kind '" + draft.model + "', not '" + model.model + "'");
    const std::size_t common = std::min(model.tokens.size(), draft.tokens.size());
    if (std::max(model.tokens.size(), draft.tokens.size()) - common > std::size_t(kMostPadding))
        return other("it has " + std::to_string(draft.tokens.size()) + " tokens, not " +
                     std::to_string(model.tokens.size()));
    for (std::size_t id = 0; id < common; ++id)
        if (model.tokens[id] != draft.tokens[id] || type_of(model, id) != type_of(draft, id))
            return other("token " + std::to_string(id) + " is another one");
    return {};
}

}  // namespace engine
