// Windows lets the program in front pass on its right to be there, and no other take it.
#include "app/system/foreground.h"

#include <windows.h>

void letRaiseItsWindow(std::intptr_t socket)
{
    ULONG server = 0;
    if (GetNamedPipeServerProcessId(reinterpret_cast<HANDLE>(socket), &server))
        AllowSetForegroundWindow(server);
}
