// Names the pages of the middle column, in the order in which they lie on each other.
import QtQuick

QtObject {
    enum Name { Conversation, Models, Settings, Log, About, Experiments, Find, Servers, LocalServer }
}
