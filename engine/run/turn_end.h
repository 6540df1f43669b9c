// Finds the token with which a chat template ends an answer.
#pragma once

namespace engine {

class ChatTemplate;
class Tokenizer;

/// Returns the first special token behind an answer that the template writes inside of no answer: where a model says
/// it, its turn is over, whether the file names it as an end or not. kNoToken where there is none, or the template
/// shows none.
int turn_end(const ChatTemplate& chat_template, const Tokenizer& tokenizer);

}  // namespace engine
