<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en" sourcelanguage="en">
<context>
    <name>AttachmentModel</name>
    <message numerus="yes">
        <source>A message takes %n files at most.</source>
        <translation>
            <numerusform>A message takes %n file at most.</numerusform>
            <numerusform>A message takes %n files at most.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ModelEntry</name>
    <message numerus="yes">
        <source>%n of its %1 parts are missing.</source>
        <translation>
            <numerusform>%n of its %1 parts is missing.</numerusform>
            <numerusform>%n of its %1 parts are missing.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>PresetModel</name>
    <message numerus="yes">
        <source>A preset&apos;s name has %n characters at most.</source>
        <translation>
            <numerusform>A preset&apos;s name has %n character at most.</numerusform>
            <numerusform>A preset&apos;s name has %n characters at most.</numerusform>
        </translation>
    </message>
</context>
</TS>
