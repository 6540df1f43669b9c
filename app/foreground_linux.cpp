#include "app/foreground.h"

void letRaiseItsWindow(std::intptr_t) {}
