// Pressure makes and connects everything behind the pressure panel.
#pragma once

#include "app/catalogue/catalogue_controller.h"
#include "app/catalogue/model_controller.h"
#include "app/chat/chat_controller.h"
#include "app/pressure/device_controller.h"
#include "app/pressure/doctor_controller.h"
#include "app/pressure/placement_controller.h"
#include "app/pressure/placement_event_model.h"
#include "app/pressure/pressure_monitor.h"
#include "app/settings/settings_controller.h"

#include <QObject>
#include <QtQml/qqmlregistration.h>

/// Owns the objects that measure, list what moved and change the placement, and connects them to the engine and the
/// models. Lives on the UI thread; owned by Program.
class Pressure : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(PressureMonitor* monitor READ monitor CONSTANT)
    Q_PROPERTY(PlacementController* placement READ placement CONSTANT)
    Q_PROPERTY(DeviceController* devices READ devices CONSTANT)
    Q_PROPERTY(ShownPlacementEvents* events READ events CONSTANT)
    Q_PROPERTY(DoctorController* doctor READ doctor CONSTANT)

public:
    Pressure(EngineThread& engine, ModelController& models, QObject* parent = nullptr);

    PressureMonitor* monitor() { return &m_monitor; }
    PlacementController* placement() { return &m_placement; }
    DeviceController* devices() { return m_devices; }
    /// Takes the devices to choose from. Call it before the pages are made; `devices` outlives this object.
    void offerDevices(DeviceController* devices);
    /// Takes the models that could guess for the open one, and the setting that allows it. Both outlive this object.
    void offerDrafts(CatalogueController& catalogue, const Setting& draft);
    ShownPlacementEvents* events() { return &m_shownEvents; }
    DoctorController* doctor() { return &m_doctor; }

    /// Records each conversation's measurements in `store`, and shows those of the conversation that is shown.
    void follow(ChatController& chat, TurnRunner& turns, ConversationStore& store);
    /// Call it when the language has changed: charts, device names and moves contain translated words.
    void retranslate();
    /// Sets what predictions are computed from; null: nothing is predicted.
    void setRates(const std::shared_ptr<const engine::MachineRates>& rates);

private:
    void connectDoctor(ModelController& models);
    void showMoves();

    ModelController& m_models;
    PressureMonitor m_monitor;
    PlacementController m_placement;
    DeviceController* m_devices = nullptr;
    PlacementEventModel m_events;
    ShownPlacementEvents m_shownEvents;
    DoctorController m_doctor;
    PlacementEventModel::Messages m_messages;  // of the conversation that is shown
};
