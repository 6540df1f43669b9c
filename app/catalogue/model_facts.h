// ModelFacts describes a model file in numbers and names.
#pragma once

#include "engine/engine.h"
#include "engine/machine.h"
#include "engine/model_info.h"

#include <QObject>
#include <QString>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

/// Holds what can be said of a model file, as a value for the pages. Text comes from the file and has been made safe to
/// show.
class ModelFacts
{
    Q_GADGET
    QML_VALUE_TYPE(modelFacts)
    Q_PROPERTY(bool known READ known CONSTANT)
    Q_PROPERTY(QString name MEMBER name CONSTANT)
    Q_PROPERTY(QString path MEMBER path CONSTANT)
    Q_PROPERTY(QString fileName MEMBER fileName CONSTANT)
    Q_PROPERTY(QString architecture MEMBER architecture CONSTANT)
    Q_PROPERTY(QString quantization MEMBER quantization CONSTANT)
    Q_PROPERTY(double parameters MEMBER parameters CONSTANT)
    Q_PROPERTY(double fileBytes MEMBER fileBytes CONSTANT)
    Q_PROPERTY(int splitFiles MEMBER splitFiles CONSTANT)
    Q_PROPERTY(int contextTokens MEMBER contextTokens CONSTANT)
    Q_PROPERTY(int contextInUse MEMBER contextInUse CONSTANT)
    Q_PROPERTY(QString device MEMBER device CONSTANT)
    Q_PROPERTY(QString server MEMBER server CONSTANT)
    Q_PROPERTY(int layers MEMBER layers CONSTANT)
    Q_PROPERTY(int experts MEMBER experts CONSTANT)
    Q_PROPERTY(int expertsUsed MEMBER expertsUsed CONSTANT)
    Q_PROPERTY(double kvBytesPerToken MEMBER kvBytesPerToken CONSTANT)
    Q_PROPERTY(int contextToLoad MEMBER contextToLoad CONSTANT)
    Q_PROPERTY(double conversationBytes READ conversationBytes CONSTANT)
    Q_PROPERTY(bool hasChatTemplate MEMBER hasChatTemplate CONSTANT)
    Q_PROPERTY(QString license MEMBER license CONSTANT)
    Q_PROPERTY(bool runnable MEMBER runnable CONSTANT)
    Q_PROPERTY(QString obstacle MEMBER obstacle CONSTANT)
    Q_PROPERTY(QStringList warnings MEMBER warnings CONSTANT)

public:
    ModelFacts() = default;
    explicit ModelFacts(const engine::ModelInfo& info);

    bool known() const { return !fileName.isEmpty(); }
    /// Computes what a conversation takes if the model is loaded by this request; `info` is that of the same model. If
    /// the request sets no context, it is as long as fits into `memory`, as at a load.
    void plan(const engine::ModelInfo& info, const engine::LoadRequest& request, const engine::MachineMemory& memory);
    /// Returns the bytes of KV and states when the context to load is full; 0: not known.
    double conversationBytes() const { return contextToLoad * m_kvBytesPerToken + m_stateBytes; }

    QString name;
    QString path;      // as it is: to open, not to show
    QString fileName;  // of a model elsewhere: as its server calls it
    QString architecture;
    QString quantization;
    double parameters = 0;  // doubles, since QML has no 64-bit integers
    double fileBytes = 0;
    int splitFiles = 1;
    int contextTokens = 0;
    int contextInUse = 0;  // 0: not loaded
    QString device;        // beside the CPU; empty: none
    QString server;        // the server that runs it, by its host or as the user knows it; empty: this computer does
    int layers = 0;
    int experts = 0;
    int expertsUsed = 0;
    double kvBytesPerToken = 0;  // as f16
    int contextToLoad = 0;       // see plan(); 0: not known
    bool hasChatTemplate = false;
    QString license;
    bool runnable = true;
    QString obstacle;
    QStringList warnings;

private:
    double m_kvBytesPerToken = 0;  // in the types in which keys and values are to be kept
    double m_stateBytes = 0;
};
