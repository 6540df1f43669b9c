#include "app/server/call_shapes.h"

#include "app/server/json_calls.h"
#include "app/server/named_calls.h"
#include "app/server/offered_tools.h"
#include "app/server/tagged_calls.h"
#include "app/server/unquoted_calls.h"

#include <array>

namespace server {

namespace {

/// Reads calls behind a mark that several families share: Hermes, Qwen 2.5 and 3 and Granite 4 write JSON, Qwen3-Coder
/// and later tags, GLM tags of its own.
ReadCalls read_marked(const CallBody& body)
{
    if (body.text.front() == '{' || body.text.front() == '[')
        return read_json_calls(body);
    return body.text.front() == '<' ? read_qwen_calls(body) : read_glm_call(body);
}

constexpr auto kShapes = std::to_array<CallShape>({
    {"<tool_call>", "</tool_call>", read_marked},
    {"[TOOL_CALLS]", "", read_mistral_calls},                                 // Mistral: an array, or NAME[ARGS]{...}
    {"<|python_tag|>", "", read_json_calls},                                  // Llama 3.1 and later
    {"<|tool_call|>", "", read_json_calls},                                   // Granite 3, Phi-4
    {"<TOOLCALL>", "</TOOLCALL>", read_json_calls},                           // Nemotron Nano 2
    {"<|START_ACTION|>", "<|END_ACTION|>", read_json_calls},                  // Command R7B and later
    {"<|tool_call_start|>", "<|tool_call_end|>", read_python_calls},          // LFM2
    {"<|tool_call>", "<tool_call|>", read_gemma_call},                        // Gemma 4
    {"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", read_deepseek_calls},  // DeepSeek V3, V3.1, R1
    {"<｜DSML｜function_calls>", "</｜DSML｜function_calls>", read_dsml_calls},  // DeepSeek V3.2
    {"<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", read_kimi_calls},
    {"<minimax:tool_call>", "</minimax:tool_call>", read_minimax_calls},
    {"<seed:tool_call>", "</seed:tool_call>", read_qwen_calls},
    // gpt-oss: in the first message of an answer, or in a further one
    {"to=functions.", "", read_addressed_call},
    {"<|channel|>commentary to=", "", read_addressed_call},
    {"<|channel|>analysis to=", "", read_addressed_call},
    {"<|start|>assistant to=", "", read_addressed_call},
    {"<|start|>assistant<|channel|>commentary to=", "", read_addressed_call},
    {"<|start|>assistant<|channel|>analysis to=", "", read_addressed_call},
    {"<|end|><|start|>assistant to=", "", read_addressed_call},
    {"<|end|><|start|>assistant<|channel|>commentary to=", "", read_addressed_call},
    {"<|end|><|start|>assistant<|channel|>analysis to=", "", read_addressed_call},
});

}  // namespace

std::span<const CallShape> call_shapes()
{
    return kShapes;
}

ReadCalls read_bare_calls(const CallBody& body)
{
    ReadCalls read = body.text.front() == '[' ? read_python_calls(body) : read_json_calls(body);
    const bool known = read.calls.empty() || offered_tool(body.tools, read.calls.front().name);
    return known ? read : no_calls();
}

}  // namespace server
