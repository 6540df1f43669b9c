// Lets the user choose how many versions of an answer are made at the same time.
import Spillway.Ui.Components
import Spillway.Ui.Theme

PopupMenu {
    id: root

    signal versionsRequested(int versions)

    function words(versions: int): string {
        return qsTr("%1 versions side by side").arg(Format.count(versions));
    }

    PopupMenuItem {
        objectName: "versions2"
        text: root.words(2)
        onTriggered: root.versionsRequested(2)
    }
    PopupMenuItem {
        objectName: "versions3"
        text: root.words(3)
        onTriggered: root.versionsRequested(3)
    }
    PopupMenuItem {
        objectName: "versions4"
        text: root.words(4)
        onTriggered: root.versionsRequested(4)
    }
}
