#include "engine/grammar/token_trie.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace engine {

TokenTrie::TokenTrie(int num_vocab, const std::function<std::string(int id)>& text_of)
    : num_vocab_(num_vocab)
{
    std::vector<std::pair<std::string, int>> texts;
    for (int id = 0; id < num_vocab; ++id)
        if (std::string text = text_of(id); !text.empty())
            texts.emplace_back(std::move(text), id);
    std::ranges::sort(texts);

    std::vector<std::size_t> way;  // the nodes of the text before
    const auto leave = [&](std::size_t depth) {
        while (way.size() > depth) {
            nodes_[way.back()].after = int(nodes_.size());
            way.pop_back();
        }
    };
    std::string_view before;
    for (const auto& [text, id] : texts) {
        const auto common = std::size_t(std::ranges::mismatch(before, text).in1 - before.begin());
        leave(common);
        for (std::size_t depth = common; depth < text.size(); ++depth) {
            way.push_back(nodes_.size());
            nodes_.push_back({std::uint8_t(text[depth]), int(depth), 0, int(ids_.size()), int(ids_.size())});
        }
        ids_.push_back(id);
        nodes_[way.back()].last_id = int(ids_.size());
        depth_ = std::max(depth_, int(text.size()));
        before = text;
    }
    leave(0);
}

void TokenTrie::each_behind(std::string_view begin,
                            const std::function<void(int id, std::string_view rest)>& visit) const
{
    auto below = nodes();  // what was found of `begin`
    int first = 0;         // of them
    for (const char byte : begin) {
        while (std::size_t(first) < below.size() && below[std::size_t(first)].byte != std::uint8_t(byte))
            first = below[std::size_t(first)].after;
        if (std::size_t(first) >= below.size())
            return;
        below = below.first(std::size_t(below[std::size_t(first)].after));
        ++first;
    }
    std::string rest;
    for (const Node& node : below.subspan(std::size_t(first))) {
        rest.resize(std::size_t(node.depth) - begin.size());
        rest += char(node.byte);
        for (const int id : ids(node))
            visit(id, rest);
    }
}

}  // namespace engine
