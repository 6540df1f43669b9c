// engineWords() makes what the engine said fit to be shown: safe to look at, with numbers as the user's language has
// them.
#pragma once

#include <QString>
#include <QStringView>

/// The engine and the network write plain digits, and a memory in bytes, MiB or GB, wherever they say a number ("needs
/// 131072 tokens, and 2048 MiB are free"). Here they get the locale's groups and the units of the window ("131,072
/// tokens", "2.15 GB"). What belongs to a name between quotes, a version, an address, an error or the path in front of
/// the sentence stays as it is.
QString engineWords(QStringView words);

/// A memory in bytes as the window has it: powers of 1000, three digits that count, and no line break ("2.15 GB").
QString memoryWords(double bytes);

/// An engine's error ("the file ends early") as a sentence for people ("The file ends early.").
QString asSentence(const QString& words);

/// Does the same for words that are fit to be shown already.
QString sentenceOf(const QString& words);
