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

/// What is measured, what moved, and the handles on it; hears the engine and the models. Lives on the UI thread; owned
/// by Program.
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
    /// Takes what its pages offer. Call it before they are made; the object outlives this.
    void offerDevices(DeviceController* devices);
    /// Takes which models could guess for the open one, and that the user lets them. Both outlive this.
    void offerDrafts(CatalogueController& catalogue, const Setting& draft);
    ShownPlacementEvents* events() { return &m_shownEvents; }
    DoctorController* doctor() { return &m_doctor; }

    /// Keeps what is measured of each conversation with it, and shows what is kept of the one that is shown.
    void follow(ChatController& chat, TurnRunner& turns, ConversationStore& store);
    /// The language has changed: charts, what names the device and what moved have words of it.
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
