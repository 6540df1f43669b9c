// Lists what spillway-pdf-text says by its exit status.
#pragma once

/// On its standard error output, at the beginning of a line: what the system could not confine it by.
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
