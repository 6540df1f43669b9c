#include "app/settings/setting.h"

#include <utility>

Setting::Setting(QString key, Number number, QObject* parent)
    : QObject(parent)
    , m_key(std::move(key))
    , m_initial(number.initial)
    , m_lowest(number.lowest)
    , m_highest(number.highest)
    , m_value(number.initial)
{
}

Setting::Setting(QString key, Choice choice, QObject* parent)
    : QObject(parent)
    , m_key(std::move(key))
    , m_names(std::move(choice.names))
    , m_initial(choice.initial)
    , m_lowest(0)
    , m_highest(int(m_names.size()) - 1)
    , m_value(choice.initial)
{
}

void Setting::setValue(int value)
{
    value = bounded(value);
    if (value == m_value && !m_override)
        return;
    if (m_override)
        m_ended = {m_value, *m_override};
    else if (m_ended && m_ended->override == value)
        m_ended.reset();  // the value is the user's own choice now
    m_value = value;
    m_override.reset();
    Q_EMIT changed();
    Q_EMIT chosen();
}

void Setting::follow(int value)
{
    if (value == this->value())
        return;
    if (!m_ended || m_ended->override != value) {
        setValue(value);
        return;
    }
    m_value = m_ended->value;
    m_override = m_ended->override;
    m_ended.reset();
    Q_EMIT changed();
    Q_EMIT chosen();
}

void Setting::reset()
{
    setValue(m_initial);
}

void Setting::override(int value)
{
    m_override = bounded(value);
    Q_EMIT changed();
}

QString Setting::written() const
{
    return m_names.isEmpty() ? QString::number(m_value) : m_names[m_value];
}

void Setting::readFrom(const QString& written)
{
    if (!m_names.isEmpty()) {
        const auto place = m_names.indexOf(written);
        m_value = place < 0 ? m_initial : int(place);
        return;
    }
    bool ok = false;
    const double number = written.toDouble(&ok);  // so that a number beyond all bounds still means the nearest one
    m_value = ok && number == number ? int(qBound(double(m_lowest), number, double(m_highest))) : m_initial;
}

#include "moc_setting.cpp"
