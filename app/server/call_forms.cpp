#include "app/server/call_forms.h"

#include <algorithm>

namespace server {

namespace {

constexpr ArgumentForm kInQwensTags = {
    R"("<parameter=" $NAME ">")", "", "</parameter>", R"("\n"?)", "</parameter>", "ws", ""};
constexpr ArgumentForm kInInvokeTags = {
    R"("<parameter name=\"" $NAME "\">")", "", "</parameter>", R"("\n"?)", "</parameter>", "ws", ""};
constexpr ArgumentForm kInDsmlTags = {R"("<｜DSML｜parameter name=\"" $NAME "\" string=\"")",
                                      R"("true\">")",
                                      "</｜DSML｜parameter>",
                                      R"("false\">")",
                                      "</｜DSML｜parameter>",
                                      "ws",
                                      ""};
constexpr ArgumentForm kInGlmsTags = {
    R"("<arg_key>" $NAME "</arg_key>" ws "<arg_value>")", "", "</arg_value>", R"("\n"?)", "</arg_value>", "ws", ""};
constexpr ArgumentForm kGemmas = {R"($NAME ":")", R"("<|\"|>")", "<|\"|>", "", "", "", R"(",")"};
constexpr ArgumentForm kPythons = {R"($NAME "=")", "", "", "", "", "", R"("," ws)"};

/// The rule of a call as most models write one.
constexpr std::string_view kJsonCall =
    R"("{" ws "\"name\":" ws $QUOTED ws "," ws "\"arguments\":" ws $ARGUMENTS ws "}")";

// The first form whose words are in the template is taken: forms with words that other templates have, too, come last.
constexpr auto kForms = std::to_array<CallForm>({
    {"DeepSeek V3.2",
     {"｜DSML｜"},
     "<｜DSML｜function_calls>",
     "",
     R"(ws "<｜DSML｜invoke name=\"" $NAME "\">" ws $ARGUMENTS "</｜DSML｜invoke>")",
     "ws",
     R"(ws "</｜DSML｜function_calls>")",
     &kInDsmlTags},
    {"MiniMax",
     {"<minimax:tool_call>"},
     "<minimax:tool_call>",
     "",
     R"(ws "<invoke name=\"" $NAME "\">" ws $ARGUMENTS "</invoke>")",
     "ws",
     R"(ws "</minimax:tool_call>")",
     &kInInvokeTags},
    {"Seed-OSS",
     {"<seed:tool_call>"},
     "<seed:tool_call>",
     "",
     R"(ws "<function=" $NAME ">" ws $ARGUMENTS "</function>")",
     "ws",
     R"(ws "</seed:tool_call>")",
     &kInQwensTags},
    {"Kimi",
     {"<|tool_calls_section_begin|>"},
     "<|tool_calls_section_begin|>",
     "",
     R"(ws "<|tool_call_begin|>functions." $NAME ":" [0-9]{1,3} ws "<|tool_call_argument_begin|>" ws $ARGUMENTS ws "<|tool_call_end|>")",
     "ws",
     R"(ws "<|tool_calls_section_end|>")"},
    {"DeepSeek R1",
     {"<｜tool▁calls▁begin｜>", "```json"},
     "<｜tool▁calls▁begin｜>",
     "",
     R"(ws "<｜tool▁call▁begin｜>function<｜tool▁sep｜>" $NAME "\n```json\n" $ARGUMENTS "\n```<｜tool▁call▁end｜>")",
     "ws",
     R"(ws "<｜tool▁calls▁end｜>")"},
    {"DeepSeek V3.1",
     {"tool▁calls▁begin"},
     "<｜tool▁calls▁begin｜>",
     "",
     R"(ws "<｜tool▁call▁begin｜>" $NAME "<｜tool▁sep｜>" $ARGUMENTS "<｜tool▁call▁end｜>")",
     "ws",
     R"(ws "<｜tool▁calls▁end｜>")"},
    {"Gemma 4",
     {"<|tool_call>"},
     "<|tool_call>",
     "",
     R"("call:" $NAME "{" $ARGUMENTS "}<tool_call|>")",
     R"("<|tool_call>")",
     "",
     &kGemmas},
    {"LFM2",
     {"<|tool_list_start|>"},
     "<|tool_call_start|>",
     R"("[")",
     R"g($NAME "(" $ARGUMENTS ")")g",
     R"("," ws)",
     R"("]<|tool_call_end|>")",
     &kPythons},
    {"LFM2.5",
     {"<|tool_call_start|>"},
     "<|tool_call_start|>",
     R"("[")",
     R"g($NAME "(" $ARGUMENTS ")")g",
     R"("," ws)",
     R"("]<|tool_call_end|>")",
     &kPythons},
    {"Command R7B",
     {"<|START_ACTION|>"},
     "<|START_ACTION|>",
     R"(ws "[" ws)",
     R"("{" ws "\"tool_call_id\":" ws "\"" [0-9]{1,3} "\"," ws "\"tool_name\":" ws $QUOTED "," ws "\"parameters\":" ws $ARGUMENTS ws "}")",
     R"(ws "," ws)",
     R"(ws "]" ws "<|END_ACTION|>")"},
    {"GLM",
     {"<tool_call>", "<arg_key>"},
     "<tool_call>",
     "",
     R"($NAME ws $ARGUMENTS "</tool_call>")",
     R"(ws "<tool_call>")",
     "",
     &kInGlmsTags},
    {"Qwen3-Coder",
     {"<tool_call>", "<function="},
     "<tool_call>",
     "",
     R"(ws "<function=" $NAME ">" ws $ARGUMENTS "</function>" ws "</tool_call>")",
     R"(ws "<tool_call>")",
     "",
     &kInQwensTags},
    {"Hermes",
     {"<tool_call>"},
     "<tool_call>",
     "ws",
     kJsonCall,
     R"(ws "</tool_call>" ws "<tool_call>" ws)",
     R"(ws "</tool_call>")"},
    {"Mistral",
     {"[TOOL_CALLS]", "[ARGS]"},
     "[TOOL_CALLS]",
     "",
     R"(ws $NAME ("[CALL_ID]" [a-zA-Z0-9]{9})? "[ARGS]" ws $ARGUMENTS)",
     R"(ws "[TOOL_CALLS]")",
     ""},
    {"Mistral, in a list", {"[TOOL_CALLS]"}, "[TOOL_CALLS]", R"(ws "[" ws)", kJsonCall, R"(ws "," ws)", R"(ws "]")"},
    {"Granite 3", {"<|tool_call|>"}, "<|tool_call|>", R"(ws "[" ws)", kJsonCall, R"(ws "," ws)", R"(ws "]")"},
    {"Nemotron Nano 2",
     {"<TOOLCALL>"},
     "<TOOLCALL>",
     R"(ws "[" ws)",
     kJsonCall,
     R"(ws "," ws)",
     R"(ws "]" ws "</TOOLCALL>")"},
    {"gpt-oss",
     {"<|channel|>", "functions."},
     "to=functions.",
     "",
     R"($NAME (" "? "<|channel|>" ("commentary" | "analysis"))? (" "? "<|constrain|>json" | " json")? " "? "<|message|>" ws $ARGUMENTS)",
     "",
     "",
     nullptr,
     R"(("<|channel|>analysis<|message|>" $THOUGHT "<|start|>assistant")?)",
     R"("<|channel|>commentary ")",
     R"("<|channel|>final<|message|>")"},
    {"Llama",
     {"\"parameters\": "},
     "",
     "",
     R"("{" ws ("\"type\":" ws "\"function\"," ws)? "\"name\":" ws $QUOTED ws "," ws "\"parameters\":" ws $ARGUMENTS ws "}")",
     "",
     ""},
    {"JSON", {""}, "", "", kJsonCall, R"(ws "," ws)", ""},
});

}  // namespace

std::span<const CallForm> call_forms()
{
    return kForms;
}

const CallForm& form_of_calls(std::string_view chat_template)
{
    const auto says = [&](std::string_view words) { return chat_template.find(words) != std::string_view::npos; };
    return *std::ranges::find_if(kForms,
                                 [&](const CallForm& form) { return std::ranges::all_of(form.in_template, says); });
}

}  // namespace server
