// Lists what spillway-pdf-text says by its exit status.
#pragma once

/// Begins a line of its standard error output that says what the system could not confine it by.
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
