// Makes PDF files for tests: good ones by Qt's own writer, bad ones by hand.
#pragma once

#include <QBuffer>
#include <QImage>
#include <QPainter>
#include <QPdfWriter>
#include <QProcess>
#include <QRandomGenerator>

#include <vector>

/// Returns a file of this many pages. Its letters are ones that DejaVu has, which is there wherever this is built: of
/// others PDFium would lose some.
inline QByteArray madePdf(int pages)
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QPdfWriter writer(&buffer);
    QPainter painter(&writer);
    painter.setFont(QFont(QStringLiteral("DejaVu Sans"), 12));
    for (int page = 1; page <= pages; ++page) {
        painter.drawText(500, 500, QStringLiteral("Page %1: Grüße мир").arg(page));
        painter.drawText(500, 1000, QStringLiteral("second line"));
        if (page < pages)
            writer.newPage();
    }
    painter.end();
    return bytes;
}

inline QByteArray picturePdf()
{
    QByteArray bytes;
    QBuffer buffer(&bytes);
    buffer.open(QIODevice::WriteOnly);
    QPdfWriter writer(&buffer);
    QPainter painter(&writer);
    QImage scan(100, 100, QImage::Format_RGB32);
    scan.fill(Qt::gray);
    painter.drawImage(0, 0, scan);
    painter.end();
    return bytes;
}

/// Returns a file of objects 1, 2, ... as they are, with a table of where they begin; 1 is the catalogue.
inline QByteArray pdfOf(const std::vector<QByteArray>& objects, const QByteArray& trailer = {})
{
    QByteArray bytes = "%PDF-1.4\n";
    QByteArray table = "xref\n0 " + QByteArray::number(qsizetype(objects.size()) + 1) + "\n0000000000 65535 f \n";
    for (size_t i = 0; i < objects.size(); ++i) {
        table += QByteArray::number(bytes.size()).rightJustified(10, '0') + " 00000 n \n";
        bytes += QByteArray::number(qsizetype(i) + 1) + " 0 obj\n" + objects[i] + "\nendobj\n";
    }
    const QByteArray at = QByteArray::number(bytes.size());
    return bytes + table + "trailer\n<< /Size " + QByteArray::number(qsizetype(objects.size()) + 1) + " /Root 1 0 R " +
           trailer + " >>\nstartxref\n" + at + "\n%%EOF\n";
}

inline QByteArray pageTree(const QByteArray& contents = {})
{
    return "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 100] " + contents + " >>";
}

/// Returns a file with a password that nobody knows, since the check values are noise.
inline QByteArray protectedPdf(const QByteArray& filter)
{
    const QByteArray noise = '<' + QByteArray(64, 'A') + '>';
    return pdfOf({"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>", pageTree(),
                  "<< /Filter " + filter + " /V 1 /R 2 /P -4 /O " + noise + " /U " + noise + " >>"},
                 "/Encrypt 4 0 R /ID [<00><00>]");
}

inline QByteArray circlePdf()
{
    return pdfOf({"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [2 0 R 3 0 R 2 0 R] /Count 9 >>",
                  pageTree("/Contents 3 0 R")});
}

inline QByteArray deepPdf()
{
    return pdfOf({"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
                  pageTree("/Junk " + QByteArray(100'000, '[') + QByteArray(100'000, ']'))});
}

/// Returns a small file whose page is very many megabytes of drawing.
inline QByteArray bombPdf()
{
    const QByteArray drawing = "BT /F1 12 Tf " + QByteArray("(bomb bomb bomb) Tj ").repeated(4'000'000) + "ET";
    const QByteArray packed = qCompress(drawing, 1).mid(4);
    return pdfOf({"<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
                  pageTree("/Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >>"),
                  "<< /Filter /FlateDecode /Length " + QByteArray::number(packed.size()) + " >>\nstream\n" + packed +
                      "\nendstream",
                  "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"});
}

inline QByteArray noise(int bytes)
{
    QRandomGenerator random(7);
    QByteArray out(bytes, '\0');
    for (char& byte : out)
        byte = char(random.bounded(256));
    return out;
}
