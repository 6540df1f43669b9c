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
    <name>ConversationRow</name>
    <message numerus="yes">
        <source>%1, open folder of %n conversation(s)</source>
        <translation>
            <numerusform>%1, open folder of %n conversation</numerusform>
            <numerusform>%1, open folder of %n conversations</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1, closed folder of %n conversation(s)</source>
        <translation>
            <numerusform>%1, closed folder of %n conversation</numerusform>
            <numerusform>%1, closed folder of %n conversations</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ConversationsController</name>
    <message numerus="yes">
        <source>%n conversation(s) had been here already.</source>
        <translation>
            <numerusform>%n conversation was here already.</numerusform>
            <numerusform>%n conversations were here already.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n part(s) were left out: pictures, files, tool calls or what is damaged.</source>
        <translation>
            <numerusform>%n part was left out: a picture, a file, a tool call or something damaged.</numerusform>
            <numerusform>%n parts were left out: pictures, files, tool calls or what is damaged.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n file(s) were not read.</source>
        <translation>
            <numerusform>%n file was not read.</numerusform>
            <numerusform>%n files were not read.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>DeleteDialog</name>
    <message numerus="yes">
        <source>%n file(s) go for good, %1: %2.</source>
        <translation>
            <numerusform>%n file goes for good, %1: %2.</numerusform>
            <numerusform>%n files go for good, %1: %2.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Doctor</name>
    <message numerus="yes">
        <source>RAM is full at %Ln token(s), but the context is set to more.</source>
        <translation>
            <numerusform>RAM is full at %Ln token, but the context is set to more.</numerusform>
            <numerusform>RAM is full at %Ln tokens, but the context is set to more.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The device is full at %Ln token(s), and the policy “resident” lets nothing leave it: the answer will stop there.</source>
        <translation>
            <numerusform>The device is full at %Ln token, and the policy “resident” lets nothing leave it: the answer will stop there.</numerusform>
            <numerusform>The device is full at %Ln tokens, and the policy “resident” lets nothing leave it: the answer will stop there.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The weights take %1, and the device has room for %2 beside KV and screen: %n layer(s) are computed by the CPU.</source>
        <translation>
            <numerusform>The weights take %1, and the device has room for %2 beside KV and screen: %n layer is computed by the CPU.</numerusform>
            <numerusform>The weights take %1, and the device has room for %2 beside KV and screen: %n layers are computed by the CPU.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Other programs hold %1 of the device&apos;s memory: %n layer(s) find no room there.</source>
        <translation>
            <numerusform>Other programs hold %1 of the device&apos;s memory: %n layer finds no room there.</numerusform>
            <numerusform>Other programs hold %1 of the device&apos;s memory: %n layers find no room there.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>The first token waited %1 s, while %Ln token(s) of the prompt were read.</source>
        <translation>
            <numerusform>The first token waited %1 s, while %Ln token of the prompt was read.</numerusform>
            <numerusform>The first token waited %1 s, while %Ln tokens of the prompt were read.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Put %n layer(s) on the device</source>
        <translation>
            <numerusform>Put %n layer on the device</numerusform>
            <numerusform>Put %n layers on the device</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Use %n thread(s)</source>
        <translation>
            <numerusform>Use %n thread</numerusform>
            <numerusform>Use %n threads</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Load the model with a context of %Ln token(s)</source>
        <translation>
            <numerusform>Load the model with a context of %Ln token</numerusform>
            <numerusform>Load the model with a context of %Ln tokens</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s) on the CPU take %1 % of the time.</source>
        <translation>
            <numerusform>%n layer on the CPU takes %1 % of the time.</numerusform>
            <numerusform>%n layers on the CPU take %1 % of the time.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%Ln token(s) of the answer were guessed ahead.</source>
        <translation>
            <numerusform>%Ln token of the answer was guessed ahead.</numerusform>
            <numerusform>%Ln tokens of the answer were guessed ahead.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>That is without the %Ln token(s) that guessing ahead brought.</source>
        <translation>
            <numerusform>That is without the %Ln token that guessing ahead brought.</numerusform>
            <numerusform>That is without the %Ln tokens that guessing ahead brought.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>For %1 % of the time the CPU computes experts of %n layer(s), which are in RAM.</source>
        <translation>
            <numerusform>For %1 % of the time the CPU computes experts of %n layer, which are in RAM.</numerusform>
            <numerusform>For %1 % of the time the CPU computes experts of %n layers, which are in RAM.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>Keep the experts of %n layer(s) in RAM</source>
        <translation>
            <numerusform>Keep the experts of %n layer in RAM</numerusform>
            <numerusform>Keep the experts of %n layers in RAM</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>For %1 % of the time the CPU computes experts: %2 % of those that tokens choose have a copy on the device, which has room for %n of each layer.</source>
        <translation>
            <numerusform>For %1 % of the time the CPU computes experts: %2 % of those that tokens choose have a copy on the device, which has room for %n of each layer.</numerusform>
            <numerusform>For %1 % of the time the CPU computes experts: %2 % of those that tokens choose have a copy on the device, which has room for %n of each layer.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>For %1 % of the time the CPU computes experts of %n layer(s): KV has %2 of the device&apos;s memory, and they find no room.</source>
        <translation>
            <numerusform>For %1 % of the time the CPU computes experts of %n layer: KV has %2 of the device&apos;s memory, and they find no room.</numerusform>
            <numerusform>For %1 % of the time the CPU computes experts of %n layers: KV has %2 of the device&apos;s memory, and they find no room.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ExperimentsController</name>
    <message numerus="yes">
        <source>%1 and %n more</source>
        <translation>
            <numerusform>%1 and %n more</numerusform>
            <numerusform>%1 and %n more</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ExpertCopiesRow</name>
    <message numerus="yes">
        <source>%n expert(s) of each layer, %1</source>
        <translation>
            <numerusform>%n expert of each layer, %1</numerusform>
            <numerusform>%n experts of each layer, %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ExpertsRow</name>
    <message numerus="yes">
        <source>of %n layer(s)</source>
        <translation>
            <numerusform>of %n layer</numerusform>
            <numerusform>of %n layers</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>KvMapSection</name>
    <message numerus="yes">
        <source>%n token(s) to a block; point at one to see whose it is</source>
        <translation>
            <numerusform>%n token to a block; point at one to see whose it is</numerusform>
            <numerusform>%n tokens to a block; point at one to see whose it is</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n state(s) of fixed size, %1: %2, %3</source>
        <translation>
            <numerusform>%n state of fixed size, %1: %2, %3</numerusform>
            <numerusform>%n states of fixed size, %1: %2, %3</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>At the left: what %n layer(s) keep however long the conversation is, %1 in all</source>
        <translation>
            <numerusform>At the left: what %n layer keeps however long the conversation is, %1 in all</numerusform>
            <numerusform>At the left: what %n layers keep however long the conversation is, %1 in all</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>KvTypeRow</name>
    <message numerus="yes">
        <source>%1; %n layer(s) on the device, no block ever leaves</source>
        <translation>
            <numerusform>%1; %n layer on the device, no block ever leaves</numerusform>
            <numerusform>%1; %n layers on the device, no block ever leaves</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1; %n layer(s) on the device, the first block leaves at %2 tokens</source>
        <translation>
            <numerusform>%1; %n layer on the device, the first block leaves at %2 tokens</numerusform>
            <numerusform>%1; %n layers on the device, the first block leaves at %2 tokens</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>ModelDetails</name>
    <message numerus="yes">
        <source>%n of %1 layer(s) keep a state of fixed size beside their KV</source>
        <translation>
            <numerusform>%n of %1 layers keeps a state of fixed size beside its KV</numerusform>
            <numerusform>%n of %1 layers keep a state of fixed size beside their KV</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n of %1 layer(s) keep a state of fixed size</source>
        <translation>
            <numerusform>%n of %1 layers keeps a state of fixed size</numerusform>
            <numerusform>%n of %1 layers keep a state of fixed size</numerusform>
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
<context>
    <name>ServerCause</name>
    <message numerus="yes">
        <source>Its KV cache is full: within the last minute %n request(s) lost their place in it and are computed again. Fewer or shorter conversations at a time help, or more memory for KV there.</source>
        <translation>
            <numerusform>Its KV cache is full: within the last minute %n request lost its place in it and is computed again. Fewer or shorter conversations at a time help, or more memory for KV there.</numerusform>
            <numerusform>Its KV cache is full: within the last minute %n requests lost their place in it and are computed again. Fewer or shorter conversations at a time help, or more memory for KV there.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n request(s) wait for their turn there, so that an answer begins late. It helps where the server answers more at a time, or another server takes some.</source>
        <translation>
            <numerusform>%n request waits for its turn there, so that an answer begins late. It helps where the server answers more at a time, or another server takes some.</numerusform>
            <numerusform>%n requests wait for their turn there, so that an answer begins late. It helps where the server answers more at a time, or another server takes some.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>Servers</name>
    <message numerus="yes">
        <source>%n servers have this name and this model. The one that has the least to do answers; another one, when it cannot.</source>
        <translation>
            <numerusform>%n server has this name and this model. It answers.</numerusform>
            <numerusform>%n servers have this name and this model. The one that has the least to do answers; another one, when it cannot.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SpeedTrial</name>
    <message numerus="yes">
        <source>It was not loaded and measured within %n second(s), and was ended.</source>
        <translation>
            <numerusform>It was not loaded and measured within %n second, and was ended.</numerusform>
            <numerusform>It was not loaded and measured within %n seconds, and was ended.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>SplitPreview</name>
    <message numerus="yes">
        <source>%n layer(s): only %1 of them fit</source>
        <translation>
            <numerusform>%n layer: only %1 of them fits</numerusform>
            <numerusform>%n layers: only %1 of them fit</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s) on the device</source>
        <translation>
            <numerusform>%n layer on the device</numerusform>
            <numerusform>%n layers on the device</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>of %n layer(s)</source>
        <translation>
            <numerusform>of %n layer</numerusform>
            <numerusform>of %n layers</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>YieldSection</name>
    <message numerus="yes">
        <source>%n layer(s), no block ever leaves</source>
        <translation>
            <numerusform>%n layer, no block ever leaves</numerusform>
            <numerusform>%n layers, no block ever leaves</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n layer(s), the first block leaves at %1 tokens</source>
        <translation>
            <numerusform>%n layer, the first block leaves at %1 tokens</numerusform>
            <numerusform>%n layers, the first block leaves at %1 tokens</numerusform>
        </translation>
    </message>
</context>
</TS>
