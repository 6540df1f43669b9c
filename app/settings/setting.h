// Setting holds one thing that the user may choose, within its bounds.
#pragma once

#include <QObject>
#include <QStringList>
#include <QtQml/qqmlregistration.h>

#include <optional>

/// A number within bounds, or one of several named choices (its number is then the choice's place). Knows its default
/// and whether the command line has the last word in this run. Lives on the UI thread; owned by SettingsController,
/// which keeps it.
class Setting : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(int value READ value WRITE setValue NOTIFY changed)
    Q_PROPERTY(int initial READ initial CONSTANT)
    Q_PROPERTY(int lowest READ lowest CONSTANT)
    Q_PROPERTY(int highest READ highest CONSTANT)
    Q_PROPERTY(QStringList names READ names CONSTANT)
    Q_PROPERTY(bool isInitial READ isInitial NOTIFY changed)
    Q_PROPERTY(bool overridden READ overridden NOTIFY changed)

public:
    struct Number {
        int initial, lowest, highest;
    };
    struct Choice {
        QStringList names;  // as they are written down
        int initial;
    };

    Setting(QString key, Number number, QObject* parent);
    Setting(QString key, Choice choice, QObject* parent);

    const QString& key() const { return m_key; }
    int value() const { return m_override.value_or(m_value); }
    int initial() const { return m_initial; }
    int lowest() const { return m_lowest; }
    int highest() const { return m_highest; }
    bool isInitial() const { return m_value == m_initial; }
    bool overridden() const { return m_override.has_value(); }  // for this run

    /// Sets what the user chose, within the bounds, and ends an override.
    void setValue(int value);
    /// Sets a value that something else than the user chose. Does the same as setValue(), but where this was the
    /// command line's value before the last choice, it is again an override for this run only.
    void follow(int value);
    Q_INVOKABLE void reset();
    /// Sets the value for this run only, from the command line.
    void override(int value);

    QString written() const;                // the value as text for the settings file
    void readFrom(const QString& written);  // a text that makes no sense means the default
    const QStringList& names() const { return m_names; }

Q_SIGNALS:
    void changed();
    void chosen();  // the user chose a value, which has to be kept

private:
    int bounded(int value) const { return qBound(m_lowest, value, m_highest); }

    QString m_key;
    QStringList m_names;
    int m_initial, m_lowest, m_highest;
    int m_value;
    std::optional<int> m_override;
    struct Ended {
        int value, override;
    };
    std::optional<Ended> m_ended;  // the override that the last choice ended
};
