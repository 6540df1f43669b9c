// GPT-2's alphabet, as defined by bytes_to_unicode() of openai/gpt-2 (encoder.py).
#include "engine/tokenizer/byte_alphabet.h"

#include "engine/tokenizer/utf8.h"

#include <array>

namespace engine {

namespace {

constexpr int kHighest = 0x143;  // 256 + the 68 bytes that are not printable, less one

bool printable(int byte)
{
    return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

struct Alphabet {
    std::array<std::string, 256> letters;
    std::array<short, kHighest + 1> bytes;  // by code point; -1: not a letter

    Alphabet()
    {
        bytes.fill(-1);
        int next = 0x100;
        for (int byte = 0; byte < 256; ++byte) {
            const int code = printable(byte) ? byte : next++;
            bytes[std::size_t(code)] = short(byte);
            std::string& letter = letters[std::size_t(byte)];
            if (code >= 0x80)
                letter.push_back(char(0xc0 | (code >> 6)));
            letter.push_back(char(code >= 0x80 ? 0x80 | (code & 0x3f) : code));
        }
    }
};

const Alphabet& alphabet()
{
    static const Alphabet instance;
    return instance;
}

/// Returns the byte of a letter of at most two bytes, or -1.
int byte_of(std::string_view letter)
{
    int code = kHighest + 1;
    if (letter.size() == 1)
        code = static_cast<unsigned char>(letter[0]);
    else if (letter.size() == 2)
        code = ((letter[0] & 0x1f) << 6) | (letter[1] & 0x3f);
    return code <= kHighest ? alphabet().bytes[std::size_t(code)] : -1;
}

}  // namespace

std::string_view byte_letter(unsigned char byte)
{
    return alphabet().letters[byte];
}

std::string bytes_of_letters(std::string_view letters)
{
    std::string bytes;
    for (std::size_t at = 0; at < letters.size();) {
        const std::string_view letter = letters.substr(at, utf8_step(letters, at));
        const int byte = byte_of(letter);
        if (byte >= 0)
            bytes.push_back(char(byte));
        else
            bytes.append(letter);
        at += letter.size();
    }
    return bytes;
}

}  // namespace engine
