// Gives tests of the pressure panel a window in which it is open.
import QtQuick
import Spillway.Tests

WindowCase {
    readonly property var withDevice: ({ panel: true, text: "zebras graze", kvColumns: 5,
        device: { layers: 12, total: 8e9, weights: 4e9, kv: 1e9 } })

    readonly property var withExperts: ({ panel: true, text: "zebras graze", kvColumns: 5, expertMap: { layers: 4, experts: 16 },
        device: { layers: 12, experts: 3, hostExperts: 2, copied: 8, total: 8e9, weights: 5e9, kv: 1e9, copies: 1e9 } })

    function panel() { return part("pressurePanel"); }
    function open(script) {
        makeWindow(script || withDevice);
        openModel();
    }
    function lastCommand() {
        const all = Bench.commands();
        return all.length > 0 ? all[all.length - 1] : "";
    }
    // The panel and the top bar have one each.
    function slider(of) { return findChild(part(of), "splitSlider"); }
}
