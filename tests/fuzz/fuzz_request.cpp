// Reads any bytes as what other programs send to the server, for libFuzzer: HTTP is read alike however it is cut, and
// each dialect makes of any body a turn or a sentence.
#include "app/server/anthropic_messages.h"
#include "app/server/http_reader.h"
#include "app/server/llama_completion.h"
#include "app/server/ollama.h"
#include "app/server/openai_chat.h"
#include "app/server/openai_completions.h"
#include "app/server/openai_responses.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

namespace {

using namespace server;

constexpr HttpLimits kLimits = {.head_bytes = 4096, .header_lines = 20, .body_bytes = 4096};

/// Reads the bytes in pieces of `most`, until the request is whole or refused.
HttpReader read_in_pieces(std::string_view bytes, std::size_t most)
{
    HttpReader reader(kLimits);
    while (!bytes.empty() && (reader.state() == HttpReader::State::Head || reader.state() == HttpReader::State::Body)) {
        const std::size_t took = reader.feed(bytes.substr(0, most));
        if (took > std::min(most, bytes.size()))
            std::abort();
        if (took == 0)
            most = bytes.size();  // a piece is too short for it: it gets all that is left
        bytes.remove_prefix(took);
    }
    return reader;
}

void try_http(std::string_view bytes)
{
    const HttpReader whole = read_in_pieces(bytes, bytes.size());
    const HttpReader cut = read_in_pieces(bytes, 1);
    if (whole.state() != cut.state() || whole.request().body != cut.request().body ||
        whole.refusal().status != cut.refusal().status)
        std::abort();
}

/// Writes each kind of event, and a whole answer, in the words of the API that was asked.
void say_answer(Wording& wording)
{
    const Answer answer{"text", "thought", {{"id", "name", "{\"a\": 1}"}}, {}, {}};
    for (const TurnEvent& event :
         {TurnEvent(Started{7}), TurnEvent(ThoughtPiece{"thought"}), TurnEvent(TextPiece{"text"}),
          TurnEvent(CallBegun{0, "id", "name"}), TurnEvent(CallArguments{0, "{\"a\": 1}"}), TurnEvent(Ended{})})
        wording.piece(event);
    wording.whole(answer);
}

void try_dialect(const Dialect& dialect, std::string_view text)
{
    const auto body = parse_body(text);
    if (!body)
        return;
    auto asked = dialect.read(*body, {"model", {}, nullptr});
    if (asked)
        say_answer(*asked->wording);
    else if (asked.error().sentence.empty() || dialect.error(asked.error()).empty())
        std::abort();  // nobody would learn what is wrong
}

}  // namespace

/// The first byte says which reader the rest is for.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    static const OpenAiChat chat;
    static const OpenAiCompletions completions;
    static const OpenAiResponses responses;
    static const AnthropicMessages messages;
    static const OllamaChat ollama_chat;
    static const OllamaGenerate ollama_generate;
    static const LlamaCompletion llama_completion;
    static const std::array<const Dialect*, 7> dialects = {&chat,        &completions,     &responses,       &messages,
                                                           &ollama_chat, &ollama_generate, &llama_completion};
    if (size == 0)
        return 0;
    const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
    if (const std::size_t which = data[0] % (dialects.size() + 1); which < dialects.size())
        try_dialect(*dialects[which], rest);
    else
        try_http(rest);
    return 0;
}
