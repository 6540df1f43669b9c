// engineWords() makes the engine's messages fit to be shown: without hidden characters, with numbers in the user's
// form.
#pragma once

#include <QString>
#include <QStringView>

/// Gives the numbers in a sentence the groups of the locale and the units of the window ("131,072 tokens", "2.15 GB").
/// The engine and the network write plain digits, and a memory in bytes, MiB or GB ("needs 131072 tokens, and 2048 MiB
/// are free"). Numbers in quoted names, versions, addresses, error numbers and the path in front of the sentence stay
/// as they are.
QString engineWords(QStringView words);

/// Returns a number of bytes as the window shows it: in powers of 1000, with three significant digits, without a line
/// break ("2.15 GB").
QString memoryWords(double bytes);

/// Returns an engine's error ("the file ends early") as a sentence for people ("The file ends early.").
QString asSentence(const QString& words);

/// Does the same for words that are fit to be shown already.
QString sentenceOf(const QString& words);
