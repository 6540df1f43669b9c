// Ring keeps the newest values of a series.
#pragma once

#include <QtGlobal>

#include <vector>

/// Keeps `capacity` values, the newest unless said otherwise, oldest first; memory is taken as it fills. A plain value.
template <class Value>
class Ring
{
public:
    explicit Ring(qsizetype capacity)
        : m_capacity(capacity)
    {
    }
    void add(const Value& value)
    {
        if (size() < m_capacity)
            m_values.push_back(value);
        else
            m_values[std::size_t(m_oldest)] = value, m_oldest = (m_oldest + 1) % m_capacity;
    }
    /// Adds a value. A full ring drops every second value instead of the oldest, so that what is kept spans the whole
    /// series.
    void addThinning(const Value& value)
    {
        if (size() == m_capacity && m_oldest == 0) {
            std::size_t kept = 0;
            for (std::size_t i = 0; i < m_values.size(); i += 2)
                m_values[kept++] = m_values[i];
            m_values.resize(kept);
        }
        add(value);
    }
    void clear()
    {
        m_values.clear();
        m_oldest = 0;
    }
    qsizetype size() const { return qsizetype(m_values.size()); }
    bool isEmpty() const { return m_values.empty(); }
    const Value& operator[](qsizetype place) const { return m_values[std::size_t((m_oldest + place) % size())]; }
    const Value& last() const { return (*this)[size() - 1]; }

private:
    qsizetype m_capacity;
    qsizetype m_oldest = 0;
    std::vector<Value> m_values;
};
