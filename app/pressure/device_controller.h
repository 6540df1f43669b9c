// DeviceController puts the model on the device that the user chose in the settings.
#pragma once

#include "app/pressure/doctor.h"
#include "app/pressure/placement_controller.h"
#include "app/settings/settings_controller.h"
#include "engine/machine.h"

#include <QList>
#include <QObject>
#include <QStringList>
#include <QTimer>
#include <QVariant>
#include <QtQml/qqmlregistration.h>

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

/// Offers the devices of this computer, and the emulated one, to choose from. A choice goes to the open model at once
/// and to each later load; where the engine refuses it, the choice before comes back. Lives on the UI thread; owned by
/// Program.
class DeviceController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(QStringList names READ names NOTIFY changed)
    Q_PROPERTY(int current READ current NOTIFY changed)
    Q_PROPERTY(bool emulated READ emulated NOTIFY changed)
    Q_PROPERTY(bool onGpu READ onGpu NOTIFY changed)
    Q_PROPERTY(QString noGpu READ noGpu NOTIFY changed)
    Q_PROPERTY(bool offered READ offered NOTIFY changed)
    Q_PROPERTY(bool tried READ tried NOTIFY changed)
    Q_PROPERTY(Room room READ room NOTIFY roomChanged)
    Q_PROPERTY(QVariant roomTokens READ roomTokens NOTIFY roomChanged)

public:
    /// Says what happens when a conversation grows on the device, as the model is placed now: BlocksLeave and
    /// AnswersStop happen at roomTokens().
    enum class Room { Unknown, NoLayer, ForAll, BlocksLeave, AnswersStop };
    Q_ENUM(Room)
    struct Found {
        std::vector<engine::DeviceInfo> devices;
        std::string whyNoGpu;  // as a part of a sentence; empty: a GPU is among them, or nobody expects one
    };
    using List = std::function<Found()>;

    /// `commandLine`: what loads start from; its device counts while the settings say that it was named there.
    /// `list` runs on a pool thread: starting a driver takes its time.
    DeviceController(SettingsController& settings, PlacementController& placement,
                     const engine::PlacementOptions& commandLine, const List& list, QObject* parent = nullptr);

    QStringList names() const;  // to choose from
    int current() const;        // among them
    bool emulated() const;      // is chosen
    bool onGpu() const;
    QString noGpu() const;  // why none can be used: sentences; empty: one can, or there is none
    /// Says whether somebody without a GPU may want to see what a small graphics memory does.
    bool offered() const;
    bool tried() const { return m_tried && emulated(); }  // the emulated one was chosen, in this run

    Room room() const;
    QVariant roomTokens() const;  // length at which blocks leave, or answers stop; undefined: neither happens

    /// Finds a GPU that does nothing, where the CPU computes all. Empty: there is none, or the command line wants it
    /// so.
    std::optional<DoctorGpu> unusedGpu() const;
    /// Chooses a device by its id: "cpu", "cuda:0".
    void use(const QString& id) { choose(id); }

    Q_INVOKABLE void choose(int place);
    Q_INVOKABLE void tryEmulated();
    Q_INVOKABLE void useCpu();
    Q_INVOKABLE void dismissOffer();

    /// Returns the placement for the next load. A GPU is left out until it is known to be there; the model then moves
    /// to it.
    engine::PlacementOptions placement() const;
    void onModelReady(const engine::LoadRequest& loaded);
    void retranslate() { Q_EMIT changed(); }

Q_SIGNALS:
    void changed();
    void roomChanged();
    void panelWanted();  // the panel shows what tryEmulated() brings

private:
    PlacementPreview present() const;
    void findDevices(const List& list);
    bool gpuIsUsable() const;
    void choose(const QString& id);
    void apply();
    void onAccepted();
    void onRefused();
    void takeBack();
    std::array<int, 4> chosen() const;
    QString id() const;
    bool gpuIsThere() const;

    SettingsController& m_settings;
    PlacementController& m_placement;
    engine::PlacementOptions m_commandLine;
    std::array<Setting*, 4> m_choices;
    std::vector<engine::DeviceInfo> m_gpus;
    std::string m_whyNoGpu;                // as it was found
    bool m_known = false;                  // what GPUs there are
    engine::PlacementOptions m_asked;      // what the engine was asked for last
    QList<std::array<int, 4>> m_askedFor;  // choices that the engine has not answered, the oldest first
    std::array<int, 4> m_accepted;         // the choice that the engine has agreed to last
    std::array<int, 4> m_settled;          // the choice for the device where the model is, until it has left
    bool m_takingBack = false;
    bool m_tried = false;
    QTimer m_rest;  // waits until the user stops typing or stepping a number
};
