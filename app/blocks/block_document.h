// BlockDocument puts a block's values into the document of a TextEdit.
#pragma once

#include "app/blocks/formula_character.h"
#include "app/formulas/formulas.h"
#include "app/text/block.h"

#include <QColor>
#include <QPointer>
#include <QQmlParserStatus>
#include <QQuickTextDocument>
#include <QSet>
#include <QTextCharFormat>
#include <QTextCursor>
#include <QTextDocument>
#include <QtQml/qqmlregistration.h>

/// Holds what the documents of all kinds of blocks share: the TextEdit's document and how things look in it. The text
/// is inserted piece by piece: no HTML is made or read. Lives on the UI thread; owned by its delegate.
class BlockDocument : public QObject, public QQmlParserStatus
{
    Q_OBJECT
    QML_ANONYMOUS
    Q_INTERFACES(QQmlParserStatus)
    Q_PROPERTY(QQuickTextDocument* document READ document WRITE setDocument NOTIFY documentChanged)
    Q_PROPERTY(int bodySize MEMBER m_bodySize NOTIFY looksChanged)  // pixels
    Q_PROPERTY(QColor linkColor MEMBER m_linkColor NOTIFY looksChanged)
    Q_PROPERTY(QColor codeGround MEMBER m_codeGround NOTIFY looksChanged)  // behind code in running text
    Q_PROPERTY(QColor mutedColor MEMBER m_mutedColor NOTIFY looksChanged)  // of list markers
    Q_PROPERTY(QString monospace MEMBER m_monospace NOTIFY looksChanged)
    Q_PROPERTY(QString serif MEMBER m_serif NOTIFY looksChanged)  // of formulas that are shown in characters
    Q_PROPERTY(Formulas* formulas MEMBER m_formulas WRITE setFormulas NOTIFY looksChanged)
    Q_PROPERTY(QColor formulaColor MEMBER m_formulaColor NOTIFY looksChanged)
    Q_PROPERTY(QColor errorColor MEMBER m_errorColor NOTIFY looksChanged)  // of a formula's mistakes
    Q_PROPERTY(qreal pixelRatio MEMBER m_pixelRatio NOTIFY looksChanged)   // of the screen

public:
    explicit BlockDocument(QObject* parent = nullptr);

    QQuickTextDocument* document() const { return m_document; }
    void setDocument(QQuickTextDocument* document);
    void setFormulas(Formulas* formulas);

    void classBegin() override {}
    void componentComplete() override;

Q_SIGNALS:
    void documentChanged();
    void looksChanged();

protected:
    /// Writes the whole block. Called only when there is a document and all properties are set.
    virtual void write() = 0;
    virtual void forget() {}  // the next write() has to write all anew
    void rewrite();
    bool ready() const { return m_complete && m_document; }
    QTextDocument* text() const { return m_document ? m_document->textDocument() : nullptr; }

    void insert(QTextCursor& cursor, const Spans& spans, const QTextCharFormat& base);
    /// Inserts the formula's picture as one character. False: there is none yet; once there is, all is written anew.
    bool insertFormula(QTextCursor& cursor, const QString& latex, bool display, const QTextCharFormat& base);

    int m_bodySize = 15;
    QColor m_linkColor;
    QColor m_codeGround;
    QColor m_mutedColor;
    QString m_monospace;
    QString m_serif;

private:
    void takeSettled();

    QPointer<Formulas> m_formulas;
    FormulaRoom m_formulaRoom;
    QColor m_formulaColor = Qt::black;
    QColor m_errorColor = Qt::red;
    qreal m_pixelRatio = 1;
    QSet<std::pair<QString, bool>> m_awaited;  // LaTeX, and whether on lines of its own
    bool m_taking = false;                     // while takeSettled() writes the block anew
    QPointer<QQuickTextDocument> m_document;
    bool m_complete = false;
};
