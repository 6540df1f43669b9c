// Changes the fake engine's script as a QML test writes it, and puts the engine's commands into words.
#pragma once

#include "tests/support/fake_engine.h"

#include <QStringList>
#include <QVariantMap>

#include <vector>

/// Changes the settings that a map names; Bench::reset() lists the keys. Other keys change nothing.
void changeScript(FakeScript::Settings& settings, const QVariantMap& changes);

/// Returns each command of which QML tests check something, as "layers 3", in the order of the commands.
QStringList inWords(const std::vector<engine::Command>& commands);
