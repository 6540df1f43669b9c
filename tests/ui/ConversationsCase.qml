// Gives each test function a new column of conversations on a new store.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests
import Spillway.Ui.Conversations
import Spillway.Ui.Theme

TestCase {
    id: root

    property Item column

    function make(conversations) {
        ConversationsBench.reset(conversations || []);
        column = component.createObject(root.parent);
        verify(column);
        waitForRendering(column);
    }
    /// The list is laid out before anybody sees it.
    function makeUnseen(conversations) {
        ConversationsBench.reset(conversations);
        column = component.createObject(root.parent, { visible: false });
        verify(column);
        list().forceLayout();
        column.visible = true;
        waitForRendering(column);
    }
    function three() {
        make([{ title: "Alpha", text: "zebras graze" }, { title: "Beta", daysAgo: 1 }, { title: "Gamma", daysAgo: 40 }]);
    }
    function cleanup() {
        if (column)
            column.destroy();
        column = null;
        wait(0);
        ConversationsBench.clear();
    }
    function part(name) {
        const item = findChild(column, name);
        verify(item, "there is no " + name);
        return item;
    }
    function list() { return part("conversationList"); }
    function row(index) {
        list().forceLayout();
        tryVerify(() => list().itemAtIndex(index));
        return list().itemAtIndex(index);
    }
    function titles() {
        const model = ConversationsBench.controller.list;
        const all = [];
        for (let i = 0; i < model.rowCount(); ++i)
            all.push(model.data(model.index(i, 0), ConversationListModel.TitleRole));
        return all.join(" ");
    }
    function type(text) {
        for (const letter of text)
            keyClick(letter);
    }
    function focusList() {
        list().forceActiveFocus(Qt.TabFocusReason);
    }

    when: windowShown
    visible: true

    Component {
        id: component

        Rectangle {
            property alias inner: inside

            width: root.parent.width
            height: root.parent.height
            color: Theme.aside

            ConversationColumn {
                id: inside

                anchors.fill: parent
                conversations: ConversationsBench.controller
                onOpened: opens++
                onChosen: choices++
                onTyped: text => letters += text
                onLeaveRequested: leaves++

                property int opens: 0
                property int choices: 0
                property string letters
                property int leaves: 0
            }
        }
    }
}
