#include "engine/gguf/ollama_templates.h"

#include <algorithm>
#include <iterator>

namespace engine {

namespace {

// What a message says; some have no content.
#define SAID "{{ (m.content or '') | trim }}"

// What the system says stands before the first question.
constexpr std::string_view kGemma =
    "{{ bos_token }}{% set turns = messages %}{% set before = '' %}"
    "{% if messages[0].role == 'system' %}"
    "{% set before = messages[0].content + '\\n\\n' %}{% set turns = messages[1:] %}{% endif %}"
    "{% for m in turns %}{{ '<start_of_turn>' + ('model' if m.role == 'assistant' else 'user') + '\\n' }}"
    "{% if loop.first %}{{ before }}{% endif %}" SAID "{{ '<end_of_turn>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\\n' }}{% endif %}";

// What both sizes of Gemma 4 have in common; the generation prompt is still open.
#define GEMMA4                                                                                                         \
    "{{ bos_token }}{% set turns = messages %}{% set thinks = enable_thinking is defined and enable_thinking %}"       \
    "{% set instructed = messages[0].role in ['system', 'developer'] %}"                                               \
    "{% if thinks or instructed %}{{ '<|turn>system\\n' }}{% if thinks %}{{ '<|think|>\\n' }}{% endif %}"              \
    "{% if instructed %}{{ messages[0].content | trim }}{% set turns = messages[1:] %}{% endif %}"                     \
    "{{ '<turn|>\\n' }}{% endif %}"                                                                                    \
    "{% for m in turns %}{{ '<|turn>' + ('model' if m.role == 'assistant' else m.role) + '\\n' }}" SAID                \
    "{{ '<turn|>\\n' }}{% endfor %}"                                                                                   \
    "{% if add_generation_prompt %}{{ '<|turn>model\\n' }}"

// An empty thought stands before an answer without one, but for the small models.
constexpr std::string_view kGemma4 =
    GEMMA4 "{% if not thinks %}{{ '<|channel>thought\\n<channel|>' }}{% endif %}{% endif %}";
constexpr std::string_view kGemma4Small = GEMMA4 "{% endif %}";

// The instructions of a developer are what others call the system's.
constexpr std::string_view kGptOss =
    "{{ '<|start|>system<|message|>You are ChatGPT, a large language model trained by OpenAI.\\n"
    "Knowledge cutoff: 2024-06\\nCurrent date: ' + strftime_now('%Y-%m-%d') + '\\n\\nReasoning: ' + "
    "(reasoning_effort or 'medium') + '\\n\\n# Valid channels: analysis, commentary, final. "
    "Channel must be included for every message.<|end|>' }}"
    "{% for m in messages %}"
    "{% if m.role in ['system', 'developer'] %}"
    "{{ '<|start|>developer<|message|># Instructions\\n\\n' + m.content + '<|end|>' }}"
    "{% elif m.role == 'assistant' %}"
    "{{ '<|start|>assistant<|channel|>final<|message|>' + (m.content or '') + '<|end|>' }}"
    "{% else %}{{ '<|start|>user<|message|>' + (m.content or '') + '<|end|>' }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}";

constexpr std::string_view kMistral3 =
    "{{ bos_token }}{% for m in messages %}"
    "{% if m.role == 'system' %}{{ '[SYSTEM_PROMPT]' + m.content + '[/SYSTEM_PROMPT]' }}"
    "{% elif m.role == 'assistant' %}{{ (m.content or '') + eos_token }}"
    "{% else %}{{ '[INST]' + (m.content or '') + '[/INST]' }}{% endif %}{% endfor %}";

// A thought is closed before each answer, or opened.
constexpr std::string_view kGlmFlash =
    "[gMASK]<sop>{% for m in messages %}"
    "{% if m.role == 'assistant' %}<|assistant|></think>" SAID
    "{% else %}{{ ('<|system|>' if m.role == 'system' else '<|user|>') + (m.content or '') }}{% endif %}{% endfor %}"
    "{% if add_generation_prompt %}"
    "{{ '<|assistant|>' + ('</think>' if enable_thinking is defined and not enable_thinking else '<think>') }}{% endif "
    "%}";

constexpr std::string_view kLfm2 =
    "{{ bos_token }}{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + (m.content or '') + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

// The Instruct models always have a system. Nothing in a file tells Think models from them, which therefore get the
// same template and lack the mark that opens their thoughts.
constexpr std::string_view kOlmo3 =
    "{% if messages[0].role != 'system' %}"
    "{{ '<|im_start|>system\\nYou are a helpful function-calling AI assistant. "
    "You do not currently have access to any functions. <functions></functions><|im_end|>\\n' }}{% endif %}"
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + (m.content or '') + '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}";

// There is always a system, which may have nothing to say.
constexpr std::string_view kNemotron3 =
    "{% if messages[0].role != 'system' %}{{ '<|im_start|>system\\n<|im_end|>\\n' }}{% endif %}"
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' }}"
    "{% if m.role == 'assistant' %}{{ '<think></think>' }}" SAID "{% else %}{{ m.content or '' }}{% endif %}"
    "{{ '<|im_end|>\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}"
    "{{ '<think></think>' if enable_thinking is defined and not enable_thinking else '<think>\\n' }}{% endif %}";

#undef GEMMA4
#undef SAID

struct Family {
    std::string_view architecture, chat_template;
};
constexpr Family kFamilies[] = {
    {"gemma3", kGemma},   {"gemma3n", kGemma},     {"gemma4", kGemma4},
    {"gpt-oss", kGptOss}, {"mistral3", kMistral3}, {"deepseek2", kGlmFlash},
    {"lfm2", kLfm2},      {"olmo2", kOlmo3},       {"nemotron_h_moe", kNemotron3},
};

}  // namespace

std::string_view template_of_family(std::string_view architecture, bool inputs_per_layer)
{
    if (architecture == "gemma4" && inputs_per_layer)
        return kGemma4Small;
    const auto found = std::ranges::find(kFamilies, architecture, &Family::architecture);
    return found == std::end(kFamilies) ? std::string_view() : found->chat_template;
}

}  // namespace engine
