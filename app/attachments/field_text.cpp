#include "app/attachments/field_text.h"

#include <algorithm>

namespace {

constexpr qsizetype kLongestInField = 200'000;          // laid out without a pause that one notices
constexpr qsizetype kLongestParagraphInField = 40'000;  // 50 ms a key

}  // namespace

qsizetype longestParagraph(QStringView text)
{
    qsizetype longest = 0;
    for (const QStringView paragraph : text.tokenize(u'\n'))
        longest = std::max(longest, paragraph.size());
    return longest;
}

bool fitsTheField(QStringView text)
{
    return text.size() <= kLongestInField && longestParagraph(text) <= kLongestParagraphInField;
}
