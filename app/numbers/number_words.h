// NumberWords writes numbers as people read them.
#pragma once

#include <QLocale>
#include <QObject>
#include <QString>
#include <QtQml/qqmlregistration.h>

/// Writes numbers with their units, with three significant digits where nothing else is said. The window shows dozens
/// of them many times a second, and QML's script would make a hundred small objects for each. `language` is that of the
/// window, as in "de"; empty: the default one. The texts have no place for a line break, but those of count(), three()
/// and context(). UI thread; QML uses it through Format.
class NumberWords : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_SINGLETON

public:
    Q_INVOKABLE static QString unbroken(QString text);  // the text without places for a line break

    Q_INVOKABLE QString number(double value, int decimals, const QString& language);
    Q_INVOKABLE QString count(double value, const QString& language);
    Q_INVOKABLE QString three(double value, const QString& language);  // whole numbers beyond three digits

    Q_INVOKABLE QString compact(double value, const QString& language);    // 260, 3.2 K, 1.24 B: parameters
    Q_INVOKABLE QString context(double tokens, const QString& language);   // 512, 4K, 128K: in powers of two
    Q_INVOKABLE QString bytes(double value, const QString& language);      // as desktops give them: powers of 1000
    Q_INVOKABLE QString milliseconds(double ms, const QString& language);  // 120 ms, 12 s
    Q_INVOKABLE QString microseconds(double us, const QString& language);  // 120 µs, 12 ms
    Q_INVOKABLE QString seconds(double s, const QString& language);        // on the axis of a chart: 90 s, 3 min
    Q_INVOKABLE QString duration(double ms, const QString& language);      // for people who waited: 0.4 s, 3 min 5 s
    Q_INVOKABLE QString tokensPerSecond(double value, const QString& language);
    Q_INVOKABLE QString percent(double part, double whole, const QString& language);  // whole > 0
    Q_INVOKABLE QString ratio(double value, const QString& language);                 // 0.27×, 3.1×

private:
    QLocale localeOf(const QString& language);

    QString m_language;  // the last one that was asked for
    QLocale m_locale;
};
