#include "app/system/graphics_driver.h"

bool graphicsDriverDraws()
{
    return true;  // Direct3D draws on the processor where there is no graphics card
}
