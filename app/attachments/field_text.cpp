#include "app/attachments/field_text.h"

#include <algorithm>

namespace {

constexpr qsizetype kLongestInField = 200'000;          // Qt lays it out without a pause that one notices
constexpr qsizetype kLongestParagraphInField = 40'000;  // takes Qt 50 ms for each key

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
