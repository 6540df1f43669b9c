#include "app/net/quantisation.h"

#include "app/net/companion_kind.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <map>
#include <utility>

namespace net {

namespace {

using Kind = Failure::Kind;
using Why = Chosen::Why;

constexpr std::size_t kNamedAtMost = 12;                   // in a sentence
constexpr double kBesideTheFile = 1.15;                    // times its bytes: a context and scratch take memory, too
constexpr std::int64_t kLeftFree = std::int64_t(1) << 30;  // bytes, for the rest of the machine
constexpr std::int64_t kSmallModel = 1'500'000'000;        // bytes in Q8_0

/// The quantisations that are recommended, the best first. With those of fewer bits more quality is lost than the
/// smaller file is worth.
constexpr std::array<std::string_view, 12> kByTaste = {"Q4_K_M",    "UD-Q4_K_XL", "Q4_K_L", "MXFP4",
                                                       "MXFP4_MOE", "Q4_K_S",     "Q5_K_M", "Q4_0",
                                                       "IQ4_XS",    "IQ4_NL",     "Q6_K",   "Q8_0"};

std::string capitals(std::string_view text)
{
    std::string out(text);
    std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return char(std::toupper(c)); });
    return out;
}

std::string_view file_name(std::string_view path)
{
    return path.substr(path.rfind('/') + 1);
}

bool all_digits(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// Returns about how many bits a weight has, by the quantisation's name: 4 for "UD-IQ4_XS"; 0: the name says nothing.
int bits_of(std::string_view quant)
{
    const std::size_t first = quant.find_first_of("0123456789");
    return first == std::string_view::npos ? 0 : std::atoi(std::string(quant.substr(first)).c_str());
}

/// Says whether a word is a quantisation: "Q4_K_M", "IQ2_XXS", "BF16", ...
bool is_quant(std::string_view word)
{
    for (const char* whole : {"F16", "BF16", "F32", "FP16", "FP32", "MXFP4", "MXFP4_MOE", "NVFP4", "TQ1_0", "TQ2_0"})
        if (word == whole)
            return true;
    if (word.starts_with("I"))
        word.remove_prefix(1);
    if (word.size() < 4 || word[0] != 'Q' || word[1] < '1' || word[1] > '8' || word[2] != '_')
        return word.size() == 2 && word[0] == 'Q' && word[1] == '8';
    return std::all_of(word.begin() + 3, word.end(),
                       [](unsigned char c) { return c == '_' || c == '0' || c == '1' || std::isupper(c) != 0; });
}

/// Says whether a file is an importance matrix, and not a model that was quantised with one. Models of 8 bits or more
/// are not quantised so: their quantisation in the name is that of the model by which the matrix was measured. `name`
/// in capitals.
bool is_imatrix(const std::string& name)
{
    const int bits = bits_of(quant_of(name));
    return name.find("IMATRIX") != std::string::npos && (bits == 0 || bits >= 8);
}

/// Leaves out importance matrices that are named like the model of fewer bits by which they were measured. They are far
/// smaller: about a hundredth of it.
void leave_out_small_matrices(std::vector<ModelChoice>& choices)
{
    const auto is_matrix = [&](const ModelChoice& choice) {
        constexpr std::int64_t kTimes = 20;
        const auto is_far_larger = [&](const ModelChoice& other) {
            const int bits = bits_of(other.quant);
            return bits > 0 && bits <= bits_of(choice.quant) && other.bytes / kTimes > choice.bytes;
        };
        return capitals(choice.name).find("IMATRIX") != std::string::npos &&
               std::ranges::any_of(choices, is_far_larger);
    };
    std::vector<ModelChoice> models;
    std::ranges::remove_copy_if(choices, std::back_inserter(models), is_matrix);
    choices = std::move(models);
}

struct Part {
    std::string stem;  // with its folder
    int number = 1, count = 1;
};

/// Reads the path of a part, PATH-00001-of-00003.gguf; any other path is part 1 of 1.
Part part_of(std::string_view path)
{
    path.remove_suffix(5);  // .gguf
    constexpr std::size_t length = std::string_view("-00001-of-00003").size();
    if (path.size() > length) {
        const std::string_view end = path.substr(path.size() - length);
        if (end[0] == '-' && end.substr(6, 4) == "-of-" && all_digits(end.substr(1, 5)) &&
            all_digits(end.substr(10, 5)))
            return {std::string(path.substr(0, path.size() - length)), std::stoi(std::string(end.substr(1, 5))),
                    std::stoi(std::string(end.substr(10, 5)))};
    }
    return {std::string(path), 1, 1};
}

std::string about(std::int64_t bytes)
{
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.1f GB", double(bytes) / 1e9);
    return text.data();
}

std::string list_of(const std::vector<ModelChoice>& choices, bool by_name)
{
    std::string text;
    for (std::size_t i = 0; i < choices.size(); ++i) {
        const ModelChoice& c = choices[i];
        if (i == kNamedAtMost)
            return text + " and " + std::to_string(choices.size() - i) + " more";
        text += (i > 0 ? ", " : "") + (by_name || c.quant.empty() ? c.files.front().path : c.quant);
    }
    return text;
}

bool fits(const ModelChoice& choice, std::int64_t memory_bytes)
{
    return double(choice.bytes) * kBesideTheFile + double(kLeftFree) <= double(memory_bytes);
}

const ModelChoice* with_quant(const std::vector<ModelChoice>& choices, std::string_view quant)
{
    const auto found =
        std::find_if(choices.begin(), choices.end(), [&](const ModelChoice& c) { return c.quant == quant; });
    return found == choices.end() ? nullptr : &*found;
}

/// Returns the model in Q8_0 if that is small. Null: there is none, or it is smaller than a file of fewer bits, and so
/// of another model, such as one that drafts.
const ModelChoice* small_model(const std::vector<ModelChoice>& choices)
{
    const ModelChoice* const small = with_quant(choices, "Q8_0");
    if (!small || small->bytes > kSmallModel)
        return nullptr;
    const bool other = std::any_of(choices.begin(), choices.end(), [&](const ModelChoice& c) {
        const int bits = bits_of(c.quant);
        return bits > 0 && bits < 8 && c.bytes > small->bytes;
    });
    return other ? nullptr : small;
}

Chosen recommended(const std::vector<ModelChoice>& choices, std::optional<std::int64_t> memory_bytes)
{
    const std::int64_t memory = memory_bytes.value_or(INT64_MAX);
    const std::string here =
        memory_bytes ? "fits into the " + about(*memory_bytes) + " of memory that are free here" : "the usual one";
    if (const ModelChoice* small = small_model(choices); small && fits(*small, memory))
        return {*small, Why::SmallModel, "a small model loses most by fewer bits, and it " + here};
    for (const std::string_view quant : kByTaste)
        if (const ModelChoice* choice = with_quant(choices, quant); choice && fits(*choice, memory))
            return {*choice, Why::BestBalance,
                    memory_bytes ? "the best balance of size and quality that " + here : here};
    // None of those fits: the largest of all that fits, else the smallest.
    const auto fitting =
        std::find_if(choices.rbegin(), choices.rend(), [&](const ModelChoice& c) { return fits(c, memory); });
    if (fitting != choices.rend())
        return {*fitting, Why::LargestThatFits, memory_bytes ? "the largest that " + here : "the largest"};
    return {choices.front(), Why::NoneFits,
            "the smallest; none fits into the " + about(memory) + " of memory that are free here"};
}

}  // namespace

std::string quant_of(std::string_view file)
{
    std::string name = capitals(file_name(file));
    if (name.ends_with(".GGUF"))
        name = file_name(part_of(name).stem);
    // Looks at the words between dashes and dots, the last one first.
    for (std::size_t end = name.size(); end != std::string::npos && end > 0;) {
        const std::size_t before = name.find_last_of("-.", end - 1);
        const std::size_t begin = before == std::string::npos ? 0 : before + 1;
        const std::string word = name.substr(begin, end - begin);
        if (is_quant(word)) {
            const bool dynamic = begin >= 3 && name.compare(begin - 3, 3, "UD-") == 0;
            return dynamic ? "UD-" + word : word;
        }
        end = before;
    }
    return {};
}

ModelFiles group_files(const std::vector<HubFile>& files)
{
    ModelFiles found;
    std::map<std::pair<std::string, int>, std::map<int, HubFile>> models;  // by stem and number of parts
    for (const HubFile& file : files) {
        const std::string name = capitals(file_name(file.path));
        if (!name.ends_with(".GGUF") || name.size() == 5 || file.bytes <= 0)
            continue;
        if (companion_kind(file.path))
            found.companions.push_back(file);
        else if (!is_imatrix(name) && name.find("VOCAB") == std::string::npos) {
            const Part part = part_of(file.path);
            models[{part.stem, part.count}].emplace(part.number, file);
        }
    }
    for (auto& [key, parts] : models) {
        const auto& [stem, count] = key;
        if (int(parts.size()) != count || parts.begin()->first != 1 || parts.rbegin()->first != count)
            continue;
        ModelChoice choice{std::string(file_name(stem)), quant_of(stem + ".gguf"), {}, 0};
        if (choice.quant.empty())  // some repositories have a folder for each quantisation
            if (const std::size_t slash = stem.rfind('/'); slash != std::string::npos)
                choice.quant = quant_of(stem.substr(0, slash));
        for (auto& [number, file] : parts) {
            choice.bytes += file.bytes;
            choice.files.push_back(std::move(file));
        }
        found.choices.push_back(std::move(choice));
    }
    leave_out_small_matrices(found.choices);
    std::stable_sort(found.choices.begin(), found.choices.end(),
                     [](const ModelChoice& a, const ModelChoice& b) { return a.bytes < b.bytes; });
    return found;
}

Result<Chosen> choose(const ModelFiles& files, const std::string& file, const std::string& quant,
                      std::optional<std::int64_t> memory_bytes)
{
    if (files.choices.empty())
        return fail(Kind::NotFound, "there is no GGUF model in it");
    if (!file.empty()) {
        for (const bool whole_path : {true, false})
            for (const ModelChoice& choice : files.choices)
                for (const HubFile& f : choice.files)
                    if (whole_path ? f.path == file : file_name(f.path) == file)
                        return Chosen{choice, Why::Named, {}};
        return fail(Kind::NotFound, "there is no file " + file + " in it, but " + list_of(files.choices, true));
    }
    if (!quant.empty()) {
        std::vector<ModelChoice> named;
        for (const ModelChoice& choice : files.choices)
            if (choice.quant == capitals(quant))
                named.push_back(choice);
        if (named.empty())
            return fail(Kind::NotFound, "there is no " + quant + " in it, but " + list_of(files.choices, false));
        if (named.size() > 1)
            return fail(Kind::BadRequest, "it has several with " + quant +
                                              ", of which the file's name has to say one: " + list_of(named, true));
        return Chosen{named.front(), Why::Named, {}};
    }
    return recommended(files.choices, memory_bytes);
}

}  // namespace net
