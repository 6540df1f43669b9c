// Tests that experiments are planned, measured and kept on their page, with a stand-in for spillway-cli.
import QtQuick
import QtTest
import Spillway.App
import Spillway.Tests
import Spillway.Ui
import Spillway.Ui.Theme
import ".."

Item {
    width: 1180
    height: 1400 // the whole page is in view

    WindowCase {
        name: "Experiments"

        function lab() { return Bench.experiments; }
        function open(files, script) {
            makeWindow(Object.assign({ experimentFiles: files || ["one.gguf"] }, script || {}));
            showPage();
        }
        function showPage() {
            keyClick(Qt.Key_E, Qt.ControlModifier | Qt.ShiftModifier);
            tryVerify(() => findChild(shell, "experimentsPage"));
            tryCompare(part("experimentsPage"), "visible", true);
        }
        function plan(contexts, strategies) {
            const draft = lab().draft;
            for (const chosen of draft.chosenContexts.slice())
                draft.toggleContext(chosen);
            for (const chosen of draft.chosenStrategies.slice())
                draft.toggleStrategy(chosen);
            contexts.forEach(context => click(part("contextChip" + context)));
            strategies.forEach(strategy => click(part("strategyChip" + strategy)));
        }
        function measure(contexts, strategies) {
            if (lab().runs.length > 0)
                click(part("planButton"));
            plan(contexts, strategies);
            click(part("startExperiment"));
        }
        function measured() { tryVerify(() => !lab().busy, 20000); }
        function row(index) {
            const table = part("resultTable");
            table.forceLayout();
            return table.itemAtIndex(index);
        }

        function test_the_empty_page_says_what_it_is_for() {
            open();
            tryCompare(part("experimentsIntroduction"), "visible", true);
            verify(part("planCard").visible);
            verify(!part("runChooser").visible);
            verify(part("emulatedNote").visible);
            compare(lab().draft.models.length, 1);
            verify(lab().draft.models[0].chosen);
            compare(Bench.namelessControls(shell).join(), "");
            compare(Bench.unreachable(shell).join("\n"), "");
        }

        function test_a_plan_that_cannot_be_measured_says_why() {
            open();
            plan([], [0]);
            compare(part("planSummary").text, "Choose a context.");
            verify(!part("startExperiment").enabled);
            click(part("contextChip512"));
            verify(part("startExperiment").enabled);
            part("memoryField").forceActiveFocus();
            part("memoryField").selectAll();
            type("lots");
            verify(part("memoryField").wrong);
            verify(part("planSummary").text.indexOf("lots") > 0, part("planSummary").text);
            part("memoryField").selectAll();
            type("64MiB");
            compare(lab().draft.obstacle, "");
            click(part("modelChip0"));
            compare(part("planSummary").text, "Choose a model.");
        }

        function test_contexts_can_be_typed() {
            open();
            plan([], [0]);
            part("contextField").forceActiveFocus();
            type("700, 3k");
            keyClick(Qt.Key_Return);
            compare(part("contextField").text, "");
            verify(!part("contextRefusal").visible);
            compare(part("contextChip700").text, "700");
            verify(part("contextChip700").chosen && part("contextChip3072").chosen && !part("contextChip1024").chosen);
            type("many");
            click(part("addContexts"));
            compare(part("contextRefusal").text, "“many” is no number of tokens: type 3000, or 12K.");
            verify(part("contextRefusal").visible && part("contextField").wrong);
            compare(part("contextField").text, "many"); // to be mended
            part("contextField").forceActiveFocus();
            keyClick(Qt.Key_Backspace);
            verify(!part("contextRefusal").visible && !part("contextField").wrong);
            compare(Bench.unreachable(shell).join("\n"), "");

            click(part("startExperiment"));
            measured();
            compare(lab().rows.count, 2);
            compare(row(0).contextTokens, 700);
            compare(row(1).contextTokens, 3072);
            const json = Bench.file("typed.json", "");
            part("exportMenu").tableRequested(json);
            compare(JSON.parse(Bench.textOf(json)).plan.contexts.join(), "700,3072");
            const svg = Bench.file("typed.svg", "");
            part("exportMenu").pictureRequested(svg);
            verify(Bench.textOf(svg).indexOf(">700") > 0); // the axis has the contexts that were measured
        }

        function test_a_shape_is_a_model() {
            open([]);
            verify(part("noModelFiles").visible);
            click(part("addShape"));
            compare(lab().draft.models.length, 1);
            verify(lab().draft.models[0].chosen);
            click(part("addShape")); // the same again is the same
            compare(lab().draft.models.length, 1);
            measure([512], [3]);
            measured();
            compare(lab().rows.count, 1);
        }

        function test_numbers_come_in_rows() {
            open();
            measure([1024, 2048], [0, 1, 3]);
            measured();
            compare(lab().rows.count, 6);
            tryVerify(() => row(0) && row(0).visible);
            compare(row(0).strategyName, "CPU only");
            compare(row(0).tokensPerSecond, 1e6 / 1024);
            compare(findChild(row(0), "rowSpeed").text, "977");
            verify(row(0).Accessible.name.indexOf("one.gguf, 1,024 tokens, CPU only: 977\u00a0tok/s") === 0, row(0).Accessible.name);
            // What the strategy refuses beyond the device's memory is a row with its sentence.
            compare(row(4).outcome, Outcome.Refused);
            verify(findChild(row(4), "rowSentence").visible);
            verify(findChild(row(4), "rowSentence").text.indexOf("lets nothing leave it.") > 0);
            compare(lab().runs.length, 1);
            compare(lab().shown.rows, 6);
            verify(part("runFacts").text.indexOf("emulated device, fit:1024") > 0, part("runFacts").text);
            verify(lab().shown.cores > 0 && lab().shown.kernels !== "");
            const cores = lab().shown.cores === 1 ? "1 core" : lab().shown.cores + " cores"; // in the window's language
            compare(part("runFacts").text.indexOf(cores + ", " + lab().shown.kernels + "  ·"), 0);
            verify(part("resultCharts").visible && !part("planCard").visible);
            compare(Bench.namelessControls(shell).join(), "");
            compare(Bench.unreachable(shell).join("\n"), "");
        }

        // Where experts lie, and what room copies have, is measured of models that have some.
        function test_experts_have_places() {
            open(["one.gguf", "experts.gguf"]);
            verify(!part("expertChoices").visible);
            click(part("modelChip0"));
            click(part("modelChip1"));
            tryVerify(() => part("expertChoices").visible);
            verify(part("expertsAsTheyFit").chosen && !part("expertsInRam").chosen);
            verify(part("copiesChip0").chosen && !part("copiesChip1").chosen);
            click(part("expertsAsTheyFit"));
            compare(part("planSummary").text, "Choose where experts lie.");
            click(part("expertsInRam"));
            part("copiesField").forceActiveFocus();
            type("much");
            keyClick(Qt.Key_Return);
            compare(part("copiesRefusal").text, "“much” is no size of a memory: type 512MiB, or 2GiB.");
            verify(part("copiesRefusal").visible && part("copiesField").wrong);
            part("copiesField").selectAll();
            type("64MiB");
            keyClick(Qt.Key_Return);
            verify(!part("copiesRefusal").visible && part("copiesField").text === "");
            tryVerify(() => part("copiesChip2") && part("copiesChip2").chosen);
            compare(part("copiesChip2").text, "Copies: 64MiB");
            compare(Bench.namelessControls(shell).join(), "");
            compare(Bench.unreachable(shell).join("\n"), "");

            measure([512], [0, 3]);
            measured();
            compare(lab().rows.count, 3); // the CPU alone, and by merge without copies and with
            tryVerify(() => row(2) && findChild(row(2), "rowHits").visible);
            const cells = name => [0, 1, 2].map(index => findChild(row(index), name).text).join("|");
            compare(cells("rowExperts"), [Format.unknown, "in RAM", "in RAM, copies 64MiB"].join("|"));
            compare(cells("rowHits"), "75 %|75 %|90 %".replace(/ %/g, findChild(row(2), "rowHits").text.slice(2)));
            verify(row(2).Accessible.name.indexOf(", Merge, experts in RAM, copies 64MiB: ") > 0, row(2).Accessible.name);
            verify(row(2).Accessible.name.indexOf("of the experts read had a copy") > 0, row(2).Accessible.name);
            verify(part("hitsHead") && part("expertsHead"));

            // The charts show one place at a time, and the CPU beside any.
            const box = part("chartExperts");
            verify(box.visible);
            compare(box.currentText, "experts in RAM");
            const speeds = () => part("speedFigure").readingsAt(9).map(reading => reading.value).join("|");
            tryVerify(() => speeds() === "|1,953|1,858", 20000, speeds());
            box.forceActiveFocus();
            keyClick(Qt.Key_Down);
            compare(lab().rows.chartedExperts, 1);
            compare(box.currentText, "experts in RAM, copies 64MiB");
            tryVerify(() => speeds() === "|1,953|1,908", 20000, speeds());
            const csv = Bench.file("experts.csv", "");
            part("exportMenu").tableRequested(csv);
            verify(Bench.textOf(csv).indexOf(',512,merge,1,"64MiB",') > 0, Bench.textOf(csv));
        }

        function test_speed_is_a_ratio_too() {
            open();
            measure([1024, 2048], [0, 1, 3]);
            measured();
            tryVerify(() => row(0) && row(5));
            const text = index => findChild(row(index), "rowRatio").text;
            compare(text(0), "1×");
            compare(text(2), "1.01×"); // 5 tokens a second more, of 977
            const box = part("speedAs");
            compare(box.currentText, "Tokens per second");
            compare(part("speedFigure").title, "Tokens per second");
            box.forceActiveFocus();
            keyClick(Qt.Key_Down); // to the CPU
            keyClick(Qt.Key_Down); // to what stays on the device
            compare(box.currentText, "Ratio to “Resident”");
            compare(part("speedFigure").title, "Speed, as a ratio to “Resident”");
            compare(lab().rows.base, Strategy.Resident);
            compare(text(1), "1×");
            compare(text(0), "0.99×");
            compare(text(3), Format.unknown); // with 2,048 tokens it was refused
            verify(row(0).Accessible.name.endsWith(", 0.99× of “Resident”"), row(0).Accessible.name);
            const readings = part("speedFigure").readingsAt(10);
            compare(readings[1].value, "0.99×");
            const svg = Bench.file("ratio.svg", "");
            part("exportMenu").pictureRequested(svg);
            verify(Bench.textOf(svg).indexOf("as a ratio to") > 0);

            // With one strategy there is nothing to make a ratio of.
            measure([1024], [3]);
            measured();
            verify(!part("speedAs").visible && !findChild(part("resultHead"), "ratioHead"));
            verify(!findChild(row(0), "rowRatio").visible);
            compare(part("speedFigure").title, "Tokens per second");
        }

        // What was measured earlier comes while the page is laid out for the first time.
        function test_the_page_opens_with_what_was_measured_before_data() {
            return [{ tag: "default", width: 1180, height: 1400 }, { tag: "usual", width: 1400, height: 900 }];
        }
        function test_the_page_opens_with_what_was_measured_before(data) {
            const usual = Qt.size(parent.width, parent.height);
            parent.width = data.width;
            parent.height = data.height;
            open();
            measure([512, 1024], [0, 1, 3]);
            measured();
            shell.destroy();
            wait(0);
            Bench.restartExperiments(); // the next start
            showWindow();
            showPage();
            tryCompare(lab().rows, "count", 6);
            tryVerify(() => row(0) && findChild(row(0), "rowRatio").visible);
            const right = item => item.mapToItem(part("resultFlick").contentItem, item.width, 0).x;
            for (const name of ["Speed", "Ratio", "Spread"])
                tryVerify(() => Math.abs(right(part(name.toLowerCase() + "Head")) - right(findChild(row(0), "row" + name))) < 0.5, 5000, name);
            parent.width = usual.width;
            parent.height = usual.height;
        }

        // The first run decides for the table what columns there are while it is not shown yet.
        function test_heads_stand_over_their_columns_from_the_first_run() {
            open();
            measure([512], [0, 3]);
            measured();
            tryVerify(() => row(0) && findChild(row(0), "rowRatio").visible);
            const flick = part("resultFlick"), cell = findChild(row(0), "rowRatio");
            const right = item => item.mapToItem(flick.contentItem, item.width, 0).x;
            tryVerify(() => part("ratioHead").width > 0 && Math.abs(right(part("ratioHead")) - right(cell)) < 0.5);
        }

        // Every number has its room, under its head, however narrow the window is.
        function test_the_table_is_whole_at_every_width_data() {
            return [{ tag: "default", width: 1180, panel: true }, { tag: "small", width: 1024, panel: true },
                    { tag: "narrow", width: 700, panel: false }, { tag: "wide", width: 2200, panel: false }];
        }
        function test_the_table_is_whole_at_every_width(data) {
            const usual = parent.width;
            parent.width = data.width;
            open(["one.gguf"], { panel: data.panel });
            measure([512, 2048], [0, 1, 3]);
            measured();
            tryVerify(() => row(4) && row(4).outcome === Outcome.Refused); // its sentence stands in the place of the numbers
            const sentence = findChild(row(4), "rowSentence");
            tryVerify(() => Math.abs(sentence.mapToItem(row(4), 0, 0).x - findChild(row(0), "rowSpeed").x - Theme.gapSmall) < 1);
            verify(sentence.mapToItem(row(4), sentence.width, 0).x <= row(4).sight);
            measure([512], [0, 3]);
            measured();
            lab().compare(lab().runs[1].id); // with every column there is
            const flick = part("resultFlick"), head = part("resultHead");
            tryVerify(() => row(0) && findChild(row(0), "rowChange").visible);
            tryVerify(() => findChild(row(0), "rowSpread").width > 0 && head.width > 0);
            const heads = Array.from(head.children).filter(item => item.visible && item.text !== undefined);
            const cells = ["rowContext", "rowStrategy", "rowSpeed", "rowRatio", "rowChange", "rowP99", "rowReading", "rowDevice",
                           "rowHost", "rowSpread"].map(name => findChild(row(0), name));
            compare(heads.length, cells.length);
            const left = item => item.mapToItem(flick.contentItem, 0, 0).x, right = item => left(item) + item.width;
            tryVerify(() => left(cells[4]) > left(cells[3]) && left(heads[4]) > left(heads[3])); // once it is laid out
            for (let i = 0; i < cells.length; ++i) {
                const words = `${heads[i].text}: ${cells[i].text}`;
                for (const item of [heads[i], cells[i]]) {
                    verify(item.visible && item.text !== "", words);
                    verify(item.width >= item.implicitWidth && !item.truncated, `${words}: ${item.width} of ${item.implicitWidth}`);
                }
                fuzzyCompare(right(heads[i]), right(cells[i]), 0.5, words);
                verify(i === 0 || left(cells[i]) >= right(cells[i - 1]) && left(heads[i]) >= right(heads[i - 1]), words);
            }
            // What does not fit can be scrolled to, by keyboard as well, and one sees that there is more.
            compare(part("resultScrollBar").visible, flick.contentWidth > flick.width);
            flick.forceActiveFocus();
            for (let i = 0; i < 12; ++i)
                keyClick(Qt.Key_Right);
            if (flick.contentWidth > flick.width) {
                tryVerify(() => flick.contentX > 0);
                for (let i = 0; i < 40; ++i)
                    mouseWheel(flick, 40, 20, 0, 120, Qt.NoButton, Qt.ShiftModifier);
                tryCompare(flick, "contentX", 0);
                for (let i = 0; i < 40; ++i)
                    mouseWheel(flick, 40, 20, 0, -120, Qt.NoButton, Qt.ShiftModifier);
                tryVerify(() => Math.abs(flick.contentX - (flick.contentWidth - flick.width)) < 1);
            }
            const end = cells[cells.length - 1];
            verify(end.mapToItem(flick, end.width, 0).x <= flick.width);
            verify(!Bench.unspokenStops(shell).some(stop => stop.indexOf("resultFlick") >= 0));
            lab().compare(""); // a page of full width then has them all in sight
            tryCompare(flick, "wide", data.width < 2200);
            parent.width = usual;
        }

        function test_a_crash_is_a_row() {
            open(["crash.gguf", "good.gguf"]);
            click(part("modelChip1"));
            measure([512], [0]);
            measured();
            compare(lab().rows.count, 2);
            tryVerify(() => row(0));
            compare(row(0).outcome, Outcome.Crashed);
            compare(findChild(row(0), "rowSentence").text, "The process crashed.");
            compare(row(1).outcome, Outcome.Measured);
        }

        function test_without_a_number_there_is_no_chart() {
            open(["crash.gguf"]);
            measure([512, 1024], [0]);
            measured();
            compare(lab().rows.count, 2);
            tryVerify(() => row(1));
            verify(!part("resultCharts").visible);
            verify(part("exportRun").enabled);
            click(part("exportRun"));
            verify(part("exportCsv").enabled && !part("exportPng").enabled && !part("exportSvg").enabled);
            keyClick(Qt.Key_Escape);
        }

        function test_progress_and_cancel() {
            open(["good.gguf", "hang.gguf", "never.gguf"]);
            click(part("modelChip1"));
            click(part("modelChip2"));
            measure([512], [0]);
            tryVerify(() => lab().done === 1, 20000);
            verify(part("runProgress").visible);
            tryCompare(part("runDoing"), "text", "hang.gguf, 512 tokens, CPU only");
            verify(part("runCount").text.indexOf("1 of 3 rows") === 0, part("runCount").text);
            tryVerify(() => part("runCount").text.indexOf("left") > 0);
            verify(!part("planCard").visible && !part("deleteRun").enabled);
            click(part("cancelExperiment"));
            measured();
            compare(lab().rows.count, 2);
            compare(row(1).outcome, Outcome.Cancelled);
            verify(lab().shown.cancelled);
            tryCompare(part("runProgress"), "visible", false);
        }

        function test_the_models_memory_is_given_and_given_back() {
            makeWindow({ experimentFiles: ["hang.gguf"] });
            openModel();
            showPage();
            compare(lab().draft.models[0].title, Bench.models.current.name); // what is open comes first
            click(part("modelChip0"));
            click(part("modelChip1"));
            measure([512], [0]);
            tryVerify(() => lab().state === ExperimentsController.Measuring);
            verify(!Bench.models.current.known);
            tryVerify(() => part("roomNote").visible);
            verify(part("roomNote").text.indexOf("was closed to make room") > 0, part("roomNote").text);
            verify(Bench.chat.turn.obstacle.indexOf("comes back") > 0, Bench.chat.turn.obstacle);
            Bench.openAtOnce("/models/other.gguf"); // not now
            verify(Bench.models.error.indexOf("experiment") > 0);
            compare(lab().state, ExperimentsController.Measuring);
            click(part("cancelExperiment"));
            tryVerify(() => Bench.models.current.known, 20000);
            compare(Bench.models.current.name, "tiny");
            verify(Bench.chat.turn.canSend);

            // Cancelled before the model is closed, nothing is measured.
            compare(lab().runs.length, 1);
            lab().start();
            compare(lab().state, ExperimentsController.MakingRoom);
            verify(part("cancelExperiment").enabled);
            lab().cancel();
            compare(lab().state, ExperimentsController.Cancelling);
            verify(!part("cancelExperiment").enabled);
            measured();
            compare(lab().runs.length, 1);
            tryVerify(() => Bench.models.current.known, 20000);
            compare(Bench.models.current.name, "tiny");
        }

        function test_an_answer_is_waited_for_or_stopped() {
            makeWindow({ tokens: 2000, tokenMs: 20 });
            openModel();
            ask("Tell me everything");
            tryVerify(() => Bench.chat.turn.state === ChatTurn.Answering);
            showPage();
            measure([512], [0]);
            tryCompare(part("answerRuns"), "visible", true);
            verify(Bench.models.current.known);
            click(part("dontMeasure"));
            tryCompare(part("answerRuns"), "visible", false);
            verify(Bench.chat.turn.busy);
            click(part("startExperiment"));
            click(part("waitForAnswer"));
            tryCompare(lab(), "state", ExperimentsController.Waiting);
            verify(Bench.chat.turn.busy);
            click(part("cancelExperiment"));
            tryCompare(lab(), "state", ExperimentsController.Idle);
            click(part("startExperiment"));
            click(part("stopAnswer"));
            tryVerify(() => lab().runs.length === 1, 20000);
            verify(!Bench.chat.turn.busy);
            measured();
            tryVerify(() => Bench.models.current.known, 20000);
        }

        function test_what_was_planned_may_change_while_an_answer_is_waited_for() {
            makeWindow({ tokens: 2000, tokenMs: 20 });
            openModel();
            ask("Tell me everything");
            tryVerify(() => Bench.chat.turn.state === ChatTurn.Answering);
            showPage();
            measure([512], [0]);
            tryCompare(part("answerRuns"), "visible", true);
            click(part("contextChip512")); // nothing is left to measure
            click(part("stopAnswer"));
            tryVerify(() => !Bench.chat.turn.busy);
            tryCompare(lab(), "state", ExperimentsController.Idle);
            compare(lab().trouble, "Choose a context.");
            compare(lab().runs.length, 0);
            verify(Bench.models.current.known);
        }

        function test_nothing_is_measured_beside_a_model_that_is_being_opened() {
            makeWindow({ tokens: 2000, tokenMs: 20 });
            openModel();
            ask("Tell me everything");
            tryVerify(() => Bench.chat.turn.state === ChatTurn.Answering);
            showPage();
            measure([512], [0]);
            click(part("waitForAnswer"));
            tryCompare(lab(), "state", ExperimentsController.Waiting);
            Bench.models.open("file:///models/other.gguf");
            tryVerify(() => Bench.models.phase === ModelController.Offered);
            Bench.chat.turn.stop();
            tryCompare(lab(), "state", ExperimentsController.Idle);
            compare(lab().trouble, "A model is being opened. Measure when that has ended.");
            compare(lab().runs.length, 0);
            verify(Bench.models.current.known);
        }

        function test_what_is_shown_can_be_taken_along() {
            open();
            measure([512, 1024], [0, 3]);
            measured();
            const table = Bench.file("run.csv", ""), json = Bench.file("run.json", "");
            part("exportMenu").tableRequested(table);
            compare(part("runChooser").refusal, "");
            verify(part("exportDone").visible);
            compare(part("exportDone").sentence, "Saved “run.csv”.");
            const lines = Bench.textOf(table).trim().split("\n");
            compare(lines.length, 5);
            verify(lines[1].indexOf('"one.gguf",512,cpu,,,"cpu"') === 0, lines[1]);
            part("exportMenu").tableRequested(json);
            compare(JSON.parse(Bench.textOf(json)).rows.length, 4);

            const svg = Bench.file("figures.svg", ""), png = Bench.file("figures.png", "");
            part("exportMenu").pictureRequested(svg);
            compare(part("runChooser").refusal, "");
            const drawn = Bench.textOf(svg);
            for (const word of ["one.gguf", "Tokens per second", "CPU only", "Merge", "512", "1K"])
                verify(drawn.indexOf(">" + word) > 0, word + " is not in the picture");
            part("exportMenu").pictureRequested(png);
            compare(part("exportDone").sentence, "Saved “figures.png”.");
            verify(Bench.textOf(png).indexOf("PNG") === 1);
            // As Qt 6.4's own dialog gives a name that was typed.
            part("exportMenu").tableRequested(table.toString().replace("file://", "").replace("run.csv", "typed.csv"));
            compare(part("runChooser").refusal, "");
            compare(Bench.textOf(table.toString().replace("run.csv", "typed.csv")).trim().split("\n").length, 5);
            part("exportMenu").tableRequested("file:///nowhere/run.csv");
            verify(part("exportRefusal").visible && !part("exportDone").visible);
            part("exportMenu").tableRequested(table);
            verify(!part("exportRefusal").visible && part("exportDone").visible);
            click(findChild(part("exportDone"), "noticeDismiss"));
            verify(!part("exportDone").visible);
        }

        function test_a_run_is_compared_while_it_is_measured() {
            open(["slow.gguf"]);
            measure([512], [0]);
            measured();
            const older = lab().shown.id;
            measure([512, 1024], [0]);
            tryVerify(() => lab().shown.id !== older);
            const newer = lab().shown.id;
            lab().show(older);
            lab().compare(newer);
            measured();
            tryVerify(() => row(0) && findChild(row(0), "rowChange").text === "0 %");
        }

        function test_runs_are_compared_renamed_and_deleted() {
            open();
            measure([512, 1024], [0, 2, 3]);
            measured();
            measure([512], [0, 3]);
            measured();
            compare(lab().runs.length, 2);
            compare(lab().rows.count, 2);
            const box = part("runBox"); // both are of one minute, as a rule
            verify(box.textAt(0) !== box.textAt(1), box.textAt(0));
            if (lab().runs[0].started - lab().runs[1].started < 60000)
                compare(lab().runs[0].name, lab().runs[1].name + " (2)");
            lab().compare(lab().runs[1].id);
            verify(lab().rows.compares);
            tryVerify(() => row(0) && findChild(row(0), "rowChange").visible);
            compare(findChild(row(0), "rowChange").text, "0 %"); // the stand-in is as fast each time
            verify(part("legend_earlier").visible);
            verify(part("legend_2").visible); // the compared run alone has it

            click(part("renameRunButton"));
            part("renameRun").selectAll();
            type("night");
            keyClick(Qt.Key_Return);
            compare(lab().shown.name, "night");
            verify(part("renameRunButton").activeFocus); // not the hidden field
            keyClick(Qt.Key_X);
            keyClick(Qt.Key_Return);
            keyClick(Qt.Key_Escape); // which ends the renaming that began again
            compare(lab().shown.name, "night");
            verify(!part("renameRun").visible);
            tryVerify(() => part("runBox").displayText.endsWith("night"));
            const json = Bench.file("renamed.json", "");
            part("exportMenu").tableRequested(json);
            compare(JSON.parse(Bench.textOf(json)).name, "night");
            verify(lab().suggestedFile("csv").toString().endsWith("night.csv"));

            const shown = lab().shown.id;
            click(part("renameRunButton"));
            verify(part("renameRun").visible);
            click(part("deleteRun"));
            tryVerify(() => part("confirmDeleteRun").opened);
            click(seen(part("confirmDeleteRun").contentItem, "confirmAccept"));
            compare(lab().runs.length, 1);
            verify(lab().shown.id !== shown);
            verify(!findChild(shell, "renameRun").visible); // what was typed there was for the other
            verify(!lab().rows.compares);
            compare(lab().rows.count, 6);
        }
    }
}
