// Writes the small valid files that fuzz_gguf starts from.
#include "tests/support/gguf_writer.h"

#include <cstdio>

using support::GgufWriter;

namespace {

GgufWriter::Bytes zeros(std::size_t n)
{
    return GgufWriter::Bytes(n);
}

GgufWriter llama()
{
    GgufWriter w;
    w.string("general.architecture", "llama").u32("llama.block_count", 2).u32("llama.context_length", 64);
    w.u32("llama.embedding_length", 32).u32("llama.attention.head_count", 4);
    w.i32s("llama.attention.head_count_kv", std::vector<std::int32_t>{2, 1}).u32("general.file_type", 7);
    w.strings("tokenizer.ggml.tokens", {"<s>", "a", "b"}).string("tokenizer.ggml.model", "llama");
    return w.tensor("token_embd.weight", 0, {32, 3}, zeros(384)).tensor("q", 8, {32, 2}, zeros(68));
}

GgufWriter all_kinds()
{
    GgufWriter w;
    w.version = 2;
    w.u8("a", 1).i8("b", 1).u16("c", 1).i16("d", 1).u32("e", 1).i32("f", 1).f32("g", 1).boolean("h", true);
    w.string("i", "text").u64("j", 1).i64("k", 1).f64("l", 1).strings("m", {"x", ""});
    w.floats("n", std::vector<float>{1})
        .raw("o", 9, GgufWriter::bytes_of(std::vector<std::uint32_t>{9, 1, 0, 4, 1, 0, 7}));
    return w;
}

GgufWriter all_types()
{
    GgufWriter w;
    w.alignment = 8;
    w.string("general.architecture", "x").u32("general.alignment", 8);
    for (std::uint32_t type = 0; type < 44; ++type)
        w.tensor("t" + std::to_string(type), type, {256, 1}, zeros(2048));
    return w;
}

}  // namespace

int main(int argc, char** argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: fuzz_gguf_seeds FOLDER\n");
        return 2;
    }
    const std::filesystem::path folder = argv[1];
    std::filesystem::create_directories(folder);
    GgufWriter().save(folder / "empty.gguf");
    llama().save(folder / "llama.gguf");
    all_kinds().save(folder / "kinds.gguf");
    all_types().save(folder / "types.gguf");
    llama().u16("split.no", 1).u16("split.count", 3).i32("split.tensors.count", 2).save(folder / "split.gguf");
    return 0;
}
