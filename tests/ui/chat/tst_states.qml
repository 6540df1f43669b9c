// Tests what the page of the conversation shows while it is empty, ready, answering, failed or full.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests
import Spillway.Ui
import Spillway.Ui.Theme
import ".."

Item {
    width: 1024
    height: 640

    WindowCase {
        name: "States"

        function test_empty() {
            makeWindow();
            verify(part("emptyState").visible);
            verify(part("openModel").visible);
            compare(Bench.focusName(shell), "openModel");
            verify(!part("modelCard").visible);
            verify(!part("sendButton").enabled);
            verify(!part("contextMeter").visible);
            compare(part("modelName").text, "Spillway");
        }

        function test_empty_in_a_low_window() {
            makeWindow();
            const empty = part("emptyState");
            verify(part("emptyPicture").visible);
            const inside = () => empty.y >= 0 && empty.y + empty.implicitHeight <= part("greeting").height;
            tryVerify(inside);
            shell.anchors.fill = undefined;
            shell.width = 640;
            for (const height of [560, 480]) {
                shell.height = height;
                tryVerify(inside);
                verify(!part("emptyPicture").visible);
                verify(part("openModel").visible);
            }
            Bench.models.openDropped(["file:///pictures/cat.png"]);
            tryCompare(part("modelError"), "visible", true);
            tryVerify(inside);
        }

        function test_the_greeting_scrolls_where_there_is_no_room() {
            makeWindow();
            Theme.scale = 2;
            parent.width = 640;
            parent.height = 480;
            const greeting = part("greeting");
            const seenWhole = item => {
                const top = item.mapToItem(greeting, 0, 0).y;
                return item.visible && top >= 0 && top + item.height <= greeting.height;
            };
            compare(Bench.focusName(shell), "openModel");
            tryVerify(() => seenWhole(part("openModel")));
            const guide = part("openGuide");
            verify(guide.visible && !seenWhole(guide));
            keyClick(Qt.Key_Tab);
            verify(guide.activeFocus);
            tryVerify(() => seenWhole(guide));
            verify(guide.width <= greeting.width && !guide.contentItem.truncated);
            verify(guide.contentItem.contentWidth <= guide.availableWidth && guide.contentItem.contentHeight <= guide.availableHeight);
            Theme.scale = 1;
            parent.width = 1024;
            parent.height = 640;
        }

        function test_base_model() {
            makeWindow({ template: false });
            openModel();
            verify(part("readyNote").text.indexOf("no chat template") > 0);
            ask("Once");
            tryVerify(() => !Bench.chat.turn.busy);
            compare(Bench.lastPrompt(), "Once");
        }

        function test_answer() {
            makeWindow({ tokens: 30, tokenMs: 10, prefillMs: 1000 });
            openModel();
            ask("hello");
            verify(!part("readyState").visible);
            tryCompare(part("phase"), "text", "Reading 0 of 5 tokens");
            tryCompare(part("phase"), "text", "Answering");
            verify(part("sendButton").stops);
            verify(footer() === null || !footer().visible);
            tryVerify(() => !Bench.chat.turn.busy);
            tryVerify(() => footer() && footer().visible);
            verify(findChild(footer(), "answerNumbers").text.indexOf("30 tokens") === 0);
            compare(part("contextText").text, "35 / 2,048");
            verify(part("tps").value.indexOf("tok/s") > 0);
            verify(part("ttft").value.indexOf("ms") > 0);

            click(findChild(footer(), "copyButton"));
            compare(Bench.clipboard(), lastText());
        }

        function test_stop() {
            makeWindow({ tokens: 5000, tokenMs: 5 });
            openModel();
            ask("hello");
            tryCompare(part("phase"), "text", "Answering");
            tryVerify(() => lastText().length > 20);
            keyClick(Qt.Key_Escape);
            tryVerify(() => !Bench.chat.turn.busy, 2000);
            tryVerify(() => footer() && footer().visible);
            verify(findChild(footer(), "answerEnding").text.indexOf("Stopped") === 0);
            verify(lastText().indexOf("word word") === 0);
        }

        function test_failure_keeps_the_text_and_can_be_retried() {
            makeWindow({ tokens: 40, error: "the file was cut off", errorAfter: 3 });
            openModel();
            ask("hello");
            tryVerify(() => footer() && footer().visible);
            const notice = messagePart("answerNotice");
            verify(notice.visible);
            compare(notice.sentence, "The file was cut off.");
            compare(lastText().trim(), "word word word");
            Bench.script({ error: "" });
            compare(notice.actionText, "Go on");
            verify(messagePart("retryButton").visible);
            click(findChild(notice, "noticeAction"));
            tryVerify(() => !Bench.chat.turn.busy && lastText().length > 100);
            compare(Bench.chat.messages.count, 2);
            compare(lastMessage(MessageModel.VersionCountRole), 1); // it is still that answer
            verify(lastText().indexOf("word word word") === 0);
        }

        function test_failure_without_text_is_tried_again() {
            makeWindow({ tokens: 40, error: "the file was cut off" });
            openModel();
            ask("hello");
            tryVerify(() => footer() && footer().visible);
            const notice = messagePart("answerNotice");
            compare(notice.actionText, "Try again");
            verify(!messagePart("retryButton").visible);
            Bench.script({ error: "" });
            findChild(notice, "noticeAction").forceActiveFocus(Qt.TabFocusReason);
            keyClick(Qt.Key_Space);
            verify(part("composerField").activeFocus); // the button vanishes
            tryVerify(() => !Bench.chat.turn.busy && lastText().length > 100);
            keyClick(Qt.Key_Space); // a letter
            compare(part("composerField").text, " ");
            verify(!Bench.chat.turn.busy);
        }

        function test_full_context() {
            makeWindow({ tokens: 100, context: 40 });
            openModel();
            ask("hello");
            tryVerify(() => footer() && footer().visible);
            compare(findChild(footer(), "answerEnding").text, "The context was full");
            compare(part("contextText").text, Bench.chat.telemetry.contextTokens + " / 40");
            compare(part("contextBar").value, 1);
            verify(part("contextMeter").full);
            const notice = part("contextNotice");
            verify(notice.visible);
            verify(!findChild(notice, "dropOldest").visible); // there is one turn only
            verify(!findChild(notice, "raiseContext").visible); // the model was made for no more
            click(findChild(notice, "contextNew"));
            tryCompare(part("readyState"), "visible", true);
            compare(Bench.chat.messages.count, 0);
        }

        function test_the_context_fills_up_on_another_page() {
            makeWindow({ tokens: 400, tokenMs: 20, context: 200 });
            openModel();
            ask("hello");
            shell.show(PageName.Settings);
            const notice = part("contextNoticeAbove");
            tryCompare(notice, "visible", true);
            Bench.chat.turn.stop();
            tryVerify(() => !Bench.chat.turn.busy);
            verify(!notice.visible); // what is left of it waits on the page
            shell.show(PageName.Conversation);
            verify(part("contextNotice").visible);
        }

        // Of the line of numbers, the words that say what is done are cut, and nothing else.
        function test_the_numbers_in_a_small_window_data() {
            const reading = "Reading 1,024 of 2,048 tokens";
            return [{ tag: "small", width: 640, scale: 1, phase: reading, cut: false },
                    { tag: "usual", width: 1024, scale: 1, phase: reading, cut: true },
                    { tag: "large text", width: 1024, scale: 2, phase: reading, cut: true },
                    { tag: "at rest beside both columns", width: 1180, scale: 1, phase: "", cut: false }];
        }
        function test_the_numbers_in_a_small_window(data) {
            Theme.scale = data.scale;
            parent.width = data.width;
            makeWindow({ context: 131072, panel: data.phase === "" });
            openModel();
            part("ttft").value = "1,234 ms";
            part("tps").value = "12.3 tok/s";
            part("phase").text = data.phase;
            part("contextMeter").tokens = 12345;
            wait(50); // until it is laid out
            let end = 0;
            for (const name of ["ttft", "tps", "phase", "contextMeter"]) {
                const item = part(name), left = item.mapToItem(part("statusLine"), 0, 0).x;
                verify(left >= end, name + " begins at " + left + ", before the one to its left ends");
                end = left + Math.max(item.width, name === "phase" ? 0 : item.implicitWidth);
            }
            verify(end <= part("statusLine").width, "the numbers leave their line");
            compare(part("contextBar").width, Theme.px(64));
            compare(part("phase").truncated, data.cut);
            verify(data.phase === "" || part("phase").width > 20); // and something of it is left
            const page = part("chatPage");
            verify(part("composer").mapToItem(page, part("composer").width, 0).x <= page.width - Theme.gap);
            Theme.scale = 1;
            parent.width = 1024;
        }

        function test_warning() {
            makeWindow({ warning: "the tokenizer is unknown" });
            openModel();
            ask("hello");
            tryCompare(part("warnings"), "visible", true);
            compare(part("warnings").sentence, "The tokenizer is unknown.");
            click(findChild(part("warnings"), "noticeDismiss"));
            verify(!part("warnings").visible);
        }

        function test_text_is_never_markup() {
            makeWindow({ text: "<b>bold</b> <img src='file:///x.png'> \u202Eabc" });
            openModel();
            ask("<i>x</i>");
            tryVerify(() => !Bench.chat.turn.busy);
            compare(lastText(), "<b>bold</b> <img src='file:///x.png'> ⟨U+202E⟩abc");
        }
    }
}
