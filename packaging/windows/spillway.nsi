; The installer: for the user who runs it, without administrator rights and without a network.
;   makensis -DVERSION=.. [-DWINDOW] -DLISTS=<folder of the lists> -DICON=.. -DLICENCE=.. -DOUTPUT=.. spillway.nsi
; Without WINDOW it has spillway-cli alone. Silent: /S [/GGUF] [/D=C:\folder]; it ends with 0, or 2 where it refuses.
Target amd64-unicode
Unicode true
RequestExecutionLevel user
ManifestDPIAware true
SetCompressor /SOLID lzma

!include MUI2.nsh
!include FileFunc.nsh
!include WordFunc.nsh
!include LogicLib.nsh
!include WinVer.nsh

Name "Spillway ${VERSION}"
OutFile "${OUTPUT}"
InstallDir "$LOCALAPPDATA\Programs\Spillway"
InstallDirRegKey HKCU "Software\Spillway" "Folder"
BrandingText " "

VIProductVersion "${VERSION}.0"
VIAddVersionKey ProductName "Spillway"
VIAddVersionKey ProductVersion "${VERSION}"
VIAddVersionKey FileVersion "${VERSION}"
VIAddVersionKey FileDescription "Installs Spillway"
VIAddVersionKey LegalCopyright "GPL-3.0-or-later"

!define UNINSTALL_KEY "Software\Microsoft\Windows\CurrentVersion\Uninstall\Spillway"
!define CLASS "Spillway.gguf"

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_ABORTWARNING
!ifdef WINDOW
    !define MUI_FINISHPAGE_RUN "$INSTDIR\bin\spillway.exe"
!endif
!insertmacro MUI_PAGE_LICENSE "${LICENCE}"
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_COMPONENTS
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"
!insertmacro MUI_LANGUAGE "German"

!macro SENTENCE NAME ENGLISH GERMAN
    LangString ${NAME} ${LANG_ENGLISH} "${ENGLISH}"
    LangString ${NAME} ${LANG_GERMAN} "${GERMAN}"
!macroend
!insertmacro SENTENCE OLD_WINDOWS \
    "Spillway needs Windows 10, version 1903, or later." \
    "Spillway braucht Windows 10, Version 1903, oder neuer."
!insertmacro SENTENCE NEWER_IS_THERE \
    "Spillway $0 is installed, which is newer than ${VERSION}. Remove it first; its conversations stay, but this version may be unable to open them." \
    "Spillway $0 ist installiert und neuer als ${VERSION}. Es muss zuerst entfernt werden; die Gespräche bleiben, doch diese Version kann sie womöglich nicht öffnen."
!insertmacro SENTENCE IT_RUNS \
    "Spillway is running. End it and try again." \
    "Spillway läuft und muss zuerst beendet werden."
!insertmacro SENTENCE ANOTHERS_FOLDER \
    "Another program is installed in $INSTDIR. Choose another folder." \
    "In $INSTDIR ist ein anderes Programm installiert. Bitte einen anderen Ordner wählen."
!insertmacro SENTENCE NOT_WRITTEN \
    "Not everything could be written to $INSTDIR. Choose another folder, or make room." \
    "Nach $INSTDIR konnte nicht alles geschrieben werden. Bitte einen anderen Ordner wählen oder Platz schaffen."
!insertmacro SENTENCE KEEP_DATA \
    "Remove everything in $LOCALAPPDATA\spillway, too: conversations, settings, and models that were fetched there? It cannot be brought back." \
    "Auch alles in $LOCALAPPDATA\spillway entfernen: Gespräche, Einstellungen und dorthin geholte Modelle? Es lässt sich nicht wiederherstellen."
!insertmacro SENTENCE PROGRAM_SECTION "Spillway" "Spillway"
!insertmacro SENTENCE MENU_SECTION "Entry in the Start menu" "Eintrag im Startmenü"
!insertmacro SENTENCE GGUF_SECTION "Open .gguf files with Spillway" ".gguf-Dateien mit Spillway öffnen"
!insertmacro SENTENCE GGUF_FILE "Language model" "Sprachmodell"

!macro REFUSE SENTENCE
    MessageBox MB_OK|MB_ICONSTOP "${SENTENCE}" /SD IDOK
    SetErrorLevel 2
    Quit
!macroend

; A program that runs cannot be written to.
!macro REFUSE_WHILE_IT_RUNS FOLDER
    ${For} $1 1 2
        StrCpy $2 "${FOLDER}\bin\spillway.exe"
        ${If} $1 == 2
            StrCpy $2 "${FOLDER}\bin\spillway-cli.exe"
        ${EndIf}
        ${If} ${FileExists} $2
            ClearErrors
            FileOpen $0 $2 a
            ${If} ${Errors}
                !insertmacro REFUSE $(IT_RUNS)
            ${EndIf}
            FileClose $0
        ${EndIf}
    ${Next}
!macroend

; Its own uninstaller knows a version's files; its conversations and what Windows was told of it stay.
!macro REMOVE_VERSION_IN FOLDER
    ExecWait '"${FOLDER}\Uninstall.exe" /S /UPGRADE _?=${FOLDER}'
!macroend

!macro TELL_EXPLORER ; that the kinds of files have changed
    System::Call 'shell32::SHChangeNotify(i 0x8000000, i 0, p 0, p 0)'
!macroend

; ---- installing ----

Section "$(PROGRAM_SECTION)" PROGRAM_ID
    SectionIn RO
    ReadRegStr $3 HKCU "Software\Spillway" "Folder" ; where a version was installed before
    !insertmacro REFUSE_WHILE_IT_RUNS $INSTDIR
    ${If} $3 != ""
        !insertmacro REFUSE_WHILE_IT_RUNS $3
    ${EndIf}
    ; What an older version left out or put elsewhere must not stay.
    ${If} ${FileExists} "$INSTDIR\Uninstall.exe"
        ${IfNot} ${FileExists} "$INSTDIR\bin\spillway-cli.exe"
        ${AndIf} $3 != $INSTDIR ; else an installation of ours was broken off
            !insertmacro REFUSE $(ANOTHERS_FOLDER)
        ${EndIf}
        !insertmacro REMOVE_VERSION_IN $INSTDIR
    ${EndIf}
    ${If} $3 != $INSTDIR
    ${AndIf} ${FileExists} "$3\Uninstall.exe"
    ${AndIf} ${FileExists} "$3\bin\spillway-cli.exe"
        !insertmacro REMOVE_VERSION_IN $3
        Delete "$3\Uninstall.exe"
        RMDir $3
    ${EndIf}

    ClearErrors
    !include "${LISTS}/install.nsh"
    SetOutPath $INSTDIR
    WriteUninstaller "$INSTDIR\Uninstall.exe"
    ${If} ${Errors}
        !insertmacro REFUSE $(NOT_WRITTEN)
    ${EndIf}

    WriteRegStr HKCU "Software\Spillway" "Folder" $INSTDIR
    WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayName" "Spillway"
    WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayVersion" "${VERSION}"
    WriteRegStr HKCU "${UNINSTALL_KEY}" "DisplayIcon" "$INSTDIR\Uninstall.exe"
    WriteRegStr HKCU "${UNINSTALL_KEY}" "Publisher" "Spillway"
    WriteRegStr HKCU "${UNINSTALL_KEY}" "InstallLocation" $INSTDIR
    WriteRegStr HKCU "${UNINSTALL_KEY}" "UninstallString" '"$INSTDIR\Uninstall.exe"'
    WriteRegStr HKCU "${UNINSTALL_KEY}" "QuietUninstallString" '"$INSTDIR\Uninstall.exe" /S'
    WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoModify" 1
    WriteRegDWORD HKCU "${UNINSTALL_KEY}" "NoRepair" 1
    SectionGetSize ${PROGRAM_ID} $0
    WriteRegDWORD HKCU "${UNINSTALL_KEY}" "EstimatedSize" $0
SectionEnd

!ifdef WINDOW
Section "$(MENU_SECTION)"
    CreateShortcut "$SMPROGRAMS\Spillway.lnk" "$INSTDIR\bin\spillway.exe"
SectionEnd

Section /o "$(GGUF_SECTION)" GGUF_ID
    WriteRegStr HKCU "Software\Classes\${CLASS}" "" "$(GGUF_FILE)"
    WriteRegStr HKCU "Software\Classes\${CLASS}\DefaultIcon" "" "$INSTDIR\bin\spillway.exe,0"
    WriteRegStr HKCU "Software\Classes\${CLASS}\shell\open\command" "" '"$INSTDIR\bin\spillway.exe" "%1"'
    WriteRegStr HKCU "Software\Classes\.gguf\OpenWithProgids" "${CLASS}" ""
    ReadRegStr $0 HKCU "Software\Classes\.gguf" ""
    ${If} $0 == "" ; another program's choice stays
        WriteRegStr HKCU "Software\Classes\.gguf" "" "${CLASS}"
    ${EndIf}
    !insertmacro TELL_EXPLORER
SectionEnd
!endif

Function .onInit
    ${IfNot} ${AtLeastBuild} 18362 ; the first where a program's code page may be UTF-8
        !insertmacro REFUSE $(OLD_WINDOWS)
    ${EndIf}
    ReadRegStr $0 HKCU "${UNINSTALL_KEY}" "DisplayVersion"
    ${VersionCompare} "$0" "${VERSION}" $1
    ${If} $0 != ""
    ${AndIf} $1 == 1
        !insertmacro REFUSE $(NEWER_IS_THERE)
    ${EndIf}
!ifdef WINDOW
    ; What was chosen once is chosen again.
    ReadRegStr $1 HKCU "Software\Classes\${CLASS}" ""
    ${GetParameters} $0
    ClearErrors
    ${GetOptions} $0 "/GGUF" $2
    ${IfNot} ${Errors}
    ${OrIf} $1 != ""
        !insertmacro SelectSection ${GGUF_ID}
    ${EndIf}
!endif
FunctionEnd

; ---- removing ----

; File by file: the folder may have been one with other things in it.
Section "Uninstall"
    !insertmacro REFUSE_WHILE_IT_RUNS $INSTDIR
    !include "${LISTS}/remove.nsh"
    Delete "$INSTDIR\Uninstall.exe"
    SetOutPath $TEMP
    RMDir $INSTDIR

    ${GetParameters} $0
    ClearErrors
    ${GetOptions} $0 "/UPGRADE" $1
    ${IfNot} ${Errors}
        Return
    ${EndIf}
    Delete "$SMPROGRAMS\Spillway.lnk"
    DeleteRegKey HKCU "${UNINSTALL_KEY}"
    DeleteRegKey HKCU "Software\Spillway"
    DeleteRegKey HKCU "Software\Classes\${CLASS}"
    DeleteRegValue HKCU "Software\Classes\.gguf\OpenWithProgids" "${CLASS}"
    ReadRegStr $0 HKCU "Software\Classes\.gguf" ""
    ${If} $0 == "${CLASS}"
        DeleteRegValue HKCU "Software\Classes\.gguf" ""
    ${EndIf}
    DeleteRegKey /ifempty HKCU "Software\Classes\.gguf\OpenWithProgids"
    DeleteRegKey /ifempty HKCU "Software\Classes\.gguf"
    !insertmacro TELL_EXPLORER

    ${If} ${FileExists} "$LOCALAPPDATA\spillway\*"
        MessageBox MB_YESNO|MB_ICONQUESTION|MB_DEFBUTTON2 "$(KEEP_DATA)" /SD IDNO IDNO keep
        RMDir /r "$LOCALAPPDATA\spillway"
        RMDir /r "$APPDATA\spillway"
        keep:
    ${EndIf}
SectionEnd
