// Measures what a grammar costs a token with a real vocabulary: the trie, the masks of the states that a JSON text
// passes through, and the draw among the tokens that are allowed.
//   grammar_bench VOCABULARY.gguf [SECONDS PER TOKEN]
#include "engine/answer_grammar.h"
#include "engine/gguf/gguf_file.h"
#include "engine/grammar/token_masks.h"
#include "engine/sampling/sampler.h"
#include "engine/tokenizer/tokenizer.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>

using namespace engine;

namespace {

/// Returns the time of this process on a core, so that other programs do not count.
std::int64_t now_us()
{
    return std::int64_t(std::clock()) * 1'000'000 / CLOCKS_PER_SEC;
}

constexpr const char* kSchema = R"({"type":"object","properties":{
"title":{"type":"string"},"year":{"type":"integer","minimum":1900,"maximum":2100},"id":{"type":"string","maxLength":40},
"tags":{"type":"array","items":{"type":"string"}},"rating":{"type":"number"},"seen":{"type":"boolean"},
"people":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},
"role":{"enum":["actor","director"]}},"required":["name","role"]}}},
"required":["title","year","id","tags","rating","seen","people"]})";

constexpr const char* kText =
    R"({"title": "The long way home, or what the river said", "year": 1987, "id": "a1b2c3d4-river-home", "tags": ["drama", )"
    R"("travel", "a family that comes apart and together again"], "rating": 7.25, "seen": true, "people": [{"name": )"
    R"("Maria Løvenskiold", "role": "actor"}, {"name": "Jean-Pierre Dupont", "role": "director"}]})";

double median(std::vector<double> values)
{
    std::ranges::nth_element(values, values.begin() + std::ptrdiff_t(values.size() / 2));
    return values[values.size() / 2];
}

int run(const char* path, double token_us)
{
    const auto file = GgufFile::open(path);
    auto vocabulary = file ? read_vocabulary(*file) : Result<Vocabulary>(tl::unexpected(file.error()));
    if (!vocabulary)
        return std::fprintf(stderr, "%s\n", vocabulary.error().what.c_str()), 1;
    const auto tokenizer = Tokenizer::make(std::move(*vocabulary));
    if (!tokenizer)
        return std::fprintf(stderr, "%s\n", tokenizer.error().what.c_str()), 1;
    const Tokenizer& t = **tokenizer;

    std::int64_t start = now_us();
    const auto trie = std::make_shared<const TokenTrie>(
        t.size(), [&](int id) { return t.is_special(id) ? std::string() : t.piece(id); });
    std::printf("%d tokens, %zu nodes, made in %.1f ms\n", t.size(), trie->nodes().size(),
                double(now_us() - start) / 1e3);
    start = now_us();
    const auto gbnf = gbnf_of_json_schema(kSchema);
    auto grammar = Grammar::parse(*gbnf);
    TokenMasks masks(std::move(*grammar), trie);
    std::printf("schema to masks: %.1f ms\n", double(now_us() - start) / 1e3);

    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> logits(std::size_t(t.size()));
    for (float& logit : logits)
        logit = normal(random);
    Sampler sampler({}, t.size(), 1);
    auto state = masks.states().start();
    std::vector<int> history;
    std::vector<double> mask_us, with_us, without_us;
    double sum_us = 0, extra_us = 0;
    for (const Token& token : t.encode(kText, {EncodeOptions::Specials::AsText, EncodeOptions::Start::Middle})) {
        start = now_us();
        const auto mask = masks.next(state);
        mask_us.push_back(double(now_us() - start));
        if (!mask || !(*mask)->allows(token.id))
            return std::fprintf(stderr, "the text does not follow the schema\n"), 1;
        start = now_us();
        (void)sampler.sample(logits, history, *mask);
        with_us.push_back(double(now_us() - start));
        start = now_us();
        (void)sampler.sample(logits, history);
        without_us.push_back(double(now_us() - start));
        state = masks.states().after(state, t.piece(token.id));
        history.push_back(token.id);
        sum_us += mask_us.back();
        extra_us += mask_us.back() + with_us.back() - without_us.back();
    }
    const double count = double(history.size());
    std::printf("%.0f tokens of JSON: mask %.0f us on average, %.0f at the median, %.0f at most\n", count,
                sum_us / count, median(mask_us), *std::ranges::max_element(mask_us));
    std::printf("draw %.0f us with a mask, %.0f without (medians)\n", median(with_us), median(without_us));
    std::printf("a token costs %.0f us more, %.2f %% of %.1f ms\n", extra_us / count, 100 * extra_us / count / token_us,
                token_us / 1e3);
    return 0;
}

}  // namespace

int main(int argc, char** argv)
{
    if (argc < 2)
        return std::fprintf(stderr, "grammar_bench VOCABULARY.gguf [SECONDS PER TOKEN]\n"), 2;
    return run(argv[1], argc > 2 ? 1e6 * std::atof(argv[2]) : 24'000);
}
