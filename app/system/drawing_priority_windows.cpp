#include "app/system/drawing_priority.h"

#include <windows.h>

void drawFirst()
{
    (void)SetThreadPriority(GetCurrentThread(), THREAD_PRIORITY_ABOVE_NORMAL);
}
