// GuessChart draws how many of the tokens that were guessed ahead the answer took.
#pragma once

#include "app/charts/chart_item.h"
#include "app/charts/nearest_point.h"

/// Holds how much of an answer was guessed by the draft model, or by the block of the model's own file, as a value for
/// the window.
class GuessSum
{
    Q_GADGET
    QML_VALUE_TYPE(guessSum)
    Q_PROPERTY(int drafted MEMBER drafted CONSTANT)
    Q_PROPERTY(int accepted MEMBER accepted CONSTANT)
    Q_PROPERTY(double bytes MEMBER bytes CONSTANT)

public:
    bool operator==(const GuessSum&) const = default;

    int drafted = 0, accepted = 0;  // tokens
    double bytes = 0;               // of memory that the guessing model or block takes
};

/// Draws a dot for every few drafts: the percentage of their tokens that the answer took, over the length of the
/// context; of the newest answer and, fainter, of those before it, of one model. Series: guessed, earlier. `drafted`
/// and `accepted` are sums over the newest answer that has drafts.
class GuessChart : public ChartItem
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(QColor guessedColor MEMBER m_guessedColor NOTIFY looksChanged)
    Q_PROPERTY(int drafted READ drafted NOTIFY sumsChanged)
    Q_PROPERTY(int accepted READ accepted NOTIFY sumsChanged)
    Q_PROPERTY(GuessSum byModel READ byModel NOTIFY sumsChanged)
    Q_PROPERTY(GuessSum byBlock READ byBlock NOTIFY sumsChanged)
    Q_PROPERTY(QVariant gain READ gain NOTIFY sumsChanged)

public:
    using ChartItem::ChartItem;

    int drafted() const { return m_drafted; }  // 0: nothing has been guessed
    int accepted() const { return m_accepted; }
    // Sums over the answer that is shown: what the draft model guessed, and the block of the model's own file.
    GuessSum byModel() const { return m_byModel; }
    GuessSum byBlock() const { return m_byBlock; }
    QVariant gain() const { return m_gain; }  // how many times as fast as without drafts; undefined: not known

    /// Returns the nearest point of any series that is shown: contextTokens, drafted, accepted, `earlier`; empty: there
    /// is none.
    Q_INVOKABLE QVariantMap at(double x) const;

Q_SIGNALS:
    void sumsChanged();

protected:
    void fill(QCustomPlot& plot) override;
    std::optional<QPointF> pointNear(double x) const override;
    void onMeasured() override;

private:
    using Near = NearPoint<PressureHistory::GuessPoint>;
    Near nearest(double x) const;
    bool isNewest(const PressureHistory::Run& run) const { return ::isNewest(monitor()->history(), run); }

    QColor m_guessedColor;
    int m_drafted = 0, m_accepted = 0;
    GuessSum m_byModel, m_byBlock;
    QVariant m_gain;
};
