// Holds the pages of the middle column, and shows one of them.
import QtQuick
import QtQuick.Layouts
import Spillway.App
import Spillway.Ui.About
import Spillway.Ui.Chat
import Spillway.Ui.Experiments
import Spillway.Ui.Fetching
import Spillway.Ui.Log
import Spillway.Ui.Models
import Spillway.Ui.Serving
import Spillway.Ui.Settings

StackLayout {
    id: root

    required property ChatController chat
    required property ComposerController composer
    required property ConversationSettingsController conversationSettings
    required property ModelController models
    required property CatalogueController catalogue
    required property SettingsController settings
    required property ProgramController program
    required property ShownLog log
    required property ExperimentsController experiments
    required property Fetching fetching
    required property Servers servers
    required property ServerController server
    required property Pressure pressure

    required property int page

    readonly property alias chatPage: conversation

    signal pageRequested(int page)
    signal openRequested
    signal newRequested
    signal removeRequested
    signal undoRequested

    function takeFocus() {
        if (page === PageName.Conversation)
            conversation.takeFocus();
        else
            (children[page] as PageLoader).takeFocus();
    }

    currentIndex: page

    ChatPage {
        id: conversation

        objectName: "chatPage"
        focus: true
        chat: root.chat
        composer: root.composer
        conversationSettings: root.conversationSettings
        settings: root.settings
        models: root.models
        devices: root.pressure.devices
        servers: root.servers.all.length > 1 ? root.servers.hostsFor(root.models.current.path) : []
        hasGuide: root.program.hasGuide
        guideOpen: root.models.current.known && root.models.current.path === root.program.guide
        onOpenRequested: root.openRequested()
        onGuideRequested: root.program.openGuide()
        onNewRequested: root.newRequested()
        onRemoveRequested: root.removeRequested()
        onUndoRequested: root.undoRequested()
    }
    // A Loader of Qt 6.4 cannot make bound components, so these components use outer ids, which the linter cannot
    // check.
    // qmllint disable unqualified
    PageLoader {
        shown: root.page === PageName.Models
        sourceComponent: ModelsPage {
            objectName: "modelsPage"
            catalogue: root.catalogue
            settings: root.settings
            onBackRequested: root.pageRequested(PageName.Conversation)
            hasGuide: root.program.hasGuide
            canFind: root.fetching.available
            onFindRequested: root.pageRequested(PageName.Find)
            onFindWordsRequested: text => {
                root.pageRequested(PageName.Find);
                (findLoader.item as FindPage).lookFor(text);
            }
            fetches: root.fetching.queue.summary
            onFetchesRequested: {
                root.pageRequested(PageName.Find);
                (findLoader.item as FindPage).toTop(); // the list of fetches is at the top of the page
            }
            canReach: root.servers.available
            onServersRequested: root.pageRequested(PageName.Servers)
            onModelOpened: root.pageRequested(PageName.Conversation)
            onGuideRequested: {
                root.program.openGuide();
                root.pageRequested(PageName.Conversation);
            }
            onOpenFileRequested: root.openRequested()
        }
    }
    PageLoader {
        id: settingsLoader

        shown: root.page === PageName.Settings
        sourceComponent: SettingsPage {
            objectName: "settingsPage"
            settings: root.settings
            models: root.models
            program: root.program
            pressure: root.pressure
            fetching: root.fetching
            onBackRequested: root.pageRequested(PageName.Conversation)
        }
    }
    PageLoader {
        shown: root.page === PageName.Log
        sourceComponent: LogPage {
            objectName: "logPage"
            log: root.log
            program: root.program
            onBackRequested: root.pageRequested(PageName.Conversation)
        }
    }
    PageLoader {
        shown: root.page === PageName.About
        sourceComponent: AboutPage {
            objectName: "aboutPage"
            program: root.program
            onBackRequested: root.pageRequested(PageName.Conversation)
        }
    }
    PageLoader {
        shown: root.page === PageName.Experiments
        sourceComponent: ExperimentsPage {
            objectName: "experimentsPage"
            experiments: root.experiments
            catalogue: root.catalogue
            onBackRequested: root.pageRequested(PageName.Conversation)
        }
    }
    PageLoader {
        id: findLoader

        shown: root.page === PageName.Find
        sourceComponent: FindPage {
            objectName: "findPage"
            fetching: root.fetching
            onBackRequested: {
                if (inModel)
                    root.fetching.page.close();
                else
                    root.pageRequested(PageName.Models);
            }
            onModelOpened: root.pageRequested(PageName.Conversation)
            onTokenRequested: {
                root.pageRequested(PageName.Settings);
                (settingsLoader.item as SettingsPage).showToken();
            }
        }
    }
    PageLoader {
        shown: root.page === PageName.Servers
        sourceComponent: ServersPage {
            objectName: "serversPage"
            servers: root.servers
            onBackRequested: root.pageRequested(PageName.Models)
        }
    }
    PageLoader {
        shown: root.page === PageName.LocalServer
        sourceComponent: LocalServerPage {
            objectName: "localServerPage"
            server: root.server
            onBackRequested: root.pageRequested(PageName.Conversation)
        }
    }
    // qmllint enable unqualified
}
