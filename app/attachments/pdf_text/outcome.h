// PdfOutcome lists the exit statuses of spillway-pdf-text.
#pragma once

/// Begins a line of spillway-pdf-text's standard error that says in what the system could not confine it.
constexpr auto kNotConfined = "not confined: ";

enum class PdfOutcome {
    Done = 0,  // the pages' text was written, a form feed between pages
    Damaged = 10,
    Password,
    Protection,  // of a kind that is not known
    TooManyPages,
    TooMuchText,
    WrongUsage,
};
