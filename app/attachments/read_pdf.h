// readPdf() takes the text out of a PDF by starting the program spillway-pdf-text.
#pragma once

#include <QByteArray>
#include <QString>

#include <chrono>
#include <stop_token>

struct PdfLimits {
    int pages = 2000;
    qint64 text_bytes = 10 << 20;
    std::chrono::milliseconds time{30'000};
};

struct PdfText {
    enum class State {
        Read,
        Damaged,  // or spillway-pdf-text crashed on it
        Password,
        Protection,
        NoText,  // only pictures of pages
        TooManyPages,
        TooMuchText,
        TooSlow,
        Cancelled,
        NoProgram,
    };
    State state = State::Damaged;
    QString text = {};
};

/// Returns where spillway-pdf-text is: beside this program or where it was installed. Empty: nowhere.
QString pdfTextProgram();

/// Reads a PDF on any thread but the UI's: waits for the program, and ends it when `stop` is asked for or time is over.
PdfText readPdf(const QByteArray& file, const std::stop_token& stop, const PdfLimits& limits = {});
