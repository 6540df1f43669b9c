#include "engine/shape_model.h"

#include "engine/caught.h"
#include "engine/files/mapped_file.h"
#include "engine/shape/gguf_header.h"
#include "engine/shape/header_like.h"
#include "engine/shape/tensor_writer.h"
#include "engine/shape/unnamed_file.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <new>
#include <numbers>
#include <system_error>

namespace engine {

namespace {

/// Adds a byte vocabulary of SentencePiece's kind, padded with words that no text has.
void add_vocabulary(GgufHeader& header, int size)
{
    constexpr std::int32_t kNormal = 1, kUnknown = 2, kControl = 3, kByte = 6;
    std::vector<std::string> tokens{"<unk>", "<s>", "</s>"};
    std::vector<std::int32_t> types{kUnknown, kControl, kControl};
    for (int b = 0; b < 256; ++b) {
        char text[8];
        std::snprintf(text, sizeof text, "<0x%02X>", unsigned(b));
        tokens.emplace_back(text);
        types.push_back(kByte);
    }
    while (int(tokens.size()) < size) {
        tokens.push_back("[" + std::to_string(tokens.size()) + "]");
        types.push_back(kNormal);
    }
    header.text("tokenizer.ggml.model", "llama");
    header.texts("tokenizer.ggml.tokens", tokens);
    header.reals("tokenizer.ggml.scores", std::vector<float>(tokens.size()));
    header.numbers("tokenizer.ggml.token_type", types);
    header.number("tokenizer.ggml.unknown_token_id", 0);
    header.number("tokenizer.ggml.bos_token_id", 1);
    header.number("tokenizer.ggml.eos_token_id", 2);
}

void add_heads(GgufHeader& header, const ModelShape& s)
{
    const std::string p = std::string(s.architecture) + ".";
    const int key = s.latent.rank > 0 ? s.latent.rank + s.latent.rotated : s.head_length;
    const int value = s.latent.rank > 0 ? s.latent.rank : s.head_length;
    header.number(p + "attention.key_length", std::uint32_t(key));
    header.number(p + "attention.value_length", std::uint32_t(value));
    header.number(p + "rope.dimension_count", std::uint32_t(s.rotated > 0 ? s.rotated : s.head_length));
    if (s.layer_kinds.find_first_not_of('a') == s.layer_kinds.npos || s.gated_queries)
        return header.number(p + "attention.head_count_kv", std::uint32_t(s.kv_heads));
    std::vector<std::int32_t> kv_heads;  // tells which layers attend
    for (int l = 0; l < s.layers; ++l)
        kv_heads.push_back(s.kind(l) == 'a' ? s.kv_heads : 0);
    header.numbers(p + "attention.head_count_kv", kv_heads);
}

void add_feed_forward(GgufHeader& header, const ModelShape& s)
{
    const std::string key = std::string(s.architecture) + ".feed_forward_length";
    if (!s.one_part())
        return header.number(key, std::uint32_t(s.feed_forward));
    std::vector<std::int32_t> lengths;
    for (int l = 0; l < s.layers; ++l)
        lengths.push_back(s.kind(l) == 'f' ? s.feed_forward : 0);
    header.numbers(key, lengths);
}

void add_state(GgufHeader& header, const ModelShape& s)
{
    const std::string p = std::string(s.architecture) + ".";
    const StateParts& state = s.state;
    if (state.kind == StateParts::Kind::Convolution)
        return header.number(p + "shortconv.l_cache", std::uint32_t(state.conv_width));
    header.number(p + "ssm.conv_kernel", std::uint32_t(state.conv_width));
    header.number(p + "ssm.state_size", std::uint32_t(state.size));
    header.number(p + "ssm.group_count", std::uint32_t(state.groups));
    header.number(p + "ssm.time_step_rank", std::uint32_t(state.heads));
    header.number(p + "ssm.inner_size", std::uint32_t(state.inner()));
    if (s.gated_queries)
        header.number(p + "full_attention_interval", std::uint32_t(s.layer_kinds.size()));
}

void add_latent(GgufHeader& header, const ModelShape& s)
{
    const std::string p = std::string(s.architecture) + ".";
    header.number(p + "attention.kv_lora_rank", std::uint32_t(s.latent.rank));
    if (s.latent.query_rank > 0)
        header.number(p + "attention.q_lora_rank", std::uint32_t(s.latent.query_rank));
    header.number(p + "attention.key_length_mla", std::uint32_t(s.latent.plain + s.latent.rotated));
    header.number(p + "attention.value_length_mla", std::uint32_t(s.latent.value));
}

void add_experts(GgufHeader& header, const ModelShape& s)
{
    constexpr std::uint32_t kSoftmax = 1, kSigmoid = 2;  // llama.cpp, include/llama.h
    const std::string p = std::string(s.architecture) + ".";
    const ShapeExperts& e = s.experts;
    header.number(p + "expert_count", std::uint32_t(e.count));
    header.number(p + "expert_used_count", std::uint32_t(e.used));
    header.number(p + "expert_feed_forward_length", std::uint32_t(e.feed_forward));
    header.number(p + "leading_dense_block_count", std::uint32_t(e.dense_layers));
    if (e.shared_feed_forward > 0)
        header.number(p + "expert_shared_feed_forward_length", std::uint32_t(e.shared_feed_forward));
    header.number(p + "expert_gating_func", e.sigmoid ? kSigmoid : kSoftmax);
    header.flag(p + "expert_weights_norm", e.sum_to_one);
    header.real(p + "expert_weights_scale", e.scale);
}

void add_gemma4(GgufHeader& header, const ModelShape& s)
{
    const std::string p = std::string(s.architecture) + ".";
    const Gemma4Parts& g = s.gemma4;
    std::vector<std::int32_t> kv_heads, ffn;
    std::vector<bool> slides;
    for (int l = 0; l < s.layers; ++l) {
        kv_heads.push_back(g.full(l) ? g.full_kv_heads : s.kv_heads);
        slides.push_back(!g.full(l));
        ffn.push_back(s.feed_forward_of(l));
    }
    header.numbers(p + "attention.head_count_kv", kv_heads);
    header.flags(p + "attention.sliding_window_pattern", slides);
    header.numbers(p + "feed_forward_length", ffn);
    for (const char* key : {"attention.key_length", "attention.value_length", "rope.dimension_count"}) {
        header.number(p + key, std::uint32_t(g.full_head_length));
        header.number(p + key + "_swa", std::uint32_t(s.head_length));
    }
    header.real(p + "rope.freq_base_swa", 1e4f);
    header.real(p + "final_logit_softcapping", 30.0f);
    header.number(p + "attention.shared_kv_layers", std::uint32_t(g.shared_kv_layers));
    header.number(p + "embedding_length_per_layer_input", std::uint32_t(g.side));
}

GgufHeader make_header(const ModelShape& s, const Quantisation& quantisation, std::span<const ShapeTensor> tensors)
{
    GgufHeader header;
    const std::string p = std::string(s.architecture) + ".";
    header.text("general.architecture", s.architecture);
    header.text("general.name", "random " + std::string(s.name) + " " + std::string(quantisation.name));
    header.number("general.file_type", std::uint32_t(quantisation.file_type));
    header.number("general.quantization_version", 2);
    header.number(p + "block_count", std::uint32_t(s.layers + (s.mtp ? 1 : 0)));
    if (s.mtp)
        header.number(p + "nextn_predict_layers", 1);
    header.number(p + "context_length", std::uint32_t(s.context));
    header.number(p + "embedding_length", std::uint32_t(s.embedding));
    if (s.gemma4.period == 0)
        add_feed_forward(header, s);
    header.number(p + "attention.head_count", std::uint32_t(s.heads));
    if (s.gemma4.period > 0)
        add_gemma4(header, s);
    else
        add_heads(header, s);
    header.real(p + "attention.layer_norm_rms_epsilon", 1e-5f);
    header.real(p + "rope.freq_base", s.rope_base);
    if (s.yarn_factor > 0) {
        header.text(p + "rope.scaling.type", "yarn");
        header.real(p + "rope.scaling.factor", s.yarn_factor);
        header.number(p + "rope.scaling.original_context_length", std::uint32_t(float(s.context) / s.yarn_factor));
    }
    if (!s.turns)
        header.flag(p + "rope.scaling.finetuned", false);
    if (s.state.kind != StateParts::Kind::None)
        add_state(header, s);
    if (s.latent.rank > 0)
        add_latent(header, s);
    if (s.experts.count > 0)
        add_experts(header, s);
    if (s.window > 0)
        header.number(p + "attention.sliding_window", std::uint32_t(s.window));
    add_vocabulary(header, s.vocabulary);
    for (const ShapeTensor& tensor : tensors)
        header.tensor(tensor);
    return header;
}

/// Returns what each frequency is divided by: long waves by the whole factor, short ones not at all, and between them a
/// mix.
std::vector<float> rope_factors(const ModelShape& s)
{
    std::vector<float> factors;
    const StretchedRope& r = s.stretch;
    for (int i = 0; i < s.head_length / 2; ++i) {
        const double frequency = std::pow(double(s.rope_base), -2.0 * i / s.head_length);
        const double wave = 2 * std::numbers::pi / frequency;
        const double smooth = std::clamp((r.original_context / wave - r.low) / double(r.high - r.low), 0.0, 1.0);
        factors.push_back(float(1 / ((1 - smooth) / r.factor + smooth)));
    }
    return factors;
}

std::string listed(const std::vector<std::string>& names)
{
    std::string out;
    for (const std::string& name : names)
        out += (out.empty() ? "" : ", ") + name;
    return out;
}

template <class Row>
Result<const Row*> find(std::span<const Row> rows, std::string_view name, const char* what,
                        const std::vector<std::string>& names)
{
    const auto found = std::ranges::find(rows, name, &Row::name);
    if (found == rows.end())
        return fail(Error::Code::BadRequest, "the " + std::string(what) + " '" + std::string(name.substr(0, 60)) +
                                                 "' is none of " + listed(names));
    return &*found;
}

/// So much room is left: a disk that is filled to its end stops other programs, too.
constexpr std::uintmax_t kRoomLeftBytes = 2'000'000'000;
constexpr std::uintmax_t kRoomLeftDivisor = 20;  // of the disk: 5 %

Status check_room(const std::filesystem::path& folder, std::int64_t bytes)
{
    std::error_code error;
    const std::filesystem::space_info space = std::filesystem::space(folder, error);
    if (error)
        return {};  // where this cannot be asked, writing will tell
    const std::uintmax_t left = std::max(kRoomLeftBytes, space.capacity / kRoomLeftDivisor);
    if (space.available >= left && space.available - left >= std::uintmax_t(bytes))
        return {};
    char text[160];
    std::snprintf(text, sizeof text, "the model takes %.2f GB, %.2f GB are to stay free, and %.2f GB are free in ",
                  double(bytes) / 1e9, double(left) / 1e9, double(space.available) / 1e9);
    return fail(Error::Code::CannotWrite, text + path_text(folder));
}

Result<UnnamedFile> write_model(const std::filesystem::path& folder, const std::string& head,
                                std::span<const ShapeTensor> tensors, const TensorWriter::Form& form,
                                const std::function<bool(double)>& on_progress)
{
    std::int64_t data_bytes = 0;
    for (const ShapeTensor& tensor : tensors)
        data_bytes += aligned_to(form.alignment, tensor.bytes());
    if (Status room = check_room(folder, std::int64_t(head.size()) + data_bytes); !room)
        return tl::unexpected(room.error());
    auto file = UnnamedFile::create(folder);
    if (!file)
        return file;
    TensorWriter writer(*file, form, data_bytes, on_progress);
    Status written = file->write(std::as_bytes(std::span(head)));
    for (std::size_t i = 0; i < tensors.size() && written; ++i)
        written = writer.write(tensors[i]);
    if (written)
        written = file->finish();
    if (!written)
        return tl::unexpected(written.error());
    return file;
}

}  // namespace

class ShapeModel::File
{
public:
    explicit File(UnnamedFile file)
        : file_(std::move(file))
    {
    }
    const std::filesystem::path& path() const { return file_.path(); }

private:
    UnnamedFile file_;
};

ShapeModel::ShapeModel(std::unique_ptr<File> file)
    : file_(std::move(file))
{
}
ShapeModel::ShapeModel(ShapeModel&&) noexcept = default;
ShapeModel& ShapeModel::operator=(ShapeModel&&) noexcept = default;
ShapeModel::~ShapeModel() = default;

const std::filesystem::path& ShapeModel::path() const
{
    return file_->path();
}

Result<ShapeModel> ShapeModel::make(std::string_view name, const std::filesystem::path& folder,
                                    const std::function<bool(double)>& on_progress)
try {
    const std::size_t colon = name.find(':');
    const auto shape = find(known_shapes(), name.substr(0, colon), "shape", shape_names());
    const auto quantisation =
        find(known_quantisations(), colon == name.npos ? known_quantisations().front().name : name.substr(colon + 1),
             "quantisation", shape_quantisations());
    if (!shape || !quantisation)
        return tl::unexpected(shape ? quantisation.error() : shape.error());

    const std::vector<ShapeTensor> tensors = shape_tensors(**shape, **quantisation);
    const GgufHeader header = make_header(**shape, **quantisation, tensors);
    const std::string head = header.bytes();
    auto file = write_model(folder, head, tensors,
                            {.alignment = GgufHeader::kAlignment, .rope_factors = rope_factors(**shape)}, on_progress);
    if (!file)
        return tl::unexpected(file.error());
    return ShapeModel(std::make_unique<File>(std::move(*file)));
} catch (...) {
    return caught("to make the model");
}

Result<ShapeModel> ShapeModel::like(const std::filesystem::path& model, const std::filesystem::path& folder,
                                    const std::function<bool(double)>& on_progress)
try {
    const auto header = header_like(model);
    if (!header)
        return tl::unexpected(header.error());
    auto file = write_model(folder, header->bytes, header->tensors, {.alignment = header->alignment}, on_progress);
    if (!file)
        return tl::unexpected(file.error());
    return ShapeModel(std::make_unique<File>(std::move(*file)));
} catch (...) {
    return caught("to make the model");
}

std::vector<std::string> shape_names()
{
    std::vector<std::string> names;
    for (const ModelShape& shape : known_shapes())
        names.emplace_back(shape.name);
    return names;
}

std::vector<std::string> shape_quantisations()
{
    std::vector<std::string> names;
    for (const Quantisation& quantisation : known_quantisations())
        names.emplace_back(quantisation.name);
    return names;
}

int shape_experts(std::string_view name)
{
    const auto shapes = known_shapes();
    const auto found = std::ranges::find(shapes, name, &ModelShape::name);
    return found == shapes.end() ? 0 : found->experts.count;
}

}  // namespace engine
