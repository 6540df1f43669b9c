// readFile() makes an attachment of a file that somebody chose.
#pragma once

#include "app/attachments/read_pdf.h"
#include "app/store/conversation.h"

#include <optional>

struct ReadLimits {
    qint64 file_bytes = 50'000'000;
    qint64 text_bytes = 10'000'000;  // of a file that is text, as bytes
    PdfLimits pdf = {};
};

/// Holds an attachment, or one sentence why there is none. Neither: it was cancelled.
struct ReadFile {
    std::optional<Attachment> attachment = {};
    QString sentence = {};
};

/// Reads a file that is text or PDF, by its content, takes the text out of it and keeps a copy of its bytes under
/// their SHA-256 in `folder` (empty: no copy is kept). Never opens what is not an ordinary file. Any thread but the
/// UI's: it may take long.
ReadFile readFile(const QString& path, const QString& folder, const std::stop_token& stop,
                  const ReadLimits& limits = {});

/// Does the same for a copy of a file that was kept before. It is looked for in `folder`, then in `older`: the folder
/// of a profile that cannot be written (empty: there is none).
ReadFile readKept(const DraftFile& kept, const QString& folder, const QString& older, const std::stop_token& stop,
                  const ReadLimits& limits = {});

/// Makes an attachment of a text that has no file, such as a long paste, and keeps a copy of it as readFile() does.
ReadFile readText(const QString& name, const QString& text, const QString& folder, const ReadLimits& limits = {});
