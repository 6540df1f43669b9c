// Says why a model could not be opened, or had to be closed.
import QtQuick
import Spillway.App
import Spillway.Ui.Components

Notice {
    id: root

    required property ModelController models

    readonly property bool wanted: models.error !== ""

    sentence: models.error
    actionText: models.canRetry && models.phase === ModelController.Idle ? qsTr("Try again") : ""
    onActionRequested: models.retry()
    onDismissRequested: models.dismissError()
}
