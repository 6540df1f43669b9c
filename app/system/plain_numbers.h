// usePlainNumbers() keeps the desktop's way to write numbers out of what programs read.
#pragma once

#include <clocale>

/// Makes the C library write and read numbers with a point. Call it right after the application has been made, which
/// takes over the desktop's language for the whole C library: with German, snprintf() would write "3,14 GB", which the
/// window does not find in the engine's sentences to translate them, and other programs cannot read in the server's
/// answers. QLocale, which shows numbers to people, is not affected.
inline void usePlainNumbers()
{
    std::setlocale(LC_NUMERIC, "C");
}
