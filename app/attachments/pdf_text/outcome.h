// What spillway-pdf-text says by its exit status.
#pragma once

enum class PdfOutcome {
    Done = 0,  // the pages' text was written, a form feed between pages
    Damaged = 10,
    Password,
    Protection,  // of a kind that is not known
    TooManyPages,
    TooMuchText,
    WrongUsage,
};
