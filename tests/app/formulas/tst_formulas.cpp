// Tests that the formulas of messages are set on a thread, and that those which cannot be set are known.
#include "app/formulas/formulas.h"
#include "app/formulas/katex.h"
#include "tests/support/test_program.h"

#include <QGuiApplication>
#include <QSignalSpy>

class TestFormulas : public QObject
{
    Q_OBJECT

    const Formulas::Look m_look{15, {Qt::black, Qt::red}, 1};

private Q_SLOTS:
    void initTestCase()
    {
        if (!Katex::available())
            QSKIP("built without KaTeX");
    }

    void aPictureComesLaterAndStays()
    {
        Formulas formulas;
        QSignalSpy settled(&formulas, &Formulas::someSettled);
        const QString latex = QStringLiteral("\\frac{a}{b}");
        QVERIFY(!formulas.picture(latex, true, m_look));
        QVERIFY(!formulas.settled(latex, true));
        QVERIFY(settled.wait(60'000));
        QVERIFY(formulas.settled(latex, true));
        const auto picture = formulas.picture(latex, true, m_look);
        QVERIFY(picture && !picture->image.isNull() && picture->depth > 1);
        // On lines of its own and in running text it is not the same formula.
        QVERIFY(!formulas.settled(latex, false));
    }

    void whatCannotBeSetIsSettledWithoutAPicture()
    {
        Formulas formulas;
        QSignalSpy settled(&formulas, &Formulas::someSettled);
        QVERIFY(!formulas.picture(QStringLiteral("\\frac{"), false, m_look));
        QVERIFY(settled.wait(60'000));
        QVERIFY(formulas.settled(QStringLiteral("\\frac{"), false));
        QVERIFY(!formulas.picture(QStringLiteral("\\frac{"), false, m_look));
    }

    void someAreToldOfWhileOthersAreSet()
    {
        Formulas formulas;
        QSignalSpy settled(&formulas, &Formulas::someSettled);
        formulas.picture(QStringLiteral("x"), false, m_look);
        QVERIFY(settled.wait(60'000));
        settled.clear();
        for (int i = 0; i < 3000 && settled.isEmpty(); ++i) {
            formulas.picture(QStringLiteral("x_{%1}").arg(i), false, m_look);
            QTest::qWait(1);
        }
        QVERIFY(!settled.isEmpty());
    }

    void itEndsWhileFormulasAreWaiting()
    {
        Formulas formulas;
        for (int i = 0; i < 200; ++i)
            formulas.picture(QStringLiteral("\\sqrt{%1}").arg(i), false, m_look);
    }  // its destructor has to come back
};

SPILLWAY_TEST(QGuiApplication, TestFormulas)
#include "tst_formulas.moc"
