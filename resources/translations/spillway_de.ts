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
        <translation>Freie Software: Sie dürfen sie unter der GNU General Public License, Version 3 oder später, benutzen, untersuchen, weitergeben und verändern. Sie kommt ohne jede Gewähr.</translation>
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
    <name>Attachments</name>
    <message>
        <source>“%1” is a folder; choose the files in it.</source>
        <translation>„%1“ ist ein Ordner; wählen Sie die Dateien darin.</translation>
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
    <name>CatalogueController</name>
    <message>
        <source>Only folders on this computer can be looked into.</source>
        <translation>Nur Ordner dieses Rechners lassen sich durchsuchen.</translation>
    </message>
    <message>
        <source>The file of “%1” is not there any more.</source>
        <translation>Die Datei von „%1“ ist nicht mehr da.</translation>
    </message>
    <message>
        <source>The folder could not be shown.</source>
        <translation>Der Ordner ließ sich nicht anzeigen.</translation>
    </message>
    <message numerus="yes">
        <source>%n unfinished download(s)</source>
        <translation>
            <numerusform>%n unvollständiger Download</numerusform>
            <numerusform>%n unvollständige Downloads</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n could not be read</source>
        <translation>
            <numerusform>%n ließ sich nicht lesen</numerusform>
            <numerusform>%n ließen sich nicht lesen</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n entry(s) without a model</source>
        <translation>
            <numerusform>%n Eintrag ohne Modell</numerusform>
            <numerusform>%n Einträge ohne Modell</numerusform>
        </translation>
    </message>
    <message>
        <source>too large to look through completely</source>
        <translation>zu groß, um ganz durchsucht zu werden</translation>
    </message>
</context>
<context>
    <name>ChatController</name>
    <message>
        <source>The model is still loading.</source>
        <translation>Das Modell wird noch geladen.</translation>
    </message>
    <message>
        <source>Open a model first.</source>
        <translation>Öffnen Sie zuerst ein Modell.</translation>
    </message>
    <message>
        <source>The answer is being stopped.</source>
        <translation>Die Antwort wird angehalten.</translation>
    </message>
    <message>
        <source>The model is still answering.</source>
        <translation>Das Modell antwortet noch.</translation>
    </message>
</context>
<context>
    <name>ChatPage</name>
    <message>
        <source>Try again</source>
        <translation>Noch einmal</translation>
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
        <source>Message</source>
        <translation>Nachricht</translation>
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
</context>
<context>
    <name>ConfirmDialog</name>
    <message>
        <source>Cancel</source>
        <translation>Abbrechen</translation>
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
        <source>there is no room for a backup before the database is brought up to date</source>
        <translation>für eine Sicherung vor der Aktualisierung der Datenbank ist kein Platz</translation>
    </message>
    <message>
        <source>the folder %1 cannot be made</source>
        <translation>der Ordner %1 lässt sich nicht anlegen</translation>
    </message>
    <message>
        <source>The conversations were kept by a newer version of Spillway; they are left as they are, and new ones will be gone when the program ends.</source>
        <translation>Die Gespräche stammen von einer neueren Fassung von Spillway; sie bleiben, wie sie sind, und neue sind fort, wenn das Programm endet.</translation>
    </message>
</context>
<context>
    <name>DropOverlay</name>
    <message>
        <source>Drop the model to open it</source>
        <translation>Modell hier ablegen, um es zu öffnen</translation>
    </message>
</context>
<context>
    <name>EmptyState</name>
    <message>
        <source>Talk to a model on your own computer</source>
        <translation>Mit einem Modell auf dem eigenen Rechner sprechen</translation>
    </message>
    <message>
        <source>Spillway runs GGUF models: Llama, Mistral, Qwen, Gemma, Phi, gpt-oss and their kin. Nothing you type leaves this machine.</source>
        <translation>Spillway führt GGUF-Modelle aus: Llama, Mistral, Qwen, Gemma, Phi, gpt-oss und ihre Verwandten. Nichts, was Sie schreiben, verlässt diesen Rechner.</translation>
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
        <translation>Threads, die rechnen. Mehr als der Rechner Kerne hat machen ihn langsamer.</translation>
    </message>
    <message>
        <source>One per core</source>
        <translation>Einer je Kern</translation>
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
        <source>What happens</source>
        <translation>Was geschieht</translation>
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
    <name>MessageDelegate</name>
    <message>
        <source>You</source>
        <translation>Sie</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>Modell</translation>
    </message>
</context>
<context>
    <name>MessageFooter</name>
    <message>
        <source>Stopped</source>
        <translation>Angehalten</translation>
    </message>
    <message>
        <source>Length limit reached</source>
        <translation>Längengrenze erreicht</translation>
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
        <source>first after %1</source>
        <translation>erstes nach %1</translation>
    </message>
    <message>
        <source>The context is full, so the answer stops here.</source>
        <translation>Der Kontext ist voll, daher endet die Antwort hier.</translation>
    </message>
    <message>
        <source>New conversation</source>
        <translation>Neues Gespräch</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>Noch einmal</translation>
    </message>
    <message>
        <source>Copied</source>
        <translation>Kopiert</translation>
    </message>
    <message>
        <source>Copy the answer</source>
        <translation>Antwort kopieren</translation>
    </message>
    <message>
        <source>Answer again</source>
        <translation>Noch einmal antworten</translation>
    </message>
</context>
<context>
    <name>MessageList</name>
    <message>
        <source>Conversation</source>
        <translation>Gespräch</translation>
    </message>
    <message>
        <source>Jump to the latest</source>
        <translation>Zum Neuesten springen</translation>
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
        <source>Full context (f16)</source>
        <translation>Voller Kontext (f16)</translation>
    </message>
    <message>
        <source>The answer being written stops when this model is loaded. What is there of it stays.</source>
        <translation>Die laufende Antwort endet, wenn dieses Modell geladen wird. Was davon da ist, bleibt.</translation>
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
</context>
<context>
    <name>ModelController</name>
    <message>
        <source>Only files on this computer can be opened.</source>
        <translation>Nur Dateien auf diesem Rechner lassen sich öffnen.</translation>
    </message>
    <message>
        <source>Drop one model file at a time. For a model in several parts, the first part is enough.</source>
        <translation>Legen Sie eine Modelldatei auf einmal ab. Bei einem Modell in mehreren Teilen genügt der erste.</translation>
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
        <translation>Ein anderes Modell wird gerade geladen. Brechen Sie das zuerst ab.</translation>
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
</context>
<context>
    <name>Notice</name>
    <message>
        <source>Dismiss</source>
        <translation>Ausblenden</translation>
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
        <translation>„%1“ ist eingebaut; wählen Sie einen anderen Namen.</translation>
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
        <translation>Dieses Modell hat keine Gesprächsvorlage: Es setzt Ihren Text fort. Schreiben Sie den Anfang von etwas.</translation>
    </message>
    <message>
        <source>It remembers %1 tokens of conversation.</source>
        <translation>Es behält %1 Token des Gesprächs.</translation>
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
    <name>SettingsController</name>
    <message>
        <source>The settings in %1 cannot be read, so those from the factory are used.</source>
        <translation>Die Einstellungen in %1 lassen sich nicht lesen; es gelten die Vorgaben.</translation>
    </message>
    <message>
        <source>Parts of the settings in %1 make no sense and are not used.</source>
        <translation>Teile der Einstellungen in %1 ergeben keinen Sinn und werden nicht benutzt.</translation>
    </message>
    <message>
        <source>%1 cannot be written: what you choose holds until Spillway is closed.</source>
        <translation>%1 lässt sich nicht schreiben: Was Sie wählen, gilt, bis Spillway geschlossen wird.</translation>
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
        <source>Which model is there when Spillway starts. The guide is small and comes with it.</source>
        <translation>Welches Modell da ist, wenn Spillway startet. Der Helfer ist klein und liegt bei.</translation>
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
        <source>Spillway uses no network: it downloads nothing, sends nothing, and looks for no updates. What you type and what is answered stays on this computer, in %1. It is never written to the log.</source>
        <translation>Spillway benutzt kein Netz: Es lädt nichts herunter, sendet nichts und sucht keine Aktualisierungen. Was Sie schreiben und was geantwortet wird, bleibt auf diesem Rechner, in %1. Ins Protokoll kommt es nie.</translation>
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
        <source>What happens</source>
        <translation>Was geschieht</translation>
    </message>
    <message>
        <source>Warnings</source>
        <translation>Warnungen</translation>
    </message>
    <message>
        <source>Errors</source>
        <translation>Fehler</translation>
    </message>
</context>
<context>
    <name>Shell</name>
    <message>
        <source>Models</source>
        <translation>Modelle</translation>
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
        <source>Stop the answer; leave a page</source>
        <translation>Antwort anhalten; Seite verlassen</translation>
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
    <name>TemplateArgumentModel</name>
    <message>
        <source>Default</source>
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
</context>
<context>
    <name>WaitingDots</name>
    <message>
        <source>Waiting for the first word</source>
        <translation>Wartet auf das erste Wort</translation>
    </message>
</context>
<context>
    <name>main</name>
    <message>
        <source>Spillway is running already and does not answer. End it, or wait until it does.</source>
        <translation>Spillway läuft schon und antwortet nicht. Beenden Sie es, oder warten Sie, bis es antwortet.</translation>
    </message>
</context>
</TS>
