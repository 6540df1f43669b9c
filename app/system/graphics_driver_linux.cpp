#include "app/system/graphics_driver.h"

#include <QGuiApplication>
#include <QLibrary>
#include <QOpenGLContext>

#include <cstdlib>

namespace {

// Qt's GLX ends the program where the X server has GLX and we have no driver for it, so we look first.
bool glxDraws(Display* display)
{
    using QueryExtension = int (*)(Display*, int*, int*);
    using ChooseConfig = void** (*)(Display*, int, const int*, int*);
    QLibrary glx(QStringLiteral("GLX"), 0);
    const auto query = reinterpret_cast<QueryExtension>(glx.resolve("glXQueryExtension"));
    const auto choose = reinterpret_cast<ChooseConfig>(glx.resolve("glXChooseFBConfig"));
    if (!query || !choose)
        return false;
    int ignored = 0;
    if (!query(display, &ignored, &ignored))
        return true;  // Qt does without it
    int configs = 0;
    void** const found = choose(display, 0, nullptr, &configs);
    std::free(static_cast<void*>(found));  // as XFree does
    return configs > 0;
}

}  // namespace

bool graphicsDriverDraws()
{
    if (const auto* const x11 = qGuiApp->nativeInterface<QNativeInterface::QX11Application>();
        x11 && x11->display() && !glxDraws(x11->display()))
        return false;
    return QOpenGLContext().create();
}
