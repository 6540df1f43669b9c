// strftime without the C library's, whose letters and languages differ between systems.
#include "engine/template/strftime.h"

#include "engine/template/output.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>

namespace engine::jinja {

std::tm local_time_now()
{
    static std::mutex one_at_a_time;  // std::localtime returns a buffer that all threads share
    const std::lock_guard lock(one_at_a_time);
    const std::time_t now = std::time(nullptr);
    const std::tm* local = std::localtime(&now);
    return local ? *local : std::tm{};
}

static constexpr std::string_view kDays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                             "Thursday", "Friday", "Saturday"};
static constexpr std::string_view kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                               "July",    "August",   "September", "October", "November", "December"};

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int day_of_year(const std::tm& t)  // 0 = 1 January
{
    static constexpr int kBefore[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    return kBefore[t.tm_mon] + t.tm_mday - 1 + (t.tm_mon > 1 && is_leap(t.tm_year + 1900) ? 1 : 0);
}

static int weekday(const std::tm& t)  // 0 = Sunday; by Sakamoto's method, since callers leave tm_wday empty
{
    static constexpr int kShift[] = {0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4};
    const int year = t.tm_year + 1900 - (t.tm_mon < 2 ? 1 : 0);
    return (year + year / 4 - year / 100 + year / 400 + kShift[t.tm_mon] + t.tm_mday) % 7;
}

namespace {

struct IsoWeek {
    int year, week;
};

struct Field {
    std::string text;
    char padding = '\0';  // for numbers: the character that fills them up
    std::size_t width = 0;
};

}  // namespace

static IsoWeek iso_week(const std::tm& t)
{
    const int year = t.tm_year + 1900;
    const int monday_based = (weekday(t) + 6) % 7;
    int week = (day_of_year(t) - monday_based + 10) / 7;
    const auto weeks_in = [](int y) {
        const auto last_day = [](int x) { return (x + x / 4 - x / 100 + x / 400) % 7; };
        return last_day(y) == 4 || last_day(y - 1) == 3 ? 53 : 52;
    };
    if (week < 1)
        return {year - 1, weeks_in(year - 1)};
    if (week > weeks_in(year))
        return {year + 1, 1};
    return {year, week};
}

static Field number(int value, std::size_t width, char padding = '0')
{
    return {std::to_string(value), padding, width};
}

// Returns the conversions that a letter is short for; most letters are short for none.
static std::string_view composed(char letter)
{
    switch (letter) {
    case 'c':
        return "%a %b %e %H:%M:%S %Y";
    case 'x':
    case 'D':
        return "%m/%d/%y";
    case 'X':
    case 'T':
        return "%H:%M:%S";
    case 'F':
        return "%Y-%m-%d";
    case 'R':
        return "%H:%M";
    case 'r':
        return "%I:%M:%S %p";
    default:
        return {};
    }
}

static bool text_field(char letter, const std::tm& t, Field& field)
{
    const std::string_view day = kDays[weekday(t)], month = kMonths[t.tm_mon];
    switch (letter) {
    case 'a':
        field.text = day.substr(0, 3);
        return true;
    case 'A':
        field.text = day;
        return true;
    case 'b':
    case 'h':
        field.text = month.substr(0, 3);
        return true;
    case 'B':
        field.text = month;
        return true;
    case 'p':
        field.text = t.tm_hour < 12 ? "AM" : "PM";
        return true;
    case 'P':
        field.text = t.tm_hour < 12 ? "am" : "pm";
        return true;
    case 'n':
        field.text = "\n";
        return true;
    case 't':
        field.text = "\t";
        return true;
    case '%':
        field.text = "%";
        return true;
    case 'z':  // the time carries no zone, as in Python
    case 'Z':
        return true;
    default:
        return false;
    }
}

static bool number_field(char letter, const std::tm& t, Field& field)
{
    const int year = t.tm_year + 1900, hour12 = t.tm_hour % 12 == 0 ? 12 : t.tm_hour % 12;
    switch (letter) {
    case 'd':
        field = number(t.tm_mday, 2);
        return true;
    case 'e':
        field = number(t.tm_mday, 2, ' ');
        return true;
    case 'm':
        field = number(t.tm_mon + 1, 2);
        return true;
    case 'y':
        field = number(year % 100, 2);
        return true;
    case 'Y':
        field = number(year, 0);
        return true;
    case 'C':
        field = number(year / 100, 2);
        return true;
    case 'H':
        field = number(t.tm_hour, 2);
        return true;
    case 'k':
        field = number(t.tm_hour, 2, ' ');
        return true;
    case 'I':
        field = number(hour12, 2);
        return true;
    case 'l':
        field = number(hour12, 2, ' ');
        return true;
    case 'M':
        field = number(t.tm_min, 2);
        return true;
    case 'S':
        field = number(t.tm_sec, 2);
        return true;
    case 'f':
        field = number(0, 6);
        return true;
    case 'j':
        field = number(day_of_year(t) + 1, 3);
        return true;
    case 'w':
        field = number(weekday(t), 1);
        return true;
    case 'u':
        field = number((weekday(t) + 6) % 7 + 1, 1);
        return true;
    case 'U':
        field = number((day_of_year(t) + 7 - weekday(t)) / 7, 2);
        return true;
    case 'W':
        field = number((day_of_year(t) + 7 - (weekday(t) + 6) % 7) / 7, 2);
        return true;
    case 'G':
        field = number(iso_week(t).year, 4);
        return true;
    case 'g':
        field = number(iso_week(t).year % 100, 2);
        return true;
    case 'V':
        field = number(iso_week(t).week, 2);
        return true;
    default:
        return false;
    }
}

static std::string padded(Field field, char flag)
{
    if (flag == '_')
        field.padding = ' ';
    if (flag == '0')
        field.padding = '0';
    if (flag != '-' && field.text.size() < field.width)
        field.text.insert(0, field.width - field.text.size(), field.padding);
    if (flag == '^')
        std::transform(field.text.begin(), field.text.end(), field.text.begin(),
                       [](char c) { return char(c >= 'a' && c <= 'z' ? c - 32 : c); });
    return field.text;
}

// Makes each number one of a real date: the C library takes any in a std::tm.
static std::tm within_calendar(std::tm t)
{
    t.tm_year = std::clamp(t.tm_year, -1899, 8099);
    t.tm_mon = std::clamp(t.tm_mon, 0, 11);
    t.tm_mday = std::clamp(t.tm_mday, 1, 31);
    t.tm_hour = std::clamp(t.tm_hour, 0, 23);
    t.tm_min = std::clamp(t.tm_min, 0, 59);
    t.tm_sec = std::clamp(t.tm_sec, 0, 60);
    return t;
}

static void write(Output& out, std::string_view format, const std::tm& t)
{
    for (std::size_t at = 0; at < format.size(); ++at) {
        if (format[at] != '%' || at + 1 >= format.size()) {
            out.add(format.substr(at, 1));
            continue;
        }
        const std::size_t start = at++;
        const char flag = std::string_view("-_0^#").find(format[at]) != std::string_view::npos ? format[at] : '\0';
        if (flag != '\0' && at + 1 < format.size())
            ++at;
        Field field;
        if (const std::string_view parts = composed(format[at]); !parts.empty())
            write(out, parts, t);
        else if (text_field(format[at], t, field) || number_field(format[at], t, field))
            out.add(padded(field, flag));
        else
            out.add(format.substr(start, at - start + 1));
    }
}

std::string strftime(Heap& heap, std::string_view format, const std::tm& time)
{
    Output out(heap);
    write(out, format, within_calendar(time));
    return out.take().take_bytes();
}

}  // namespace engine::jinja
