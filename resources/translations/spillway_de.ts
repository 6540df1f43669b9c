<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="de" sourcelanguage="en">
<context>
    <name>AboutPage</name>
    <message>
        <source>About</source>
        <translation>Über Spillway</translation>
    </message>
    <message>
        <source>Spillway %1</source>
        <translation>Spillway %1</translation>
    </message>
    <message>
        <source>Talk to language models on your own computer, and see where their memory lives.</source>
        <translation>Mit Sprachmodellen auf dem eigenen Rechner sprechen und sehen, wo ihr Speicher liegt.</translation>
    </message>
    <message>
        <source>Free software: you may use, study, share and change it under the GNU General Public License, version 3 or later. It comes without any warranty.</source>
        <translation>Freie Software: Unter der GNU General Public License, Version 3 oder später, darf jeder sie benutzen, untersuchen, weitergeben und verändern. Sie kommt ohne jede Gewähr.</translation>
    </message>
    <message>
        <source>This build</source>
        <translation>Diese Fassung</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <source>Copy these facts for a bug report</source>
        <translation>Diese Angaben für einen Fehlerbericht kopieren</translation>
    </message>
    <message>
        <source>Licences</source>
        <translation>Lizenzen</translation>
    </message>
</context>
<context>
    <name>AnswerColumn</name>
    <message>
        <source>Version %1 of %2: %3</source>
        <translation>Fassung %1 von %2: %3</translation>
    </message>
    <message>
        <source>Shown in the conversation</source>
        <translation>Im Gespräch gezeigt</translation>
    </message>
    <message>
        <source>Keep this one</source>
        <translation>Diese behalten</translation>
    </message>
    <message>
        <source>Keep this one: version %1</source>
        <translation>Diese behalten: Fassung %1</translation>
    </message>
</context>
<context>
    <name>AnswerColumnBody</name>
    <message>
        <source>Waits for another conversation&apos;s answer</source>
        <translation>Wartet auf die Antwort in einem anderen Gespräch</translation>
    </message>
    <message>
        <source>Waits until the model has loaded</source>
        <translation>Wartet, bis das Modell geladen ist</translation>
    </message>
</context>
<context>
    <name>AnswerColumnHead</name>
    <message>
        <source>Version %1</source>
        <translation>Fassung %1</translation>
    </message>
    <message>
        <source>Answered by %1</source>
        <translation>Beantwortet von %1</translation>
    </message>
    <message>
        <source>Stop this version</source>
        <translation>Diese Fassung anhalten</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Copy this version</source>
        <translation>Diese Fassung kopieren</translation>
    </message>
</context>
<context>
    <name>AnswerColumns</name>
    <message>
        <source>Versions of the answer</source>
        <translation>Fassungen der Antwort</translation>
    </message>
    <message>
        <source>You: %1</source>
        <translation>Nachricht: %1</translation>
    </message>
    <message>
        <source>Back to the conversation</source>
        <translation>Zurück zum Gespräch</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
</context>
<context>
    <name>AnswerEnding</name>
    <message>
        <source>Stopped</source>
        <translation>Angehalten</translation>
    </message>
    <message>
        <source>Length limit reached</source>
        <translation>Längengrenze erreicht</translation>
    </message>
    <message>
        <source>The context was full</source>
        <translation>Der Kontext war voll</translation>
    </message>
    <message>
        <source>Interrupted when the program ended</source>
        <translation>Unterbrochen, als das Programm endete</translation>
    </message>
</context>
<context>
    <name>AskFirst</name>
    <message>
        <source>Finding and fetching models contacts %1 and the servers that it names for the files. Another one is contacted only where you enter its address, or one of Ollama’s names. They see this computer&apos;s network address and what is searched and fetched, and nothing of your conversations.</source>
        <translation>Um Modelle zu finden und zu holen, fragt Spillway %1 und die Server, die dort für die Dateien genannt werden. Ein anderer wird nur gefragt, wo seine Adresse oder ein Name von Ollama eingegeben wird. Alle sehen die Netzadresse dieses Rechners und was gesucht und geholt wird, und nichts von den Gesprächen.</translation>
    </message>
    <message>
        <source>You can change your mind in the settings, which also list who was contacted.</source>
        <translation>Das lässt sich in den Einstellungen ändern; dort steht auch, wer gefragt wurde.</translation>
    </message>
    <message>
        <source>Use the network for this</source>
        <translation>Das Netz dafür benutzen</translation>
    </message>
    <message>
        <source>Your token of Hugging Face is known, and is sent along to %1. You can change your mind in the settings, which also list who was contacted.</source>
        <translation>Ein Token für Hugging Face ist bekannt und wird an %1 mitgeschickt. Das lässt sich in den Einstellungen ändern; dort steht auch, wer gefragt wurde.</translation>
    </message>
</context>
<context>
    <name>AttachDialog</name>
    <message>
        <source>Attach files</source>
        <translation>Dateien anhängen</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>Alle Dateien (*)</translation>
    </message>
    <message>
        <source>PDF (*.pdf)</source>
        <translation>PDF (*.pdf)</translation>
    </message>
    <message>
        <source>Text and Markdown (*.txt *.md *.markdown *.csv *.rst)</source>
        <translation>Text und Markdown (*.txt *.md *.markdown *.csv *.rst)</translation>
    </message>
</context>
<context>
    <name>AttachmentChip</name>
    <message>
        <source>Reading…</source>
        <translation>Liest…</translation>
    </message>
    <message>
        <source>1 token</source>
        <translation>1 Token</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>counting…</source>
        <translation>zählt…</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>Shows the text that the model reads</source>
        <translation>Zeigt den Text, den das Modell liest</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Ausblenden</translation>
    </message>
    <message>
        <source>Remove %1</source>
        <translation>%1 entfernen</translation>
    </message>
    <message>
        <source>Put the text of %1 into the message</source>
        <translation>Den Text von %1 in die Nachricht setzen</translation>
    </message>
    <message>
        <source>Put its text into the message</source>
        <translation>Den Text in die Nachricht setzen</translation>
    </message>
</context>
<context>
    <name>AttachmentChips</name>
    <message>
        <source>Attached files</source>
        <translation>Angehängte Dateien</translation>
    </message>
</context>
<context>
    <name>AttachmentModel</name>
    <message>
        <source>Only files of this computer can be attached.</source>
        <translation>Nur Dateien dieses Rechners lassen sich anhängen.</translation>
    </message>
    <message numerus="yes">
        <source>A message takes %n files at most.</source>
        <translation>
            <numerusform>Eine Nachricht fasst höchstens %n Datei.</numerusform>
            <numerusform>Eine Nachricht fasst höchstens %n Dateien.</numerusform>
        </translation>
    </message>
    <message>
        <source>“%1” is attached already.</source>
        <translation>„%1“ ist schon angehängt.</translation>
    </message>
</context>
<context>
    <name>AttachmentReader</name>
    <message>
        <source>There is not enough memory to read this file.</source>
        <translation>Der Speicher reicht nicht, um diese Datei zu lesen.</translation>
    </message>
</context>
<context>
    <name>AttachmentText</name>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>The beginning of what the model reads; all of it has %1 characters.</source>
        <translation>Der Anfang dessen, was das Modell liest; das Ganze hat %1 Zeichen.</translation>
    </message>
    <message>
        <source>What the model reads of this file.</source>
        <translation>Was das Modell von dieser Datei liest.</translation>
    </message>
    <message>
        <source>Text of %1</source>
        <translation>Text von %1</translation>
    </message>
</context>
<context>
    <name>Attachments</name>
    <message>
        <source>“%1” is a folder; choose the files in it.</source>
        <translation>„%1“ ist ein Ordner; bitte die Dateien darin wählen.</translation>
    </message>
    <message>
        <source>“%1” is not there any more.</source>
        <translation>„%1“ ist nicht mehr da.</translation>
    </message>
    <message>
        <source>“%1” is not an ordinary file.</source>
        <translation>„%1“ ist keine gewöhnliche Datei.</translation>
    </message>
    <message>
        <source>“%1” is empty.</source>
        <translation>„%1“ ist leer.</translation>
    </message>
    <message>
        <source>“%1” cannot be read: %2.</source>
        <translation>„%1“ lässt sich nicht lesen: %2.</translation>
    </message>
    <message>
        <source>“%1” is damaged, so it cannot be read.</source>
        <translation>„%1“ ist beschädigt und lässt sich nicht lesen.</translation>
    </message>
    <message>
        <source>“%1” is protected by a password, so it cannot be read.</source>
        <translation>„%1“ ist durch ein Kennwort geschützt und lässt sich nicht lesen.</translation>
    </message>
    <message>
        <source>“%1” is protected in a way that cannot be opened.</source>
        <translation>„%1“ ist auf eine Weise geschützt, die sich nicht öffnen lässt.</translation>
    </message>
    <message>
        <source>“%1” holds no text, only pictures of pages, and pictures cannot be read yet.</source>
        <translation>„%1“ enthält keinen Text, nur Bilder von Seiten, und Bilder können noch nicht gelesen werden.</translation>
    </message>
    <message>
        <source>“%1” has more than %2 pages.</source>
        <translation>„%1“ hat mehr als %2 Seiten.</translation>
    </message>
    <message>
        <source>“%1” holds more than %2 of text.</source>
        <translation>„%1“ enthält mehr als %2 Text.</translation>
    </message>
    <message>
        <source>“%1” takes too long to read.</source>
        <translation>„%1“ zu lesen dauert zu lange.</translation>
    </message>
    <message>
        <source>PDF files cannot be read: the program spillway-pdf-text is missing.</source>
        <translation>PDF-Dateien lassen sich nicht lesen: Das Programm spillway-pdf-text fehlt.</translation>
    </message>
    <message>
        <source>“%1” could not be kept: %2.</source>
        <translation>„%1“ konnte nicht aufgehoben werden: %2.</translation>
    </message>
    <message>
        <source>“%1” is neither text nor PDF, so it cannot be read.</source>
        <translation>„%1“ ist weder Text noch PDF und lässt sich nicht lesen.</translation>
    </message>
    <message>
        <source>“%1” is larger than %2.</source>
        <translation>„%1“ ist größer als %2.</translation>
    </message>
</context>
<context>
    <name>BlockBuilder</name>
    <message>
        <source>This table is too large to be drawn whole. Its other rows follow as they were written.</source>
        <translation>Diese Tabelle ist zu groß, um ganz gezeichnet zu werden. Ihre übrigen Zeilen folgen, wie sie geschrieben wurden.</translation>
    </message>
    <message>
        <source>This text has too many parts to be drawn whole. What follows is shown as it was written.</source>
        <translation>Dieser Text hat zu viele Teile, um ganz gezeichnet zu werden. Was folgt, wird gezeigt, wie es geschrieben wurde.</translation>
    </message>
</context>
<context>
    <name>BlockDelegate</name>
    <message>
        <source>Show more of this message</source>
        <translation>Mehr von dieser Nachricht zeigen</translation>
    </message>
</context>
<context>
    <name>CatalogueController</name>
    <message>
        <source>The folder could not be shown.</source>
        <translation>Der Ordner ließ sich nicht anzeigen.</translation>
    </message>
    <message>
        <source>too large to look through completely</source>
        <translation>zu groß, um ganz durchsucht zu werden</translation>
    </message>
    <message>
        <source>unfinished downloads: %1</source>
        <translation>unvollständige Downloads: %1</translation>
    </message>
    <message>
        <source>not readable: %1</source>
        <translation>nicht lesbar: %1</translation>
    </message>
    <message>
        <source>without a model: %1</source>
        <translation>ohne Modell: %1</translation>
    </message>
    <message>
        <source>There is no model in “%1” or below it: models are files that end in .gguf.</source>
        <translation>In „%1“ und darunter liegt kein Modell: Modelle sind Dateien, die auf .gguf enden.</translation>
    </message>
    <message>
        <source>what is fetched goes there</source>
        <translation>was geholt wird, kommt dorthin</translation>
    </message>
</context>
<context>
    <name>ChartFrame</name>
    <message>
        <source>Show all of it</source>
        <translation>Alles zeigen</translation>
    </message>
    <message>
        <source>Home</source>
        <translation>Pos1</translation>
    </message>
</context>
<context>
    <name>ChatController</name>
    <message>
        <source>“%1”: %2</source>
        <comment>a conversation&apos;s title, and what has happened there</comment>
        <translation>„%1“: %2</translation>
    </message>
</context>
<context>
    <name>ChatTurn</name>
    <message>
        <source>The model is still loading.</source>
        <translation>Das Modell wird noch geladen.</translation>
    </message>
    <message>
        <source>Open a model first.</source>
        <translation>Bitte zuerst ein Modell öffnen.</translation>
    </message>
    <message>
        <source>The answer is being stopped.</source>
        <translation>Die Antwort wird angehalten.</translation>
    </message>
    <message>
        <source>The model is still answering.</source>
        <translation>Das Modell antwortet noch.</translation>
    </message>
    <message>
        <source>The last message here has not been answered yet.</source>
        <translation>Die letzte Nachricht hier ist noch nicht beantwortet.</translation>
    </message>
    <message>
        <source>The model made room for an experiment, and comes back when that has ended.</source>
        <translation>Das Modell hat einem Experiment Platz gemacht und kommt zurück, wenn es zu Ende ist.</translation>
    </message>
    <message>
        <source>The answer is complete.</source>
        <translation>Die Antwort ist vollständig.</translation>
    </message>
    <message>
        <source>The answer was stopped.</source>
        <translation>Die Antwort wurde angehalten.</translation>
    </message>
    <message>
        <source>The answer has reached its length limit.</source>
        <translation>Die Antwort hat ihre Längengrenze erreicht.</translation>
    </message>
    <message>
        <source>The answer ends here: the context is full.</source>
        <translation>Die Antwort endet hier: der Kontext ist voll.</translation>
    </message>
</context>
<context>
    <name>ChatVersions</name>
    <message>
        <source>(branch)</source>
        <comment>after the title of a conversation that was branched off</comment>
        <translation>(Zweig)</translation>
    </message>
</context>
<context>
    <name>ChoiceBar</name>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
</context>
<context>
    <name>CodeBlock</name>
    <message>
        <source>Code</source>
        <translation>Code</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Copy the code</source>
        <translation>Code kopieren</translation>
    </message>
    <message>
        <source>Do not wrap long lines</source>
        <translation>Lange Zeilen nicht umbrechen</translation>
    </message>
    <message>
        <source>Wrap long lines</source>
        <translation>Lange Zeilen umbrechen</translation>
    </message>
</context>
<context>
    <name>ColumnHeader</name>
    <message>
        <source>New conversation</source>
        <translation>Neues Gespräch</translation>
    </message>
    <message>
        <source>Import and export</source>
        <translation>Importieren und exportieren</translation>
    </message>
    <message>
        <source>Import…</source>
        <translation>Importieren…</translation>
    </message>
    <message>
        <source>Export all as JSON…</source>
        <translation>Alle als JSON exportieren…</translation>
    </message>
    <message>
        <source>Export all as Markdown…</source>
        <translation>Alle als Markdown exportieren…</translation>
    </message>
    <message>
        <source>Ctrl+N</source>
        <translation>Strg+N</translation>
    </message>
</context>
<context>
    <name>ColumnNotice</name>
    <message>
        <source>Dismiss</source>
        <translation>Ausblenden</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
</context>
<context>
    <name>ColumnNotices</name>
    <message>
        <source>The conversation was deleted</source>
        <translation>Das Gespräch wurde gelöscht</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Zurücknehmen</translation>
    </message>
    <message>
        <source>Deleted</source>
        <translation>Gelöscht</translation>
    </message>
    <message>
        <source>Ctrl+Z</source>
        <translation>Strg+Z</translation>
    </message>
    <message>
        <source>Conversations are being imported…</source>
        <translation>Gespräche werden importiert…</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Folder removed, its conversations stay</source>
        <translation>Ordner aufgelöst, die Gespräche bleiben</translation>
    </message>
</context>
<context>
    <name>CommandLine</name>
    <message>
        <source>--%1 cannot be “%2”.</source>
        <translation>--%1 kann nicht „%2“ sein.</translation>
    </message>
    <message>
        <source>--%1 is one of: %2.</source>
        <translation>--%1 ist eines von: %2.</translation>
    </message>
    <message>
        <source>Talk to a language model on this computer, and see where its memory lives.
spillway-cli does the same without a window.</source>
        <translation>Mit einem Sprachmodell auf diesem Rechner sprechen und sehen, wo sein Speicher liegt.
spillway-cli tut dasselbe ohne Fenster.</translation>
    </message>
    <message>
        <source>The model to open.</source>
        <translation>Das Modell, das geöffnet wird.</translation>
    </message>
    <message>
        <source>Tokens the context holds; 0: the model&apos;s own.</source>
        <translation>Token, die der Kontext fasst; 0: wie das Modell es vorsieht.</translation>
    </message>
    <message>
        <source>Longest answer in tokens; -1: no limit.</source>
        <translation>Längste Antwort in Token; -1: keine Grenze.</translation>
    </message>
    <message>
        <source>Threads that compute; 0: one per core.</source>
        <translation>Threads, die rechnen; 0: einer je Kern.</translation>
    </message>
    <message>
        <source>Seed of the random numbers.</source>
        <translation>Startwert der Zufallszahlen.</translation>
    </message>
    <message>
        <source>Temperature; 0: always the likeliest token.</source>
        <translation>Temperatur; 0: immer das wahrscheinlichste Token.</translation>
    </message>
    <message>
        <source>What the KV cache holds for this run: f16, q8_0 or f32.</source>
        <translation>Format des KV-Caches in diesem Lauf: f16, q8_0 oder f32.</translation>
    </message>
    <message>
        <source>system, light or dark, for this run.</source>
        <translation>system, light oder dark, für diesen Lauf.</translation>
    </message>
    <message>
        <source>system, en or de, for this run.</source>
        <translation>system, en oder de, für diesen Lauf.</translation>
    </message>
    <message>
        <source>Print the milliseconds until the window and the model are there.</source>
        <translation>Die Millisekunden ausgeben, bis Fenster und Modell da sind.</translation>
    </message>
    <message>
        <source>Keep settings, conversations and logs in this folder.</source>
        <translation>Einstellungen, Gespräche und Protokolle in diesem Ordner aufbewahren.</translation>
    </message>
    <message>
        <source>--profile needs a folder.</source>
        <translation>--profile braucht einen Ordner.</translation>
    </message>
    <message>
        <source>Spillway opens one model at a time.</source>
        <translation>Spillway öffnet ein Modell auf einmal.</translation>
    </message>
    <message>
        <source>Where to compute: cpu, cuda, or emulated, a device in this computer&apos;s RAM.</source>
        <translation>Wo gerechnet wird: cpu, cuda oder emulated, ein Gerät im RAM dieses Rechners.</translation>
    </message>
    <message>
        <source>Layers on the device, the first ones; auto: as many as fit.</source>
        <translation>Schichten auf dem Gerät, die ersten; auto: so viele, wie passen.</translation>
    </message>
    <message>
        <source>Memory of an emulated device: 64MiB, or fit:1024 for room for so many tokens.</source>
        <translation>Speicher eines emulierten Geräts: 64MiB, oder fit:1024 für Platz für so viele Token.</translation>
    </message>
    <message>
        <source>Speed of an emulated device&apos;s link: 16GB/s.</source>
        <translation>Tempo der Verbindung zum emulierten Gerät: 16GB/s.</translation>
    </message>
    <message>
        <source>KV beyond the device&apos;s memory: resident, stream, merge, auto or cpu-decode.</source>
        <translation>KV über den Speicher des Geräts hinaus: resident, stream, merge, auto oder cpu-decode.</translation>
    </message>
    <message>
        <source>Experts of a mixture in RAM, the rest of their layers on the device.</source>
        <translation>Die Experten eines Gemischs im RAM, der Rest ihrer Schichten auf dem Gerät.</translation>
    </message>
    <message>
        <source>The same for the first layers; auto: experts are on the device as long as they find room.</source>
        <translation>Dasselbe für die ersten Schichten; auto: Experten liegen auf dem Gerät, solange sie Platz finden.</translation>
    </message>
    <message>
        <source>Where routed experts lie whose tensors have such names: REGEX=cpu, REGEX=cuda:0 or REGEX=emulated.</source>
        <translation>Wo Experten liegen, deren Tensoren so heißen: REGEX=cpu, REGEX=cuda:0 oder REGEX=emulated.</translation>
    </message>
    <message>
        <source>Memory of the device for copies of the experts that tokens choose most: 2GiB, or auto.</source>
        <translation>Speicher des Geräts für Kopien der Experten, die Token am häufigsten wählen: 2GiB oder auto.</translation>
    </message>
</context>
<context>
    <name>CompanionRow</name>
    <message>
        <source>Guesses several words ahead, so that answers come faster. Spillway does not use it yet.</source>
        <translation>Rät mehrere Wörter voraus, damit Antworten schneller kommen. Spillway nutzt das noch nicht.</translation>
    </message>
    <message>
        <source>Lets the model see pictures or hear sounds. Spillway does not use it yet; other programs do.</source>
        <translation>Lässt das Modell Bilder sehen oder Töne hören. Spillway nutzt das noch nicht, andere Programme schon.</translation>
    </message>
</context>
<context>
    <name>Composer</name>
    <message>
        <source>Message %1</source>
        <translation>Nachricht an %1</translation>
    </message>
    <message>
        <source>Write a message</source>
        <translation>Nachricht schreiben</translation>
    </message>
    <message>
        <source>A new text; what is above is not read</source>
        <translation>Ein neuer Text; was oben steht, wird nicht gelesen</translation>
    </message>
    <message>
        <source>The beginning of a text</source>
        <translation>Der Anfang eines Textes</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>Senden</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Eingabe</translation>
    </message>
    <message>
        <source>Attach files</source>
        <translation>Dateien anhängen</translation>
    </message>
</context>
<context>
    <name>ComposerController</name>
    <message>
        <source>The files are still being read.</source>
        <translation>Die Dateien werden noch gelesen.</translation>
    </message>
    <message>
        <source>What was copied is a picture, and pictures cannot be read yet.</source>
        <translation>Kopiert wurde ein Bild, und Bilder können noch nicht gelesen werden.</translation>
    </message>
    <message>
        <source>Pasted text.txt</source>
        <translation>Eingefügter Text.txt</translation>
    </message>
    <message>
        <source>Pasted text %1.txt</source>
        <translation>Eingefügter Text %1.txt</translation>
    </message>
    <message>
        <source>A message of this length cannot be kept: attach it as a file.</source>
        <translation>Eine so lange Nachricht lässt sich nicht aufbewahren: bitte als Datei anhängen.</translation>
    </message>
</context>
<context>
    <name>ComposerField</name>
    <message>
        <source>Message</source>
        <translation>Nachricht</translation>
    </message>
</context>
<context>
    <name>ComposerNotes</name>
    <message>
        <source>Counting tokens…</source>
        <translation>Zählt Token…</translation>
    </message>
    <message>
        <source>The long paste became a file.</source>
        <translation>Der lange eingefügte Text wurde zu einer Datei.</translation>
    </message>
    <message>
        <source>Put it into the message</source>
        <translation>In die Nachricht setzen</translation>
    </message>
    <message>
        <source>1 token</source>
        <translation>1 Token</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>%1 to send</source>
        <translation>%1 zu senden</translation>
    </message>
    <message>
        <source>With this message the prompt needs %1 tokens, and the context holds %2.</source>
        <translation>Mit dieser Nachricht braucht der Prompt %1 Token, und der Kontext fasst %2.</translation>
    </message>
    <message>
        <source>%1 to send, room for %2</source>
        <translation>%1 zu senden, Platz für %2</translation>
    </message>
</context>
<context>
    <name>ConfirmDialog</name>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
</context>
<context>
    <name>ContactRows</name>
    <message>
        <source>Connections to other machines since the start</source>
        <translation>Verbindungen zu anderen Rechnern seit dem Start</translation>
    </message>
    <message>
        <source>None: no other machine has been contacted.</source>
        <translation>Keine: Es wurde kein anderer Rechner gefragt.</translation>
    </message>
    <message>
        <source>%1 received, %2 sent</source>
        <translation>%1 empfangen, %2 gesendet</translation>
    </message>
</context>
<context>
    <name>ContactedHosts</name>
    <message>
        <source>searching for models</source>
        <translation>Suche nach Modellen</translation>
    </message>
    <message>
        <source>versions of a model</source>
        <translation>Fassungen eines Modells</translation>
    </message>
    <message>
        <source>a list of files</source>
        <translation>eine Liste von Dateien</translation>
    </message>
    <message>
        <source>facts of a model</source>
        <translation>Angaben zu einem Modell</translation>
    </message>
    <message>
        <source>a text about a model</source>
        <translation>ein Text über ein Modell</translation>
    </message>
    <message>
        <source>a model&apos;s header</source>
        <translation>der Kopf eines Modells</translation>
    </message>
    <message>
        <source>the size of a file</source>
        <translation>die Größe einer Datei</translation>
    </message>
    <message>
        <source>a model&apos;s file</source>
        <translation>die Datei eines Modells</translation>
    </message>
    <message>
        <source>what a server is</source>
        <translation>was ein Server ist</translation>
    </message>
    <message>
        <source>answers of a model there</source>
        <translation>Antworten eines Modells dort</translation>
    </message>
    <message>
        <source>a server&apos;s numbers</source>
        <translation>Zahlen eines Servers</translation>
    </message>
</context>
<context>
    <name>ContextChoices</name>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>others: 3000, 12K</source>
        <translation>andere: 3000, 12K</translation>
    </message>
    <message>
        <source>Other contexts, in tokens, separated by commas</source>
        <translation>Andere Kontexte, in Token, durch Kommas getrennt</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <source>Add these contexts</source>
        <translation>Diese Kontexte hinzufügen</translation>
    </message>
</context>
<context>
    <name>ContextMeter</name>
    <message>
        <source>Context: %1 of %2 tokens used</source>
        <translation>Kontext: %1 von %2 Token belegt</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <source>%1 / %2</source>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>Shows what fills the context</source>
        <translation>Zeigt, was den Kontext füllt</translation>
    </message>
    <message>
        <source>Context: %1 tokens used</source>
        <translation>Kontext: %1 Token belegt</translation>
    </message>
</context>
<context>
    <name>ContextNotice</name>
    <message>
        <source>The context is full. Choose how this conversation goes on.</source>
        <translation>Der Kontext ist voll. Wie soll es mit diesem Gespräch weitergehen?</translation>
    </message>
    <message>
        <source>The context is nearly full. Unless you choose otherwise, the answer stops when it is.</source>
        <translation>Der Kontext ist fast voll. Wird nichts anderes gewählt, endet die Antwort, sobald er es ist.</translation>
    </message>
    <message>
        <source>The context is nearly full.</source>
        <translation>Der Kontext ist fast voll.</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Ausblenden</translation>
    </message>
    <message>
        <source>Leave out the oldest messages</source>
        <translation>Die ältesten Nachrichten weglassen</translation>
    </message>
    <message>
        <source>Raise it to %1 tokens (up to %2)</source>
        <translation>Auf %1 Token erhöhen (bis zu %2)</translation>
    </message>
    <message>
        <source>Stop the answer</source>
        <translation>Antwort anhalten</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>Neues Gespräch</translation>
    </message>
    <message>
        <source>Edit the message</source>
        <translation>Nachricht bearbeiten</translation>
    </message>
    <message>
        <source>Your message alone is longer than the context. Make it shorter, or the context larger.</source>
        <translation>Schon die Nachricht ist länger als der Kontext. Bitte sie kürzen oder den Kontext vergrößern.</translation>
    </message>
    <message>
        <source>The context is full, and no room can be made in it. Go on in a new conversation.</source>
        <translation>Der Kontext ist voll, und in ihm lässt sich kein Platz schaffen. Weiter geht es in einem neuen Gespräch.</translation>
    </message>
</context>
<context>
    <name>ConversationColumn</name>
    <message>
        <source>Conversations</source>
        <translation>Gespräche</translation>
    </message>
    <message>
        <source>Searching</source>
        <translation>Suche läuft</translation>
    </message>
    <message>
        <source>No conversations yet</source>
        <translation>Noch keine Gespräche</translation>
    </message>
    <message>
        <source>What you talk about is kept here, on this computer only.</source>
        <translation>Gespräche werden hier aufgehoben, nur auf diesem Rechner.</translation>
    </message>
    <message>
        <source>Nothing found</source>
        <translation>Nichts gefunden</translation>
    </message>
    <message>
        <source>All the words have to be in one title or message; the last one may be a beginning.</source>
        <translation>Alle Wörter müssen in einem Titel oder einer Nachricht stehen; vom letzten genügt der Anfang.</translation>
    </message>
</context>
<context>
    <name>ConversationFiles</name>
    <message>
        <source>Export all conversations</source>
        <translation>Alle Gespräche exportieren</translation>
    </message>
    <message>
        <source>Export the conversation</source>
        <translation>Gespräch exportieren</translation>
    </message>
    <message>
        <source>JSON (*.json)</source>
        <translation>JSON (*.json)</translation>
    </message>
    <message>
        <source>Markdown (*.md)</source>
        <translation>Markdown (*.md)</translation>
    </message>
    <message>
        <source>A folder for the Markdown files</source>
        <translation>Ein Ordner für die Markdown-Dateien</translation>
    </message>
    <message>
        <source>Import conversations</source>
        <translation>Gespräche importieren</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Conversations (*.json *.jsonl *.md)</source>
        <translation>Gespräche (*.json *.jsonl *.md)</translation>
    </message>
</context>
<context>
    <name>ConversationList</name>
    <message>
        <source>Conversations</source>
        <translation>Gespräche</translation>
    </message>
</context>
<context>
    <name>ConversationListModel</name>
    <message>
        <source>Pinned</source>
        <translation>Angeheftet</translation>
    </message>
    <message>
        <source>Today</source>
        <translation>Heute</translation>
    </message>
    <message>
        <source>Yesterday</source>
        <translation>Gestern</translation>
    </message>
    <message>
        <source>Previous 7 days</source>
        <translation>Letzte 7 Tage</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <comment>month and year</comment>
        <translation>%1 %2</translation>
    </message>
</context>
<context>
    <name>ConversationMenu</name>
    <message>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>Lösen</translation>
    </message>
    <message>
        <source>Pin</source>
        <translation>Anheften</translation>
    </message>
    <message>
        <source>Export as Markdown…</source>
        <translation>Als Markdown exportieren…</translation>
    </message>
    <message>
        <source>Export as JSON…</source>
        <translation>Als JSON exportieren…</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Del</source>
        <translation>Entf</translation>
    </message>
    <message>
        <source>Move to folder…</source>
        <translation>In Ordner verschieben…</translation>
    </message>
</context>
<context>
    <name>ConversationRow</name>
    <message>
        <source>New conversation</source>
        <translation>Neues Gespräch</translation>
    </message>
    <message>
        <source>%1, being answered</source>
        <translation>%1, wird beantwortet</translation>
    </message>
    <message>
        <source>%1, waiting for its turn</source>
        <translation>%1, wartet</translation>
    </message>
    <message>
        <source>More for %1</source>
        <translation>Mehr zu %1</translation>
    </message>
    <message>
        <source>More</source>
        <translation>Mehr</translation>
    </message>
    <message>
        <source>Delete %1</source>
        <translation>%1 löschen</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message numerus="yes">
        <source>%1, open folder of %n conversation(s)</source>
        <translation>
            <numerusform>%1, offener Ordner mit %n Gespräch</numerusform>
            <numerusform>%1, offener Ordner mit %n Gesprächen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1, closed folder of %n conversation(s)</source>
        <translation>
            <numerusform>%1, geschlossener Ordner mit %n Gespräch</numerusform>
            <numerusform>%1, geschlossener Ordner mit %n Gesprächen</numerusform>
        </translation>
    </message>
    <message>
        <source>Remove the folder %1</source>
        <translation>Den Ordner %1 auflösen</translation>
    </message>
    <message>
        <source>Remove the folder</source>
        <translation>Ordner auflösen</translation>
    </message>
</context>
<context>
    <name>ConversationSearch</name>
    <message>
        <source>Search conversations</source>
        <translation>Gespräche durchsuchen</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Ctrl+K</source>
        <translation>Strg+K</translation>
    </message>
</context>
<context>
    <name>ConversationSettingsPanel</name>
    <message>
        <source>Conversation settings</source>
        <translation>Einstellungen des Gesprächs</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
</context>
<context>
    <name>ConversationStore</name>
    <message>
        <source>The database of conversations is damaged in places. It is repaired as far as possible when the program starts the next time.</source>
        <translation>Die Datenbank der Gespräche ist stellenweise beschädigt. Beim nächsten Start wird sie repariert, soweit es geht.</translation>
    </message>
    <message>
        <source>A message of this length cannot be kept; it will be gone when the program ends.</source>
        <translation>Eine so lange Nachricht lässt sich nicht aufheben; sie ist fort, wenn das Programm endet.</translation>
    </message>
    <message>
        <source>The disk is full: what is said now is kept as soon as there is room again.</source>
        <translation>Der Datenträger ist voll: Was jetzt gesagt wird, wird aufgehoben, sobald wieder Platz ist.</translation>
    </message>
    <message>
        <source>Conversations cannot be written at the moment: %1.</source>
        <translation>Gespräche lassen sich zurzeit nicht schreiben: %1.</translation>
    </message>
    <message>
        <source>Conversations cannot be kept and will be gone when the program ends: %1.</source>
        <translation>Gespräche lassen sich nicht aufheben und sind fort, wenn das Programm endet: %1.</translation>
    </message>
    <message>
        <source>the damaged database could not be set aside</source>
        <translation>die beschädigte Datenbank ließ sich nicht beiseitelegen</translation>
    </message>
    <message>
        <source>The file of conversations was another program&apos;s and was renamed to %1.</source>
        <translation>Die Datei der Gespräche gehörte einem anderen Programm und heißt jetzt %1.</translation>
    </message>
    <message>
        <source>The database of conversations was damaged: %1 of them could be read again, and the damaged file was renamed to %2.</source>
        <translation>Die Datenbank der Gespräche war beschädigt: %1 davon waren noch lesbar, und die beschädigte Datei heißt jetzt %2.</translation>
    </message>
    <message>
        <source>The database of conversations was damaged and was renamed to %1.</source>
        <translation>Die Datenbank der Gespräche war beschädigt und heißt jetzt %1.</translation>
    </message>
    <message>
        <source>the folder %1 cannot be made</source>
        <translation>der Ordner %1 lässt sich nicht anlegen</translation>
    </message>
    <message>
        <source>The conversations were kept by a newer version of Spillway; they are left as they are, and new ones will be gone when the program ends.</source>
        <translation>Die Gespräche stammen von einer neueren Fassung von Spillway; sie bleiben, wie sie sind, und neue sind fort, wenn das Programm endet.</translation>
    </message>
    <message>
        <source>The folder %1 cannot be written. Your conversations are shown, but nothing new can be saved.</source>
        <translation>In den Ordner %1 kann nicht geschrieben werden. Die Gespräche werden gezeigt, aber Neues kann nicht gespeichert werden.</translation>
    </message>
    <message>
        <source>The folder %1 cannot be written. Your conversations are safe but not shown.</source>
        <translation>In den Ordner %1 kann nicht geschrieben werden. Die Gespräche sind sicher, werden aber nicht gezeigt.</translation>
    </message>
</context>
<context>
    <name>ConversationsController</name>
    <message>
        <source>One conversation was exported.</source>
        <translation>Ein Gespräch wurde exportiert.</translation>
    </message>
    <message>
        <source>%1 conversations were exported.</source>
        <translation>%1 Gespräche wurden exportiert.</translation>
    </message>
    <message>
        <source>A file became larger than Spillway reads again.</source>
        <translation>Eine Datei wurde größer, als Spillway wieder einliest.</translation>
    </message>
    <message>
        <source>One conversation was imported.</source>
        <translation>Ein Gespräch wurde importiert.</translation>
    </message>
    <message>
        <source>%1 conversations were imported.</source>
        <translation>%1 Gespräche wurden importiert.</translation>
    </message>
    <message>
        <source>Conversations</source>
        <translation>Gespräche</translation>
    </message>
    <message numerus="yes">
        <source>%n conversation(s) had been here already.</source>
        <translation>
            <numerusform>%n Gespräch war schon hier.</numerusform>
            <numerusform>%n Gespräche waren schon hier.</numerusform>
        </translation>
    </message>
    <message>
        <source>The import was cancelled.</source>
        <translation>Der Import wurde abgebrochen.</translation>
    </message>
    <message numerus="yes">
        <source>%n part(s) were left out: pictures, files, tool calls or what is damaged.</source>
        <translation>
            <numerusform>%n Teil wurde weggelassen: ein Bild, eine Datei, ein Werkzeugaufruf oder etwas Beschädigtes.</numerusform>
            <numerusform>%n Teile wurden weggelassen: Bilder, Dateien, Werkzeugaufrufe oder Beschädigtes.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) were not read.</source>
        <translation>
            <numerusform>%n Datei wurde nicht gelesen.</numerusform>
            <numerusform>%n Dateien wurden nicht gelesen.</numerusform>
        </translation>
    </message>
    <message>
        <source>New folder</source>
        <translation>Neuer Ordner</translation>
    </message>
    <message>
        <source>New folder %1</source>
        <translation>Neuer Ordner %1</translation>
    </message>
</context>
<context>
    <name>CopyRow</name>
    <message>
        <source>Copy: %1</source>
        <translation>Kopieren: %1</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
</context>
<context>
    <name>Database</name>
    <message>
        <source>“%1” was moved or deleted while it was in use; put it back, or start Spillway again</source>
        <translation>„%1“ wurde verschoben oder gelöscht, während sie in Gebrauch war; bitte zurücklegen oder Spillway neu starten</translation>
    </message>
    <message>
        <source>“%1” cannot be written; allow yourself to write this file and its folder</source>
        <translation>„%1“ kann nicht geschrieben werden; nötig ist das Recht, diese Datei und ihren Ordner zu beschreiben</translation>
    </message>
    <message>
        <source>another program holds “%1”; close it</source>
        <translation>ein anderes Programm hält „%1“ fest und muss geschlossen werden</translation>
    </message>
    <message>
        <source>the disk fails at “%1”; see whether it is still connected</source>
        <translation>der Datenträger versagt bei „%1“; bitte nachsehen, ob er noch verbunden ist</translation>
    </message>
    <message>
        <source>there is not enough memory; close other programs</source>
        <translation>der Speicher reicht nicht; bitte andere Programme schließen</translation>
    </message>
    <message>
        <source>the disk with “%1” is full; make room on it</source>
        <translation>der Datenträger mit „%1“ ist voll; bitte dort Platz schaffen</translation>
    </message>
</context>
<context>
    <name>DeleteDialog</name>
    <message>
        <source>Delete “%1” from disk?</source>
        <translation>„%1“ von der Platte löschen?</translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) go for good, %1: %2.</source>
        <translation>
            <numerusform>%n Datei wird endgültig gelöscht, %1: %2.</numerusform>
            <numerusform>%n Dateien werden endgültig gelöscht, %1: %2.</numerusform>
        </translation>
    </message>
    <message>
        <source>Conversations with it stay.</source>
        <translation>Gespräche damit bleiben.</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>%2 goes for good, %1.</source>
        <translation>%2 wird endgültig gelöscht, %1.</translation>
    </message>
</context>
<context>
    <name>DeviceController</name>
    <message>
        <source>CPU only</source>
        <translation>Nur CPU</translation>
    </message>
    <message>
        <source>Emulated graphics memory</source>
        <translation>Emulierter Grafikspeicher</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>%1, which is not there</source>
        <translation>%1, nicht vorhanden</translation>
    </message>
    <message>
        <source>No GPU is used. %1</source>
        <translation>Es wird keine GPU verwendet. %1</translation>
    </message>
</context>
<context>
    <name>DeviceControls</name>
    <message>
        <source>Stay on the device; stop when it is full</source>
        <translation>Auf dem Gerät bleiben; anhalten, wenn es voll ist</translation>
    </message>
    <message>
        <source>Stream blocks to the device</source>
        <translation>Blöcke zum Gerät strömen lassen</translation>
    </message>
    <message>
        <source>Automatic: whatever is fastest</source>
        <translation>Automatisch: was am schnellsten ist</translation>
    </message>
    <message>
        <source>Write on the CPU alone</source>
        <translation>Nur auf der CPU schreiben</translation>
    </message>
    <message>
        <source>KV that does not fit</source>
        <translation>KV, der nicht passt</translation>
    </message>
    <message>
        <source>What becomes of KV that does not fit</source>
        <translation>Was mit KV geschieht, der nicht passt</translation>
    </message>
    <message>
        <source>Memory budget</source>
        <translation>Speicherbudget</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>KV kept in RAM at least</source>
        <translation>KV mindestens im RAM</translation>
    </message>
    <message>
        <source>Other programs (emulated)</source>
        <translation>Andere Programme (emuliert)</translation>
    </message>
    <message>
        <source>Let the CPU read them where they are</source>
        <translation>Die CPU liest sie, wo sie liegen</translation>
    </message>
    <message>
        <source>Start moving out at</source>
        <translation>Auslagern ab</translation>
    </message>
    <message>
        <source>%1 % full</source>
        <translation>%1 % belegt</translation>
    </message>
</context>
<context>
    <name>DeviceRow</name>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>What computes the model</source>
        <translation>Was das Modell rechnet</translation>
    </message>
    <message>
        <source>No device: the CPU computes all layers from RAM. With one there is a slider here for what lies on it.</source>
        <translation>Kein Gerät: Die CPU rechnet alle Schichten aus dem RAM. Mit einem Gerät ist hier ein Regler für das, was darauf liegt.</translation>
    </message>
    <message>
        <source>Use the CPU again</source>
        <translation>Wieder die CPU nehmen</translation>
    </message>
</context>
<context>
    <name>DeviceSection</name>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>What computes the model. Applies at once: layers and conversation move there, also in mid-answer.</source>
        <translation>Was das Modell rechnet. Gilt sofort: Schichten und Gespräch ziehen um, auch mitten in einer Antwort.</translation>
    </message>
    <message>
        <source>Now: all layers on the CPU</source>
        <translation>Jetzt: alle Schichten auf der CPU</translation>
    </message>
    <message>
        <source>Now: %1 of %2 layers on the emulated device</source>
        <translation>Jetzt: %1 von %2 Schichten auf dem emulierten Gerät</translation>
    </message>
    <message>
        <source>Now: %1 of %2 layers on the device</source>
        <translation>Jetzt: %1 von %2 Schichten auf dem Gerät</translation>
    </message>
    <message>
        <source>Moving layers: %1, going to %2</source>
        <translation>Schichten wandern: %1, Ziel %2</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Emulated memory</source>
        <translation>Emulierter Speicher</translation>
    </message>
    <message>
        <source>A graphics memory of this size, made of RAM; the CPU does its work. It shows what a small memory does, and makes nothing faster.</source>
        <translation>Ein Grafikspeicher dieser Größe, aus RAM gemacht; die CPU tut seine Arbeit. Er zeigt, was ein kleiner Speicher bewirkt, und macht nichts schneller.</translation>
    </message>
    <message>
        <source>For 1,024 tokens</source>
        <translation>Für 1.024 Token</translation>
    </message>
    <message>
        <source> MiB</source>
        <translation> MiB</translation>
    </message>
    <message>
        <source>Emulated link</source>
        <translation>Emulierte Verbindung</translation>
    </message>
    <message>
        <source>How fast bytes travel between RAM and that memory. PCIe 4.0 with 16 lanes does about 25.</source>
        <translation>Wie schnell Bytes zwischen RAM und diesem Speicher unterwegs sind. PCIe 4.0 mit 16 Bahnen schafft etwa 25.</translation>
    </message>
    <message>
        <source> GB/s</source>
        <translation> GB/s</translation>
    </message>
    <message>
        <source>Graphics memory</source>
        <translation>Grafikspeicher</translation>
    </message>
    <message>
        <source>What Spillway may use of it; the rest is left to other programs.</source>
        <translation>Was Spillway davon nehmen darf; der Rest bleibt anderen Programmen.</translation>
    </message>
    <message>
        <source>As much as is free</source>
        <translation>So viel, wie frei ist</translation>
    </message>
</context>
<context>
    <name>Doctor</name>
    <message>
        <source>Speed fell from %1 to %2 tokens a second: %3 % of the time is waiting for KV that is fetched from RAM.</source>
        <translation>Das Tempo fiel von %1 auf %2 Token pro Sekunde: %3 % der Zeit ist Warten auf KV, der aus dem RAM geholt wird.</translation>
    </message>
    <message>
        <source>%1 % of the time is waiting for KV that is fetched from RAM.</source>
        <translation>%1 % der Zeit ist Warten auf KV, der aus dem RAM geholt wird.</translation>
    </message>
    <message>
        <source>%1 of the model are on the disk, since RAM is full: every token waits for them.</source>
        <translation>%1 des Modells liegen auf der Festplatte, weil der RAM voll ist: Jedes Token wartet darauf.</translation>
    </message>
    <message numerus="yes">
        <source>RAM is full at %Ln token(s), but the context is set to more.</source>
        <translation>
            <numerusform>Der RAM ist bei einem Token voll, aber der Kontext ist größer eingestellt.</numerusform>
            <numerusform>Der RAM ist bei %Ln Token voll, aber der Kontext ist größer eingestellt.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The device is full at %Ln token(s), and the policy “resident” lets nothing leave it: the answer will stop there.</source>
        <translation>
            <numerusform>Das Gerät ist bei einem Token voll, und die Strategie „Resident“ lässt nichts hinaus: Die Antwort wird dort enden.</numerusform>
            <numerusform>Das Gerät ist bei %Ln Token voll, und die Strategie „Resident“ lässt nichts hinaus: Die Antwort wird dort enden.</numerusform>
        </translation>
    </message>
    <message>
        <source>Windows has moved %1 of the device&apos;s memory to RAM without saying so: they are read at the speed of the link.</source>
        <translation>Windows hat stillschweigend %1 des Gerätespeichers in den RAM verlegt: Sie werden so langsam gelesen, wie die Verbindung ist.</translation>
    </message>
    <message numerus="yes">
        <source>The weights take %1, and the device has room for %2 beside KV and screen: %n layer(s) are computed by the CPU.</source>
        <translation>
            <numerusform>Die Gewichte brauchen %1, und das Gerät hat neben KV und Bildschirm Platz für %2: Eine Schicht rechnet die CPU.</numerusform>
            <numerusform>Die Gewichte brauchen %1, und das Gerät hat neben KV und Bildschirm Platz für %2: %n Schichten rechnet die CPU.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Other programs hold %1 of the device&apos;s memory: %n layer(s) find no room there.</source>
        <translation>
            <numerusform>Andere Programme belegen %1 des Gerätespeichers: Eine Schicht findet dort keinen Platz.</numerusform>
            <numerusform>Andere Programme belegen %1 des Gerätespeichers: %n Schichten finden dort keinen Platz.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The first token waited %1 s, while %Ln token(s) of the prompt were read.</source>
        <translation>
            <numerusform>Das erste Token wartete %1 s, während ein Token der Eingabe gelesen wurde.</numerusform>
            <numerusform>Das erste Token wartete %1 s, während %Ln Token der Eingabe gelesen wurden.</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 threads share %2 cores: all of them wait for those that have none.</source>
        <translation>%1 Threads teilen sich %2 Kerne: Alle warten auf die, die keinen haben.</translation>
    </message>
    <message>
        <source>The CPU has most of the work, and only %1 of %2 cores do it.</source>
        <translation>Die CPU hat die meiste Arbeit, und nur %1 von %2 Kernen tun sie.</translation>
    </message>
    <message>
        <source>Put as many layers on the device as fit</source>
        <translation>So viele Schichten aufs Gerät legen, wie passen</translation>
    </message>
    <message numerus="yes">
        <source>Put %n layer(s) on the device</source>
        <translation>
            <numerusform>Eine Schicht aufs Gerät legen</numerusform>
            <numerusform>%n Schichten aufs Gerät legen</numerusform>
        </translation>
    </message>
    <message>
        <source>Use the policy “%1”</source>
        <translation>Die Strategie „%1“ verwenden</translation>
    </message>
    <message>
        <source>Use %1 of the device&apos;s memory at most</source>
        <translation>Höchstens %1 des Gerätespeichers verwenden</translation>
    </message>
    <message numerus="yes">
        <source>Use %n thread(s)</source>
        <translation>
            <numerusform>Einen Thread verwenden</numerusform>
            <numerusform>%n Threads verwenden</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Load the model with a context of %Ln token(s)</source>
        <translation>
            <numerusform>Das Modell mit einem Kontext von einem Token laden</numerusform>
            <numerusform>Das Modell mit einem Kontext von %Ln Token laden</numerusform>
        </translation>
    </message>
    <message>
        <source>Choose a file of this model with weights of %1 at most</source>
        <translation>Eine Datei dieses Modells mit höchstens %1 Gewichten wählen</translation>
    </message>
    <message>
        <source>Close other programs that use the device</source>
        <translation>Andere Programme schließen, die das Gerät verwenden</translation>
    </message>
    <message>
        <source>Speed fell from %1 to %2 tokens a second: for %3 % of the time the CPU reads the part of the conversation that does not fit on the device.</source>
        <translation>Das Tempo fiel von %1 auf %2 Token pro Sekunde: %3 % der Zeit liest die CPU den Teil des Gesprächs, der nicht auf das Gerät passt.</translation>
    </message>
    <message>
        <source>For %1 % of the time the CPU reads the part of the conversation that does not fit on the device.</source>
        <translation>%1 % der Zeit liest die CPU den Teil des Gesprächs, der nicht auf das Gerät passt.</translation>
    </message>
    <message>
        <source>Other programs hold the cores for %1 % of the time: %2 tokens a second, and %3 were predicted.</source>
        <translation>Andere Programme belegen %1 % der Zeit die Kerne: %2 Token pro Sekunde, vorhergesagt waren %3.</translation>
    </message>
    <message>
        <source>Other programs hold the cores for %1 % of the time: %2 tokens a second.</source>
        <translation>Andere Programme belegen %1 % der Zeit die Kerne: %2 Token pro Sekunde.</translation>
    </message>
    <message>
        <source>Speed fell from %1 to %2 tokens a second: %3 of %4 KV blocks are in RAM.</source>
        <translation>Das Tempo fiel von %1 auf %2 Token pro Sekunde: %3 von %4 KV-Blöcken liegen im RAM.</translation>
    </message>
    <message>
        <source>%1 tokens a second, and %2 were predicted: the machine is slower than when it was measured.</source>
        <translation>%1 Token pro Sekunde, vorhergesagt waren %2: Der Rechner ist langsamer als bei der Messung.</translation>
    </message>
    <message>
        <source>the model&apos;s own arithmetic</source>
        <translation>Rechnen des Modells</translation>
    </message>
    <message>
        <source>waiting for KV from RAM</source>
        <translation>Warten auf KV aus dem RAM</translation>
    </message>
    <message>
        <source>KV that the CPU reads</source>
        <translation>KV, den die CPU liest</translation>
    </message>
    <message>
        <source>cores that other programs hold</source>
        <translation>Kerne, die andere Programme belegen</translation>
    </message>
    <message>
        <source>the rest</source>
        <translation>Übriges</translation>
    </message>
    <message>
        <source>%1 % %2</source>
        <translation>%1 % %2</translation>
    </message>
    <message>
        <source>All is well: %1 tokens a second, and %2 were predicted.</source>
        <translation>Alles in Ordnung: %1 Token pro Sekunde, vorhergesagt waren %2.</translation>
    </message>
    <message>
        <source>All is well: %1 tokens a second, and most of the time is the model&apos;s own arithmetic.</source>
        <translation>Alles in Ordnung: %1 Token pro Sekunde, und die meiste Zeit rechnet das Modell selbst.</translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s) on the CPU take %1 % of the time.</source>
        <translation>
            <numerusform>%n Schicht auf der CPU braucht %1 % der Zeit.</numerusform>
            <numerusform>%n Schichten auf der CPU brauchen %1 % der Zeit.</numerusform>
        </translation>
    </message>
    <message>
        <source>Keep KV as %1</source>
        <translation>KV als %1 halten</translation>
    </message>
    <message>
        <source>Grow back</source>
        <translation>Wieder wachsen</translation>
    </message>
    <message>
        <source>Shrink to %1</source>
        <translation>Auf %1 schrumpfen</translation>
    </message>
    <message>
        <source>Asked for: %1. The next answer shows what it brings.</source>
        <translation>Veranlasst: %1. Die nächste Antwort zeigt, was es bringt.</translation>
    </message>
    <message>
        <source>%1: %2 tokens a second before, %3 after.</source>
        <translation>%1: vorher %2 Token pro Sekunde, nachher %3.</translation>
    </message>
    <message>
        <source>For this model, until it is loaded again.</source>
        <translation>Für dieses Modell, bis es neu geladen wird.</translation>
    </message>
    <message>
        <source>For this model and this time: it is loaded again, and reads the conversation anew.</source>
        <translation>Für dieses Modell und dieses Mal: Es wird neu geladen und liest das Gespräch noch einmal.</translation>
    </message>
    <message>
        <source>For all models and for good: it is a setting.</source>
        <translation>Für alle Modelle und auf Dauer: Es ist eine Einstellung.</translation>
    </message>
    <message>
        <source>layers on the CPU</source>
        <translation>Schichten auf der CPU</translation>
    </message>
    <message>
        <source>choosing the words</source>
        <translation>Auswahl der Wörter</translation>
    </message>
    <message>
        <source>Only %1 % of the time is the model&apos;s own arithmetic: %2 tokens a second. The largest cause that is known: %3, %4 %.</source>
        <translation>Nur %1 % der Zeit rechnet das Modell selbst: %2 Token pro Sekunde. Die größte bekannte Ursache: %3, %4 %.</translation>
    </message>
    <message>
        <source>Only %1 % of the time is the model&apos;s own arithmetic: %2 tokens a second. What comes between two tokens takes the most: blocks that move, the text, other programs.</source>
        <translation>Nur %1 % der Zeit rechnet das Modell selbst: %2 Token pro Sekunde. Das meiste braucht, was zwischen zwei Token liegt: Blöcke, die umziehen, der Text, andere Programme.</translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s) of the answer were guessed ahead.</source>
        <translation>
            <numerusform>%Ln Token der Antwort wurde vorausgeraten.</numerusform>
            <numerusform>%Ln Token der Antwort wurden vorausgeraten.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>That is without the %Ln token(s) that guessing ahead brought.</source>
        <translation>
            <numerusform>Das ist ohne das %Ln Token, das Vorausraten gebracht hat.</numerusform>
            <numerusform>Das ist ohne die %Ln Token, die Vorausraten gebracht hat.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>For %1 % of the time the CPU computes experts of %n layer(s), which are in RAM.</source>
        <translation>
            <numerusform>%1 % der Zeit rechnet die CPU Experten von %n Schicht, die im RAM liegen.</numerusform>
            <numerusform>%1 % der Zeit rechnet die CPU Experten von %n Schichten, die im RAM liegen.</numerusform>
        </translation>
    </message>
    <message>
        <source>Put experts on the device as long as they find room</source>
        <translation>Experten auf das Gerät legen, solange sie Platz finden</translation>
    </message>
    <message numerus="yes">
        <source>Keep the experts of %n layer(s) in RAM</source>
        <translation>
            <numerusform>Die Experten von %n Schicht im RAM halten</numerusform>
            <numerusform>Die Experten von %n Schichten im RAM halten</numerusform>
        </translation>
    </message>
    <message>
        <source>Keep no copies of experts on the device</source>
        <translation>Keine Kopien von Experten auf dem Gerät halten</translation>
    </message>
    <message>
        <source>Keep %1 of copies of experts on the device</source>
        <translation>%1 an Kopien von Experten auf dem Gerät halten</translation>
    </message>
    <message numerus="yes">
        <source>For %1 % of the time the CPU computes experts: %2 % of those that tokens choose have a copy on the device, which has room for %n of each layer.</source>
        <translation>
            <numerusform>%1 % der Zeit rechnet die CPU Experten: %2 % von denen, die Token wählen, haben eine Kopie auf dem Gerät, das Platz für %n jeder Schicht hat.</numerusform>
            <numerusform>%1 % der Zeit rechnet die CPU Experten: %2 % von denen, die Token wählen, haben eine Kopie auf dem Gerät, das Platz für %n jeder Schicht hat.</numerusform>
        </translation>
    </message>
    <message>
        <source>That is without guessing ahead, which cost more here than it brought: %1 tokens a second.</source>
        <translation>Das ist ohne Vorausraten, das hier mehr gekostet als gebracht hat: %1 Token pro Sekunde.</translation>
    </message>
    <message>
        <source>“%1” could guess ahead, so that what is read of RAM for one token serves several. It is assumed that %2 to %3 % of its guesses are right.</source>
        <translation>„%1“ könnte vorausraten, sodass das, was für ein Token aus dem RAM gelesen wird, für mehrere dient. Angenommen ist, dass %2 bis %3 % davon zutreffen.</translation>
    </message>
    <message>
        <source>Let no model guess ahead</source>
        <translation>Kein Modell vorausraten lassen</translation>
    </message>
    <message>
        <source>Let “%1” guess ahead</source>
        <translation>„%1“ vorausraten lassen</translation>
    </message>
    <message>
        <source>“%1” computes none of it.</source>
        <translation>„%1“ rechnet nichts davon.</translation>
    </message>
    <message>
        <source>Use “%1”</source>
        <translation>„%1“ benutzen</translation>
    </message>
    <message>
        <source>For this model and for good: it is loaded again, and reads the conversation anew.</source>
        <translation>Für dieses Modell und auf Dauer: Es wird neu geladen und liest das Gespräch noch einmal.</translation>
    </message>
    <message>
        <source>For %1 % of the time the CPU computes experts, since copies come too slowly: the link is busy with them for %2 % of the time, and %3 % of the experts that tokens choose have one.</source>
        <translation>%1 % der Zeit rechnet die CPU Experten, weil Kopien zu langsam kommen: %2 % der Zeit ist die Verbindung mit ihnen beschäftigt, und %3 % der Experten, die Token wählen, haben eine.</translation>
    </message>
    <message>
        <source>For %1 % of the time the CPU computes experts: KV has %2 of the device&apos;s memory, and copies of experts %3.</source>
        <translation>%1 % der Zeit rechnet die CPU Experten: KV hat %2 vom Speicher des Geräts, Kopien von Experten haben %3.</translation>
    </message>
    <message numerus="yes">
        <source>For %1 % of the time the CPU computes experts of %n layer(s): KV has %2 of the device&apos;s memory, and they find no room.</source>
        <translation>
            <numerusform>%1 % der Zeit rechnet die CPU Experten von %n Schicht: KV hat %2 vom Speicher des Geräts, und sie finden keinen Platz.</numerusform>
            <numerusform>%1 % der Zeit rechnet die CPU Experten von %n Schichten: KV hat %2 vom Speicher des Geräts, und sie finden keinen Platz.</numerusform>
        </translation>
    </message>
    <message>
        <source>For each token %1 are read from the disk, most of them experts: the model takes %2 more than RAM has.</source>
        <translation>Für jedes Token werden %1 von der Festplatte gelesen, die meisten davon Experten: Das Modell braucht %2 mehr, als RAM da ist.</translation>
    </message>
    <message>
        <source>For each token %1 of the weights are read from the disk: the model takes %2 more than RAM has.</source>
        <translation>Für jedes Token werden %1 der Gewichte von der Festplatte gelesen: Das Modell braucht %2 mehr, als RAM da ist.</translation>
    </message>
</context>
<context>
    <name>DoctorCard</name>
    <message>
        <source>What it brings is not known.</source>
        <translation>Was das bringt, ist nicht bekannt.</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>Zurücknehmen</translation>
    </message>
    <message>
        <source>Predicted: %1.</source>
        <translation>Vorhergesagt: %1.</translation>
    </message>
    <message>
        <source>Predicted: %1 instead of %2.</source>
        <translation>Vorhergesagt: %1 statt %2.</translation>
    </message>
    <message>
        <source>Predicted: about as fast as now, %1.</source>
        <translation>Vorhergesagt: etwa so schnell wie jetzt, %1.</translation>
    </message>
    <message>
        <source>Expected: %1 to %2 instead of %3.</source>
        <translation>Erwartet: %1 bis %2 statt %3.</translation>
    </message>
</context>
<context>
    <name>DraftAttachments</name>
    <message>
        <source>Files to send</source>
        <translation>Dateien zum Senden</translation>
    </message>
    <message>
        <source>%1 files cannot be attached.</source>
        <translation>%1 Dateien können nicht angehängt werden.</translation>
    </message>
    <message>
        <source>Hide why</source>
        <translation>Gründe ausblenden</translation>
    </message>
    <message>
        <source>Show why</source>
        <translation>Warum?</translation>
    </message>
    <message>
        <source>Dismiss</source>
        <translation>Ausblenden</translation>
    </message>
</context>
<context>
    <name>DraftChoice</name>
    <message>
        <source>Draft model</source>
        <translation>Entwurfsmodell</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Keines</translation>
    </message>
    <message>
        <source>Load again</source>
        <translation>Neu laden</translation>
    </message>
    <message>
        <source>A smaller model can guess what this one will say; this one checks it.</source>
        <translation>Ein kleineres Modell kann raten, was dieses sagen wird; dieses prüft es.</translation>
    </message>
    <message>
        <source>It guesses what this model will say, and takes %1 of memory.</source>
        <translation>Es rät, was dieses Modell sagen wird, und belegt %1 Speicher.</translation>
    </message>
    <message>
        <source>The answers stay the same to the letter; they come faster where many guesses are right, and where few are, none are made.</source>
        <translation>Die Antworten bleiben Buchstabe für Buchstabe gleich; sie kommen schneller, wo viel richtig geraten wird, und wo wenig, wird nicht geraten.</translation>
    </message>
</context>
<context>
    <name>DropOverlay</name>
    <message>
        <source>Drop the model to open it</source>
        <translation>Modell hier ablegen, um es zu öffnen</translation>
    </message>
    <message>
        <source>Drop the files to attach them</source>
        <translation>Dateien hier ablegen, um sie anzuhängen</translation>
    </message>
</context>
<context>
    <name>EmptyState</name>
    <message>
        <source>Talk to a model on your own computer</source>
        <translation>Mit einem Modell auf dem eigenen Rechner sprechen</translation>
    </message>
    <message>
        <source>Spillway runs GGUF models: Llama, Mistral, Qwen, Gemma, Phi, gpt-oss and their kin. Nothing you type leaves this machine, unless you choose a model of a server.</source>
        <translation>Spillway führt GGUF-Modelle aus: Llama, Mistral, Qwen, Gemma, Phi, gpt-oss und ihre Verwandten. Nichts, was hier geschrieben wird, verlässt diesen Rechner, außer für das Modell eines Servers.</translation>
    </message>
    <message>
        <source>Open a model</source>
        <translation>Modell öffnen</translation>
    </message>
    <message>
        <source>Open the guide, which is small and built in</source>
        <translation>Den kleinen eingebauten Helfer öffnen</translation>
    </message>
    <message>
        <source>or drop a .gguf file here  ·  Ctrl+O</source>
        <translation>oder eine .gguf-Datei hier ablegen  ·  Strg+O</translation>
    </message>
</context>
<context>
    <name>ErrorSentence</name>
    <message>
        <source>There is no such file (%1).</source>
        <translation>Diese Datei gibt es nicht (%1).</translation>
    </message>
    <message>
        <source>The file cannot be read (%1).</source>
        <translation>Die Datei lässt sich nicht lesen (%1).</translation>
    </message>
    <message>
        <source>The file cannot be written (%1).</source>
        <translation>Die Datei lässt sich nicht schreiben (%1).</translation>
    </message>
    <message>
        <source>The file is damaged, cut off or not a model (%1).</source>
        <translation>Die Datei ist beschädigt, abgeschnitten oder kein Modell (%1).</translation>
    </message>
    <message>
        <source>This version of Spillway cannot run the model (%1).</source>
        <translation>Diese Version von Spillway kann das Modell nicht ausführen (%1).</translation>
    </message>
    <message>
        <source>There is not enough memory (%1).</source>
        <translation>Der Arbeitsspeicher reicht nicht (%1).</translation>
    </message>
    <message>
        <source>The device has no memory left (%1).</source>
        <translation>Das Gerät hat keinen Speicher mehr frei (%1).</translation>
    </message>
    <message>
        <source>That is not possible (%1).</source>
        <translation>Das ist nicht möglich (%1).</translation>
    </message>
    <message>
        <source>The conversation does not fit the context (%1).</source>
        <translation>Das Gespräch passt nicht in den Kontext (%1).</translation>
    </message>
    <message>
        <source>It was cancelled (%1).</source>
        <translation>Es wurde abgebrochen (%1).</translation>
    </message>
    <message>
        <source>The model&apos;s chat template failed (%1).</source>
        <translation>Die Gesprächsvorlage des Modells ist gescheitert (%1).</translation>
    </message>
    <message>
        <source>No model is open (%1).</source>
        <translation>Es ist kein Modell geöffnet (%1).</translation>
    </message>
    <message>
        <source>Spillway made a mistake (%1).</source>
        <translation>Spillway hat einen Fehler gemacht (%1).</translation>
    </message>
    <message>
        <source>The device does not answer (%1).</source>
        <translation>Das Gerät antwortet nicht (%1).</translation>
    </message>
</context>
<context>
    <name>EventRow</name>
    <message>
        <source>tokens %1–%2</source>
        <translation>Token %1–%2</translation>
    </message>
    <message>
        <source>%1 and %2 more</source>
        <translation>%1 und %2 weitere</translation>
    </message>
</context>
<context>
    <name>EventsSection</name>
    <message>
        <source>Show events of this kind</source>
        <translation>Ereignisse dieser Art zeigen</translation>
    </message>
    <message>
        <source>All events</source>
        <translation>Alle Ereignisse</translation>
    </message>
    <message>
        <source>Offloads</source>
        <translation>Auslagerungen</translation>
    </message>
    <message>
        <source>Fetches</source>
        <translation>Rückholungen</translation>
    </message>
    <message>
        <source>Moved layers</source>
        <translation>Verschobene Schichten</translation>
    </message>
    <message>
        <source>Lost devices</source>
        <translation>Verlorene Geräte</translation>
    </message>
    <message>
        <source>Saved KV</source>
        <translation>Gesicherter KV</translation>
    </message>
    <message>
        <source>Warnings</source>
        <translation>Warnungen</translation>
    </message>
    <message>
        <source>Copy the events as CSV</source>
        <translation>Ereignisse als CSV kopieren</translation>
    </message>
    <message>
        <source>Save the events to a CSV file</source>
        <translation>Ereignisse in eine CSV-Datei sichern</translation>
    </message>
    <message>
        <source>What moved</source>
        <translation>Was sich bewegt hat</translation>
    </message>
    <message>
        <source>Nothing has moved yet.</source>
        <translation>Noch hat sich nichts bewegt.</translation>
    </message>
    <message>
        <source>Save the events</source>
        <translation>Ereignisse sichern</translation>
    </message>
    <message>
        <source>CSV files (*.csv)</source>
        <translation>CSV-Dateien (*.csv)</translation>
    </message>
    <message>
        <source>KV types</source>
        <translation>KV-Typen</translation>
    </message>
    <message>
        <source>Changed devices</source>
        <translation>Gewechselte Geräte</translation>
    </message>
    <message>
        <source>What auto changes</source>
        <translation>Was auto ändert</translation>
    </message>
</context>
<context>
    <name>ExperimentChart</name>
    <message>
        <source>dashed: %1</source>
        <translation>gestrichelt: %1</translation>
    </message>
</context>
<context>
    <name>ExperimentDraft</name>
    <message>
        <source>Emulated, in RAM</source>
        <translation>Emuliert, im RAM</translation>
    </message>
    <message>
        <source>GPU %1</source>
        <translation>GPU %1</translation>
    </message>
    <message>
        <source>Choose a model.</source>
        <translation>Bitte ein Modell wählen.</translation>
    </message>
    <message>
        <source>Choose %1 models at most.</source>
        <translation>Höchstens %1 Modelle wählen.</translation>
    </message>
    <message>
        <source>Choose a context.</source>
        <translation>Bitte einen Kontext wählen.</translation>
    </message>
    <message>
        <source>Choose a strategy.</source>
        <translation>Bitte eine Strategie wählen.</translation>
    </message>
    <message>
        <source>Choose %1 contexts at most.</source>
        <translation>Höchstens %1 Kontexte wählen.</translation>
    </message>
    <message>
        <source>Type how many tokens: 3000, or 12K.</source>
        <translation>Bitte eine Zahl von Token eingeben: 3000 oder 12K.</translation>
    </message>
    <message>
        <source>“%1” is no number of tokens: type 3000, or 12K.</source>
        <translation>„%1“ ist keine Zahl von Token: 3000 oder 12K eingeben.</translation>
    </message>
    <message>
        <source>“%1” is too small: a context has %2 tokens at least.</source>
        <translation>„%1“ ist zu klein: Ein Kontext hat mindestens %2 Token.</translation>
    </message>
    <message>
        <source>“%1” is too large: a context has %2K tokens at most.</source>
        <translation>„%1“ ist zu groß: Ein Kontext hat höchstens %2K Token.</translation>
    </message>
    <message>
        <source>Those are too many: choose %1 contexts at most.</source>
        <translation>Das sind zu viele: höchstens %1 Kontexte wählen.</translation>
    </message>
    <message>
        <source>a shape: random weights, made when its rows are measured</source>
        <translation>eine Form: zufällige Gewichte, erzeugt, wenn ihre Zeilen gemessen werden</translation>
    </message>
    <message>
        <source>“%1” is no size of a memory: 64MiB, 2GB, or fit:1024 for that many tokens beside the model.</source>
        <translation>„%1“ ist keine Speichergröße: 64MiB, 2GB oder fit:1024 für so viele Token neben dem Modell.</translation>
    </message>
    <message>
        <source>Choose where experts lie.</source>
        <translation>Bitte wählen, wo Experten liegen.</translation>
    </message>
    <message>
        <source>Choose what room experts have for copies.</source>
        <translation>Bitte wählen, wie viel Platz Kopien von Experten haben.</translation>
    </message>
    <message>
        <source>Type how much memory: 512MiB, or 2GiB.</source>
        <translation>Bitte eine Menge Speicher eingeben: 512MiB oder 2GiB.</translation>
    </message>
    <message>
        <source>“%1” is no size of a memory: type 512MiB, or 2GiB.</source>
        <translation>„%1“ ist keine Menge Speicher: 512MiB oder 2GiB eingeben.</translation>
    </message>
    <message>
        <source>Those are too many: type %1 sizes at most.</source>
        <translation>Das sind zu viele: höchstens %1 Größen eingeben.</translation>
    </message>
</context>
<context>
    <name>ExperimentRunner</name>
    <message>
        <source>It took more than %1 min and was ended.</source>
        <translation>Es dauerte länger als %1 min und wurde beendet.</translation>
    </message>
    <message>
        <source>It was cancelled.</source>
        <translation>Es wurde abgebrochen.</translation>
    </message>
    <message>
        <source>It printed more than a measurement can be.</source>
        <translation>Es hat mehr ausgegeben, als eine Messung sein kann.</translation>
    </message>
    <message>
        <source>spillway-cli could not be started.</source>
        <translation>spillway-cli ließ sich nicht starten.</translation>
    </message>
    <message>
        <source>The process crashed.</source>
        <translation>Der Prozess ist abgestürzt.</translation>
    </message>
    <message>
        <source>It ended with the code %1 and gave no reason.</source>
        <translation>Es endete mit dem Code %1 und nannte keinen Grund.</translation>
    </message>
    <message>
        <source>It printed something that is no measurement.</source>
        <translation>Es hat etwas ausgegeben, das keine Messung ist.</translation>
    </message>
    <message>
        <source>It was refused (%1).</source>
        <translation>Abgelehnt (%1).</translation>
    </message>
</context>
<context>
    <name>Experiments</name>
    <message>
        <source>CPU only</source>
        <translation>Nur CPU</translation>
    </message>
    <message>
        <source>Resident</source>
        <translation>Resident</translation>
    </message>
    <message>
        <source>Stream</source>
        <translation>Strömen</translation>
    </message>
    <message>
        <source>Merge</source>
        <translation>Vereinen</translation>
    </message>
    <message>
        <source>Auto</source>
        <translation>Auto</translation>
    </message>
    <message>
        <source>CPU decode</source>
        <translation>CPU schreibt</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>gemessen</translation>
    </message>
    <message>
        <source>refused</source>
        <translation>abgelehnt</translation>
    </message>
    <message>
        <source>crashed</source>
        <translation>abgestürzt</translation>
    </message>
    <message>
        <source>took too long</source>
        <translation>dauerte zu lange</translation>
    </message>
    <message>
        <source>unclear</source>
        <translation>unklar</translation>
    </message>
    <message>
        <source>cancelled</source>
        <translation>abgebrochen</translation>
    </message>
    <message>
        <source>The file cannot be written: %1.</source>
        <translation>Die Datei lässt sich nicht schreiben: %1.</translation>
    </message>
    <message>
        <source>open in the conversation</source>
        <translation>im Gespräch geöffnet</translation>
    </message>
    <message>
        <source>Spillway guide</source>
        <translation>Spillway-Helfer</translation>
    </message>
    <message>
        <source>the small model that comes with Spillway</source>
        <translation>das kleine Modell, das mit Spillway kommt</translation>
    </message>
    <message>
        <source>The run cannot be kept in %1.</source>
        <translation>Der Lauf lässt sich nicht in %1 aufbewahren.</translation>
    </message>
    <message>
        <source>The run cannot be kept in %1: %2.</source>
        <translation>Der Lauf lässt sich nicht in %1 aufbewahren: %2.</translation>
    </message>
    <message>
        <source>The run cannot be deleted.</source>
        <translation>Der Lauf lässt sich nicht löschen.</translation>
    </message>
    <message>
        <source>in RAM</source>
        <translation>im RAM</translation>
    </message>
    <message>
        <source>as they fit</source>
        <translation>wie sie passen</translation>
    </message>
    <message>
        <source>%1, copies as they pay</source>
        <translation>%1, Kopien nach Nutzen</translation>
    </message>
    <message>
        <source>%1, copies %2</source>
        <translation>%1, Kopien %2</translation>
    </message>
</context>
<context>
    <name>ExperimentsController</name>
    <message>
        <source>“%1” was closed to make room, and comes back when this has ended.</source>
        <translation>„%1“ wurde geschlossen, um Platz zu machen, und kommt danach zurück.</translation>
    </message>
    <message>
        <source>spillway-cli is missing: it measures, and belongs beside this program.</source>
        <translation>spillway-cli fehlt: Es misst und gehört neben dieses Programm.</translation>
    </message>
    <message>
        <source>A model is being opened. Measure when that has ended.</source>
        <translation>Ein Modell wird gerade geöffnet. Messen ist möglich, wenn das zu Ende ist.</translation>
    </message>
    <message numerus="yes">
        <source>%1 and %n more</source>
        <translation>
            <numerusform>%1 und %n weiteres</numerusform>
            <numerusform>%1 und %n weitere</numerusform>
        </translation>
    </message>
    <message>
        <source>The folder could not be shown.</source>
        <translation>Der Ordner ließ sich nicht anzeigen.</translation>
    </message>
</context>
<context>
    <name>ExperimentsPage</name>
    <message>
        <source>Experiments</source>
        <translation>Experimente</translation>
    </message>
    <message>
        <source>Back to the results</source>
        <translation>Zu den Ergebnissen</translation>
    </message>
    <message>
        <source>New experiment</source>
        <translation>Neues Experiment</translation>
    </message>
    <message>
        <source>An answer is being written. Its model has to make room for the measurement.</source>
        <translation>Eine Antwort wird geschrieben. Deren Modell muss der Messung Platz machen.</translation>
    </message>
    <message>
        <source>Not now</source>
        <translation>Nicht jetzt</translation>
    </message>
    <message>
        <source>Stop the answer</source>
        <translation>Antwort anhalten</translation>
    </message>
    <message>
        <source>Wait for its end</source>
        <translation>Ihr Ende abwarten</translation>
    </message>
    <message>
        <source>How fast does a model write here, how much memory does it take, and what becomes of both as the conversation grows? Choose what to measure: each row of the table runs in a process of its own, while the model of the conversation makes room.</source>
        <translation>Wie schnell schreibt ein Modell hier, wie viel Speicher braucht es, und was wird aus beidem, wenn das Gespräch wächst? Hier wird gewählt, was gemessen wird: Jede Zeile der Tabelle läuft in einem eigenen Prozess, während das Modell des Gesprächs Platz macht.</translation>
    </message>
</context>
<context>
    <name>ExpertChoices</name>
    <message>
        <source>As they fit</source>
        <translation>Wie sie passen</translation>
    </message>
    <message>
        <source>Experts lie on the device as long as they find room</source>
        <translation>Experten liegen auf dem Gerät, solange sie Platz finden</translation>
    </message>
    <message>
        <source>All in RAM</source>
        <translation>Alle im RAM</translation>
    </message>
    <message>
        <source>The device has all but the experts, as with --cpu-moe</source>
        <translation>Das Gerät hat alles außer den Experten, wie mit --cpu-moe</translation>
    </message>
    <message>
        <source>No copies</source>
        <translation>Keine Kopien</translation>
    </message>
    <message>
        <source>Copies as they pay</source>
        <translation>Kopien nach Nutzen</translation>
    </message>
    <message>
        <source>Copies: %1</source>
        <translation>Kopien: %1</translation>
    </message>
    <message>
        <source>The CPU computes all experts that lie in RAM</source>
        <translation>Die CPU rechnet alle Experten, die im RAM liegen</translation>
    </message>
    <message>
        <source>The device keeps copies of those that tokens choose most, as many as save more time than KV would</source>
        <translation>Das Gerät hält Kopien derer, die Token am häufigsten wählen: so viele, wie mehr Zeit sparen, als KV es täte</translation>
    </message>
    <message>
        <source>So much of the device&apos;s memory is for copies of the experts that tokens choose most</source>
        <translation>So viel vom Speicher des Geräts ist für Kopien der Experten, die Token am häufigsten wählen</translation>
    </message>
    <message>
        <source>sizes: 512MiB, 2GiB</source>
        <translation>Größen: 512MiB, 2GiB</translation>
    </message>
    <message>
        <source>Other sizes of the memory for copies of experts, separated by commas</source>
        <translation>Andere Größen des Speichers für Kopien von Experten, durch Kommas getrennt</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <source>Add these sizes</source>
        <translation>Diese Größen hinzufügen</translation>
    </message>
</context>
<context>
    <name>ExpertCopiesRow</name>
    <message>
        <source>Room for copies of experts</source>
        <translation>Platz für Kopien von Experten</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keiner</translation>
    </message>
    <message>
        <source>%1 on the device, %2</source>
        <translation>%1 auf dem Gerät, %2</translation>
    </message>
    <message>
        <source>Auto</source>
        <translation>Auto</translation>
    </message>
    <message>
        <source>As many copies as save most time: chosen</source>
        <translation>So viele Kopien, wie am meisten Zeit sparen: gewählt</translation>
    </message>
    <message>
        <source>As many copies as save most time</source>
        <translation>So viele Kopien, wie am meisten Zeit sparen</translation>
    </message>
    <message numerus="yes">
        <source>%n expert(s) of each layer, %1</source>
        <translation>
            <numerusform>%n Experte jeder Schicht, %1</numerusform>
            <numerusform>%n Experten jeder Schicht, %1</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 of experts have what room KV leaves: this machine&apos;s speed is not measured</source>
        <translation>%1 Experten haben den Platz, den KV lässt: Wie schnell dieser Rechner ist, wurde nicht gemessen</translation>
    </message>
    <message>
        <source>%1 of experts save %2 a token; all KV lies beside them</source>
        <translation>%1 Experten sparen %2 je Token; aller KV liegt daneben</translation>
    </message>
    <message>
        <source>%1 of experts save %2 a token; KV in their place would save %3</source>
        <translation>%1 Experten sparen %2 je Token; KV an ihrer Stelle würde %3 sparen</translation>
    </message>
</context>
<context>
    <name>ExpertsRow</name>
    <message>
        <source>Experts kept in RAM</source>
        <translation>Experten im RAM</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>of all layers</source>
        <translation>aller Schichten</translation>
    </message>
    <message numerus="yes">
        <source>of %n layer(s)</source>
        <translation>
            <numerusform>von %n Schicht</numerusform>
            <numerusform>von %n Schichten</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 on the device, %2</source>
        <translation>%1 auf dem Gerät, %2</translation>
    </message>
    <message>
        <source>Auto</source>
        <translation>Auto</translation>
    </message>
    <message>
        <source>Experts where they find room: chosen</source>
        <translation>Experten, wo sie Platz finden: gewählt</translation>
    </message>
    <message>
        <source>Experts where they find room</source>
        <translation>Experten, wo sie Platz finden</translation>
    </message>
</context>
<context>
    <name>ExpertsSection</name>
    <message>
        <source>RAM</source>
        <translation>RAM</translation>
    </message>
    <message>
        <source>Copy on the device</source>
        <translation>Kopie auf dem Gerät</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>in RAM</source>
        <translation>im RAM</translation>
    </message>
    <message>
        <source>on the device</source>
        <translation>auf dem Gerät</translation>
    </message>
    <message>
        <source>in RAM, with a copy on the device</source>
        <translation>im RAM, mit einer Kopie auf dem Gerät</translation>
    </message>
    <message>
        <source>%1 (%2 of its layer&apos;s choices)</source>
        <translation>%1 (%2 in seiner Schicht)</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>Layer %1, expert %2: %3</source>
        <translation>Schicht %1, Experte %2: %3</translation>
    </message>
    <message>
        <source>A GPU does not say how often it was chosen there</source>
        <translation>Wie oft er dort gewählt wurde, sagt eine GPU nicht</translation>
    </message>
    <message>
        <source>Chosen in this answer: %1</source>
        <translation>In dieser Antwort gewählt: %1</translation>
    </message>
    <message>
        <source>In this conversation: %1</source>
        <translation>In diesem Gespräch: %1</translation>
    </message>
    <message>
        <source>How often experts were chosen</source>
        <translation>Wie oft Experten gewählt wurden</translation>
    </message>
    <message>
        <source>In this answer</source>
        <translation>In dieser Antwort</translation>
    </message>
    <message>
        <source>In this conversation</source>
        <translation>In diesem Gespräch</translation>
    </message>
    <message>
        <source>Expert map: %1 experts in RAM, %2 of them with a copy on the device, %3 on the device</source>
        <translation>Expertenkarte: %1 Experten im RAM, %2 von ihnen mit einer Kopie auf dem Gerät, %3 auf dem Gerät</translation>
    </message>
    <message>
        <source>This was chosen in the conversation that was computed last, not in this one.</source>
        <translation>Das wurde in dem Gespräch gewählt, das zuletzt gerechnet wurde, nicht in diesem.</translation>
    </message>
    <message>
        <source>A line for each layer, in it a cell for each expert: the stronger, the more tokens chose it</source>
        <translation>Eine Zeile je Schicht, darin ein Feld je Experte: je kräftiger, desto mehr Token haben ihn gewählt</translation>
    </message>
    <message>
        <source>A GPU does not say how often those on the device were chosen.</source>
        <translation>Wie oft die auf dem Gerät gewählt wurden, sagt eine GPU nicht.</translation>
    </message>
</context>
<context>
    <name>ExportJob</name>
    <message>
        <source>Conversation</source>
        <translation>Gespräch</translation>
    </message>
    <message>
        <source>%1 could not be written: %2.</source>
        <translation>%1 ließ sich nicht schreiben: %2.</translation>
    </message>
</context>
<context>
    <name>ExportMenu</name>
    <message>
        <source>Export “%1”</source>
        <translation>„%1“ exportieren</translation>
    </message>
    <message>
        <source>Table as CSV…</source>
        <translation>Tabelle als CSV …</translation>
    </message>
    <message>
        <source>Table as JSON…</source>
        <translation>Tabelle als JSON …</translation>
    </message>
    <message>
        <source>Figures as PNG…</source>
        <translation>Diagramme als PNG …</translation>
    </message>
    <message>
        <source>Figures as SVG…</source>
        <translation>Diagramme als SVG …</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>%1 files (*.%2)</source>
        <translation>%1-Dateien (*.%2)</translation>
    </message>
</context>
<context>
    <name>FailureSentence</name>
    <message>
        <source>That cannot be asked for (%1).</source>
        <translation>Danach lässt sich nicht fragen (%1).</translation>
    </message>
    <message>
        <source>The server cannot be reached (%1).</source>
        <translation>Der Server ist nicht zu erreichen (%1).</translation>
    </message>
    <message>
        <source>The connection broke off (%1).</source>
        <translation>Die Verbindung ist abgebrochen (%1).</translation>
    </message>
    <message>
        <source>Nothing comes from the server any more (%1).</source>
        <translation>Vom Server kommt nichts mehr (%1).</translation>
    </message>
    <message>
        <source>The server cannot prove who it is (%1).</source>
        <translation>Der Server kann nicht belegen, wer er ist (%1).</translation>
    </message>
    <message>
        <source>The server wants to know who you are (%1).</source>
        <translation>Der Server will wissen, wer fragt (%1).</translation>
    </message>
    <message>
        <source>The server does not give this to everybody (%1).</source>
        <translation>Der Server gibt das nicht allen (%1).</translation>
    </message>
    <message>
        <source>The server does not have that (%1).</source>
        <translation>Das hat der Server nicht (%1).</translation>
    </message>
    <message>
        <source>The server asks to wait a while (%1).</source>
        <translation>Der Server bittet, eine Weile zu warten (%1).</translation>
    </message>
    <message>
        <source>The server has a fault of its own (%1).</source>
        <translation>Der Server hat selbst einen Fehler (%1).</translation>
    </message>
    <message>
        <source>The server&apos;s answer makes no sense (%1).</source>
        <translation>Die Antwort des Servers ergibt keinen Sinn (%1).</translation>
    </message>
    <message>
        <source>The file has changed on the server (%1).</source>
        <translation>Die Datei hat sich auf dem Server geändert (%1).</translation>
    </message>
    <message>
        <source>What came is not the file it should be (%1).</source>
        <translation>Was kam, ist nicht die erwartete Datei (%1).</translation>
    </message>
    <message>
        <source>There is not enough room on the disk (%1).</source>
        <translation>Auf dem Datenträger ist nicht genug Platz (%1).</translation>
    </message>
    <message>
        <source>The file cannot be written (%1).</source>
        <translation>Die Datei lässt sich nicht schreiben (%1).</translation>
    </message>
    <message>
        <source>The file cannot be read (%1).</source>
        <translation>Die Datei lässt sich nicht lesen (%1).</translation>
    </message>
    <message>
        <source>Another program is fetching the same file (%1).</source>
        <translation>Ein anderes Programm holt dieselbe Datei (%1).</translation>
    </message>
    <message>
        <source>It was stopped (%1).</source>
        <translation>Es wurde angehalten (%1).</translation>
    </message>
    <message>
        <source>A key is missing (%1).</source>
        <translation>Ein Schlüssel fehlt (%1).</translation>
    </message>
    <message>
        <source>The settings take a token, under “Privacy”.</source>
        <translation>Ein Token lässt sich in den Einstellungen unter „Datenschutz“ eingeben.</translation>
    </message>
</context>
<context>
    <name>FetchQueue</name>
    <message>
        <source>What is being fetched cannot be remembered for the next start.</source>
        <translation>Was gerade geholt wird, lässt sich nicht für den nächsten Start merken.</translation>
    </message>
    <message>
        <source>Going on may ask you to unlock it.</source>
        <translation>Beim Weitermachen ist er vielleicht zu entsperren.</translation>
    </message>
</context>
<context>
    <name>FetchRow</name>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>Waits</source>
        <translation>Wartet</translation>
    </message>
    <message>
        <source>Paused</source>
        <translation>Angehalten</translation>
    </message>
    <message>
        <source>Fetched and checked</source>
        <translation>Geholt und geprüft</translation>
    </message>
    <message>
        <source>Fetched</source>
        <translation>Geholt</translation>
    </message>
    <message>
        <source>Being checked</source>
        <translation>Wird geprüft</translation>
    </message>
    <message>
        <source>%1 a second</source>
        <translation>%1 je Sekunde</translation>
    </message>
    <message>
        <source>%1 left</source>
        <translation>noch %1</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Open %1</source>
        <translation>%1 öffnen</translation>
    </message>
    <message>
        <source>Pause %1</source>
        <translation>%1 anhalten</translation>
    </message>
    <message>
        <source>Pause</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Go on with %1</source>
        <translation>Mit %1 weitermachen</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>Weitermachen</translation>
    </message>
    <message>
        <source>Take %1 off the list</source>
        <translation>%1 von der Liste nehmen</translation>
    </message>
    <message>
        <source>Cancel %1 and remove what has come; a whole model stays</source>
        <translation>%1 abbrechen und löschen, was da ist; ein vollständiges Modell bleibt</translation>
    </message>
    <message>
        <source>Take off the list</source>
        <translation>Von der Liste nehmen</translation>
    </message>
    <message>
        <source>Cancel and remove what has come; a whole model stays</source>
        <translation>Abbrechen und löschen, was da ist; ein vollständiges Modell bleibt</translation>
    </message>
    <message>
        <source>Enter a token</source>
        <translation>Token eingeben</translation>
    </message>
    <message>
        <source>Tries again in %1.</source>
        <translation>Neuer Versuch in %1.</translation>
    </message>
    <message>
        <source>nothing has arrived for %1</source>
        <translation>seit %1 kommt nichts an</translation>
    </message>
    <message>
        <source>Cancel “%1”?</source>
        <translation>„%1“ abbrechen?</translation>
    </message>
    <message>
        <source>The %1 that have come are removed. To go on later, pause it.</source>
        <translation>Die %1, die schon da sind, werden gelöscht. Angehalten kann es später weitergehen.</translation>
    </message>
    <message>
        <source>Cancel and remove</source>
        <translation>Abbrechen und löschen</translation>
    </message>
    <message>
        <source>Keep it</source>
        <translation>Behalten</translation>
    </message>
</context>
<context>
    <name>FetchRows</name>
    <message>
        <source>Fetched models go to</source>
        <translation>Geholte Modelle kommen nach</translation>
    </message>
    <message>
        <source>A folder of your choice, or else the cache of Hugging Face, where other programs find them; what comes from elsewhere goes to Spillway’s own folder.</source>
        <translation>In einen gewählten Ordner, sonst in den Cache von Hugging Face, wo andere Programme sie finden; was anderswoher kommt, in Spillways eigenen Ordner.</translation>
    </message>
    <message>
        <source>Where other programs find them</source>
        <translation>Wo andere Programme sie finden</translation>
    </message>
    <message>
        <source>Choose…</source>
        <translation>Wählen…</translation>
    </message>
    <message>
        <source>Choose a folder for fetched models</source>
        <translation>Einen Ordner für geholte Modelle wählen</translation>
    </message>
    <message>
        <source>Speed of fetching at most</source>
        <translation>Holen höchstens mit</translation>
    </message>
    <message>
        <source>Leaves the rest of the line to others. It holds at once.</source>
        <translation>Lässt anderen den Rest der Leitung. Gilt sofort.</translation>
    </message>
    <message>
        <source> MB/s</source>
        <translation> MB/s</translation>
    </message>
    <message>
        <source>Token of Hugging Face</source>
        <translation>Token für Hugging Face</translation>
    </message>
    <message>
        <source>hf_…</source>
        <translation>hf_…</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
    <message>
        <source>Remove the token of Hugging Face</source>
        <translation>Das Token für Hugging Face entfernen</translation>
    </message>
    <message>
        <source>No limit</source>
        <translation>Ohne Grenze</translation>
    </message>
</context>
<context>
    <name>FetchesLine</name>
    <message>
        <source>%1 is being fetched: %2</source>
        <translation>%1 wird geholt: %2</translation>
    </message>
    <message>
        <source>%1 is paused at %2</source>
        <translation>%1 hält an bei %2</translation>
    </message>
    <message>
        <source>%1 could not be fetched</source>
        <translation>%1 konnte nicht geholt werden</translation>
    </message>
    <message>
        <source>%1 waits to be fetched</source>
        <translation>%1 wartet darauf, geholt zu werden</translation>
    </message>
    <message>
        <source>%1 more</source>
        <translation>noch %1</translation>
    </message>
    <message>
        <source>Shows what is being fetched</source>
        <translation>Zeigt, was geholt wird</translation>
    </message>
</context>
<context>
    <name>Fetching</name>
    <message>
        <source>It is found in the environment, or where Hugging Face’s own tools keep it.</source>
        <translation>Es steht in der Umgebung oder dort, wo die Programme von Hugging Face es aufbewahren.</translation>
    </message>
    <message>
        <source>It is kept in this system’s password store.</source>
        <translation>Es wird im Passwortspeicher dieses Systems aufbewahrt.</translation>
    </message>
    <message>
        <source>A token is one word of letters, digits and signs, without spaces.</source>
        <translation>Ein Token ist ein Wort aus Buchstaben, Ziffern und Sonderzeichen, ohne Leerzeichen.</translation>
    </message>
    <message>
        <source>It is kept in a file that only you can read, until this system’s password store takes it.</source>
        <translation>Es wird in einer Datei aufbewahrt, die sonst niemand lesen kann, bis der Passwortspeicher dieses Systems es nimmt.</translation>
    </message>
    <message>
        <source>The token that you removed is still in the password store, which is locked. It is deleted as soon as the store is unlocked.</source>
        <translation>Das entfernte Token liegt noch im Passwortspeicher dieses Systems; der ist gesperrt, und es verschwindet daraus, sobald er offen ist.</translation>
    </message>
    <message>
        <source>Models whose terms you have accepted there ask for it. It goes to %1 and to nobody else, and is kept in this system’s password store, or, where none takes it, in a file that only you can read.</source>
        <translation>Modelle, deren Bedingungen dort zugestimmt wurde, verlangen es. Es geht an %1 und an niemanden sonst und wird im Passwortspeicher dieses Systems aufbewahrt oder, wo keiner es nimmt, in einer Datei, die sonst niemand lesen kann.</translation>
    </message>
</context>
<context>
    <name>FileDialog</name>
    <message>
        <source>File name</source>
        <translation>Dateiname</translation>
    </message>
    <message>
        <source>Filter</source>
        <translation>Filter</translation>
    </message>
</context>
<context>
    <name>FileDialogRemedy</name>
    <message>
        <source>Replace “%1”?</source>
        <translation>„%1“ ersetzen?</translation>
    </message>
    <message>
        <source>There is a file of this name already. What is in it would be lost.</source>
        <translation>Eine Datei dieses Namens gibt es schon. Was in ihr steht, wäre verloren.</translation>
    </message>
    <message>
        <source>Replace</source>
        <translation>Ersetzen</translation>
    </message>
</context>
<context>
    <name>FindPage</name>
    <message>
        <source>Find models</source>
        <translation>Modelle finden</translation>
    </message>
    <message>
        <source>Back to the search</source>
        <translation>Zurück zur Suche</translation>
    </message>
    <message>
        <source>Back to the models</source>
        <translation>Zurück zu den Modellen</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>Suchen</translation>
    </message>
    <message>
        <source>Search %1, or enter a model’s address</source>
        <translation>%1 durchsuchen oder die Adresse eines Modells eingeben</translation>
    </message>
</context>
<context>
    <name>FirstModelList</name>
    <message>
        <source>Good first models, as of %1</source>
        <translation>Gute erste Modelle, Stand %1</translation>
    </message>
    <message>
        <source>about %1</source>
        <translation>etwa %1</translation>
    </message>
    <message>
        <source>Too large for the memory that is free</source>
        <translation>Zu groß für den freien Speicher</translation>
    </message>
</context>
<context>
    <name>FitLabel</name>
    <message>
        <source>Fits</source>
        <translation>Passt</translation>
    </message>
    <message>
        <source>Fits %1 tokens</source>
        <translation>Passt mit %1 Token</translation>
    </message>
    <message>
        <source>Tight</source>
        <translation>Knapp</translation>
    </message>
    <message>
        <source>Does not fit</source>
        <translation>Passt nicht</translation>
    </message>
</context>
<context>
    <name>FlightRecorder</name>
    <message>
        <source>What was measured of this conversation earlier cannot be read.</source>
        <translation>Was früher in diesem Gespräch gemessen wurde, kann nicht gelesen werden.</translation>
    </message>
</context>
<context>
    <name>FoldedActions</name>
    <message>
        <source>Compare the versions side by side</source>
        <translation>Die Fassungen nebeneinander vergleichen</translation>
    </message>
</context>
<context>
    <name>FolderChoice</name>
    <message>
        <source>New folder</source>
        <translation>Neuer Ordner</translation>
    </message>
    <message>
        <source>Out of the folder</source>
        <translation>Aus dem Ordner nehmen</translation>
    </message>
</context>
<context>
    <name>FolderMenu</name>
    <message>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <source>Remove the folder</source>
        <translation>Ordner auflösen</translation>
    </message>
    <message>
        <source>Del</source>
        <translation>Entf</translation>
    </message>
</context>
<context>
    <name>FolderRows</name>
    <message>
        <source>Model folders</source>
        <translation>Modellordner</translation>
    </message>
    <message>
        <source>Searched for GGUF files, in place and with the folders inside them; other programs&apos; known folders are searched as well.</source>
        <translation>Werden samt Unterordnern nach GGUF-Dateien durchsucht, die bleiben, wo sie sind; die bekannten Ordner anderer Programme ebenfalls.</translation>
    </message>
    <message>
        <source>Add…</source>
        <translation>Hinzufügen…</translation>
    </message>
    <message>
        <source>Add a model folder</source>
        <translation>Modellordner hinzufügen</translation>
    </message>
    <message>
        <source>Do not search %1</source>
        <translation>%1 nicht mehr durchsuchen</translation>
    </message>
</context>
<context>
    <name>Format</name>
    <message>
        <source>%1 B</source>
        <translation>%1 B</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <source>%1 tok/s</source>
        <translation>%1 Tok/s</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>1 model</source>
        <translation>1 Modell</translation>
    </message>
    <message>
        <source>%1 models</source>
        <translation>%1 Modelle</translation>
    </message>
    <message>
        <source>today</source>
        <translation>heute</translation>
    </message>
    <message>
        <source>yesterday</source>
        <translation>gestern</translation>
    </message>
    <message>
        <source>%1 days ago</source>
        <translation>vor %1 Tagen</translation>
    </message>
    <message>
        <source>%1 min %2 s</source>
        <translation>%1 min %2 s</translation>
    </message>
    <message>
        <source>%1 µs</source>
        <translation>%1 µs</translation>
    </message>
    <message>
        <source>%1 min</source>
        <translation>%1 min</translation>
    </message>
    <message>
        <source>%1K</source>
        <translation>%1K</translation>
    </message>
    <message>
        <source>%1×</source>
        <translation>%1×</translation>
    </message>
    <message>
        <source>d MMM yyyy</source>
        <comment>a day, as Qt formats dates</comment>
        <translation>d. MMM yyyy</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <comment>a day and a time</comment>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>%1 h %2 min</source>
        <translation>%1 h %2 min</translation>
    </message>
</context>
<context>
    <name>FoundModels</name>
    <message>
        <source>Its terms have to be accepted on the hub first</source>
        <translation>Die Bedingungen müssen dort erst angenommen werden</translation>
    </message>
    <message>
        <source>%1 fetched it last month</source>
        <translation>im letzten Monat %1-mal geholt</translation>
    </message>
    <message>
        <source>No model of this kind has “%1” in its name.</source>
        <translation>Kein solches Modell hat „%1“ im Namen.</translation>
    </message>
    <message>
        <source>Searching</source>
        <translation>Suche läuft</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal</translation>
    </message>
    <message>
        <source>More</source>
        <translation>Mehr</translation>
    </message>
    <message>
        <source>More models</source>
        <translation>Mehr Modelle</translation>
    </message>
    <message>
        <source>Enter a token</source>
        <translation>Token eingeben</translation>
    </message>
</context>
<context>
    <name>GuessSection</name>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>Right earlier</source>
        <translation>Früher zugetroffen</translation>
    </message>
    <message>
        <source>Right</source>
        <translation>Zugetroffen</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>Share of guessed tokens that were right, over context length</source>
        <translation>Anteil der geratenen Token, die zutrafen, über der Länge des Kontexts</translation>
    </message>
    <message>
        <source>Choose below what is drawn here</source>
        <translation>Unten wählen, was hier gezeichnet wird</translation>
    </message>
    <message>
        <source>This answer</source>
        <translation>Diese Antwort</translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation>Frühere</translation>
    </message>
    <message>
        <source>%1 of %2 guessed tokens were right.</source>
        <translation>%1 von %2 geratenen Token trafen zu.</translation>
    </message>
    <message>
        <source>The answer is %1 as fast as without them.</source>
        <translation>Die Antwort ist %1 so schnell wie ohne sie.</translation>
    </message>
    <message>
        <source>The draft model, which takes %1 of memory, guessed %2 of them, and %3 were right.</source>
        <translation>Das Entwurfsmodell, das %1 Speicher belegt, hat %2 davon geraten, und %3 trafen zu.</translation>
    </message>
    <message>
        <source>The block for guessing in the model&apos;s own file, which takes %1 of memory, guessed %2 of them, and %3 were right.</source>
        <translation>Der Block zum Raten in der Datei des Modells selbst, der %1 Speicher belegt, hat %2 davon geraten, und %3 trafen zu.</translation>
    </message>
</context>
<context>
    <name>HitRateSection</name>
    <message>
        <source>This answer</source>
        <translation>Diese Antwort</translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation>Frühere</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>Experts found on the device, in per cent, over context length</source>
        <translation>Auf dem Gerät gefundene Experten, in Prozent, über der Länge des Kontexts</translation>
    </message>
    <message>
        <source>Nothing is measured yet</source>
        <translation>Noch ist nichts gemessen</translation>
    </message>
    <message>
        <source>%1 at %2 tokens</source>
        <translation>%1 bei %2 Token</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>Found earlier</source>
        <translation>Früher gefunden</translation>
    </message>
    <message>
        <source>Found</source>
        <translation>Gefunden</translation>
    </message>
</context>
<context>
    <name>HubModel</name>
    <message>
        <source>No licence is named</source>
        <translation>Keine Lizenz genannt</translation>
    </message>
    <message>
        <source>Licence: %1</source>
        <translation>Lizenz: %1</translation>
    </message>
    <message>
        <source>%1 fetched it last month</source>
        <translation>im letzten Monat %1-mal geholt</translation>
    </message>
    <message>
        <source>Asking %1</source>
        <translation>%1 wird gefragt</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal</translation>
    </message>
    <message>
        <source>There is no GGUF model in it.</source>
        <translation>Darin ist kein GGUF-Modell.</translation>
    </message>
    <message>
        <source>What its publisher says</source>
        <translation>Was der Herausgeber sagt</translation>
    </message>
    <message>
        <source>Fetched with it where you tick them</source>
        <translation>Wird mitgeholt, wo ein Haken steht</translation>
    </message>
    <message>
        <source>Enter a token</source>
        <translation>Token eingeben</translation>
    </message>
    <message>
        <source>See it on %1</source>
        <translation>Auf %1 ansehen</translation>
    </message>
    <message>
        <source>Opens it in the browser</source>
        <translation>Öffnet es im Browser</translation>
    </message>
</context>
<context>
    <name>HubModelFacts</name>
    <message>
        <source>Architecture</source>
        <translation>Architektur</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>Experts</source>
        <translation>Experten</translation>
    </message>
    <message>
        <source>%1, %2 used</source>
        <translation>%1, davon %2 benutzt</translation>
    </message>
    <message>
        <source>Chat template</source>
        <translation>Gesprächsvorlage</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>ja</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message>
        <source>Reading its header</source>
        <translation>Der Kopf wird gelesen</translation>
    </message>
    <message>
        <source>Spillway can run it.</source>
        <translation>Spillway kann es ausführen.</translation>
    </message>
    <message>
        <source>KV cache per token (f16)</source>
        <translation>KV-Cache je Token (f16)</translation>
    </message>
</context>
<context>
    <name>Import</name>
    <message>
        <source>something is not an object</source>
        <translation>etwas ist kein Objekt</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is not a text</source>
        <translation>„%1“ ist kein Text</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is too long</source>
        <translation>„%1“ ist zu lang</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is not a number that can be</source>
        <translation>„%1“ ist keine mögliche Zahl</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is not a list</source>
        <translation>„%1“ ist keine Liste</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is nested too deeply</source>
        <translation>„%1“ ist zu tief verschachtelt</translation>
    </message>
    <message>
        <source>an attachment has no known kind</source>
        <translation>ein Anhang ist von keiner bekannten Art</translation>
    </message>
    <message>
        <source>a message has no known role</source>
        <translation>eine Nachricht hat keine bekannte Rolle</translation>
    </message>
    <message>
        <source>two messages have the same id, or one has none</source>
        <translation>zwei Nachrichten haben dieselbe Kennung, oder einer fehlt sie</translation>
    </message>
    <message>
        <source>a message answers one that is not there</source>
        <translation>eine Nachricht antwortet auf eine, die nicht da ist</translation>
    </message>
    <message>
        <source>a message comes before the one it answers</source>
        <translation>eine Nachricht steht vor der, auf die sie antwortet</translation>
    </message>
    <message>
        <source>This file is damaged: it is not JSON from byte %1 on.</source>
        <translation>Diese Datei ist beschädigt: Ab Byte %1 ist sie kein JSON.</translation>
    </message>
    <message>
        <source>This file was written by a newer version of Spillway.</source>
        <translation>Diese Datei stammt von einer neueren Fassung von Spillway.</translation>
    </message>
    <message>
        <source>it does not say its version</source>
        <translation>sie nennt ihre Fassung nicht</translation>
    </message>
    <message>
        <source>it has too many messages</source>
        <translation>es hat zu viele Nachrichten</translation>
    </message>
    <message>
        <source>Nothing was imported, since the file is damaged: conversation %1: %2.</source>
        <translation>Nichts wurde importiert, denn die Datei ist beschädigt: Gespräch %1: %2.</translation>
    </message>
    <message>
        <source>This file holds no conversations.</source>
        <translation>Diese Datei enthält keine Gespräche.</translation>
    </message>
    <message>
        <source>Conversation</source>
        <translation>Gespräch</translation>
    </message>
    <message>
        <source>Attached: %1</source>
        <translation>Angehängt: %1</translation>
    </message>
    <message>
        <source>This file has too many messages.</source>
        <translation>Diese Datei hat zu viele Nachrichten.</translation>
    </message>
    <message>
        <source>This is not a conversation: it has neither the JSON of one nor a heading &apos;## User&apos;.</source>
        <translation>Das ist kein Gespräch: Es hat weder das JSON eines solchen noch eine Überschrift „## User“.</translation>
    </message>
    <message>
        <source>%1 cannot be read: %2.</source>
        <translation>%1 lässt sich nicht lesen: %2.</translation>
    </message>
    <message>
        <source>it is not an ordinary file</source>
        <translation>es ist keine gewöhnliche Datei</translation>
    </message>
    <message>
        <source>%1 is larger than 256 MB and was not read.</source>
        <translation>%1 ist größer als 256 MB und wurde nicht gelesen.</translation>
    </message>
    <message>
        <source>what was measured of it is not a recording</source>
        <translation>was in ihr gemessen wurde, ist keine Aufzeichnung</translation>
    </message>
    <message>
        <source>Nothing was imported, since a message in %1 is too long.</source>
        <translation>Es wurde nichts importiert, denn eine Nachricht in %1 ist zu lang.</translation>
    </message>
    <message>
        <source>there is not enough memory</source>
        <translation>der Speicher reicht nicht</translation>
    </message>
    <message>
        <source>This file holds no conversations that Spillway can read.</source>
        <translation>Diese Datei enthält keine Gespräche, die Spillway lesen kann.</translation>
    </message>
    <message>
        <source>%1 is a zip archive: unpack it and import the JSON files in it.</source>
        <translation>%1 ist ein Zip-Archiv: bitte entpacken und die JSON-Dateien darin importieren.</translation>
    </message>
</context>
<context>
    <name>KeyRow</name>
    <message>
        <source>Key</source>
        <translation>Schlüssel</translation>
    </message>
    <message>
        <source>Copy the key</source>
        <translation>Schlüssel kopieren</translation>
    </message>
    <message>
        <source>Hide</source>
        <translation>Verbergen</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>Zeigen</translation>
    </message>
    <message>
        <source>Hide the key</source>
        <translation>Schlüssel verbergen</translation>
    </message>
    <message>
        <source>Show the key</source>
        <translation>Schlüssel zeigen</translation>
    </message>
    <message>
        <source>Make a new key</source>
        <translation>Neuen Schlüssel machen</translation>
    </message>
    <message>
        <source>Make a new key?</source>
        <translation>Neuen Schlüssel machen?</translation>
    </message>
    <message>
        <source>Programs with the old one are no longer let in.</source>
        <translation>Programme mit dem alten werden nicht mehr eingelassen.</translation>
    </message>
</context>
<context>
    <name>KnownSentence</name>
    <message>
        <source>the prompt needs %1 tokens and the context holds %2</source>
        <translation>die Nachricht braucht %1 Token, und der Kontext fasst %2</translation>
    </message>
    <message>
        <source>the memory of the device is full, and the policy &apos;resident&apos; lets nothing leave it</source>
        <translation>der Speicher des Geräts ist voll, und die Strategie „Resident“ lässt nichts von dort weg</translation>
    </message>
    <message>
        <source>the text has %1 tokens and the context holds %2</source>
        <translation>der Text hat %1 Token, und der Kontext fasst %2</translation>
    </message>
    <message>
        <source>the memory of %1 is full</source>
        <translation>der Speicher von %1 ist voll</translation>
    </message>
    <message>
        <source>%1 stopped working: %2</source>
        <translation>%1 arbeitet nicht mehr: %2</translation>
    </message>
    <message>
        <source>no NVIDIA driver is installed (%1)</source>
        <translation>es ist kein NVIDIA-Treiber installiert (%1)</translation>
    </message>
    <message>
        <source>NVIDIA driver %1 or newer is needed, which supports CUDA %2; the one here supports CUDA %3: please update it</source>
        <translation>nötig ist der NVIDIA-Treiber %1 oder ein neuerer, der CUDA %2 beherrscht; der vorhandene beherrscht CUDA %3 und muss aktualisiert werden</translation>
    </message>
    <message>
        <source>%1 has compute capability %2, and 7.5 or higher is needed</source>
        <translation>%1 hat die Compute Capability %2, nötig ist 7.5 oder mehr</translation>
    </message>
    <message>
        <source>the NVIDIA driver does not start: %1</source>
        <translation>der NVIDIA-Treiber startet nicht: %1</translation>
    </message>
    <message>
        <source>the NVIDIA driver does not answer: %1</source>
        <translation>der NVIDIA-Treiber antwortet nicht: %1</translation>
    </message>
    <message>
        <source>the NVIDIA driver is too old: it lacks %1</source>
        <translation>der NVIDIA-Treiber ist zu alt: ihm fehlt %1</translation>
    </message>
    <message>
        <source>the NVIDIA driver knows no GPU</source>
        <translation>der NVIDIA-Treiber kennt keine GPU</translation>
    </message>
    <message>
        <source>this build of the program has no CUDA kernels</source>
        <translation>dieses Programm ist ohne CUDA-Kernel gebaut</translation>
    </message>
    <message>
        <source>the answer was stopped</source>
        <translation>die Antwort wurde angehalten</translation>
    </message>
    <message>
        <source>loading was cancelled</source>
        <translation>das Laden wurde abgebrochen</translation>
    </message>
    <message>
        <source>the prompt is empty</source>
        <translation>die Nachricht ist leer</translation>
    </message>
    <message>
        <source>none of the %1 servers named &apos;%2&apos; can answer now; the last of them: %3</source>
        <translation>keiner der %1 Server namens „%2“ kann gerade antworten; beim letzten: %3</translation>
    </message>
    <message>
        <source>the key for %1 is missing: %2</source>
        <translation>der Schlüssel für %1 fehlt: %2</translation>
    </message>
    <message>
        <source>the token for %1 is missing: %2</source>
        <translation>das Token für %1 fehlt: %2</translation>
    </message>
    <message>
        <source>the system&apos;s password store is locked</source>
        <translation>der Passwortspeicher des Systems ist gesperrt</translation>
    </message>
    <message>
        <source>the system&apos;s password store does not have it any more</source>
        <translation>im Passwortspeicher des Systems ist nichts mehr davon zu finden</translation>
    </message>
    <message>
        <source>the system&apos;s password store does not answer</source>
        <translation>der Passwortspeicher des Systems antwortet nicht</translation>
    </message>
    <message>
        <source>this system has no password store</source>
        <translation>dieses System hat keinen Passwortspeicher</translation>
    </message>
    <message>
        <source>Windows&apos; Credential Manager refuses it, error %1</source>
        <translation>die Anmeldeinformationsverwaltung von Windows lehnt es ab, Fehler %1</translation>
    </message>
    <message>
        <source>&apos;%1&apos; cannot be written: %2</source>
        <translation>„%1“ lässt sich nicht schreiben: %2</translation>
    </message>
    <message>
        <source>&apos;%1&apos; cannot be written</source>
        <translation>„%1“ lässt sich nicht schreiben</translation>
    </message>
    <message>
        <source>&apos;%1&apos; cannot be removed</source>
        <translation>„%1“ lässt sich nicht entfernen</translation>
    </message>
    <message>
        <source>the folder %1 cannot be made</source>
        <translation>der Ordner %1 lässt sich nicht anlegen</translation>
    </message>
    <message>
        <source>%1: the folder cannot be made</source>
        <translation>%1: der Ordner lässt sich nicht anlegen</translation>
    </message>
    <message>
        <source>%1 is there already and is another file; it was left as it is</source>
        <translation>%1 gibt es schon, und es ist eine andere Datei; sie blieb, wie sie ist</translation>
    </message>
    <message>
        <source>%1 has come up meanwhile; it was left as it is</source>
        <translation>%1 ist inzwischen von anderswo gekommen; es blieb, wie es ist</translation>
    </message>
    <message>
        <source>there is no folder for temporary files</source>
        <translation>es gibt keinen Ordner für vorübergehende Dateien</translation>
    </message>
    <message>
        <source>the folder for temporary files has no room for a model&apos;s header</source>
        <translation>der Ordner für vorübergehende Dateien hat keinen Platz für den Kopf eines Modells</translation>
    </message>
    <message>
        <source>there is no room left in %1</source>
        <translation>in %1 ist kein Platz mehr</translation>
    </message>
    <message>
        <source>cannot write a file in %1 (%2)</source>
        <translation>in %1 lässt sich keine Datei schreiben (%2)</translation>
    </message>
    <message>
        <source>the rates could not be kept in the profile</source>
        <translation>die Messwerte ließen sich nicht im Profil ablegen</translation>
    </message>
    <message>
        <source>the disk is full</source>
        <translation>der Datenträger ist voll</translation>
    </message>
    <message>
        <source>the disk cannot be written (%1)</source>
        <translation>auf den Datenträger lässt sich nicht schreiben (%1)</translation>
    </message>
    <message>
        <source>%1 has no such repository, or it is closed to strangers</source>
        <translation>%1 hat kein solches Repository, oder es ist für Fremde verschlossen</translation>
    </message>
    <message>
        <source>a page for people came in place of the hub&apos;s answer; a network that wants you to sign in first, as in a hotel, may have sent it</source>
        <translation>anstelle der Antwort kam eine Seite für Menschen; vielleicht von einem Netz, in dem man sich erst anmelden muss, wie im Hotel</translation>
    </message>
    <message>
        <source>the name %1 cannot be looked up: no network, or no such host</source>
        <translation>der Name %1 lässt sich nicht auflösen: kein Netz, oder es gibt ihn nicht</translation>
    </message>
    <message>
        <source>the proxy that the environment names cannot be looked up</source>
        <translation>der Name des Proxys, den die Umgebung nennt, lässt sich nicht auflösen</translation>
    </message>
    <message>
        <source>the proxy that the environment names refuses the connection</source>
        <translation>der Proxy, den die Umgebung nennt, nimmt die Verbindung nicht an</translation>
    </message>
    <message>
        <source>the proxy that the environment names wants a name and a password, as in http://NAME:PASSWORD@PROXY:8080</source>
        <translation>der Proxy, den die Umgebung nennt, verlangt Namen und Passwort, wie in http://NAME:PASSWORT@PROXY:8080</translation>
    </message>
    <message>
        <source>the proxy that the environment names does not connect to %1 (status %2)</source>
        <translation>der Proxy, den die Umgebung nennt, stellt keine Verbindung zu %1 her (Status %2)</translation>
    </message>
    <message>
        <source>%1, or the proxy that the environment names, refuses the connection</source>
        <translation>%1 oder der Proxy, den die Umgebung nennt, nimmt die Verbindung nicht an</translation>
    </message>
    <message>
        <source>%1, or the proxy that the environment names, does not answer</source>
        <translation>%1 oder der Proxy, den die Umgebung nennt, antwortet nicht</translation>
    </message>
    <message>
        <source>%1 refuses the connection</source>
        <translation>%1 nimmt die Verbindung nicht an</translation>
    </message>
    <message>
        <source>%1 does not answer</source>
        <translation>%1 antwortet nicht</translation>
    </message>
    <message>
        <source>%1 cannot prove that it is %2: its certificate is not trusted</source>
        <translation>%1 kann nicht belegen, %2 zu sein: seinem Zertifikat wird nicht vertraut</translation>
    </message>
    <message>
        <source>this machine&apos;s list of trusted certificates cannot be read</source>
        <translation>die Liste vertrauenswürdiger Zertifikate auf diesem Rechner lässt sich nicht lesen</translation>
    </message>
    <message>
        <source>no secure connection to %1 comes about</source>
        <translation>mit %1 kommt keine sichere Verbindung zustande</translation>
    </message>
    <message>
        <source>%1 broke off before the end</source>
        <translation>%1 hat vor dem Ende abgebrochen</translation>
    </message>
    <message>
        <source>there is not enough memory for a connection</source>
        <translation>der Speicher reicht nicht für eine Verbindung</translation>
    </message>
    <message>
        <source>the connection to %1 broke off</source>
        <translation>die Verbindung mit %1 ist abgebrochen</translation>
    </message>
    <message>
        <source>nothing came for %1 s, though the connection stands</source>
        <translation>seit %1 s kam nichts, obwohl die Verbindung steht</translation>
    </message>
    <message>
        <source>&apos;%1&apos; is no address of the web</source>
        <translation>„%1“ ist keine Adresse des Webs</translation>
    </message>
    <message>
        <source>%1 leads to what is no address of the web</source>
        <translation>%1 leitet zu etwas weiter, das keine Adresse des Webs ist</translation>
    </message>
    <message>
        <source>%1 leads to an address that is not secure</source>
        <translation>%1 leitet zu einer Adresse weiter, die nicht sicher ist</translation>
    </message>
    <message>
        <source>%1 leads around in a circle</source>
        <translation>%1 leitet im Kreis weiter</translation>
    </message>
    <message>
        <source>%1 leads nowhere</source>
        <translation>%1 leitet nirgendwohin weiter</translation>
    </message>
    <message>
        <source>%1 leads to another server, which gets nothing of yours</source>
        <translation>%1 leitet zu einem anderen Server weiter, der von hier nichts bekommt</translation>
    </message>
    <message>
        <source>%1 leads elsewhere instead of answering</source>
        <translation>%1 leitet weiter, statt zu antworten</translation>
    </message>
    <message>
        <source>the server&apos;s answer is longer than such an answer may be</source>
        <translation>die Antwort des Servers ist länger, als eine solche sein darf</translation>
    </message>
    <message>
        <source>the server&apos;s answer has no head</source>
        <translation>die Antwort des Servers hat keinen Kopf</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>angehalten</translation>
    </message>
    <message>
        <source>%1 gives this to those only who have accepted its terms there, and who say by a token who they are</source>
        <translation>%1 gibt das nur denen, die seine Bedingungen dort angenommen haben und sich mit einem Token ausweisen</translation>
    </message>
    <message>
        <source>%1 gives this to those only who have accepted its terms there</source>
        <translation>%1 gibt das nur denen, die seine Bedingungen dort angenommen haben</translation>
    </message>
    <message>
        <source>%1 does not accept the token</source>
        <translation>%1 nimmt das Token nicht an</translation>
    </message>
    <message>
        <source>%1 asks for a token, or has no such file for strangers</source>
        <translation>%1 verlangt ein Token oder hat keine solche Datei für Unbekannte</translation>
    </message>
    <message>
        <source>%1 asks for a token</source>
        <translation>%1 verlangt ein Token</translation>
    </message>
    <message>
        <source>%1 refuses access</source>
        <translation>%1 verweigert den Zugang</translation>
    </message>
    <message>
        <source>%1 knows no such repository</source>
        <translation>%1 kennt kein solches Repository</translation>
    </message>
    <message>
        <source>%1 knows no such revision of the repository</source>
        <translation>%1 kennt diesen Stand des Repositorys nicht</translation>
    </message>
    <message>
        <source>%1 has no such file</source>
        <translation>%1 hat keine solche Datei</translation>
    </message>
    <message>
        <source>%1 asks to wait, since there were too many requests</source>
        <translation>%1 bittet zu warten, weil es zu viele Anfragen waren</translation>
    </message>
    <message>
        <source>%1 asks to wait, since there were too many requests: %2 s</source>
        <translation>%1 bittet, %2 s zu warten, weil es zu viele Anfragen waren</translation>
    </message>
    <message>
        <source>%1 has a fault of its own (status %2)</source>
        <translation>%1 hat selbst einen Fehler (Status %2)</translation>
    </message>
    <message>
        <source>%1 answers with status %2</source>
        <translation>%1 antwortet mit dem Status %2</translation>
    </message>
    <message>
        <source>the hub&apos;s answer cannot be read</source>
        <translation>die Antwort des Hubs lässt sich nicht lesen</translation>
    </message>
    <message>
        <source>the registry&apos;s answer cannot be read</source>
        <translation>die Antwort des Verzeichnisses lässt sich nicht lesen</translation>
    </message>
    <message>
        <source>%1 has no revision &apos;%2&apos;</source>
        <translation>%1 hat keinen Stand „%2“</translation>
    </message>
    <message>
        <source>&apos;%1&apos; names no repository</source>
        <translation>„%1“ benennt kein Repository</translation>
    </message>
    <message>
        <source>&apos;%1&apos; names no model: hf.co/ORG/REPO[:QUANT], ollama.com/NAME[:TAG] and the address of a .gguf file do</source>
        <translation>„%1“ benennt kein Modell; das tun hf.co/ORG/REPO[:QUANT], ollama.com/NAME[:TAG] und die Adresse einer .gguf-Datei</translation>
    </message>
    <message>
        <source>the hub finds nothing for &apos;%1&apos;</source>
        <translation>der Hub findet nichts für „%1“</translation>
    </message>
    <message>
        <source>&apos;%1&apos; lacks its owner&apos;s name; the most fetched of this name are %2</source>
        <translation>„%1“ sagt nicht, von wem es ist; am häufigsten geholt werden beim Hub %2</translation>
    </message>
    <message>
        <source>there is no GGUF model in it</source>
        <translation>darin ist kein GGUF-Modell</translation>
    </message>
    <message>
        <source>%1: there is no GGUF model in it</source>
        <translation>in %1 ist kein GGUF-Modell</translation>
    </message>
    <message>
        <source>%1: there is no file %2 in it, but %3</source>
        <translation>in %1 gibt es keine Datei %2, aber %3</translation>
    </message>
    <message>
        <source>%1: there is no %2 in it, but %3</source>
        <translation>in %1 gibt es %2 nicht, aber %3</translation>
    </message>
    <message>
        <source>%1 has no model file that could be fetched</source>
        <translation>%1 hat keine Modelldatei, die sich holen ließe</translation>
    </message>
    <message>
        <source>%1 has several model files, which cannot be put together here</source>
        <translation>%1 hat mehrere Modelldateien, die sich hier nicht zusammensetzen lassen</translation>
    </message>
    <message>
        <source>there is no %1 beside it any more</source>
        <translation>%1 liegt nicht mehr daneben</translation>
    </message>
    <message>
        <source>the server does not say how long the file is</source>
        <translation>der Server sagt nicht, wie lang die Datei ist</translation>
    </message>
    <message>
        <source>the file is empty</source>
        <translation>die Datei ist leer</translation>
    </message>
    <message>
        <source>the list of files has no hash where one should be</source>
        <translation>in der Liste der Dateien fehlt eine Prüfsumme</translation>
    </message>
    <message>
        <source>the server has %1 bytes of %2, and its list of files says %3</source>
        <translation>der Server hat %1 Bytes von %2, nach seiner Liste der Dateien sind es %3</translation>
    </message>
    <message>
        <source>the file has changed on the server while it was being fetched</source>
        <translation>die Datei hat sich auf dem Server geändert, während sie geholt wurde</translation>
    </message>
    <message>
        <source>the server gives no more parts of the file: it has changed, or the server has</source>
        <translation>der Server gibt keine Teile der Datei mehr: sie hat sich geändert, oder der Server</translation>
    </message>
    <message>
        <source>the server gives other bytes than those that it was asked for</source>
        <translation>der Server gibt andere Bytes als die, um die er gebeten wurde</translation>
    </message>
    <message>
        <source>the file has changed on the server: it has another size now</source>
        <translation>die Datei hat sich auf dem Server geändert: sie hat jetzt eine andere Größe</translation>
    </message>
    <message>
        <source>the server gives more bytes than it was asked for</source>
        <translation>der Server gibt mehr Bytes als die, um die er gebeten wurde</translation>
    </message>
    <message>
        <source>the server ended before all bytes were there</source>
        <translation>der Server hat aufgehört, bevor alle Bytes da waren</translation>
    </message>
    <message>
        <source>the bytes that came for %1 are not those that it should have (SHA-256 %2 instead of %3); they were thrown away</source>
        <translation>die Bytes, die für %1 kamen, sind nicht die richtigen (SHA-256 %2 statt %3); sie wurden verworfen</translation>
    </message>
    <message>
        <source>%1 is there already with other bytes: it is damaged, another version, or another model of that name; remove it, and it can be fetched</source>
        <translation>%1 gibt es schon mit anderen Bytes: beschädigt, in einer anderen Fassung oder von einem anderen Modell dieses Namens; wird es entfernt, lässt es sich holen</translation>
    </message>
    <message>
        <source>%1 cannot be read</source>
        <translation>%1 lässt sich nicht lesen</translation>
    </message>
    <message>
        <source>there is not enough room in %1: it takes %2 and %3 are free</source>
        <translation>in %1 ist nicht genug Platz: nötig sind %2, frei sind %3</translation>
    </message>
    <message>
        <source>the disk is full: &apos;%1&apos; has no room to grow</source>
        <translation>der Datenträger ist voll: für „%1“ ist kein Platz mehr</translation>
    </message>
    <message>
        <source>another program is fetching &apos;%1&apos; already</source>
        <translation>ein anderes Programm holt „%1“ schon</translation>
    </message>
    <message>
        <source>another program has just fetched &apos;%1&apos;</source>
        <translation>ein anderes Programm hat „%1“ gerade geholt</translation>
    </message>
    <message>
        <source>%1 ends inside its header</source>
        <translation>%1 endet mitten in seinem Kopf</translation>
    </message>
    <message>
        <source>this is no GGUF file that can be read here</source>
        <translation>das ist keine GGUF-Datei, die sich hier lesen lässt</translation>
    </message>
    <message>
        <source>the file&apos;s header makes no sense</source>
        <translation>der Kopf der Datei ergibt keinen Sinn</translation>
    </message>
    <message>
        <source>type an address, such as 192.168.0.5:8000</source>
        <translation>bitte eine Adresse eingeben, wie etwa 192.168.0.5:8000</translation>
    </message>
    <message>
        <source>this is too long for an address</source>
        <translation>für eine Adresse ist das zu lang</translation>
    </message>
    <message>
        <source>an address with a name and a password in it is not used; a key goes into its own field</source>
        <translation>eine Adresse mit Namen und Passwort darin wird nicht verwendet; ein Schlüssel kommt in sein eigenes Feld</translation>
    </message>
    <message>
        <source>%1 says that the conversation is longer than its context</source>
        <translation>%1 sagt, das Gespräch sei länger als sein Kontext</translation>
    </message>
    <message>
        <source>%1 refuses the request</source>
        <translation>%1 lehnt die Anfrage ab</translation>
    </message>
    <message>
        <source>%1 does not accept the key</source>
        <translation>%1 nimmt den Schlüssel nicht an</translation>
    </message>
    <message>
        <source>%1 asks for a key</source>
        <translation>%1 verlangt einen Schlüssel</translation>
    </message>
    <message>
        <source>%1 has nothing at this address</source>
        <translation>%1 hat nichts unter dieser Adresse</translation>
    </message>
    <message>
        <source>%1 does not do that</source>
        <translation>%1 tut das nicht</translation>
    </message>
    <message>
        <source>%1 is asked too much and wants to be asked again later</source>
        <translation>%1 wird zu viel gefragt und will später noch einmal gefragt werden</translation>
    </message>
    <message>
        <source>%1 is asked too much and wants to be asked again later, in %2 s</source>
        <translation>%1 wird zu viel gefragt und will in %2 s noch einmal gefragt werden</translation>
    </message>
    <message>
        <source>%1 has no time now, or is still starting</source>
        <translation>%1 hat gerade keine Zeit oder startet noch</translation>
    </message>
    <message>
        <source>%1 has a fault of its own, status %2</source>
        <translation>%1 hat selbst einen Fehler, Status %2</translation>
    </message>
    <message>
        <source>%1 ended the answer</source>
        <translation>%1 hat die Antwort beendet</translation>
    </message>
    <message>
        <source>%1 ended the answer without saying why</source>
        <translation>%1 hat die Antwort beendet, ohne zu sagen, warum</translation>
    </message>
    <message>
        <source>%1 answers, but is no server of models: it has no list of them at /v1/models</source>
        <translation>%1 antwortet, ist aber kein Server von Modellen: unter /v1/models hat er keine Liste davon</translation>
    </message>
    <message>
        <source>%1 answers, but is no server of models: its list of models cannot be read</source>
        <translation>%1 antwortet, ist aber kein Server von Modellen: Seine Liste der Modelle lässt sich nicht lesen</translation>
    </message>
    <message>
        <source>%1 has no model &apos;%2&apos;</source>
        <translation>%1 hat kein Modell „%2“</translation>
    </message>
    <message>
        <source>%1 is none of your servers any more</source>
        <translation>%1 gehört nicht mehr zu den eigenen Servern</translation>
    </message>
    <message>
        <source>%1 answers with a page for people</source>
        <translation>%1 antwortet mit einer Seite für Menschen</translation>
    </message>
    <message>
        <source>%1 does not come to an end</source>
        <translation>%1 kommt zu keinem Ende</translation>
    </message>
    <message>
        <source>%1 sends an event without an end</source>
        <translation>%1 sendet ein Ereignis ohne Ende</translation>
    </message>
    <message>
        <source>%1 sends what is no piece of an answer</source>
        <translation>%1 sendet etwas, das kein Stück einer Antwort ist</translation>
    </message>
    <message>
        <source>%1 has the same name and may answer in its place</source>
        <translation>%1 hat denselben Namen und antwortet vielleicht an seiner Stelle</translation>
    </message>
    <message>
        <source>this server takes logit biases for tokens only, not for texts</source>
        <translation>dieser Server nimmt Logit-Gewichte nur für Token, nicht für Texte</translation>
    </message>
    <message>
        <source>this server cannot hold an answer to a grammar; it may know JSON schemas</source>
        <translation>dieser Server kann keine Antwort an eine Grammatik binden; vielleicht kennt er JSON-Schemata</translation>
    </message>
    <message>
        <source>the JSON schema is no JSON object</source>
        <translation>das JSON-Schema ist kein JSON-Objekt</translation>
    </message>
    <message>
        <source>the template&apos;s arguments are no JSON object</source>
        <translation>die Argumente der Vorlage sind kein JSON-Objekt</translation>
    </message>
    <message>
        <source>%1 (&quot;%2&quot;)</source>
        <translation>%1 („%2“)</translation>
    </message>
    <message>
        <source>%1; what had come of the answer is kept</source>
        <translation>%1; was von der Antwort gekommen war, bleibt</translation>
    </message>
    <message>
        <source>the system has no page-locked memory left for %1</source>
        <translation>das System kann für %1 keinen Speicher mehr im RAM festhalten</translation>
    </message>
</context>
<context>
    <name>KvMapSection</name>
    <message>
        <source>on the device</source>
        <translation>auf dem Gerät</translation>
    </message>
    <message>
        <source>in RAM</source>
        <translation>im RAM</translation>
    </message>
    <message>
        <source>on its way</source>
        <translation>unterwegs</translation>
    </message>
    <message>
        <source>behind the window</source>
        <translation>hinter dem Fenster</translation>
    </message>
    <message>
        <source>layer %1</source>
        <translation>Schicht %1</translation>
    </message>
    <message>
        <source>layers %1–%2</source>
        <translation>Schichten %1–%2</translation>
    </message>
    <message>
        <source>Tokens %1–%2, %3: %4, %5</source>
        <translation>Token %1–%2, %3: %4, %5</translation>
    </message>
    <message>
        <source>pinned</source>
        <translation>angeheftet</translation>
    </message>
    <message>
        <source>Nothing is kept yet: the first words fill the first block.</source>
        <translation>Noch ist nichts behalten: die ersten Wörter füllen den ersten Block.</translation>
    </message>
    <message>
        <source>KV map: %1 blocks on the device, %2 in RAM</source>
        <translation>KV-Karte: %1 Blöcke auf dem Gerät, %2 im RAM</translation>
    </message>
    <message>
        <source>Next to leave: tokens %1–%2; pinned ones last</source>
        <translation>Als Nächste gehen: Token %1–%2; angeheftete zuletzt</translation>
    </message>
    <message>
        <source>Unpin the system prompt</source>
        <translation>Systemanweisung lösen</translation>
    </message>
    <message>
        <source>Pin the system prompt</source>
        <translation>Systemanweisung anheften</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>RAM</source>
        <translation>RAM</translation>
    </message>
    <message>
        <source>Moving</source>
        <translation>Unterwegs</translation>
    </message>
    <message>
        <source>Behind the window</source>
        <translation>Hinter dem Fenster</translation>
    </message>
    <message>
        <source>%1 (%2)</source>
        <translation>%1 (%2)</translation>
    </message>
    <message>
        <source>Moved last: %1, %2</source>
        <translation>Zuletzt bewegt: %1, %2</translation>
    </message>
    <message>
        <source>These are the blocks of the conversation that was computed last, not of this one.</source>
        <translation>Das sind die Blöcke des Gesprächs, das zuletzt berechnet wurde, nicht die von diesem.</translation>
    </message>
    <message numerus="yes">
        <source>%n token(s) to a block; point at one to see whose it is</source>
        <translation>
            <numerusform>%n Token je Block; auf einen zeigen, um zu sehen, wem er gehört</numerusform>
            <numerusform>%n Token je Block; auf einen zeigen, um zu sehen, wem er gehört</numerusform>
        </translation>
    </message>
    <message>
        <source>States on the device</source>
        <translation>Zustände auf dem Gerät</translation>
    </message>
    <message>
        <source>States in RAM</source>
        <translation>Zustände im RAM</translation>
    </message>
    <message>
        <source>%1; states of fixed size: %2 on the device, %3 in RAM</source>
        <translation>%1; Zustände fester Größe: %2 auf dem Gerät, %3 im RAM</translation>
    </message>
    <message numerus="yes">
        <source>%n state(s) of fixed size, %1: %2, %3</source>
        <translation>
            <numerusform>%n Zustand fester Größe, %1: %2, %3</numerusform>
            <numerusform>%n Zustände fester Größe, %1: %2, %3</numerusform>
        </translation>
    </message>
    <message>
        <source>Tokens %1–%2, %3: no KV of their own</source>
        <translation>Token %1–%2, %3: kein eigener KV</translation>
    </message>
    <message numerus="yes">
        <source>At the left: what %n layer(s) keep however long the conversation is, %1 in all</source>
        <translation>
            <numerusform>Links: was %n Schicht behält, wie lang das Gespräch auch ist, zusammen %1</numerusform>
            <numerusform>Links: was %n Schichten behalten, wie lang das Gespräch auch ist, zusammen %1</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing of this conversation is in memory now. The next answer brings back what is saved of it on the disk, and reads the rest.</source>
        <translation>Von diesem Gespräch ist jetzt nichts im Speicher. Die nächste Antwort holt zurück, was davon auf dem Datenträger gesichert ist, und liest den Rest neu.</translation>
    </message>
</context>
<context>
    <name>KvTypeRow</name>
    <message>
        <source>%1 of KV when the context is full</source>
        <translation>%1 KV bei vollem Kontext</translation>
    </message>
    <message>
        <source>KV is kept as</source>
        <translation>KV liegt vor als</translation>
    </message>
    <message>
        <source>How keys and values are kept</source>
        <translation>Wie Schlüssel und Werte aufbewahrt werden</translation>
    </message>
    <message>
        <source>f16: 16 bits a value</source>
        <translation>f16: 16 Bit je Wert</translation>
    </message>
    <message>
        <source>f32: exact, and twice as large</source>
        <translation>f32: genau, und doppelt so groß</translation>
    </message>
    <message>
        <source>%1. Nothing is on the device</source>
        <translation>%1. Nichts ist auf dem Gerät</translation>
    </message>
    <message numerus="yes">
        <source>%1; %n layer(s) on the device, no block ever leaves</source>
        <translation>
            <numerusform>%1; %n Schicht auf dem Gerät, kein Block muss je weichen</numerusform>
            <numerusform>%1; %n Schichten auf dem Gerät, kein Block muss je weichen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1; %n layer(s) on the device, the first block leaves at %2 tokens</source>
        <translation>
            <numerusform>%1; %n Schicht auf dem Gerät, der erste Block weicht bei %2 Token</numerusform>
            <numerusform>%1; %n Schichten auf dem Gerät, der erste Block weicht bei %2 Token</numerusform>
        </translation>
    </message>
    <message>
        <source>q8_0: half the memory, hardly any loss</source>
        <translation>q8_0: halber Speicher, kaum Verlust</translation>
    </message>
    <message>
        <source>%1 of KV and %2 of states when the context is full</source>
        <translation>%1 KV und %2 Zustände, wenn der Kontext voll ist</translation>
    </message>
</context>
<context>
    <name>LayerSplit</name>
    <message>
        <source>%1 of %2 layers</source>
        <translation>%1 von %2 Schichten</translation>
    </message>
    <message>
        <source>Layers on the device: %1 of %2</source>
        <translation>Schichten auf dem Gerät: %1 von %2</translation>
    </message>
    <message>
        <source>Auto</source>
        <translation>Auto</translation>
    </message>
    <message>
        <source>As many layers as fit: chosen</source>
        <translation>So viele Schichten wie passen: gewählt</translation>
    </message>
    <message>
        <source>As many layers as fit</source>
        <translation>So viele Schichten wie passen</translation>
    </message>
    <message>
        <source>Leave the layers where they are now</source>
        <translation>Schichten lassen, wo sie jetzt sind</translation>
    </message>
    <message>
        <source>Moving layers: %1, going to %2</source>
        <translation>Schichten wandern: %1, Ziel %2</translation>
    </message>
</context>
<context>
    <name>LedgerTable</name>
    <message>
        <source>Chat template</source>
        <translation>Gesprächsvorlage</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>Systemanweisung</translation>
    </message>
    <message>
        <source>Messages</source>
        <translation>Nachrichten</translation>
    </message>
    <message>
        <source>Attached files</source>
        <translation>Angehängte Dateien</translation>
    </message>
    <message>
        <source>What you are writing</source>
        <translation>Angefangene Nachricht</translation>
    </message>
    <message>
        <source>Kept for the answer</source>
        <translation>Für die Antwort frei gehalten</translation>
    </message>
    <message>
        <source>Free</source>
        <translation>Frei</translation>
    </message>
    <message>
        <source>What fills the context</source>
        <translation>Was den Kontext füllt</translation>
    </message>
    <message>
        <source>%1 of %2 tokens are used</source>
        <translation>%1 von %2 Token sind belegt</translation>
    </message>
    <message>
        <source>Not counted yet.</source>
        <translation>Noch nicht gezählt.</translation>
    </message>
    <message>
        <source>%1: %2 tokens</source>
        <translation>%1: %2 Token</translation>
    </message>
    <message>
        <source>The answer so far</source>
        <translation>Die Antwort bis jetzt</translation>
    </message>
    <message>
        <source>The next prompt needs %1 tokens, and the context holds %2.</source>
        <translation>Der nächste Prompt braucht %1 Token, und der Kontext fasst %2.</translation>
    </message>
</context>
<context>
    <name>LeftOutMark</name>
    <message>
        <source>The message above is no longer given to the model</source>
        <translation>Die Nachricht darüber bekommt das Modell nicht mehr</translation>
    </message>
    <message>
        <source>The %1 messages above are no longer given to the model</source>
        <translation>Die %1 Nachrichten darüber bekommt das Modell nicht mehr</translation>
    </message>
    <message>
        <source>Bring back</source>
        <translation>Zurückholen</translation>
    </message>
</context>
<context>
    <name>Legend</name>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
</context>
<context>
    <name>LicenceModel</name>
    <message>
        <source>this program</source>
        <translation>dieses Programm</translation>
    </message>
    <message>
        <source>the typeface</source>
        <translation>die Schrift</translation>
    </message>
    <message>
        <source>window, models, database access</source>
        <translation>Fenster, Datenmodelle, Zugriff auf die Datenbank</translation>
    </message>
    <message>
        <source>text of PDF files</source>
        <translation>Text aus PDF-Dateien</translation>
    </message>
    <message>
        <source>the database of conversations</source>
        <translation>die Datenbank der Gespräche</translation>
    </message>
    <message>
        <source>public domain</source>
        <translation>gemeinfrei</translation>
    </message>
    <message>
        <source>the log</source>
        <translation>das Protokoll</translation>
    </message>
    <message>
        <source>the log&apos;s numbers</source>
        <translation>die Zahlen im Protokoll</translation>
    </message>
    <message>
        <source>results and errors of the engine</source>
        <translation>Ergebnisse und Fehler des Rechenkerns</translation>
    </message>
    <message>
        <source>JSON in the engine</source>
        <translation>JSON im Rechenkern</translation>
    </message>
    <message>
        <source>patterns of the tokenizers</source>
        <translation>Muster der Tokenizer</translation>
    </message>
    <message>
        <source>options of spillway-cli</source>
        <translation>Optionen von spillway-cli</translation>
    </message>
    <message>
        <source>typing in spillway-cli</source>
        <translation>Eingabe in spillway-cli</translation>
    </message>
    <message>
        <source>Markdown of answers</source>
        <translation>Markdown der Antworten</translation>
    </message>
    <message>
        <source>formulas in answers, and their fonts</source>
        <translation>Formeln in Antworten und ihre Schriften</translation>
    </message>
    <message>
        <source>the charts</source>
        <translation>die Diagramme</translation>
    </message>
    <message>
        <source>fetching models, asking servers</source>
        <translation>Holen von Modellen, Anfragen an Server</translation>
    </message>
    <message>
        <source>checksums of fetched files</source>
        <translation>Prüfsummen geholter Dateien</translation>
    </message>
</context>
<context>
    <name>LicenceRow</name>
    <message>
        <source>%1, %2: licence %3</source>
        <translation>%1, %2: Lizenz %3</translation>
    </message>
</context>
<context>
    <name>LicenceText</name>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>LinkDialog</name>
    <message>
        <source>Open this address?</source>
        <translation>Diese Adresse öffnen?</translation>
    </message>
    <message>
        <source>It leads to %1.

%2</source>
        <translation>Sie führt zu %1.

%2</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
</context>
<context>
    <name>LoadSection</name>
    <message>
        <source>Loading a model</source>
        <translation>Laden eines Modells</translation>
    </message>
    <message>
        <source>The model that is open was loaded with other choices; these apply at the next load.</source>
        <translation>Das geöffnete Modell wurde anders geladen; dies hier gilt ab dem nächsten Laden.</translation>
    </message>
    <message>
        <source>Reload</source>
        <translation>Neu laden</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <source>Tokens that a conversation can hold. More need more memory.</source>
        <translation>Token, die ein Gespräch fasst. Mehr brauchen mehr Speicher.</translation>
    </message>
    <message>
        <source>The model&apos;s own</source>
        <translation>Wie das Modell</translation>
    </message>
    <message>
        <source>Now: %1 tokens</source>
        <translation>Jetzt: %1 Token</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV-Cache</translation>
    </message>
    <message>
        <source>How the conversation is kept in memory: q8_0 needs half of what f16 does and loses very little; f32 is exact and large.</source>
        <translation>Wie das Gespräch im Speicher liegt: q8_0 braucht halb so viel wie f16 und verliert sehr wenig; f32 ist genau und groß.</translation>
    </message>
    <message>
        <source>Threads</source>
        <translation>Threads</translation>
    </message>
    <message>
        <source>Threads that compute. More than the machine has physical cores makes it slower.</source>
        <translation>Threads, die rechnen. Mehr, als der Rechner Kerne hat, machen ihn langsamer.</translation>
    </message>
    <message>
        <source>One per core</source>
        <translation>Einer je Kern</translation>
    </message>
    <message>
        <source>KV cache on the disk</source>
        <translation>KV-Cache auf dem Datenträger</translation>
    </message>
    <message>
        <source>Keeps what the model has read, so that a conversation opens again without being read anew. What has not been used for longest is deleted first. Applies at once; “None” deletes all of it.</source>
        <translation>Bewahrt, was das Modell gelesen hat, damit ein Gespräch beim Öffnen nicht neu gelesen werden muss. Was am längsten nicht benutzt wurde, wird zuerst gelöscht. Gilt sofort; „Keiner“ löscht alles.</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Keiner</translation>
    </message>
    <message>
        <source> GiB</source>
        <translation> GiB</translation>
    </message>
</context>
<context>
    <name>LocalServerPage</name>
    <message>
        <source>It is being switched on.</source>
        <translation>Er wird eingeschaltet.</translation>
    </message>
    <message>
        <source>Programs are answered at %1.</source>
        <translation>Programme erhalten Antwort an %1.</translation>
    </message>
    <message>
        <source>It ends what still runs.</source>
        <translation>Er beendet, was noch läuft.</translation>
    </message>
    <message>
        <source>Nothing listens, so no program reaches Spillway.</source>
        <translation>Niemand hört zu: Kein Programm erreicht Spillway.</translation>
    </message>
    <message>
        <source>Local server</source>
        <translation>Lokaler Server</translation>
    </message>
    <message>
        <source>Other programs on this computer can use the model that is open here: editors, agents and scripts that speak the API of OpenAI, Anthropic or Ollama. They are answered side by side with your conversations. No other computer reaches it, and it is off at every start.</source>
        <translation>Andere Programme auf diesem Rechner können das Modell verwenden, das hier geöffnet ist: Editoren, Agenten und Skripte, die die API von OpenAI, Anthropic oder Ollama sprechen. Sie erhalten ihre Antworten neben den Gesprächen hier. Kein anderer Rechner erreicht den Server, und bei jedem Start ist er aus.</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>Aus</translation>
    </message>
    <message>
        <source>On</source>
        <translation>An</translation>
    </message>
    <message>
        <source>The open model runs on a server elsewhere: programs have to ask that one themselves.</source>
        <translation>Das geöffnete Modell läuft anderswo auf einem Server: Programme müssen diesen selbst fragen.</translation>
    </message>
    <message>
        <source>No model is open: programs are told to come again.</source>
        <translation>Kein Modell ist geöffnet: Programmen wird gesagt, dass sie es später noch einmal versuchen sollen.</translation>
    </message>
    <message>
        <source>Point your client at</source>
        <translation>Im anderen Programm eintragen</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>Adresse</translation>
    </message>
    <message>
        <source>Copy the address</source>
        <translation>Adresse kopieren</translation>
    </message>
    <message>
        <source>The model is called %1.</source>
        <translation>Das Modell heißt dort %1.</translation>
    </message>
    <message>
        <source>Port</source>
        <translation>Port</translation>
    </message>
    <message>
        <source>Choosing another port ends the answers that are being written.</source>
        <translation>Wird ein anderer Port gewählt, enden die Antworten, die gerade geschrieben werden.</translation>
    </message>
    <message>
        <source>Ask for a key</source>
        <translation>Nach einem Schlüssel fragen</translation>
    </message>
    <message>
        <source>Without one, every program and every user of this computer may use the model. The key is kept in a file that only you can read.</source>
        <translation>Ohne Schlüssel darf jedes Programm und jeder Benutzer dieses Rechners das Modell verwenden. Der Schlüssel steht in einer Datei, die sonst niemand lesen kann.</translation>
    </message>
    <message>
        <source>No</source>
        <translation>Nein</translation>
    </message>
    <message>
        <source>Yes</source>
        <translation>Ja</translation>
    </message>
    <message>
        <source>Clients of Anthropic and Ollama take the address without /v1.</source>
        <translation>Programme für Anthropic und Ollama nehmen die Adresse ohne /v1.</translation>
    </message>
    <message>
        <source>Make a new key</source>
        <translation>Neuen Schlüssel machen</translation>
    </message>
</context>
<context>
    <name>LogPage</name>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>Show lines from this level on</source>
        <translation>Zeilen ab dieser Stufe zeigen</translation>
    </message>
    <message>
        <source>Everything</source>
        <translation>Alles</translation>
    </message>
    <message>
        <source>Warnings</source>
        <translation>Warnungen</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>Lines of the log</source>
        <translation>Zeilen des Protokolls</translation>
    </message>
    <message>
        <source>Nothing of this kind has happened.</source>
        <translation>Nichts dergleichen ist geschehen.</translation>
    </message>
    <message>
        <source>In %1. What is typed and answered is never in it.</source>
        <translation>In %1. Was geschrieben und geantwortet wird, steht nie darin.</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>Ordner öffnen</translation>
    </message>
    <message>
        <source>Copy selected</source>
        <translation>Auswahl kopieren</translation>
    </message>
    <message>
        <source>Copy all</source>
        <translation>Alles kopieren</translation>
    </message>
    <message>
        <source>Normal</source>
        <translation>Normal</translation>
    </message>
</context>
<context>
    <name>LogRow</name>
    <message>
        <source>Debug</source>
        <translation>Detail</translation>
    </message>
    <message>
        <source>Info</source>
        <translation>Hinweis</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>Warnung</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>Fehler</translation>
    </message>
</context>
<context>
    <name>Main</name>
    <message>
        <source>%1 – Spillway</source>
        <translation>%1 – Spillway</translation>
    </message>
    <message>
        <source>Spillway</source>
        <translation>Spillway</translation>
    </message>
</context>
<context>
    <name>MeasureRows</name>
    <message>
        <source>Repeats</source>
        <translation>Wiederholungen</translation>
    </message>
    <message>
        <source>Tokens that are written</source>
        <translation>Geschriebene Token</translation>
    </message>
    <message>
        <source>Minutes for a row at most</source>
        <translation>Höchstens Minuten je Zeile</translation>
    </message>
</context>
<context>
    <name>MemoryNeed</name>
    <message>
        <source>It fits, with memory to spare.</source>
        <translation>Es passt, und Speicher bleibt übrig.</translation>
    </message>
    <message>
        <source>A context of %1 tokens fits now, %2 do not.</source>
        <translation>Ein Kontext von %1 Token passt zurzeit, %2 passen nicht.</translation>
    </message>
    <message>
        <source>It fits if next to nothing is left for other programs.</source>
        <translation>Es passt, wenn für andere Programme so gut wie nichts bleibt.</translation>
    </message>
    <message>
        <source>It is larger than this computer’s memory: it would run from the disk, very slowly.</source>
        <translation>Es ist größer als der Speicher dieses Rechners: Es liefe vom Datenträger, sehr langsam.</translation>
    </message>
    <message>
        <source>It does not fit now; closing other programs may help.</source>
        <translation>Zurzeit passt es nicht; andere Programme zu schließen kann helfen.</translation>
    </message>
    <message>
        <source>How much it takes is not known.</source>
        <translation>Wie viel es braucht, ist nicht bekannt.</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>KV cache of %1 tokens</source>
        <translation>KV-Cache für %1 Token</translation>
    </message>
    <message>
        <source>Scratch</source>
        <translation>Zwischenwerte</translation>
    </message>
    <message>
        <source>%1 needed, %2 of %3 free</source>
        <translation>%1 nötig, %2 von %3 frei</translation>
    </message>
    <message>
        <source>States of fixed size</source>
        <translation>Zustände fester Größe</translation>
    </message>
    <message>
        <source>Draft model</source>
        <translation>Entwurfsmodell</translation>
    </message>
</context>
<context>
    <name>MessageActions</name>
    <message>
        <source>Actions</source>
        <translation>Aktionen</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Copy your message</source>
        <translation>Eigene Nachricht kopieren</translation>
    </message>
    <message>
        <source>Copy the answer</source>
        <translation>Antwort kopieren</translation>
    </message>
    <message>
        <source>Continue the answer</source>
        <translation>Antwort fortsetzen</translation>
    </message>
    <message>
        <source>Answer again</source>
        <translation>Noch einmal antworten</translation>
    </message>
    <message>
        <source>Ctrl+R</source>
        <translation>Strg+R</translation>
    </message>
    <message>
        <source>Edit and send again</source>
        <translation>Bearbeiten und neu senden</translation>
    </message>
    <message>
        <source>Edit the answer</source>
        <translation>Antwort bearbeiten</translation>
    </message>
    <message>
        <source>New conversation from here</source>
        <translation>Neues Gespräch von hier an</translation>
    </message>
    <message>
        <source>Show as formatted text</source>
        <translation>Als gestalteten Text zeigen</translation>
    </message>
    <message>
        <source>Show as it was generated</source>
        <translation>Zeigen, wie es erzeugt wurde</translation>
    </message>
    <message>
        <source>Keep it on the device</source>
        <translation>Auf dem Gerät behalten</translation>
    </message>
    <message>
        <source>Pinned: leaves the device last. Click to unpin</source>
        <translation>Angeheftet: verlässt das Gerät zuletzt. Klicken, um es zu lösen</translation>
    </message>
    <message>
        <source>Answer again, with several versions at once</source>
        <translation>Noch einmal antworten, mit mehreren Fassungen zugleich</translation>
    </message>
    <message>
        <source>More actions</source>
        <translation>Weitere Aktionen</translation>
    </message>
</context>
<context>
    <name>MessageBody</name>
    <message>
        <source>Show all</source>
        <translation>Alles zeigen</translation>
    </message>
    <message>
        <source>Show less</source>
        <translation>Weniger zeigen</translation>
    </message>
</context>
<context>
    <name>MessageDelegate</name>
    <message>
        <source>You: %1</source>
        <translation>Nachricht: %1</translation>
    </message>
    <message>
        <source>Model: %1</source>
        <translation>Modell: %1</translation>
    </message>
    <message>
        <source>No longer given to the model</source>
        <translation>Bekommt das Modell nicht mehr</translation>
    </message>
</context>
<context>
    <name>MessageEditor</name>
    <message>
        <source>Your message</source>
        <translation>Eigene Nachricht</translation>
    </message>
    <message>
        <source>The model&apos;s answer</source>
        <translation>Die Antwort des Modells</translation>
    </message>
    <message>
        <source>What followed stays, as another version.</source>
        <translation>Was folgte, bleibt als andere Fassung erhalten.</translation>
    </message>
    <message>
        <source>What the model said stays, as another version.</source>
        <translation>Was das Modell sagte, bleibt als andere Fassung erhalten.</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Send</source>
        <translation>Senden</translation>
    </message>
    <message>
        <source>Keep</source>
        <translation>Behalten</translation>
    </message>
    <message>
        <source>What was copied is too long to be edited here. Attach it to a message as a file.</source>
        <translation>Was kopiert wurde, ist zu lang, um hier bearbeitet zu werden. Bitte als Datei an eine Nachricht anhängen.</translation>
    </message>
    <message>
        <source>A text of this length cannot be kept. Make it shorter.</source>
        <translation>Ein so langer Text lässt sich nicht aufbewahren. Bitte kürzen.</translation>
    </message>
</context>
<context>
    <name>MessageFooter</name>
    <message>
        <source>Answered by %1</source>
        <translation>Beantwortet von %1</translation>
    </message>
</context>
<context>
    <name>MessageList</name>
    <message>
        <source>Jump to the latest</source>
        <translation>Zum Neuesten springen</translation>
    </message>
</context>
<context>
    <name>MessageNumbers</name>
    <message>
        <source>1 token</source>
        <translation>1 Token</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>first after %1</source>
        <translation>erstes nach %1</translation>
    </message>
    <message>
        <source>Prompt: %1</source>
        <translation>Eingabe: %1</translation>
    </message>
    <message>
        <source>of them the template: %1</source>
        <translation>davon die Vorlage: %1</translation>
    </message>
    <message>
        <source>Answer: %1</source>
        <translation>Antwort: %1</translation>
    </message>
    <message>
        <source>First token after %1</source>
        <translation>Erstes Token nach %1</translation>
    </message>
    <message>
        <source>Then %1</source>
        <translation>Dann %1</translation>
    </message>
    <message>
        <source>%1 of %2 guessed tokens were right</source>
        <translation>%1 von %2 geratenen Token trafen zu</translation>
    </message>
    <message>
        <source>Guessed ahead: %1, of which the answer has %2</source>
        <translation>Vorausgeraten: %1, davon stehen %2 in der Antwort</translation>
    </message>
</context>
<context>
    <name>MessageState</name>
    <message>
        <source>Go on</source>
        <translation>Fortsetzen</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal</translation>
    </message>
    <message>
        <source>Waits for another conversation&apos;s answer</source>
        <translation>Wartet auf die Antwort in einem anderen Gespräch</translation>
    </message>
    <message>
        <source>Waits for the answers of %1 conversations</source>
        <translation>Wartet auf die Antworten in %1 Gesprächen</translation>
    </message>
    <message>
        <source>Not answered</source>
        <translation>Nicht beantwortet</translation>
    </message>
    <message>
        <source>Answer</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>Waits until the model has loaded</source>
        <translation>Wartet, bis das Modell geladen ist</translation>
    </message>
</context>
<context>
    <name>MessageView</name>
    <message>
        <source>Conversation</source>
        <translation>Gespräch</translation>
    </message>
</context>
<context>
    <name>ModelBadge</name>
    <message>
        <source>Open model: %1, %2</source>
        <translation>Geöffnetes Modell: %1, %2</translation>
    </message>
    <message>
        <source>No model is open</source>
        <translation>Kein Modell ist geöffnet</translation>
    </message>
    <message>
        <source>Spillway</source>
        <translation>Spillway</translation>
    </message>
    <message>
        <source>%1  ·  %2  ·  %3  ·  %4</source>
        <translation>%1  ·  %2  ·  %3  ·  %4</translation>
    </message>
    <message>
        <source>Loading… %1</source>
        <translation>Wird geladen… %1</translation>
    </message>
    <message>
        <source>Loading…</source>
        <translation>Wird geladen…</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>Choose another model</source>
        <translation>Ein anderes Modell wählen</translation>
    </message>
    <message>
        <source>Choose another model (%1)</source>
        <translation>Ein anderes Modell wählen (%1)</translation>
    </message>
    <message>
        <source>emulated</source>
        <translation>emuliert</translation>
    </message>
    <message>
        <source>on %1</source>
        <translation>auf %1</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
</context>
<context>
    <name>ModelCard</name>
    <message>
        <source>Reading the file</source>
        <translation>Datei wird gelesen</translation>
    </message>
    <message>
        <source>Reading the file…</source>
        <translation>Datei wird gelesen…</translation>
    </message>
    <message>
        <source>%1, %2 files</source>
        <translation>%1, %2 Dateien</translation>
    </message>
    <message>
        <source>Architecture</source>
        <translation>Architektur</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>Parameter</translation>
    </message>
    <message>
        <source>Quantisation</source>
        <translation>Quantisierung</translation>
    </message>
    <message>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>The answer being written stops when this model is loaded. What has been written of it stays.</source>
        <translation>Die laufende Antwort endet, wenn dieses Modell geladen wird. Was davon geschrieben ist, bleibt.</translation>
    </message>
    <message>
        <source>Loading</source>
        <translation>Wird geladen</translation>
    </message>
    <message>
        <source>Cancelling…</source>
        <translation>Wird abgebrochen…</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Stop and load</source>
        <translation>Anhalten und laden</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>Laden</translation>
    </message>
    <message>
        <source>A full conversation</source>
        <translation>Ein volles Gespräch</translation>
    </message>
    <message>
        <source>%1 tokens take</source>
        <translation>%1 Token brauchen</translation>
    </message>
</context>
<context>
    <name>ModelChoiceList</name>
    <message>
        <source>Recommended: a small model loses most by fewer bits, and this one fits.</source>
        <translation>Empfohlen: Ein kleines Modell verliert am meisten durch weniger Bits, und dieses passt.</translation>
    </message>
    <message>
        <source>Recommended: the best balance of size and quality that fits into the memory that is free.</source>
        <translation>Empfohlen: das beste Verhältnis von Größe und Güte, das in den freien Speicher passt.</translation>
    </message>
    <message>
        <source>Recommended: the largest that fits into the memory that is free.</source>
        <translation>Empfohlen: das größte, das in den freien Speicher passt.</translation>
    </message>
    <message>
        <source>The smallest; none fits into the memory that is free.</source>
        <translation>Das kleinste; keines passt in den freien Speicher.</translation>
    </message>
</context>
<context>
    <name>ModelChoices</name>
    <message>
        <source>No model file is known yet. The models&apos; page looks for them; a shape needs none.</source>
        <translation>Noch ist keine Modelldatei bekannt. Die Seite der Modelle sucht danach; eine Form braucht keine.</translation>
    </message>
    <message>
        <source>Shape of a model</source>
        <translation>Form eines Modells</translation>
    </message>
    <message>
        <source>Quantisation of the shape</source>
        <translation>Quantisierung der Form</translation>
    </message>
    <message>
        <source>Add the shape</source>
        <translation>Form hinzufügen</translation>
    </message>
</context>
<context>
    <name>ModelController</name>
    <message>
        <source>Only files on this computer can be opened.</source>
        <translation>Nur Dateien auf diesem Rechner lassen sich öffnen.</translation>
    </message>
    <message>
        <source>Drop one model file at a time. For a model in several parts, the first part is enough.</source>
        <translation>Bitte nur eine Modelldatei auf einmal ablegen. Bei einem Modell in mehreren Teilen genügt der erste.</translation>
    </message>
    <message>
        <source>“%1” is not a model: Spillway opens GGUF files.</source>
        <translation>„%1“ ist kein Modell: Spillway öffnet GGUF-Dateien.</translation>
    </message>
    <message>
        <source>“%1” had to be closed.</source>
        <translation>„%1“ musste geschlossen werden.</translation>
    </message>
    <message>
        <source>Another model is being loaded. Cancel that first.</source>
        <translation>Ein anderes Modell wird gerade geladen. Bitte das zuerst abbrechen.</translation>
    </message>
    <message>
        <source>An experiment has the memory of this machine. Wait for its end, or cancel it.</source>
        <translation>Ein Experiment hat den Speicher dieses Rechners. Bitte sein Ende abwarten oder es abbrechen.</translation>
    </message>
</context>
<context>
    <name>ModelDetails</name>
    <message>
        <source>Fits on the device with all experts.</source>
        <translation>Passt auf das Gerät, mit allen Experten.</translation>
    </message>
    <message>
        <source>Fits on the device: attention and %1 of the experts.</source>
        <translation>Auf das Gerät passen Attention und %1 der Experten.</translation>
    </message>
    <message>
        <source>Architecture</source>
        <translation>Architektur</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>Schichten</translation>
    </message>
    <message>
        <source>Experts</source>
        <translation>Experten</translation>
    </message>
    <message>
        <source>%1, %2 used</source>
        <translation>%1, davon %2 benutzt</translation>
    </message>
    <message>
        <source>Files</source>
        <translation>Dateien</translation>
    </message>
    <message>
        <source>Projector</source>
        <translation>Projektor</translation>
    </message>
    <message>
        <source>Licence</source>
        <translation>Lizenz</translation>
    </message>
    <message>
        <source>From</source>
        <translation>Aus</translation>
    </message>
    <message>
        <source>Also</source>
        <translation>Auch</translation>
    </message>
    <message>
        <source>Copy the path</source>
        <translation>Pfad kopieren</translation>
    </message>
    <message>
        <source>Copy what the server calls it</source>
        <translation>Kopieren, wie der Server es nennt</translation>
    </message>
    <message>
        <source>Show in the file manager</source>
        <translation>In der Dateiverwaltung zeigen</translation>
    </message>
    <message numerus="yes">
        <source>%n of %1 layer(s) keep a state of fixed size beside their KV</source>
        <translation>
            <numerusform>%n von %1 Schichten behält einen Zustand fester Größe neben KV</numerusform>
            <numerusform>%n von %1 Schichten behalten einen Zustand fester Größe neben KV</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n of %1 layer(s) keep a state of fixed size</source>
        <translation>
            <numerusform>%n von %1 Schichten behält einen Zustand fester Größe</numerusform>
            <numerusform>%n von %1 Schichten behalten einen Zustand fester Größe</numerusform>
        </translation>
    </message>
    <message>
        <source>%1: a conversation of %2 tokens takes %3 instead of %4.</source>
        <translation>%1: Ein Gespräch von %2 Token braucht %3 statt %4.</translation>
    </message>
    <message>
        <source>%1: %2 a conversation, however long it is.</source>
        <translation>%1: %2 je Gespräch, wie lang es auch ist.</translation>
    </message>
    <message>
        <source>Runs on</source>
        <translation>Läuft auf</translation>
    </message>
    <message>
        <source>Delete from disk…</source>
        <translation>Von der Platte löschen…</translation>
    </message>
    <message>
        <source>KV cache per token (f16)</source>
        <translation>KV-Cache je Token (f16)</translation>
    </message>
</context>
<context>
    <name>ModelEntry</name>
    <message>
        <source>This is the projector of a model that sees: it is no model by itself.</source>
        <translation>Das ist der Projektor eines Modells, das sehen kann; für sich allein ist er kein Modell.</translation>
    </message>
    <message>
        <source>This is an adapter: a change to another model.</source>
        <translation>Das ist ein Adapter: eine Änderung an einem anderen Modell.</translation>
    </message>
    <message>
        <source>This file holds a vocabulary only, no weights.</source>
        <translation>Diese Datei enthält nur ein Vokabular, keine Gewichte.</translation>
    </message>
    <message>
        <source>This model turns text into numbers for searching; it does not chat.</source>
        <translation>Dieses Modell macht aus Text Zahlen für die Suche; es führt keine Gespräche.</translation>
    </message>
    <message>
        <source>It has no chat template: it continues text rather than answering.</source>
        <translation>Es hat keine Gesprächsvorlage: Es setzt Text fort, statt zu antworten.</translation>
    </message>
    <message>
        <source>It is made to guess ahead for a larger model; by itself it will not say much.</source>
        <translation>Es soll einem größeren Modell vorausraten; für sich allein sagt es nicht viel.</translation>
    </message>
    <message>
        <source>Ollama keeps a template for it beside the file; Spillway does not use that.</source>
        <translation>Ollama hat eine Vorlage dafür neben der Datei; Spillway benutzt sie nicht.</translation>
    </message>
    <message>
        <source>Ollama applies an adapter to it; Spillway opens it without.</source>
        <translation>Ollama wendet einen Adapter darauf an; Spillway öffnet es ohne.</translation>
    </message>
    <message>
        <source>The file is Ollama’s and is gone when Ollama removes the model.</source>
        <translation>Die Datei gehört Ollama und ist fort, wenn Ollama das Modell entfernt.</translation>
    </message>
    <message numerus="yes">
        <source>%n of its %1 parts are missing.</source>
        <translation>
            <numerusform>%n seiner %1 Teile fehlt.</numerusform>
            <numerusform>%n seiner %1 Teile fehlen.</numerusform>
        </translation>
    </message>
    <message>
        <source>Folder</source>
        <translation>Ordner</translation>
    </message>
    <message>
        <source>Opened</source>
        <translation>Geöffnet</translation>
    </message>
</context>
<context>
    <name>ModelError</name>
    <message>
        <source>Try again</source>
        <translation>Noch einmal</translation>
    </message>
</context>
<context>
    <name>ModelList</name>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>No model has “%1” in its name.</source>
        <translation>Kein Modell hat „%1“ im Namen.</translation>
    </message>
    <message>
        <source>Look for it on the hub</source>
        <translation>Auf dem Hub danach suchen</translation>
    </message>
</context>
<context>
    <name>ModelMenu</name>
    <message>
        <source>Cancel the loading of “%1”</source>
        <translation>Laden von „%1“ abbrechen</translation>
    </message>
    <message>
        <source>Other models…</source>
        <translation>Andere Modelle…</translation>
    </message>
    <message>
        <source>Open a file…</source>
        <translation>Datei öffnen…</translation>
    </message>
</context>
<context>
    <name>ModelPage</name>
    <message>
        <source>Its terms have to be accepted on %1 first, and a token has to say who you are.</source>
        <translation>Die Bedingungen müssen erst auf %1 angenommen werden, und ein Token muss sagen, wer fragt.</translation>
    </message>
</context>
<context>
    <name>ModelRemoval</name>
    <message>
        <source>Only the link is deleted; the file “%1” stays.</source>
        <translation>Nur ein Verweis wird gelöscht: „%1“, worauf er zeigt, bleibt.</translation>
    </message>
    <message>
        <source>“%1” is a link to it and will lead to nothing.</source>
        <translation>„%1“ verweist darauf und führt dann ins Leere.</translation>
    </message>
    <message>
        <source>In the Hugging Face cache it has other names, which go as well: %1.</source>
        <translation>Im Cache von Hugging Face hat sie weitere Namen, die mit gelöscht werden: %1.</translation>
    </message>
    <message>
        <source>Other programs that use the Hugging Face cache will have to fetch it again.</source>
        <translation>Andere Programme, die den Cache von Hugging Face nutzen, müssen sie neu holen.</translation>
    </message>
    <message>
        <source>The file has another name on this disk; its room is free only when that is deleted, too.</source>
        <translation>Ihr Inhalt hat auf dieser Platte noch einen Namen: Der Platz wird erst frei, wenn auch der gelöscht ist.</translation>
    </message>
    <message>
        <source>The file of “%1” is not there any more.</source>
        <translation>Die Datei von „%1“ ist nicht mehr da.</translation>
    </message>
    <message>
        <source>Nothing may be deleted in “%1”: you have no right to change it.</source>
        <translation>In „%1“ kann nichts gelöscht werden: Der Ordner darf nicht geändert werden.</translation>
    </message>
    <message>
        <source>Ollama keeps this model: “ollama rm %1” deletes it.</source>
        <translation>Ollama verwaltet dieses Modell: „ollama rm %1“ löscht es.</translation>
    </message>
    <message>
        <source>Its projector “%1” stays and is listed by itself from then on.</source>
        <translation>Der Projektor „%1“ dazu bleibt und steht danach für sich in der Liste.</translation>
    </message>
    <message>
        <source>“%1” could not be deleted: %2.</source>
        <translation>„%1“ konnte nicht gelöscht werden: %2.</translation>
    </message>
    <message>
        <source>The cache only links to “%1”, which lies outside of it: delete it there.</source>
        <translation>„%1“ liegt außerhalb des Caches, der darauf zeigt: Dort lässt es sich löschen.</translation>
    </message>
    <message>
        <source>Through a linked folder it lies in “%1”.</source>
        <translation>Über einen verknüpften Ordner liegt es in „%1“.</translation>
    </message>
</context>
<context>
    <name>ModelRemover</name>
    <message>
        <source>The files of “%1” have changed meanwhile; nothing was deleted.</source>
        <translation>Die Dateien von „%1“ haben sich inzwischen geändert; nichts wurde gelöscht.</translation>
    </message>
    <message>
        <source>“%1” is open. Open another model first.</source>
        <translation>„%1“ ist geöffnet. Bitte zuerst ein anderes Modell öffnen.</translation>
    </message>
    <message>
        <source>An experiment is measuring models. Wait for its end, or cancel it.</source>
        <translation>Ein Experiment misst gerade Modelle. Bitte sein Ende abwarten oder es abbrechen.</translation>
    </message>
    <message>
        <source>It is being fetched. Take it off the list of what is fetched first.</source>
        <translation>Es wird gerade geholt. Bitte zuerst aus der Liste der Downloads nehmen.</translation>
    </message>
</context>
<context>
    <name>ModelRow</name>
    <message>
        <source>Chat model</source>
        <translation>Gesprächsmodell</translation>
    </message>
    <message>
        <source>Base model</source>
        <translation>Grundmodell</translation>
    </message>
    <message>
        <source>Embedding model</source>
        <translation>Einbettungsmodell</translation>
    </message>
    <message>
        <source>Vocabulary</source>
        <translation>Vokabular</translation>
    </message>
    <message>
        <source>Adapter</source>
        <translation>Adapter</translation>
    </message>
    <message>
        <source>Projector</source>
        <translation>Projektor</translation>
    </message>
    <message>
        <source>Draft model</source>
        <translation>Entwurfsmodell</translation>
    </message>
    <message>
        <source>Broken file</source>
        <translation>Kaputte Datei</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>did not answer when it was asked last</source>
        <translation>hat zuletzt nicht geantwortet</translation>
    </message>
    <message>
        <source>Used %1</source>
        <translation>Benutzt: %1</translation>
    </message>
    <message>
        <source>open</source>
        <translation>offen</translation>
    </message>
    <message>
        <source>Load</source>
        <translation>Laden</translation>
    </message>
    <message>
        <source>Load %1</source>
        <translation>%1 laden</translation>
    </message>
    <message>
        <source>Loaded</source>
        <comment>a model that is</comment>
        <translation>Geladen</translation>
    </message>
</context>
<context>
    <name>ModelsPage</name>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Open a file…</source>
        <translation>Datei öffnen…</translation>
    </message>
    <message>
        <source>Stop looking</source>
        <translation>Suche abbrechen</translation>
    </message>
    <message>
        <source>Look again</source>
        <translation>Noch einmal suchen</translation>
    </message>
    <message>
        <source>Add a folder with models</source>
        <translation>Ordner mit Modellen hinzufügen</translation>
    </message>
    <message>
        <source>Search models</source>
        <translation>Modelle suchen</translation>
    </message>
    <message>
        <source>Order</source>
        <translation>Reihenfolge</translation>
    </message>
    <message>
        <source>Last used</source>
        <translation>Zuletzt benutzt</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>Name</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>Größe</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>%1 of %2 memory free</source>
        <translation>%1 von %2 Speicher frei</translation>
    </message>
    <message>
        <source>Looking for models</source>
        <translation>Sucht Modelle</translation>
    </message>
    <message>
        <source>Looking for models…</source>
        <translation>Sucht Modelle…</translation>
    </message>
    <message>
        <source>Open the guide</source>
        <translation>Helfer öffnen</translation>
    </message>
    <message>
        <source>Find models</source>
        <translation>Modelle finden</translation>
    </message>
    <message>
        <source>Models of servers</source>
        <translation>Modelle von Servern</translation>
    </message>
</context>
<context>
    <name>NoModels</name>
    <message>
        <source>Get a model: a file that ends in .gguf. On huggingface.co, search for the name of a model and “GGUF”.</source>
        <translation>Ein Modell holen: eine Datei, die auf .gguf endet. Auf huggingface.co nach dem Namen eines Modells und „GGUF“ suchen.</translation>
    </message>
    <message>
        <source>Q4_K_M in its name is a good start. The file should be smaller than half of your memory: 2 to 5 GB suit most computers.</source>
        <translation>Q4_K_M im Namen ist ein guter Anfang. Die Datei sollte kleiner sein als der halbe Speicher: 2 bis 5 GB passen zu den meisten Rechnern.</translation>
    </message>
    <message>
        <source>Add the folder it lies in, or open the file. What Ollama, LM Studio, Jan, GPT4All, llama.cpp and Hugging Face have fetched is found by itself.</source>
        <translation>Den Ordner der Datei hinzufügen oder die Datei öffnen. Was Ollama, LM Studio, Jan, GPT4All, llama.cpp und Hugging Face geholt haben, wird von selbst gefunden.</translation>
    </message>
    <message>
        <source>No models yet</source>
        <translation>Noch keine Modelle</translation>
    </message>
    <message>
        <source>Add a folder…</source>
        <translation>Ordner hinzufügen…</translation>
    </message>
    <message>
        <source>Open a file…</source>
        <translation>Datei öffnen…</translation>
    </message>
    <message>
        <source>No models yet besides the guide</source>
        <translation>Noch keine Modelle außer dem Helfer</translation>
    </message>
    <message>
        <source>Find a model here: a short list of good first ones, and a search. Or bring a file that ends in .gguf.</source>
        <translation>Hier ein Modell finden: mit einer kurzen Liste guter erster Modelle und einer Suche. Oder eine Datei mitbringen, die auf .gguf endet.</translation>
    </message>
    <message>
        <source>Find models</source>
        <translation>Modelle finden</translation>
    </message>
    <message>
        <source>Use a model of a server…</source>
        <translation>Modell eines Servers verwenden…</translation>
    </message>
</context>
<context>
    <name>Notice</name>
    <message>
        <source>Dismiss</source>
        <translation>Ausblenden</translation>
    </message>
</context>
<context>
    <name>OccupancySection</name>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>Gewichte</translation>
    </message>
    <message>
        <source>KV</source>
        <translation>KV</translation>
    </message>
    <message>
        <source>Scratch</source>
        <translation>Zwischenwerte</translation>
    </message>
    <message>
        <source>Other programs</source>
        <translation>Andere Programme</translation>
    </message>
    <message>
        <source>Memory of the device %1</source>
        <translation>Speicher des Geräts %1</translation>
    </message>
    <message>
        <source>RAM</source>
        <translation>RAM</translation>
    </message>
    <message>
        <source>Weights %1, KV %2, scratch %3, other programs %4, free %5</source>
        <translation>Gewichte %1, KV %2, Zwischenwerte %3, andere Programme %4, frei %5</translation>
    </message>
    <message>
        <source>Let go to choose %1</source>
        <translation>Loslassen, um %1 zu wählen</translation>
    </message>
    <message>
        <source>Free</source>
        <translation>Frei</translation>
    </message>
    <message>
        <source>States</source>
        <translation>Zustände</translation>
    </message>
    <message>
        <source>states of recurrent layers %1</source>
        <translation>Zustände rekurrenter Schichten %1</translation>
    </message>
    <message>
        <source>Layers on the device</source>
        <translation>Schichten auf dem Gerät</translation>
    </message>
    <message>
        <source>First block leaves at</source>
        <translation>Erster Block geht bei</translation>
    </message>
    <message>
        <source>Copies of experts</source>
        <translation>Kopien von Experten</translation>
    </message>
    <message>
        <source>copies of experts %1</source>
        <translation>Kopien von Experten %1</translation>
    </message>
    <message>
        <source>Nothing was measured yet</source>
        <translation>Es wurde noch nichts gemessen</translation>
    </message>
</context>
<context>
    <name>OllamaStore</name>
    <message>
        <source>Ollama has not finished downloading this model.</source>
        <translation>Ollama hat dieses Modell noch nicht fertig heruntergeladen.</translation>
    </message>
    <message>
        <source>Ollama has removed this model’s file.</source>
        <translation>Ollama hat die Datei dieses Modells entfernt.</translation>
    </message>
    <message>
        <source>This file is shorter than Ollama says it should be.</source>
        <translation>Diese Datei ist kürzer, als sie laut Ollama sein müsste.</translation>
    </message>
</context>
<context>
    <name>OpenDialog</name>
    <message>
        <source>Open a model</source>
        <translation>Modell öffnen</translation>
    </message>
    <message>
        <source>GGUF models (*.gguf)</source>
        <translation>GGUF-Modelle (*.gguf)</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>Alle Dateien (*)</translation>
    </message>
</context>
<context>
    <name>OptionLabel</name>
    <message>
        <source>changed</source>
        <translation>geändert</translation>
    </message>
    <message>
        <source>Back to the default of %1</source>
        <translation>%1: zurück zur Vorgabe</translation>
    </message>
</context>
<context>
    <name>Page</name>
    <message>
        <source>Back to the conversation</source>
        <translation>Zurück zum Gespräch</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
</context>
<context>
    <name>PanelHeader</name>
    <message>
        <source>Memory pressure</source>
        <translation>Speicherdruck</translation>
    </message>
    <message>
        <source>Recordings</source>
        <translation>Aufzeichnungen</translation>
    </message>
    <message>
        <source>Put it back beside the conversation</source>
        <translation>Wieder neben das Gespräch stellen</translation>
    </message>
    <message>
        <source>Show it in a window of its own</source>
        <translation>In einem eigenen Fenster zeigen</translation>
    </message>
    <message>
        <source>Hide the panel</source>
        <translation>Leiste ausblenden</translation>
    </message>
</context>
<context>
    <name>PanelNotices</name>
    <message>
        <source>A recording of %1, made on %2.</source>
        <translation>Eine Aufzeichnung von %1 vom %2.</translation>
    </message>
    <message>
        <source>Back to now</source>
        <translation>Zurück zum Jetzt</translation>
    </message>
    <message>
        <source>Kept from earlier: %1, on %2. The next answer goes on after it.</source>
        <translation>Von früher aufgehoben: %1, am %2. Die nächste Antwort schließt daran an.</translation>
    </message>
    <message>
        <source>Open a model to see where its memory lies.</source>
        <translation>Ein Modell öffnen, um zu sehen, wo sein Speicher liegt.</translation>
    </message>
    <message>
        <source>Another conversation is being answered.</source>
        <translation>Ein anderes Gespräch wird beantwortet.</translation>
    </message>
    <message>
        <source>“%1” is being answered.</source>
        <translation>„%1“ wird beantwortet.</translation>
    </message>
    <message>
        <source>%1 Memory, flow and KV map show what happens now; speed and what moved belong to this conversation.</source>
        <translation>%1 Speicher, Fluss und KV-Karte zeigen, was jetzt geschieht; Tempo und Umzüge gehören zu diesem Gespräch.</translation>
    </message>
    <message>
        <source>Go there</source>
        <translation>Dorthin</translation>
    </message>
    <message>
        <source>Other models answered here, too. The charts show %1 alone.</source>
        <translation>Hier haben auch andere Modelle geantwortet. Die Diagramme zeigen nur %1.</translation>
    </message>
    <message>
        <source>%1 other conversations are being answered.</source>
        <translation>%1 andere Gespräche werden beantwortet.</translation>
    </message>
    <message>
        <source>%1 Steps are shared with that; the charts are of this conversation alone.</source>
        <translation>%1 Die Schritte werden damit geteilt; die Diagramme zeigen allein dieses Gespräch.</translation>
    </message>
    <message>
        <source>%1 Steps are shared with that, which makes %2; the charts are of this conversation alone.</source>
        <translation>%1 Die Schritte werden damit geteilt, auf das %2 entfallen; die Diagramme zeigen allein dieses Gespräch.</translation>
    </message>
    <message>
        <source>%1 The charts are of this conversation alone.</source>
        <translation>%1 Die Diagramme zeigen allein dieses Gespräch.</translation>
    </message>
    <message>
        <source>%1 That makes %2; the charts are of this conversation alone.</source>
        <translation>%1 Darauf entfallen %2; die Diagramme zeigen allein dieses Gespräch.</translation>
    </message>
</context>
<context>
    <name>PanelSection</name>
    <message>
        <source>Show: %1</source>
        <translation>Zeigen: %1</translation>
    </message>
    <message>
        <source>Fold: %1</source>
        <translation>Einklappen: %1</translation>
    </message>
</context>
<context>
    <name>PipelineView</name>
    <message>
        <source>SSD</source>
        <translation>SSD</translation>
    </message>
    <message>
        <source>RAM</source>
        <translation>RAM</translation>
    </message>
    <message>
        <source>Link</source>
        <translation>Verbindung</translation>
    </message>
    <message>
        <source>VRAM</source>
        <translation>VRAM</translation>
    </message>
    <message>
        <source>Words</source>
        <translation>Wörter</translation>
    </message>
    <message>
        <source>Idle</source>
        <translation>In Ruhe</translation>
    </message>
    <message>
        <source>Loading</source>
        <translation>Laden</translation>
    </message>
    <message>
        <source>Reading the prompt</source>
        <translation>Liest die Frage</translation>
    </message>
    <message>
        <source>Writing</source>
        <translation>Schreibt</translation>
    </message>
    <message>
        <source>Moving blocks</source>
        <translation>Blöcke ziehen um</translation>
    </message>
    <message>
        <source>%1/s</source>
        <translation>%1/s</translation>
    </message>
    <message>
        <source>Flow: %1</source>
        <translation>Fluss: %1</translation>
    </message>
    <message>
        <source>%1. Most of the time goes to: %2</source>
        <translation>%1. Die meiste Zeit braucht: %2</translation>
    </message>
</context>
<context>
    <name>PlacementEventModel</name>
    <message>
        <source>Offload</source>
        <translation>Auslagerung</translation>
    </message>
    <message>
        <source>Fetch</source>
        <translation>Rückholung</translation>
    </message>
    <message>
        <source>Of another conversation</source>
        <translation>Aus einem anderen Gespräch</translation>
    </message>
    <message>
        <source>Layer moved</source>
        <translation>Schicht verlegt</translation>
    </message>
    <message>
        <source>Device lost</source>
        <translation>Gerät verloren</translation>
    </message>
    <message>
        <source>KV read from disk</source>
        <translation>KV von der Platte gelesen</translation>
    </message>
    <message>
        <source>KV computed again</source>
        <translation>KV neu berechnet</translation>
    </message>
    <message>
        <source>KV saved to disk</source>
        <translation>KV auf die Platte gesichert</translation>
    </message>
    <message>
        <source>Warning</source>
        <translation>Warnung</translation>
    </message>
    <message>
        <source>you</source>
        <translation>von Hand</translation>
    </message>
    <message>
        <source>watermark</source>
        <translation>Wassermarke</translation>
    </message>
    <message>
        <source>layer split</source>
        <translation>Schichtaufteilung</translation>
    </message>
    <message>
        <source>another program</source>
        <translation>anderes Programm</translation>
    </message>
    <message>
        <source>device lost</source>
        <translation>Gerät verloren</translation>
    </message>
    <message>
        <source>context full</source>
        <translation>Kontext voll</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>Systemanweisung</translation>
    </message>
    <message>
        <source>“%1”</source>
        <translation>„%1“</translation>
    </message>
    <message>
        <source>Message %1</source>
        <translation>Nachricht %1</translation>
    </message>
    <message>
        <source>KV in another type</source>
        <translation>KV in anderem Typ</translation>
    </message>
    <message>
        <source>Device changed</source>
        <translation>Gerät gewechselt</translation>
    </message>
    <message>
        <source>Auto adapts</source>
        <translation>Auto passt sich an</translation>
    </message>
    <message>
        <source>Layer %1 to RAM</source>
        <translation>Schicht %1 in den RAM</translation>
    </message>
    <message>
        <source>Layer %1 to the device</source>
        <translation>Schicht %1 auf das Gerät</translation>
    </message>
    <message>
        <source>Experts moved</source>
        <translation>Experten verlegt</translation>
    </message>
    <message>
        <source>Experts of layer %1 to RAM</source>
        <translation>Experten der Schicht %1 in den RAM</translation>
    </message>
    <message>
        <source>Experts of layer %1 to the device</source>
        <translation>Experten der Schicht %1 auf das Gerät</translation>
    </message>
</context>
<context>
    <name>PlacesList</name>
    <message>
        <source>Where Spillway looks</source>
        <translation>Wo Spillway sucht</translation>
    </message>
    <message>
        <source>Add a folder…</source>
        <translation>Ordner hinzufügen…</translation>
    </message>
    <message>
        <source>not there</source>
        <translation>nicht da</translation>
    </message>
    <message>
        <source>Look there no more</source>
        <translation>Dort nicht mehr suchen</translation>
    </message>
    <message>
        <source>Models of other programs are read where they are; nothing is copied, and nothing changed unless you delete it.</source>
        <translation>Modelle anderer Programme werden gelesen, wo sie liegen; nichts wird kopiert, und verändert nur, wenn hier etwas gelöscht wird.</translation>
    </message>
</context>
<context>
    <name>PlanCard</name>
    <message>
        <source>All on the CPU, in RAM</source>
        <translation>Alles auf der CPU, im RAM</translation>
    </message>
    <message>
        <source>All KV stays on the device; what does not fit is refused</source>
        <translation>Aller KV bleibt auf dem Gerät; was nicht passt, wird abgelehnt</translation>
    </message>
    <message>
        <source>KV beyond the device is copied to it for every token</source>
        <translation>KV, der nicht aufs Gerät passt, wird für jedes Token dorthin kopiert</translation>
    </message>
    <message>
        <source>A part of each, as is fastest</source>
        <translation>Von beidem so viel, wie am schnellsten ist</translation>
    </message>
    <message>
        <source>The device reads, the CPU writes</source>
        <translation>Das Gerät liest, die CPU schreibt</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Contexts</source>
        <translation>Kontexte</translation>
    </message>
    <message>
        <source>Strategies</source>
        <translation>Strategien</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>all of it</source>
        <translation>alles</translation>
    </message>
    <message>
        <source>Each row</source>
        <translation>Jede Zeile</translation>
    </message>
    <message>
        <source>Rows to measure: %1. Each runs in a process of its own.</source>
        <translation>Zu messende Zeilen: %1. Jede läuft in einem eigenen Prozess.</translation>
    </message>
    <message>
        <source>Measure</source>
        <translation>Messen</translation>
    </message>
    <message>
        <source>The CPU reads the KV that does not fit on the device</source>
        <translation>Die CPU liest den KV, der nicht aufs Gerät passt</translation>
    </message>
    <message>
        <source>Memory of the device that may be used: 64MiB, 2GB, or fit:1024</source>
        <translation>Speicher des Geräts, der verwendet werden darf: 64MiB, 2GB oder fit:1024</translation>
    </message>
    <message>
        <source>An emulated device is RAM of a set size, and the CPU computes: it shows what memory pressure costs, not how fast a GPU is. fit:4096 is room for the model and that many tokens, 1,024 at least; the KV of longer contexts spills into RAM.</source>
        <translation>Ein emuliertes Gerät ist RAM von fester Größe, und die CPU rechnet: Es zeigt, was Speicherdruck kostet, nicht, wie schnell eine GPU ist. fit:4096 ist Platz für das Modell und so viele Token, mindestens 1.024; der KV längerer Kontexte läuft in den RAM über.</translation>
    </message>
    <message>
        <source>Experts</source>
        <translation>Experten</translation>
    </message>
</context>
<context>
    <name>PresetBar</name>
    <message>
        <source>Presets</source>
        <translation>Voreinstellungen</translation>
    </message>
    <message>
        <source>Save as a preset…</source>
        <translation>Als Voreinstellung sichern…</translation>
    </message>
    <message>
        <source>Rename %1</source>
        <translation>%1 umbenennen</translation>
    </message>
    <message>
        <source>Delete %1</source>
        <translation>%1 löschen</translation>
    </message>
    <message>
        <source>Name of the preset</source>
        <translation>Name der Voreinstellung</translation>
    </message>
    <message>
        <source>Rename</source>
        <translation>Umbenennen</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
    <message>
        <source>Delete “%1”?</source>
        <translation>„%1“ löschen?</translation>
    </message>
    <message>
        <source>This conversation keeps the settings it has, which are not those of the preset.</source>
        <translation>Dieses Gespräch behält seine Einstellungen; es sind nicht mehr die der Voreinstellung.</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
</context>
<context>
    <name>PresetChip</name>
    <message>
        <source>chosen, and changed since</source>
        <translation>gewählt und seither geändert</translation>
    </message>
    <message>
        <source>%1 (changed)</source>
        <translation>%1 (geändert)</translation>
    </message>
</context>
<context>
    <name>PresetModel</name>
    <message>
        <source>Precise</source>
        <translation>Genau</translation>
    </message>
    <message>
        <source>Creative</source>
        <translation>Einfallsreich</translation>
    </message>
    <message>
        <source>Balanced</source>
        <translation>Ausgewogen</translation>
    </message>
    <message>
        <source>Stays with the likeliest words: facts, code, summaries.</source>
        <translation>Bleibt bei den wahrscheinlichsten Wörtern: Fakten, Code, Zusammenfassungen.</translation>
    </message>
    <message>
        <source>Takes bolder words: stories, ideas, names.</source>
        <translation>Wählt kühnere Wörter: Geschichten, Ideen, Namen.</translation>
    </message>
    <message>
        <source>What Spillway uses by itself.</source>
        <translation>Was Spillway von sich aus nimmt.</translation>
    </message>
    <message>
        <source>A preset that is built in keeps its name.</source>
        <translation>Eine eingebaute Voreinstellung behält ihren Namen.</translation>
    </message>
    <message>
        <source>There is a preset “%1” already.</source>
        <translation>Eine Voreinstellung „%1“ gibt es schon.</translation>
    </message>
    <message>
        <source>A preset needs a name.</source>
        <translation>Eine Voreinstellung braucht einen Namen.</translation>
    </message>
    <message numerus="yes">
        <source>A preset&apos;s name has %n characters at most.</source>
        <translation>
            <numerusform>Der Name einer Voreinstellung hat höchstens %n Zeichen.</numerusform>
            <numerusform>Der Name einer Voreinstellung hat höchstens %n Zeichen.</numerusform>
        </translation>
    </message>
    <message>
        <source>“%1” is built in; choose another name.</source>
        <translation>„%1“ ist eingebaut; bitte einen anderen Namen wählen.</translation>
    </message>
</context>
<context>
    <name>PressureMonitor</name>
    <message>
        <source>The recording could not be written to “%1”: %2.</source>
        <translation>Die Aufzeichnung konnte nicht nach „%1“ geschrieben werden: %2.</translation>
    </message>
    <message>
        <source>“%1” cannot be read: %2.</source>
        <translation>„%1“ kann nicht gelesen werden: %2.</translation>
    </message>
    <message>
        <source>“%1” is not a recording of Spillway.</source>
        <translation>„%1“ ist keine Aufzeichnung von Spillway.</translation>
    </message>
    <message>
        <source>emulated</source>
        <translation>emuliert</translation>
    </message>
    <message>
        <source>there is not enough memory</source>
        <translation>der Speicher reicht nicht</translation>
    </message>
</context>
<context>
    <name>PressurePanel</name>
    <message>
        <source>Memory pressure</source>
        <translation>Speicherdruck</translation>
    </message>
    <message>
        <source>Device memory</source>
        <translation>Gerätespeicher</translation>
    </message>
    <message>
        <source>Memory over</source>
        <translation>Speicher über</translation>
    </message>
    <message>
        <source>Tokens</source>
        <translation>Token</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>Zeit</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>Tempo</translation>
    </message>
    <message>
        <source>Flow</source>
        <translation>Fluss</translation>
    </message>
    <message>
        <source>KV map</source>
        <translation>KV-Karte</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>Placement</source>
        <translation>Platzierung</translation>
    </message>
    <message>
        <source>What moved</source>
        <translation>Was sich bewegt hat</translation>
    </message>
    <message>
        <source>RAM</source>
        <translation>RAM</translation>
    </message>
    <message>
        <source>Server</source>
        <translation>Server</translation>
    </message>
    <message>
        <source>Experts</source>
        <translation>Experten</translation>
    </message>
    <message>
        <source>Experts found on the device</source>
        <translation>Auf dem Gerät gefundene Experten</translation>
    </message>
    <message>
        <source>Guessed ahead</source>
        <translation>Vorausgeraten</translation>
    </message>
</context>
<context>
    <name>PressureWindow</name>
    <message>
        <source>Memory pressure – Spillway</source>
        <translation>Speicherdruck – Spillway</translation>
    </message>
</context>
<context>
    <name>ProgramRows</name>
    <message>
        <source>Connected programs</source>
        <translation>Verbundene Programme</translation>
    </message>
    <message>
        <source>None at the moment.</source>
        <translation>Zurzeit keine.</translation>
    </message>
    <message>
        <source>since %1</source>
        <translation>seit %1</translation>
    </message>
    <message>
        <source>1 request</source>
        <translation>1 Anfrage</translation>
    </message>
    <message>
        <source>%1 requests</source>
        <translation>%1 Anfragen</translation>
    </message>
    <message>
        <source>is being answered</source>
        <translation>erhält eine Antwort</translation>
    </message>
    <message>
        <source>idle</source>
        <translation>ruht</translation>
    </message>
</context>
<context>
    <name>QuantRow</name>
    <message>
        <source>%1 files</source>
        <translation>%1 Dateien</translation>
    </message>
    <message>
        <source>Fetch</source>
        <translation>Holen</translation>
    </message>
    <message>
        <source>Fetch %1, %2</source>
        <translation>%1 holen, %2</translation>
    </message>
    <message>
        <source>Waits for its turn</source>
        <translation>Wartet, bis es dran ist</translation>
    </message>
    <message>
        <source>Is being fetched</source>
        <translation>Wird geholt</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>Öffnen</translation>
    </message>
    <message>
        <source>Open %1</source>
        <translation>%1 öffnen</translation>
    </message>
    <message>
        <source>Go on</source>
        <translation>Weitermachen</translation>
    </message>
    <message>
        <source>Go on with %1, %2</source>
        <translation>Mit %1 weitermachen, %2</translation>
    </message>
</context>
<context>
    <name>QuestionChips</name>
    <message>
        <source>Questions to begin with</source>
        <translation>Fragen für den Anfang</translation>
    </message>
    <message>
        <source>What is Spillway?</source>
        <translation>Was ist Spillway?</translation>
    </message>
    <message>
        <source>What happens when the VRAM is full?</source>
        <translation>Was passiert, wenn der VRAM voll ist?</translation>
    </message>
    <message>
        <source>Why does it become slower as the conversation grows?</source>
        <translation>Warum wird es langsamer, wenn das Gespräch wächst?</translation>
    </message>
    <message>
        <source>How do I open a model?</source>
        <translation>Wie öffne ich ein Modell?</translation>
    </message>
</context>
<context>
    <name>RawAnswer</name>
    <message>
        <source>Take the marks away</source>
        <translation>Markierungen wegnehmen</translation>
    </message>
    <message>
        <source>Mark what was guessed ahead</source>
        <translation>Vorausgeratenes markieren</translation>
    </message>
</context>
<context>
    <name>ReadyState</name>
    <message>
        <source>%1 is ready</source>
        <translation>%1 ist bereit</translation>
    </message>
    <message>
        <source>This model has no chat template: it continues your text. Write the beginning of something.</source>
        <translation>Dieses Modell hat keine Gesprächsvorlage: Es setzt einen Text fort. Bitte den Anfang von etwas schreiben.</translation>
    </message>
    <message>
        <source>It remembers %1 tokens of conversation.</source>
        <translation>Es behält %1 Token des Gesprächs.</translation>
    </message>
    <message>
        <source>It runs on %1: what you write goes there.</source>
        <translation>Es läuft auf %1: Was geschrieben wird, geht dorthin.</translation>
    </message>
    <message>
        <source>It runs on %1: what you write goes to one of them.</source>
        <translation>Es läuft auf %1: Was geschrieben wird, geht an einen davon.</translation>
    </message>
</context>
<context>
    <name>ReasoningBlock</name>
    <message>
        <source>Thinking …</source>
        <translation>Denkt nach…</translation>
    </message>
    <message>
        <source>Thoughts</source>
        <translation>Gedanken</translation>
    </message>
    <message>
        <source>Thought for %1</source>
        <translation>%1 nachgedacht</translation>
    </message>
</context>
<context>
    <name>RecentModelItem</name>
    <message>
        <source>open</source>
        <translation>offen</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>fehlt</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1, %2</translation>
    </message>
    <message>
        <source>%1, %2, %3</source>
        <translation>%1, %2, %3</translation>
    </message>
</context>
<context>
    <name>RecordingMenu</name>
    <message>
        <source>Save a recording…</source>
        <translation>Aufzeichnung sichern…</translation>
    </message>
    <message>
        <source>Open a recording…</source>
        <translation>Aufzeichnung öffnen…</translation>
    </message>
    <message>
        <source>Back to now</source>
        <translation>Zurück zum Jetzt</translation>
    </message>
    <message>
        <source>Save a recording</source>
        <translation>Aufzeichnung sichern</translation>
    </message>
    <message>
        <source>Recordings (*.json)</source>
        <translation>Aufzeichnungen (*.json)</translation>
    </message>
    <message>
        <source>Open a recording</source>
        <translation>Aufzeichnung öffnen</translation>
    </message>
    <message>
        <source>All files (*)</source>
        <translation>Alle Dateien (*)</translation>
    </message>
    <message>
        <source>Save</source>
        <translation>Speichern</translation>
    </message>
</context>
<context>
    <name>RenameField</name>
    <message>
        <source>Title</source>
        <translation>Titel</translation>
    </message>
</context>
<context>
    <name>RequestRows</name>
    <message>
        <source>Requests</source>
        <translation>Anfragen</translation>
    </message>
    <message>
        <source>None since Spillway was started. What is asked and answered is not kept, only when and how much.</source>
        <translation>Noch keine, seit Spillway gestartet wurde. Was gefragt und geantwortet wird, wird nicht aufgehoben, nur wann und wie viel.</translation>
    </message>
    <message>
        <source>gave up waiting</source>
        <translation>hat nicht länger gewartet</translation>
    </message>
    <message>
        <source>refused with %1</source>
        <translation>mit %1 abgelehnt</translation>
    </message>
    <message>
        <source>%1 tokens in, %2 out</source>
        <translation>%1 Token hinein, %2 heraus</translation>
    </message>
</context>
<context>
    <name>ResultChart</name>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>The numbers are in the table below</source>
        <translation>Die Zahlen stehen in der Tabelle darunter</translation>
    </message>
    <message>
        <source>Choose above what is drawn here</source>
        <translation>Oben wählen, was hier gezeichnet wird</translation>
    </message>
    <message>
        <source>None of this was measured</source>
        <translation>Davon wurde nichts gemessen</translation>
    </message>
    <message>
        <source>%1 (other run: %2)</source>
        <translation>%1 (anderer Lauf: %2)</translation>
    </message>
</context>
<context>
    <name>ResultCharts</name>
    <message>
        <source>CPU only</source>
        <translation>Nur CPU</translation>
    </message>
    <message>
        <source>Resident</source>
        <translation>Resident</translation>
    </message>
    <message>
        <source>Stream</source>
        <translation>Strömen</translation>
    </message>
    <message>
        <source>Merge</source>
        <translation>Vereinen</translation>
    </message>
    <message>
        <source>Auto</source>
        <translation>Auto</translation>
    </message>
    <message>
        <source>CPU decode</source>
        <translation>CPU schreibt</translation>
    </message>
    <message>
        <source>The other run, dashed</source>
        <translation>Der andere Lauf, gestrichelt</translation>
    </message>
    <message>
        <source>Model in the charts</source>
        <translation>Modell in den Diagrammen</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>Speicher</translation>
    </message>
    <message>
        <source>per tok/s</source>
        <translation>je Tok/s</translation>
    </message>
    <message>
        <source>Tokens per second</source>
        <translation>Token pro Sekunde</translation>
    </message>
    <message>
        <source>Time per token, 99 % stay below</source>
        <translation>Zeit je Token, 99 % bleiben darunter</translation>
    </message>
    <message>
        <source>Speed in the charts</source>
        <translation>Tempo in den Diagrammen</translation>
    </message>
    <message>
        <source>Ratio to “%1”</source>
        <translation>Verhältnis zu „%1“</translation>
    </message>
    <message>
        <source>Speed, as a ratio to “%1”</source>
        <translation>Tempo, im Verhältnis zu „%1“</translation>
    </message>
    <message>
        <source>Peak memory of the emulated device</source>
        <translation>Höchster Speicher des emulierten Geräts</translation>
    </message>
    <message>
        <source>Peak device memory</source>
        <translation>Höchster Gerätespeicher</translation>
    </message>
    <message>
        <source>Peak RAM, including the emulated device</source>
        <translation>Höchster RAM, mit dem emulierten Gerät</translation>
    </message>
    <message>
        <source>Peak RAM</source>
        <translation>Höchster RAM</translation>
    </message>
    <message>
        <source>experts %1</source>
        <translation>Experten %1</translation>
    </message>
    <message>
        <source>Experts in the charts</source>
        <translation>Experten in den Diagrammen</translation>
    </message>
</context>
<context>
    <name>ResultColumns</name>
    <message>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <source>Strategy</source>
        <translation>Strategie</translation>
    </message>
    <message>
        <source>tok/s</source>
        <translation>Tok/s</translation>
    </message>
    <message>
        <source>ratio</source>
        <translation>Verhältnis</translation>
    </message>
    <message>
        <source>change</source>
        <translation>Änderung</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>99 %</source>
        <translation>99 %</translation>
    </message>
    <message>
        <source>reading</source>
        <translation>Lesen</translation>
    </message>
    <message>
        <source>device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>RAM</source>
        <translation>RAM</translation>
    </message>
    <message>
        <source>from–to</source>
        <translation>von–bis</translation>
    </message>
    <message>
        <source>experts</source>
        <translation>Experten</translation>
    </message>
    <message>
        <source>hits</source>
        <translation>Treffer</translation>
    </message>
</context>
<context>
    <name>ResultRow</name>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>%1, %2 tokens, %3</source>
        <translation>%1, %2 Token, %3</translation>
    </message>
    <message>
        <source>%1: %2. %3</source>
        <translation>%1: %2. %3</translation>
    </message>
    <message>
        <source>%1: %2, 99 % of the tokens within %3, device %4, RAM %5</source>
        <translation>%1: %2, 99 % der Token in höchstens %3, Gerät %4, RAM %5</translation>
    </message>
    <message>
        <source>%1, %2 of “%3”</source>
        <translation>%1, %2 von „%3“</translation>
    </message>
    <message>
        <source>%1, experts %2</source>
        <translation>%1, Experten %2</translation>
    </message>
    <message>
        <source>%1, %2 of the experts read had a copy</source>
        <translation>%1, %2 der gelesenen Experten hatten eine Kopie</translation>
    </message>
</context>
<context>
    <name>ResultTable</name>
    <message>
        <source>Context</source>
        <translation>Kontext</translation>
    </message>
    <message>
        <source>Strategy</source>
        <translation>Strategie</translation>
    </message>
    <message>
        <source>tok/s</source>
        <translation>Tok/s</translation>
    </message>
    <message>
        <source>from–to</source>
        <translation>von–bis</translation>
    </message>
    <message>
        <source>99 %</source>
        <translation>99 %</translation>
    </message>
    <message>
        <source>reading</source>
        <translation>Lesen</translation>
    </message>
    <message>
        <source>device</source>
        <translation>Gerät</translation>
    </message>
    <message>
        <source>RAM</source>
        <translation>RAM</translation>
    </message>
    <message>
        <source>change</source>
        <translation>Änderung</translation>
    </message>
    <message>
        <source>Measured rows</source>
        <translation>Gemessene Zeilen</translation>
    </message>
    <message>
        <source>ratio</source>
        <translation>Verhältnis</translation>
    </message>
    <message>
        <source>Speed as a ratio to “%1”; choose another above the charts</source>
        <translation>Tempo im Verhältnis zu „%1“; eine andere Strategie wird über den Diagrammen gewählt</translation>
    </message>
    <message>
        <source>experts</source>
        <translation>Experten</translation>
    </message>
    <message>
        <source>hits</source>
        <translation>Treffer</translation>
    </message>
    <message>
        <source>Of the experts in RAM that were read, the share that had a copy on the device</source>
        <translation>Anteil der gelesenen Experten im RAM, die eine Kopie auf dem Gerät hatten</translation>
    </message>
</context>
<context>
    <name>RunBar</name>
    <message>
        <source>emulated device, %1</source>
        <translation>emuliertes Gerät, %1</translation>
    </message>
    <message>
        <source>cancelled</source>
        <translation>abgebrochen</translation>
    </message>
    <message>
        <source>%1 – %2</source>
        <translation>%1 – %2</translation>
    </message>
    <message>
        <source>Run that is shown</source>
        <translation>Gezeigter Lauf</translation>
    </message>
    <message>
        <source>Name of the run</source>
        <translation>Name des Laufs</translation>
    </message>
    <message>
        <source>Keep the name</source>
        <translation>Namen behalten</translation>
    </message>
    <message>
        <source>Rename the run</source>
        <translation>Lauf umbenennen</translation>
    </message>
    <message>
        <source>Export the run</source>
        <translation>Lauf exportieren</translation>
    </message>
    <message>
        <source>Delete the run</source>
        <translation>Lauf löschen</translation>
    </message>
    <message>
        <source>Compare with</source>
        <translation>Vergleichen mit</translation>
    </message>
    <message>
        <source>Run to compare with</source>
        <translation>Lauf zum Vergleichen</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>nichts</translation>
    </message>
    <message>
        <source>Delete this run?</source>
        <translation>Diesen Lauf löschen?</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>Löschen</translation>
    </message>
    <message>
        <source>Saved “%1”.</source>
        <translation>„%1“ wurde gesichert.</translation>
    </message>
    <message>
        <source>Show the folder</source>
        <translation>Ordner zeigen</translation>
    </message>
    <message>
        <source>1 core</source>
        <translation>1 Kern</translation>
    </message>
    <message>
        <source>%1 cores</source>
        <translation>%1 Kerne</translation>
    </message>
</context>
<context>
    <name>RunProgress</name>
    <message>
        <source>Waiting for the answer to end…</source>
        <translation>Wartet auf das Ende der Antwort…</translation>
    </message>
    <message>
        <source>Making room…</source>
        <translation>Platz wird gemacht…</translation>
    </message>
    <message>
        <source>Ending…</source>
        <translation>Wird beendet…</translation>
    </message>
    <message>
        <source>%1, %2 tokens, %3</source>
        <translation>%1, %2 Token, %3</translation>
    </message>
    <message>
        <source>%1 of %2 rows</source>
        <translation>%1 von %2 Zeilen</translation>
    </message>
    <message>
        <source>about %1 left</source>
        <translation>noch etwa %1</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Rows that are measured</source>
        <translation>Gemessene Zeilen</translation>
    </message>
    <message>
        <source>Making %1 of random weights: %2</source>
        <translation>%1 entsteht aus zufälligen Gewichten: %2</translation>
    </message>
    <message>
        <source>%1, experts %2</source>
        <translation>%1, Experten %2</translation>
    </message>
</context>
<context>
    <name>SamplingModel</name>
    <message>
        <source>Temperature</source>
        <translation>Temperatur</translation>
    </message>
    <message>
        <source>How freely words are chosen. 0 always takes the likeliest one.</source>
        <translation>Wie frei Wörter gewählt werden. 0 nimmt immer das wahrscheinlichste.</translation>
    </message>
    <message>
        <source>Top-p</source>
        <translation>Top-p</translation>
    </message>
    <message>
        <source>Only the likeliest words that together make up this share. 1 is off.</source>
        <translation>Nur die wahrscheinlichsten Wörter, die zusammen diesen Anteil ausmachen. 1 ist aus.</translation>
    </message>
    <message>
        <source>Top-k</source>
        <translation>Top-k</translation>
    </message>
    <message>
        <source>Only this many of the likeliest words. 0 is off.</source>
        <translation>Nur so viele der wahrscheinlichsten Wörter. 0 ist aus.</translation>
    </message>
    <message>
        <source>Min-p</source>
        <translation>Min-p</translation>
    </message>
    <message>
        <source>Only words at least this likely, compared with the likeliest. 0 is off.</source>
        <translation>Nur Wörter, die verglichen mit dem wahrscheinlichsten mindestens so wahrscheinlich sind. 0 ist aus.</translation>
    </message>
    <message>
        <source>Repeat penalty</source>
        <translation>Wiederholungsstrafe</translation>
    </message>
    <message>
        <source>Makes words that were just used less likely. 1 is off.</source>
        <translation>Macht eben gebrauchte Wörter unwahrscheinlicher. 1 ist aus.</translation>
    </message>
    <message>
        <source>Answer length</source>
        <translation>Länge der Antwort</translation>
    </message>
    <message>
        <source>Tokens an answer may have at most.</source>
        <translation>Token, die eine Antwort höchstens haben darf.</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>keine Grenze</translation>
    </message>
    <message>
        <source>Seed</source>
        <translation>Startwert</translation>
    </message>
    <message>
        <source>The same seed and settings give the same answer again.</source>
        <translation>Derselbe Startwert gibt bei gleichen Einstellungen wieder dieselbe Antwort.</translation>
    </message>
    <message>
        <source>random</source>
        <translation>zufällig</translation>
    </message>
    <message>
        <source>%1 is a number from %2 to %3.</source>
        <translation>%1 ist eine Zahl von %2 bis %3.</translation>
    </message>
    <message>
        <source>%1 is a whole number from %2 to %3.</source>
        <translation>%1 ist eine ganze Zahl von %2 bis %3.</translation>
    </message>
</context>
<context>
    <name>SamplingRow</name>
    <message>
        <source>Default: %1</source>
        <translation>Vorgabe: %1</translation>
    </message>
    <message>
        <source>The open model&apos;s server does not know this, so it is not sent.</source>
        <translation>Der Server des geöffneten Modells kennt das nicht; es wird nicht gesendet.</translation>
    </message>
</context>
<context>
    <name>SavedNote</name>
    <message>
        <source>nothing of it had been saved</source>
        <translation>davon war nichts gespeichert</translation>
    </message>
    <message>
        <source>it had been saved with another model</source>
        <translation>es war mit einem anderen Modell gespeichert worden</translation>
    </message>
    <message>
        <source>it had been saved with another kind of KV cache</source>
        <translation>es war mit einer anderen Art von KV-Cache gespeichert worden</translation>
    </message>
    <message>
        <source>it had been saved by another version of Spillway</source>
        <translation>es war von einer anderen Version von Spillway gespeichert worden</translation>
    </message>
    <message>
        <source>it goes on differently than when it was saved</source>
        <translation>es geht anders weiter als damals, als es gespeichert wurde</translation>
    </message>
    <message>
        <source>the saved file was damaged</source>
        <translation>die gespeicherte Datei war beschädigt</translation>
    </message>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <source>The %1 tokens of this conversation were computed again: %2.</source>
        <translation>Die %1 Token dieses Gesprächs wurden neu berechnet: %2.</translation>
    </message>
    <message>
        <source>%1 tokens of this conversation were read back from the disk in %2.</source>
        <translation>%1 Token dieses Gesprächs wurden in %2 vom Datenträger zurückgelesen.</translation>
    </message>
    <message>
        <source>%1 tokens of this conversation were read back from the disk in %2, the rest was computed again: %3.</source>
        <translation>%1 Token dieses Gesprächs wurden in %2 vom Datenträger zurückgelesen, der Rest wurde neu berechnet: %3.</translation>
    </message>
</context>
<context>
    <name>SearchField</name>
    <message>
        <source>Clear the search</source>
        <translation>Suche leeren</translation>
    </message>
</context>
<context>
    <name>SearchList</name>
    <message>
        <source>Found</source>
        <translation>Gefunden</translation>
    </message>
</context>
<context>
    <name>SearchRow</name>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>Neues Gespräch</translation>
    </message>
</context>
<context>
    <name>ServerCause</name>
    <message numerus="yes">
        <source>Its KV cache is full: within the last minute %n request(s) lost their place in it and are computed again. Fewer or shorter conversations at a time help, or more memory for KV there.</source>
        <translation>
            <numerusform>Sein KV-Cache ist voll: In der letzten Minute hat %n Anfrage ihren Platz darin verloren und wird neu gerechnet. Es hilft, wenn weniger oder kürzere Gespräche zugleich laufen oder dort mehr Speicher für KV da ist.</numerusform>
            <numerusform>Sein KV-Cache ist voll: In der letzten Minute haben %n Anfragen ihren Platz darin verloren und werden neu gerechnet. Es hilft, wenn weniger oder kürzere Gespräche zugleich laufen oder dort mehr Speicher für KV da ist.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n request(s) wait for their turn there, so that an answer begins late. It helps where the server answers more at a time, or another server takes some.</source>
        <translation>
            <numerusform>Dort wartet %n Anfrage, bis sie an der Reihe ist, sodass eine Antwort spät beginnt. Es hilft, wenn der Server mehr zugleich beantwortet oder ein anderer einen Teil übernimmt.</numerusform>
            <numerusform>Dort warten %n Anfragen, bis sie an der Reihe sind, sodass eine Antwort spät beginnt. Es hilft, wenn der Server mehr zugleich beantwortet oder ein anderer einen Teil übernimmt.</numerusform>
        </translation>
    </message>
    <message>
        <source>The first token of the newest answer came after %1 s, and the server takes %2 s: the rest is the way there and back, or something between.</source>
        <translation>Das erste Token der neuesten Antwort kam nach %1 s, und der Server braucht %2 s: Der Rest ist der Weg hin und zurück oder etwas dazwischen.</translation>
    </message>
</context>
<context>
    <name>ServerController</name>
    <message>
        <source>Port %1 cannot be used (%2).</source>
        <translation>Port %1 ist nicht zu gebrauchen (%2).</translation>
    </message>
    <message>
        <source>The key cannot be kept: it holds until Spillway is closed.</source>
        <translation>Der Schlüssel kann nicht aufgehoben werden: Er gilt, bis Spillway geschlossen wird.</translation>
    </message>
    <message>
        <source>What is kept as the key cannot be read or is none. Mend the file “%1”, or make a new key.</source>
        <translation>Was als Schlüssel aufgehoben ist, lässt sich nicht lesen oder ist keiner. Bitte die Datei „%1“ in Ordnung bringen oder einen neuen Schlüssel machen.</translation>
    </message>
    <message>
        <source>The local server cannot go on (%1).</source>
        <translation>Der lokale Server kann nicht weitermachen (%1).</translation>
    </message>
</context>
<context>
    <name>ServerForm</name>
    <message>
        <source>Address, such as 192.168.0.5:8000</source>
        <translation>Adresse, etwa 192.168.0.5:8000</translation>
    </message>
    <message>
        <source>Address of the server</source>
        <translation>Adresse des Servers</translation>
    </message>
    <message>
        <source>Name, if it is to have one</source>
        <translation>Name, nach Wunsch</translation>
    </message>
    <message>
        <source>Name of the server</source>
        <translation>Name des Servers</translation>
    </message>
    <message>
        <source>Key, if it asks for one</source>
        <translation>Schlüssel, falls nötig</translation>
    </message>
    <message>
        <source>Key for the server</source>
        <translation>Schlüssel für den Server</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Abbrechen</translation>
    </message>
    <message>
        <source>Asking %1 what it is</source>
        <translation>%1 wird gefragt, was es ist</translation>
    </message>
    <message>
        <source>Spillway then asks %1 which models it has. What you write to one of them goes there with the whole conversation, each time.</source>
        <translation>Spillway fragt dann %1, welche Modelle es dort gibt. Was einem davon geschrieben wird, geht mit dem ganzen Gespräch dorthin, jedes Mal.</translation>
    </message>
    <message>
        <source>The way there is not encrypted: others in the same network may read the key and what is said.</source>
        <translation>Der Weg dorthin ist nicht verschlüsselt: Andere im selben Netz können den Schlüssel und das Gesagte mitlesen.</translation>
    </message>
    <message>
        <source>A server of this name is there already. The two answer for each other where they have the same model: the one that has less to do, or the other when it cannot.</source>
        <translation>Einen Server dieses Namens gibt es schon. Wo die beiden dasselbe Modell haben, antworten sie füreinander: der, der weniger zu tun hat, oder der andere, wenn jener nicht kann.</translation>
    </message>
</context>
<context>
    <name>ServerLoad</name>
    <message>
        <source>This server does not show how busy it is. Some have to be told to when they are started.</source>
        <translation>Dieser Server zeigt nicht, wie ausgelastet er ist. Manchen muss man das beim Start sagen.</translation>
    </message>
</context>
<context>
    <name>ServerRow</name>
    <message>
        <source>not encrypted</source>
        <translation>nicht verschlüsselt</translation>
    </message>
    <message>
        <source>Asking %1 what it is</source>
        <translation>%1 wird gefragt, was es ist</translation>
    </message>
    <message>
        <source>Remove %1</source>
        <translation>%1 entfernen</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>Hinzufügen</translation>
    </message>
    <message>
        <source>Add %1</source>
        <translation>%1 hinzufügen</translation>
    </message>
    <message>
        <source>key in a private file</source>
        <translation>Schlüssel in privater Datei</translation>
    </message>
    <message>
        <source>key in the password store</source>
        <translation>Schlüssel im Passwortspeicher</translation>
    </message>
</context>
<context>
    <name>ServerSection</name>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>%1 a second to its RAM</source>
        <translation>%1 pro Sekunde in seinen RAM</translation>
    </message>
    <message>
        <source>%1 a second back</source>
        <translation>%1 pro Sekunde zurück</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV-Cache</translation>
    </message>
    <message>
        <source>How much of the server&apos;s KV cache is in use, by all its clients. At 100 % requests wait, or lose what was computed for them.</source>
        <translation>Wie viel vom KV-Cache des Servers belegt ist, von allen, die ihn nutzen. Bei 100 % warten Anfragen oder verlieren, was für sie berechnet war.</translation>
    </message>
    <message>
        <source>Running</source>
        <translation>Laufend</translation>
    </message>
    <message>
        <source>Requests that the server answers now, of all its clients.</source>
        <translation>Anfragen, die der Server gerade beantwortet, von allen, die ihn nutzen.</translation>
    </message>
    <message>
        <source>Waiting</source>
        <translation>Wartend</translation>
    </message>
    <message>
        <source>Requests that wait for their turn.</source>
        <translation>Anfragen, die warten, bis sie an der Reihe sind.</translation>
    </message>
    <message>
        <source>All clients</source>
        <translation>Insgesamt</translation>
    </message>
    <message>
        <source>Tokens that the server writes in a second, for all its clients together.</source>
        <translation>Token, die der Server in einer Sekunde schreibt, für alle zusammen.</translation>
    </message>
    <message>
        <source>Known</source>
        <translation>Bekannt</translation>
    </message>
    <message>
        <source>Of the prompts&apos; tokens, how many the server had in its KV cache already, since you have been looking.</source>
        <translation>Wie viele der Token aller Prompts der Server schon im KV-Cache hatte, seit Beginn dieser Anzeige.</translation>
    </message>
    <message>
        <source>Pushed out</source>
        <translation>Verdrängt</translation>
    </message>
    <message>
        <source>Requests that lost their KV to others and were computed again, since you have been looking.</source>
        <translation>Anfragen, die ihren KV an andere verloren haben und neu berechnet wurden, seit Beginn dieser Anzeige.</translation>
    </message>
    <message>
        <source>Asking the server how busy it is…</source>
        <translation>Der Server wird gefragt, wie ausgelastet er ist…</translation>
    </message>
    <message>
        <source>Measured by the server, which was started anew meanwhile.</source>
        <translation>Vom Server gemessen, der inzwischen neu gestartet wurde.</translation>
    </message>
    <message>
        <source>Measured by the server, for all its clients.</source>
        <translation>Vom Server gemessen, für alle, die ihn nutzen.</translation>
    </message>
    <message>
        <source>over %1</source>
        <translation>über %1</translation>
    </message>
    <message>
        <source>From a request to its first token (TTFT): what half of all clients&apos; requests stayed below, and 99 %, since you have been looking.</source>
        <translation>Von der Anfrage bis zum ersten Token (TTFT): worunter die Hälfte der Anfragen aller Programme blieb und 99 %, seit Beginn dieser Anzeige.</translation>
    </message>
    <message>
        <source>Between two tokens of an answer: what half of them stayed below, and 99 %, since you have been looking.</source>
        <translation>Zwischen zwei Token einer Antwort: worunter die Hälfte blieb und 99 %, seit Beginn dieser Anzeige.</translation>
    </message>
    <message>
        <source>First token, half</source>
        <translation>Erstes Token, Hälfte</translation>
    </message>
    <message>
        <source>First token, 99 %</source>
        <translation>Erstes Token, 99 %</translation>
    </message>
    <message>
        <source>Per token, half</source>
        <translation>Je Token, Hälfte</translation>
    </message>
    <message>
        <source>Per token, 99 %</source>
        <translation>Je Token, 99 %</translation>
    </message>
</context>
<context>
    <name>Servers</name>
    <message>
        <source>A key is one word of letters, digits and signs, without spaces.</source>
        <translation>Ein Schlüssel ist ein Wort aus Buchstaben, Ziffern und Sonderzeichen, ohne Leerzeichen.</translation>
    </message>
    <message>
        <source>There are %1 servers already; remove one first.</source>
        <translation>Es gibt schon %1 Server; bitte erst einen entfernen.</translation>
    </message>
    <message>
        <source>Nothing is encrypted on the way to this server: others in between can read what is said.</source>
        <translation>Auf dem Weg zu diesem Server ist nichts verschlüsselt: Andere dazwischen können mitlesen.</translation>
    </message>
    <message>
        <source>The list of servers could not be written; it holds for this run.</source>
        <translation>Die Liste der Server konnte nicht geschrieben werden; sie gilt für diesen Lauf.</translation>
    </message>
    <message numerus="yes">
        <source>%n servers have this name and this model. The one that has the least to do answers; another one, when it cannot.</source>
        <translation>
            <numerusform>%n Server hat diesen Namen und dieses Modell. Es antwortet der, der am wenigsten zu tun hat; ein anderer, wenn er nicht kann.</numerusform>
            <numerusform>%n Server haben diesen Namen und dieses Modell. Es antwortet der, der am wenigsten zu tun hat; ein anderer, wenn er nicht kann.</numerusform>
        </translation>
    </message>
    <message>
        <source>The key will be kept in this system’s password store.</source>
        <translation>Der Schlüssel wird im Passwortspeicher dieses Systems aufbewahrt.</translation>
    </message>
    <message>
        <source>The key will be kept in this system’s password store, which will ask you to unlock it.</source>
        <translation>Der Schlüssel wird im Passwortspeicher dieses Systems aufbewahrt, der dafür zu entsperren ist.</translation>
    </message>
    <message>
        <source>The key will be kept in a file that only you can read: no password store answers on this system.</source>
        <translation>Der Schlüssel wird in einer Datei aufbewahrt, die sonst niemand lesen kann: Auf diesem System antwortet kein Passwortspeicher.</translation>
    </message>
    <message>
        <source>The list of servers in %1 cannot be read. It stays as it is, and what you change holds for this run.</source>
        <translation>Die Liste der Server in %1 kann nicht gelesen werden. Sie bleibt, wie sie ist, und was geändert wird, gilt für diesen Lauf.</translation>
    </message>
    <message>
        <source>The list of servers made no sense, and a new one begins. What was there is kept in %1.</source>
        <translation>Die Liste der Server ergab keinen Sinn, und eine neue beginnt. Was darin stand, liegt in %1.</translation>
    </message>
</context>
<context>
    <name>ServersPage</name>
    <message>
        <source>Servers</source>
        <translation>Server</translation>
    </message>
    <message>
        <source>Back to the models</source>
        <translation>Zurück zu den Modellen</translation>
    </message>
    <message>
        <source>Ask them again what they have</source>
        <translation>Erneut fragen, was sie haben</translation>
    </message>
    <message>
        <source>Models that run elsewhere: vLLM, SGLang, TGI, llama-server, Ollama, LM Studio or Spillway on another machine, or in another program on this one. Once a server is added, its models are in the list of models and answer in the same conversations.</source>
        <translation>Modelle, die anderswo laufen: vLLM, SGLang, TGI, llama-server, Ollama, LM Studio oder Spillway auf einem anderen Rechner oder in einem anderen Programm auf diesem. Ist ein Server hinzugefügt, stehen seine Modelle in der Liste der Modelle und antworten in denselben Gesprächen.</translation>
    </message>
    <message>
        <source>Your servers</source>
        <translation>Eigene Server</translation>
    </message>
    <message>
        <source>Stop looking</source>
        <translation>Suche abbrechen</translation>
    </message>
    <message>
        <source>Look on this computer</source>
        <translation>Auf diesem Rechner suchen</translation>
    </message>
    <message>
        <source>Looking for servers</source>
        <translation>Server werden gesucht</translation>
    </message>
    <message>
        <source>Nothing new was found where such programs usually listen.</source>
        <translation>Wo solche Programme gewöhnlich lauschen, wurde nichts Neues gefunden.</translation>
    </message>
    <message>
        <source>To change a server&apos;s name or key, add it again.</source>
        <translation>Um Namen oder Schlüssel zu ändern, den Server noch einmal hinzufügen.</translation>
    </message>
    <message>
        <source>Remove “%1”?</source>
        <translation>„%1“ entfernen?</translation>
    </message>
    <message>
        <source>Its key is deleted, too.</source>
        <translation>Auch der Schlüssel wird gelöscht.</translation>
    </message>
    <message>
        <source>Remove</source>
        <translation>Entfernen</translation>
    </message>
</context>
<context>
    <name>SettingRow</name>
    <message>
        <source>Set on the command line for this run</source>
        <translation>Für diesen Lauf auf der Kommandozeile festgelegt</translation>
    </message>
    <message>
        <source>%1: back to the default</source>
        <translation>%1: zurück zur Vorgabe</translation>
    </message>
</context>
<context>
    <name>SettingsColumn</name>
    <message>
        <source>Presets</source>
        <translation>Voreinstellungen</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>Systemanweisung</translation>
    </message>
    <message>
        <source>The open model has no chat template, so it is not given a system prompt.</source>
        <translation>Das geöffnete Modell hat keine Gesprächsvorlage und bekommt daher keine Systemanweisung.</translation>
    </message>
    <message>
        <source>This model</source>
        <translation>Dieses Modell</translation>
    </message>
    <message>
        <source>How words are chosen</source>
        <translation>Wie Wörter gewählt werden</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>Alles zurücksetzen</translation>
    </message>
</context>
<context>
    <name>SettingsController</name>
    <message>
        <source>The settings in %1 cannot be read, so the default settings are used.</source>
        <translation>Die Einstellungen in %1 lassen sich nicht lesen; es gelten die Vorgaben.</translation>
    </message>
    <message>
        <source>Parts of the settings in %1 make no sense and are not used.</source>
        <translation>Teile der Einstellungen in %1 ergeben keinen Sinn und werden nicht benutzt.</translation>
    </message>
    <message>
        <source>%1 cannot be written: what you choose holds until Spillway is closed.</source>
        <translation>%1 lässt sich nicht schreiben: Was gewählt wird, gilt, bis Spillway geschlossen wird.</translation>
    </message>
</context>
<context>
    <name>SettingsPage</name>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Window</source>
        <translation>Fenster</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>Farben</translation>
    </message>
    <message>
        <source>Light, dark, or as the desktop has it.</source>
        <translation>Hell, dunkel oder wie der Desktop.</translation>
    </message>
    <message>
        <source>As the desktop</source>
        <translation>Wie der Desktop</translation>
    </message>
    <message>
        <source>Light</source>
        <translation>Hell</translation>
    </message>
    <message>
        <source>Dark</source>
        <translation>Dunkel</translation>
    </message>
    <message>
        <source>Size of text</source>
        <translation>Schriftgröße</translation>
    </message>
    <message>
        <source>The whole window follows it. Also with Ctrl and plus, minus, 0.</source>
        <translation>Das ganze Fenster folgt ihr. Auch mit Strg und Plus, Minus, 0.</translation>
    </message>
    <message>
        <source> %</source>
        <translation> %</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>Sprache</translation>
    </message>
    <message>
        <source>Of the window; a model answers in the language it is asked in.</source>
        <translation>Des Fensters; ein Modell antwortet in der Sprache, in der es gefragt wird.</translation>
    </message>
    <message>
        <source>As the system</source>
        <translation>Wie das System</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Open at start</source>
        <translation>Beim Start öffnen</translation>
    </message>
    <message>
        <source>Which model Spillway opens when it starts. The guide is small and comes with it.</source>
        <translation>Welches Modell Spillway beim Start öffnet. Der Helfer ist klein und liegt bei.</translation>
    </message>
    <message>
        <source>The last one</source>
        <translation>Das letzte</translation>
    </message>
    <message>
        <source>The guide</source>
        <translation>Der Helfer</translation>
    </message>
    <message>
        <source>None</source>
        <translation>Keines</translation>
    </message>
    <message>
        <source>Privacy</source>
        <translation>Datenschutz</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>How much is written to the log, for finding faults.</source>
        <translation>Wie viel ins Protokoll geschrieben wird, um Fehler zu finden.</translation>
    </message>
    <message>
        <source>Everything</source>
        <translation>Alles</translation>
    </message>
    <message>
        <source>Warnings</source>
        <translation>Warnungen</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>Fehler</translation>
    </message>
    <message>
        <source>Long lines of code</source>
        <translation>Lange Zeilen im Code</translation>
    </message>
    <message>
        <source>They scroll sideways, or go on in the next line. Also with the button above any code.</source>
        <translation>Sie rollen seitwärts oder gehen in der nächsten Zeile weiter. Auch mit dem Knopf über jedem Code.</translation>
    </message>
    <message>
        <source>Scroll</source>
        <translation>Rollen</translation>
    </message>
    <message>
        <source>Wrap</source>
        <translation>Umbrechen</translation>
    </message>
    <message>
        <source>Normal</source>
        <translation>Normal</translation>
    </message>
    <message>
        <source>Guess ahead</source>
        <translation>Vorausraten</translation>
    </message>
    <message>
        <source>Where a conversation repeats itself, the next words are guessed and checked in one step. The answer is the same to the letter; it only comes faster.</source>
        <translation>Wo sich ein Gespräch wiederholt, werden die nächsten Wörter geraten und in einem Schritt geprüft. Die Antwort ist Buchstabe für Buchstabe dieselbe; sie kommt nur schneller.</translation>
    </message>
    <message>
        <source>On</source>
        <translation>An</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>Aus</translation>
    </message>
    <message>
        <source>Spillway uses the network for nothing but what you permit here. It sends nothing by itself and looks for no updates. What you type and what is answered stays on this computer, in %1. It is never written to the log.</source>
        <translation>Spillway benutzt das Netz für nichts, als was hier erlaubt wird. Es sendet nichts von sich aus und sucht keine Aktualisierungen. Was geschrieben und was geantwortet wird, bleibt auf diesem Rechner, in %1. Ins Protokoll kommt es nie.</translation>
    </message>
    <message>
        <source>Find and fetch models</source>
        <translation>Modelle finden und holen</translation>
    </message>
    <message>
        <source>Contacts %1 and the servers that it names for the files; another one only where you enter its address, or one of Ollama’s names.</source>
        <translation>Fragt %1 und die Server, die dort für die Dateien genannt werden; einen anderen nur, wo seine Adresse oder ein Name von Ollama eingegeben wird.</translation>
    </message>
    <message>
        <source>Not permitted</source>
        <translation>Nicht erlaubt</translation>
    </message>
    <message>
        <source>Permitted</source>
        <translation>Erlaubt</translation>
    </message>
</context>
<context>
    <name>ShortcutModel</name>
    <message>
        <source>Conversations</source>
        <translation>Gespräche</translation>
    </message>
    <message>
        <source>Writing</source>
        <translation>Schreiben</translation>
    </message>
    <message>
        <source>Answers</source>
        <translation>Antworten</translation>
    </message>
    <message>
        <source>Program</source>
        <translation>Programm</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>Neues Gespräch</translation>
    </message>
    <message>
        <source>Search conversations</source>
        <translation>Gespräche durchsuchen</translation>
    </message>
    <message>
        <source>Rename the conversation</source>
        <translation>Gespräch umbenennen</translation>
    </message>
    <message>
        <source>Delete the conversation (can be undone)</source>
        <translation>Gespräch löschen (lässt sich zurücknehmen)</translation>
    </message>
    <message>
        <source>Show or hide the conversations</source>
        <translation>Gespräche zeigen oder ausblenden</translation>
    </message>
    <message>
        <source>Send the message</source>
        <translation>Nachricht senden</translation>
    </message>
    <message>
        <source>New line</source>
        <translation>Neue Zeile</translation>
    </message>
    <message>
        <source>In an empty message: edit the last one</source>
        <translation>In einer leeren Nachricht: die letzte bearbeiten</translation>
    </message>
    <message>
        <source>To the message field</source>
        <translation>Zum Nachrichtenfeld</translation>
    </message>
    <message>
        <source>Answer again</source>
        <translation>Noch einmal antworten</translation>
    </message>
    <message>
        <source>Previous version of the answer</source>
        <translation>Vorige Fassung der Antwort</translation>
    </message>
    <message>
        <source>Next version of the answer</source>
        <translation>Nächste Fassung der Antwort</translation>
    </message>
    <message>
        <source>Copy the last answer</source>
        <translation>Letzte Antwort kopieren</translation>
    </message>
    <message>
        <source>Copy the last code block</source>
        <translation>Letzten Codeblock kopieren</translation>
    </message>
    <message>
        <source>Open a model file</source>
        <translation>Modelldatei öffnen</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Larger</source>
        <translation>Größer</translation>
    </message>
    <message>
        <source>Smaller</source>
        <translation>Kleiner</translation>
    </message>
    <message>
        <source>Usual size</source>
        <translation>Übliche Größe</translation>
    </message>
    <message>
        <source>This list</source>
        <translation>Diese Liste</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>Beenden</translation>
    </message>
    <message>
        <source>Attach files</source>
        <translation>Dateien anhängen</translation>
    </message>
    <message>
        <source>Conversation settings</source>
        <translation>Einstellungen des Gesprächs</translation>
    </message>
    <message>
        <source>Stop the answer or the loading; leave a page</source>
        <translation>Antwort oder Laden anhalten; Seite verlassen</translation>
    </message>
    <message>
        <source>Show or hide memory pressure</source>
        <translation>Speicherdruck zeigen oder ausblenden</translation>
    </message>
    <message>
        <source>Give device memory to another program, or take it back</source>
        <translation>Einem anderen Programm Gerätespeicher geben oder ihn zurücknehmen</translation>
    </message>
    <message>
        <source>Experiments</source>
        <translation>Experimente</translation>
    </message>
    <message>
        <source>Choose one of the last models</source>
        <translation>Eines der letzten Modelle wählen</translation>
    </message>
</context>
<context>
    <name>ShortcutSheet</name>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>Tastenkürzel</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>Schließen</translation>
    </message>
</context>
<context>
    <name>ShownPlacementEvents</name>
    <message>
        <source>The events could not be written to “%1”: %2.</source>
        <translation>Die Ereignisse konnten nicht nach „%1“ geschrieben werden: %2.</translation>
    </message>
</context>
<context>
    <name>SidePanel</name>
    <message>
        <source>Conversations and pages</source>
        <translation>Gespräche und Seiten</translation>
    </message>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>Einstellungen</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>Protokoll</translation>
    </message>
    <message>
        <source>About</source>
        <translation>Über Spillway</translation>
    </message>
    <message>
        <source>Experiments</source>
        <translation>Experimente</translation>
    </message>
    <message>
        <source>Local server</source>
        <translation>Lokaler Server</translation>
    </message>
    <message>
        <source>A model is being fetched</source>
        <translation>Ein Modell wird geholt</translation>
    </message>
    <message>
        <source>A model could not be fetched</source>
        <translation>Ein Modell konnte nicht geholt werden</translation>
    </message>
    <message>
        <source>A model waits to be fetched</source>
        <translation>Ein Modell wartet darauf, geholt zu werden</translation>
    </message>
</context>
<context>
    <name>SliderRow</name>
    <message>
        <source>%1: %2</source>
        <translation>%1: %2</translation>
    </message>
</context>
<context>
    <name>SpeedHere</name>
    <message>
        <source>%1 of %2 layers on the device</source>
        <translation>%1 von %2 Schichten auf dem Gerät</translation>
    </message>
    <message>
        <source>the first block leaves it at %1 tokens</source>
        <translation>der erste Block verlässt es bei %1 Token</translation>
    </message>
    <message>
        <source>finds no room</source>
        <translation>findet keinen Platz</translation>
    </message>
    <message>
        <source>beyond its context</source>
        <translation>über seinem Kontext</translation>
    </message>
    <message>
        <source>Foretold speed here</source>
        <translation>Vorhergesagtes Tempo hier</translation>
    </message>
    <message>
        <source>After %1 tokens</source>
        <translation>Nach %1 Token</translation>
    </message>
    <message>
        <source>Measuring this machine</source>
        <translation>Dieser Rechner wird gemessen</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>Anhalten</translation>
    </message>
    <message>
        <source>Try its speed now</source>
        <translation>Tempo jetzt ausprobieren</translation>
    </message>
    <message>
        <source>A model of the same size is being made…</source>
        <translation>Ein gleich großes Modell wird erzeugt…</translation>
    </message>
    <message>
        <source>It runs…</source>
        <translation>Es läuft…</translation>
    </message>
    <message>
        <source>Measured here: %1</source>
        <translation>Hier gemessen: %1</translation>
    </message>
    <message>
        <source>Trying its speed</source>
        <translation>Tempo wird ausprobiert</translation>
    </message>
    <message>
        <source>Making a model</source>
        <translation>Ein Modell wird erzeugt</translation>
    </message>
    <message>
        <source>Fits on the device: attention and %1 of the experts</source>
        <translation>Auf das Gerät passen: Attention und %1 der Experten</translation>
    </message>
    <message>
        <source>A made model of the same size, %1, is written to the disk for it and runs here for some seconds. Nothing is fetched.</source>
        <translation>Ein erzeugtes, gleich großes Modell, %1, wird dafür auf den Datenträger geschrieben und läuft hier einige Sekunden lang. Geholt wird nichts.</translation>
    </message>
    <message>
        <source>This machine is being measured…</source>
        <translation>Dieser Rechner wird gemessen…</translation>
    </message>
</context>
<context>
    <name>SpeedSection</name>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>Measured</source>
        <translation>Gemessen</translation>
    </message>
    <message>
        <source>Predicted</source>
        <translation>Vorhergesagt</translation>
    </message>
    <message>
        <source>Tokens per second over context length</source>
        <translation>Token pro Sekunde über der Kontextlänge</translation>
    </message>
    <message>
        <source>%1 at %2 tokens</source>
        <translation>%1 bei %2 Token</translation>
    </message>
    <message>
        <source>The first block leaves at %1 tokens</source>
        <translation>Der erste Block geht bei %1 Token</translation>
    </message>
    <message>
        <source>This answer</source>
        <translation>Diese Antwort</translation>
    </message>
    <message>
        <source>Earlier</source>
        <translation>Frühere</translation>
    </message>
    <message>
        <source>Full context</source>
        <translation>Ganzer Kontext</translation>
    </message>
    <message>
        <source>Spill point</source>
        <translation>Überlaufpunkt</translation>
    </message>
    <message>
        <source>First token</source>
        <translation>Erstes Token</translation>
    </message>
    <message>
        <source>Time from sending to the first word (TTFT); the bars are the answers before</source>
        <translation>Zeit vom Senden bis zum ersten Wort (TTFT); die Balken sind die Antworten davor</translation>
    </message>
    <message>
        <source>Per token</source>
        <translation>Je Token</translation>
    </message>
    <message>
        <source>half %1, 99 % %2</source>
        <translation>Hälfte %1, 99 % %2</translation>
    </message>
    <message>
        <source>Time per written token (TPOT): the mean, and what half and 99 % of the tokens stay below</source>
        <translation>Zeit je geschriebenem Token (TPOT): das Mittel, und worunter die Hälfte und 99 % der Token bleiben</translation>
    </message>
    <message>
        <source>Reading</source>
        <translation>Lesen</translation>
    </message>
    <message>
        <source>Tokens of the prompt read per second (prefill)</source>
        <translation>Gelesene Token der Frage pro Sekunde (Prefill)</translation>
    </message>
    <message>
        <source>Measured earlier</source>
        <translation>Früher gemessen</translation>
    </message>
    <message>
        <source>Choose below what is drawn here</source>
        <translation>Unten wählen, was hier gezeichnet wird</translation>
    </message>
    <message>
        <source>The next answer draws its speed here</source>
        <translation>Die nächste Antwort zeichnet hier ihr Tempo</translation>
    </message>
    <message>
        <source>KV to RAM</source>
        <translation>KV in den RAM</translation>
    </message>
    <message>
        <source>KV to the device</source>
        <translation>KV auf das Gerät</translation>
    </message>
    <message>
        <source>Layers or experts moved</source>
        <translation>Schichten oder Experten verlegt</translation>
    </message>
</context>
<context>
    <name>SpeedTrial</name>
    <message>
        <source>Something else is being computed. Try it when that has ended.</source>
        <translation>Gerade wird etwas anderes gerechnet. Der Versuch geht, wenn das zu Ende ist.</translation>
    </message>
    <message>
        <source>It takes %1 of memory beside what is open, and %2 are free: it is not tried.</source>
        <translation>Es braucht %1 Speicher neben dem, was offen ist, und %2 sind frei: Es wird nicht versucht.</translation>
    </message>
    <message>
        <source>spillway-cli could not be started.</source>
        <translation>spillway-cli konnte nicht gestartet werden.</translation>
    </message>
    <message>
        <source>The process crashed.</source>
        <translation>Der Prozess ist abgestürzt.</translation>
    </message>
    <message>
        <source>It ended and gave no reason.</source>
        <translation>Es endete ohne Angabe eines Grundes.</translation>
    </message>
    <message>
        <source>It could not run: %1.</source>
        <translation>Es konnte nicht laufen (%1).</translation>
    </message>
    <message>
        <source>It printed something that is no measurement.</source>
        <translation>Ausgegeben wurde etwas, das keine Messung ist.</translation>
    </message>
    <message numerus="yes">
        <source>It was not loaded and measured within %n second(s), and was ended.</source>
        <translation>
            <numerusform>Es wurde binnen %n Sekunde nicht geladen und gemessen und deshalb beendet.</numerusform>
            <numerusform>Es wurde binnen %n Sekunden nicht geladen und gemessen und deshalb beendet.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SplitPreview</name>
    <message>
        <source>Memory of the device</source>
        <translation>Speicher des Geräts</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 von %2</translation>
    </message>
    <message>
        <source>First block leaves at</source>
        <translation>Erster Block geht bei</translation>
    </message>
    <message>
        <source>never</source>
        <translation>nie</translation>
    </message>
    <message>
        <source>%1 tokens</source>
        <translation>%1 Token</translation>
    </message>
    <message>
        <source>Largest context</source>
        <translation>Größter Kontext</translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s): only %1 of them fit</source>
        <translation>
            <numerusform>%n Schicht: nur %1 davon passt</numerusform>
            <numerusform>%n Schichten: nur %1 davon passen</numerusform>
        </translation>
    </message>
    <message>
        <source>Nothing on the device</source>
        <translation>Nichts auf dem Gerät</translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s) on the device</source>
        <translation>
            <numerusform>%n Schicht auf dem Gerät</numerusform>
            <numerusform>%n Schichten auf dem Gerät</numerusform>
        </translation>
    </message>
    <message>
        <source>Predicted speed</source>
        <translation>Erwartetes Tempo</translation>
    </message>
    <message>
        <source>Predicted speed when full</source>
        <translation>Erwartetes Tempo, wenn voll</translation>
    </message>
    <message>
        <source>Corrected by this model&apos;s answers: %1 % of what the machine&apos;s rates promise</source>
        <translation>Berichtigt nach den Antworten dieses Modells: %1 % dessen, was die Messwerte des Rechners versprechen</translation>
    </message>
    <message>
        <source>States of fixed size in it</source>
        <translation>Davon Zustände fester Größe</translation>
    </message>
    <message>
        <source>Experts kept in RAM</source>
        <translation>Experten im RAM</translation>
    </message>
    <message>
        <source>none</source>
        <translation>keine</translation>
    </message>
    <message numerus="yes">
        <source>of %n layer(s)</source>
        <translation>
            <numerusform>von %n Schicht</numerusform>
            <numerusform>von %n Schichten</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>StartModel</name>
    <message>
        <source>Spillway ended while it was loading “%1”. The guide is open instead.</source>
        <translation>Spillway ist beim Laden von „%1“ abgebrochen. Stattdessen ist der Helfer geöffnet.</translation>
    </message>
    <message>
        <source>Spillway ended while it was loading “%1”, so it was not opened again.</source>
        <translation>Spillway ist beim Laden von „%1“ abgebrochen; es wurde daher nicht wieder geöffnet.</translation>
    </message>
    <message>
        <source>“%1”, which was open last, is not there any more.</source>
        <translation>„%1“, zuletzt geöffnet, ist nicht mehr da.</translation>
    </message>
</context>
<context>
    <name>StatusLine</name>
    <message>
        <source>Reading %1 of %2 tokens</source>
        <translation>Liest %1 von %2 Token</translation>
    </message>
    <message>
        <source>Reading</source>
        <translation>Liest</translation>
    </message>
    <message>
        <source>Answering</source>
        <translation>Antwortet</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>Hält an</translation>
    </message>
    <message>
        <source>First token</source>
        <translation>Erstes Token</translation>
    </message>
    <message>
        <source>Time from sending to the first word (TTFT)</source>
        <translation>Zeit vom Senden bis zum ersten Wort (TTFT)</translation>
    </message>
    <message>
        <source>Speed</source>
        <translation>Tempo</translation>
    </message>
    <message>
        <source>Tokens written per second (TPS)</source>
        <translation>Geschriebene Token je Sekunde (TPS)</translation>
    </message>
</context>
<context>
    <name>SystemPromptBox</name>
    <message>
        <source>For example: answer in short sentences.</source>
        <translation>Zum Beispiel: Antworte in kurzen Sätzen.</translation>
    </message>
    <message>
        <source>System prompt</source>
        <translation>Systemanweisung</translation>
    </message>
</context>
<context>
    <name>TemplateArgumentModel</name>
    <message>
        <source>Default</source>
        <translation>Vorgabe</translation>
    </message>
</context>
<context>
    <name>TemplateArgumentRow</name>
    <message>
        <source>default</source>
        <translation>Vorgabe</translation>
    </message>
</context>
<context>
    <name>TemplateArguments</name>
    <message>
        <source>On</source>
        <translation>An</translation>
    </message>
    <message>
        <source>Off</source>
        <translation>Aus</translation>
    </message>
    <message>
        <source>Whether the model thinks before it answers.</source>
        <translation>Ob das Modell nachdenkt, bevor es antwortet.</translation>
    </message>
    <message>
        <source>Whether the model reads its earlier thoughts again.</source>
        <translation>Ob das Modell seine früheren Gedanken wieder liest.</translation>
    </message>
    <message>
        <source>Thinking</source>
        <translation>Nachdenken</translation>
    </message>
    <message>
        <source>When needed</source>
        <translation>Bei Bedarf</translation>
    </message>
    <message>
        <source>Thinking effort</source>
        <translation>Gründlichkeit des Nachdenkens</translation>
    </message>
    <message>
        <source>How long the model thinks before it answers.</source>
        <translation>Wie lange das Modell nachdenkt, bevor es antwortet.</translation>
    </message>
    <message>
        <source>Low</source>
        <translation>Wenig</translation>
    </message>
    <message>
        <source>Medium</source>
        <translation>Mittel</translation>
    </message>
    <message>
        <source>High</source>
        <translation>Viel</translation>
    </message>
    <message>
        <source>Most</source>
        <translation>Am meisten</translation>
    </message>
    <message>
        <source>Thinking budget</source>
        <translation>Umfang des Nachdenkens</translation>
    </message>
    <message>
        <source>Tokens the model may think. 0: it does not think.</source>
        <translation>Token, die das Modell nachdenken darf. 0: es denkt nicht nach.</translation>
    </message>
    <message>
        <source>Keep thoughts</source>
        <translation>Gedanken behalten</translation>
    </message>
    <message>
        <source>Skip thinking</source>
        <translation>Nachdenken überspringen</translation>
    </message>
    <message>
        <source>Whether the model leaves its thoughts out.</source>
        <translation>Ob das Modell seine Gedanken weglässt.</translation>
    </message>
    <message>
        <source>Identity</source>
        <translation>Wesen</translation>
    </message>
    <message>
        <source>Who the model says it is.</source>
        <translation>Als wer sich das Modell ausgibt.</translation>
    </message>
    <message>
        <source>Date</source>
        <translation>Datum</translation>
    </message>
    <message>
        <source>The day the model takes for today.</source>
        <translation>Der Tag, den das Modell für heute hält.</translation>
    </message>
    <message>
        <source>The day and time the model takes for now.</source>
        <translation>Tag und Uhrzeit, die das Modell für jetzt hält.</translation>
    </message>
    <message>
        <source>An argument of this model&apos;s chat template.</source>
        <translation>Ein Argument der Gesprächsvorlage dieses Modells.</translation>
    </message>
</context>
<context>
    <name>TopBar</name>
    <message>
        <source>Theme: as the desktop</source>
        <translation>Farben: wie der Desktop</translation>
    </message>
    <message>
        <source>Theme: light</source>
        <translation>Farben: hell</translation>
    </message>
    <message>
        <source>Theme: dark</source>
        <translation>Farben: dunkel</translation>
    </message>
    <message>
        <source>Model and window</source>
        <translation>Modell und Fenster</translation>
    </message>
    <message>
        <source>Hide the conversations</source>
        <translation>Gespräche ausblenden</translation>
    </message>
    <message>
        <source>Show the conversations</source>
        <translation>Gespräche zeigen</translation>
    </message>
    <message>
        <source>Open…</source>
        <translation>Öffnen…</translation>
    </message>
    <message>
        <source>Open a model</source>
        <translation>Modell öffnen</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>Neues Gespräch</translation>
    </message>
    <message>
        <source>Conversation settings</source>
        <translation>Einstellungen des Gesprächs</translation>
    </message>
    <message>
        <source>Ctrl+.</source>
        <translation>Strg+.</translation>
    </message>
    <message>
        <source>Hide memory pressure</source>
        <translation>Speicherdruck ausblenden</translation>
    </message>
    <message>
        <source>Show memory pressure</source>
        <translation>Speicherdruck zeigen</translation>
    </message>
    <message>
        <source>The local server answers a program at %1</source>
        <translation>Der lokale Server antwortet einem Programm an %1</translation>
    </message>
    <message>
        <source>The local server is on: programs reach it at %1</source>
        <translation>Der lokale Server ist ein: Programme erreichen ihn an %1</translation>
    </message>
</context>
<context>
    <name>TryDevice</name>
    <message>
        <source>Try it with a small graphics memory</source>
        <translation>Mit kleinem Grafikspeicher ausprobieren</translation>
    </message>
    <message>
        <source>Do not offer this again</source>
        <translation>Nicht mehr anbieten</translation>
    </message>
    <message>
        <source>An emulated one, made of RAM. It shows what happens when a conversation outgrows it.</source>
        <translation>Ein emulierter Grafikspeicher, aus RAM gemacht. Er zeigt, was geschieht, wenn ein Gespräch darüber hinauswächst.</translation>
    </message>
    <message>
        <source>The emulated memory is too small for even one layer of this model: the CPU computes all of them. The panel “Memory pressure” can give it more.</source>
        <translation>Der emulierte Speicher ist selbst für eine Schicht dieses Modells zu klein: Die CPU berechnet alle. In der Leiste „Speicherdruck“ lässt er sich vergrößern.</translation>
    </message>
    <message>
        <source>The emulated memory has room for all that this model remembers: nothing will have to leave it. The panel “Memory pressure” can make it smaller.</source>
        <translation>Der emulierte Speicher hat Platz für alles, was dieses Modell sich merkt: Nichts wird ihn verlassen müssen. In der Leiste „Speicherdruck“ lässt er sich verkleinern.</translation>
    </message>
    <message>
        <source>The emulated memory has room for about %1 tokens. Ask, and watch the panel “Memory pressure”: when the memory is full, the oldest blocks leave and the speed falls.</source>
        <translation>Der emulierte Speicher hat Platz für etwa %1 Token. Etwas fragen und in der Leiste „Speicherdruck“ zusehen: Ist er voll, gehen die ältesten Blöcke, und es wird langsamer.</translation>
    </message>
    <message>
        <source>The emulated memory has room for about %1 tokens. Ask, and watch the panel “Memory pressure”: when the memory is full, the answer stops, for the policy is “resident”.</source>
        <translation>Der emulierte Speicher hat Platz für etwa %1 Token. Etwas fragen und in der Leiste „Speicherdruck“ zusehen: Ist er voll, endet die Antwort, denn so will es die Strategie „Resident“.</translation>
    </message>
    <message>
        <source>Ask, and watch the panel “Memory pressure”: when the emulated memory is full, the oldest blocks leave and the speed falls.</source>
        <translation>Etwas fragen und in der Leiste „Speicherdruck“ zusehen: Ist der emulierte Speicher voll, gehen die ältesten Blöcke, und es wird langsamer.</translation>
    </message>
</context>
<context>
    <name>TurnRunner</name>
    <message>
        <source>The model was closed before this could be answered.</source>
        <translation>Das Modell wurde geschlossen, bevor dies beantwortet werden konnte.</translation>
    </message>
</context>
<context>
    <name>VersionSwitch</name>
    <message>
        <source>Version %1 of %2</source>
        <translation>Fassung %1 von %2</translation>
    </message>
    <message>
        <source>Previous version</source>
        <translation>Vorige Fassung</translation>
    </message>
    <message>
        <source>Alt+Left</source>
        <translation>Alt+Links</translation>
    </message>
    <message>
        <source>%1/%2</source>
        <translation>%1/%2</translation>
    </message>
    <message>
        <source>Next version</source>
        <translation>Nächste Fassung</translation>
    </message>
    <message>
        <source>Alt+Right</source>
        <translation>Alt+Rechts</translation>
    </message>
    <message>
        <source>Compare the versions side by side</source>
        <translation>Die Fassungen nebeneinander vergleichen</translation>
    </message>
</context>
<context>
    <name>VersionsMenu</name>
    <message>
        <source>%1 versions side by side</source>
        <translation>%1 Fassungen nebeneinander</translation>
    </message>
</context>
<context>
    <name>WaitingDots</name>
    <message>
        <source>Waiting for the first word</source>
        <translation>Wartet auf das erste Wort</translation>
    </message>
</context>
<context>
    <name>YieldSection</name>
    <message>
        <source>When another program needs the device</source>
        <translation>Wenn ein anderes Programm das Gerät braucht</translation>
    </message>
    <message>
        <source>Grow back</source>
        <translation>Wieder wachsen</translation>
    </message>
    <message>
        <source>Shrink to %1</source>
        <translation>Auf %1 schrumpfen</translation>
    </message>
    <message>
        <source>Nothing is on the device</source>
        <translation>Nichts ist auf dem Gerät</translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s), no block ever leaves</source>
        <translation>
            <numerusform>%n Schicht, kein Block muss je weichen</numerusform>
            <numerusform>%n Schichten, kein Block muss je weichen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s), the first block leaves at %1 tokens</source>
        <translation>
            <numerusform>%n Schicht, der erste Block weicht bei %1 Token</numerusform>
            <numerusform>%n Schichten, der erste Block weicht bei %1 Token</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>main</name>
    <message>
        <source>Spillway is running already and does not answer. End it, or wait until it does.</source>
        <translation>Spillway läuft schon und antwortet nicht. Bitte beenden oder warten, bis es antwortet.</translation>
    </message>
</context>
</TS>
