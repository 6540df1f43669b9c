// Shows the whole window, to be measured.
import QtQuick
import Spillway.Tests
import Spillway.Ui

Shell {
    chat: Bench.chat
    conversations: Bench.conversations
    composer: Bench.composer
    conversationSettings: Bench.conversationSettings
    models: Bench.models
    catalogue: Bench.catalogue
    settings: Bench.settings
    program: Bench.program
    log: Bench.log
    pressure: Bench.pressure
    experiments: Bench.experiments
    fetching: Bench.fetching
    servers: Bench.servers
    serverLoad: Bench.serverLoad
    server: Bench.server

    function showServer() {
        show(PageName.LocalServer);
    }
}
