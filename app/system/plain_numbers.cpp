#include "app/system/plain_numbers.h"

#include <clocale>

void usePlainNumbers()
{
    std::setlocale(LC_NUMERIC, "C");
}
