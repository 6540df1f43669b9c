// ImportText gives the texts of all imports one context for translation.
#pragma once

#include <QCoreApplication>

struct ImportText {
    Q_DECLARE_TR_FUNCTIONS(Import)
};
