// TokenTrie holds the texts of a vocabulary as a tree of bytes, so that tokens with a common beginning are judged once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Immutable once made. Its nodes stand in the order in which a walk meets them, each before those below it.
class TokenTrie
{
public:
    struct Node {
        std::uint8_t byte = 0;
        int depth = 0;     // bytes before this one
        int after = 0;     // the first node that is not below this one
        int first_id = 0;  // in ids()
        int last_id = 0;   // one past
    };

    /// Tokens with an empty text are left out.
    TokenTrie(int num_vocab, const std::function<std::string(int id)>& text_of);

    int vocabulary_size() const { return num_vocab_; }
    int depth() const { return depth_; }  // bytes of the longest text
    std::span<const Node> nodes() const { return nodes_; }
    /// Calls `visit` for each token whose text begins with `begin` and goes on, with what stands behind that.
    void each_behind(std::string_view begin, const std::function<void(int id, std::string_view rest)>& visit) const;
    /// Returns the tokens whose text ends at this node.
    std::span<const int> ids(const Node& node) const
    {
        return std::span(ids_).subspan(std::size_t(node.first_id), std::size_t(node.last_id - node.first_id));
    }

private:
    int num_vocab_ = 0;
    int depth_ = 0;
    std::vector<Node> nodes_;
    std::vector<int> ids_;
};

}  // namespace engine
