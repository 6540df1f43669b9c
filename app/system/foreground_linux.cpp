#include "app/system/foreground.h"

void letRaiseItsWindow(std::intptr_t) {}
