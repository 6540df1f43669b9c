#include "engine/run/embedding.h"

#include "engine/run/lack_of_room.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace engine {

namespace {

/// Returns the tokens of a text, with the beginning and the end that the file asks for.
std::vector<int> tokens_of(const EmbeddingInput& input, const Tokenizer& tokenizer, const std::stop_token& stop)
{
    if (input.text.empty())
        return input.ids;
    EncodeOptions options{EncodeOptions::Specials::AsText, EncodeOptions::Start::Beginning};
    options.with_bos = true;
    options.stop = stop;
    std::vector<int> ids;
    for (const Token& token : tokenizer.encode(input.text, options))
        ids.push_back(token.id);
    if (tokenizer.adds_eos() && tokenizer.eos() != kNoToken)
        ids.push_back(tokenizer.eos());
    return ids;
}

Status check_tokens(const std::vector<int>& ids, const LoadedModel& model)
{
    if (ids.empty())
        return fail(Error::Code::BadRequest, "there is no text to embed");
    const int known = model.tokenizer().size();
    if (const auto wrong = std::ranges::find_if(ids, [&](int id) { return id < 0 || id >= known; }); wrong != ids.end())
        return fail(Error::Code::BadRequest, "the text has the token " + std::to_string(*wrong) +
                                                 ", and the model's are 0 to " + std::to_string(known - 1));
    if (int(ids.size()) > model.context_tokens())
        return fail(Error::Code::ContextFull, "the text has " + std::to_string(ids.size()) +
                                                  " tokens and the context holds " +
                                                  std::to_string(model.context_tokens()));
    return {};
}

/// Sums rows that come some at a time: all of them, or only the last.
class Pool
{
public:
    Pool(Pooling pooling, int dim)
        : last_only_(pooling == Pooling::Last)
        , sum_(std::size_t(dim))
    {
    }

    /// Says which rows of a step add() has to be given.
    RowRange wanted(int rows, bool last_step) const
    {
        return last_only_ ? RowRange{rows - 1, last_step ? 1 : 0} : RowRange{0, rows};
    }
    void add(std::span<const float> rows)  // (rows, dim)
    {
        for (std::size_t i = 0; i < rows.size(); ++i)
            sum_[i % sum_.size()] += rows[i];
    }
    /// Returns the row, of length 1; all zero, where the sum is.
    std::vector<float> row() const
    {
        double squares = 0;
        for (const double value : sum_)
            squares += value * value;
        const double length = squares > 0 ? std::sqrt(squares) : 1;
        std::vector<float> row;
        for (const double value : sum_)
            row.push_back(float(value / length));
        return row;
    }

private:
    const bool last_only_;
    std::vector<double> sum_;  // (dim,)
};

Status read_step(LoadedModel& model, KvSequence& sequence, std::span<const int> tokens,
                 const std::function<bool()>& make_room, const std::stop_token& stop)
{
    for (;;) {
        RowGroup group{&sequence, tokens};
        group.stop = stop;
        Status done = model.append(std::span(&group, 1));
        const bool may_help = !done && forgetting_helps(done.error(), model.cache(), sequence, group);
        if (!may_help || !make_room())
            return done;
    }
}

}  // namespace

Result<Embedding> embedding_of(LoadedModel& model, const EmbeddingInput& input, KvSequence& sequence,
                               const std::function<bool()>& make_room, const std::stop_token& stop)
{
    const Hyperparameters& h = model.parts().h;
    if (h.pooling == Pooling::None)
        return fail(Error::Code::Unsupported, "the model writes text and gives no embeddings");
    if ((h.pooling != Pooling::Mean && h.pooling != Pooling::Last) || h.streams.connected)
        return fail(Error::Code::Unsupported, "embeddings of this kind of model are not computed here");
    const std::vector<int> ids = tokens_of(input, model.tokenizer(), stop);
    if (stop.stop_requested())
        return fail(Error::Code::Cancelled, "the embedding was stopped");
    if (Status ok = check_tokens(ids, model); !ok)
        return tl::unexpected(ok.error());
    const auto dim = std::size_t(h.embedding_length);
    Pool pool(h.pooling, h.embedding_length);
    std::vector<float> rows;
    for (std::size_t at = 0; at < ids.size();) {
        const std::size_t count = std::min(ids.size() - at, std::size_t(model.max_rows()));
        if (Status done = read_step(model, sequence, std::span(ids).subspan(at, count), make_room, stop); !done)
            return tl::unexpected(done.error());
        at += count;
        const RowRange wanted = pool.wanted(int(count), at == ids.size());
        rows.resize(std::size_t(wanted.count) * dim);
        if (wanted.count > 0 && !model.made_of(sequence, wanted, rows))
            return fail(Error::Code::DeviceLost, "the device was lost while the text was read: ask again");
        pool.add(rows);
    }
    return Embedding{pool.row(), int(ids.size())};
}

}  // namespace engine
