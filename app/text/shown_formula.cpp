#include "app/text/shown_formula.h"

#include <QHash>
#include <QList>
#include <QStringList>

#include <algorithm>
#include <optional>

namespace {

constexpr int kDeepestFormula = 48;  // nested braces and arguments

const QHash<QString, QString>& symbols()
{
    static const QHash<QString, QString> table = [] {
        QHash<QString, QString> map;
        const char16_t* const pairs =
            u"alpha α beta β gamma γ delta δ epsilon ϵ varepsilon ε zeta ζ eta η theta θ vartheta ϑ iota ι kappa κ "
            u"lambda λ mu μ nu ν xi ξ pi π varpi ϖ rho ρ varrho ϱ sigma σ varsigma ς tau τ upsilon υ phi ϕ varphi φ "
            u"chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Upsilon Υ Phi Φ Psi Ψ Omega Ω "
            u"times × div ÷ pm ± mp ∓ cdot ⋅ ast ∗ star ⋆ circ ∘ bullet • oplus ⊕ otimes ⊗ leq ≤ le ≤ geq ≥ ge ≥ "
            u"neq ≠ ne ≠ equiv ≡ approx ≈ sim ∼ simeq ≃ cong ≅ propto ∝ ll ≪ gg ≫ prec ≺ succ ≻ in ∈ notin ∉ ni ∋ "
            u"subset ⊂ subseteq ⊆ supset ⊃ supseteq ⊇ cup ∪ cap ∩ setminus ∖ emptyset ∅ varnothing ∅ infty ∞ "
            u"partial ∂ nabla ∇ sum ∑ prod ∏ int ∫ iint ∬ oint ∮ forall ∀ exists ∃ nexists ∄ neg ¬ lnot ¬ land ∧ "
            u"wedge ∧ lor ∨ vee ∨ to → rightarrow → leftarrow ← leftrightarrow ↔ Rightarrow ⇒ Leftarrow ⇐ "
            u"Leftrightarrow ⇔ implies ⟹ iff ⟺ mapsto ↦ uparrow ↑ downarrow ↓ ldots … cdots ⋯ dots … vdots ⋮ ddots ⋱ "
            u"angle ∠ perp ⊥ parallel ∥ mid ∣ therefore ∴ because ∵ hbar ℏ ell ℓ Re ℜ Im ℑ aleph ℵ prime ′ degree ° "
            u"langle ⟨ rangle ⟩ lfloor ⌊ rfloor ⌋ lceil ⌈ rceil ⌉ lvert | rvert | vert | Vert ‖ lVert ‖ rVert ‖ "
            u"top ⊤ bot ⊥ models ⊨ vdash ⊢ dagger † checkmark ✓ square □ triangle △ blacksquare ■ qed ∎ "
            u"sin sin cos cos tan tan cot cot sec sec csc csc arcsin arcsin arccos arccos arctan arctan sinh sinh "
            u"cosh cosh tanh tanh log log ln ln lg lg exp exp lim lim max max min min sup sup inf inf det det dim dim "
            u"ker ker gcd gcd arg arg deg deg Pr Pr bmod mod";
        const QStringList words = QString::fromUtf16(pairs).split(u' ');
        for (qsizetype i = 0; i + 1 < words.size(); i += 2)
            map.insert(words[i], words[i + 1]);
        return map;
    }();
    return table;
}

QString mapped(const QString& text, QStringView from, QStringView to)
{
    QString out;
    for (const QChar c : text) {
        const qsizetype i = from.indexOf(c);
        if (i < 0)
            return {};
        out += to[i];
    }
    return out;
}

QString raised(const QString& text)
{
    return mapped(text, u"0123456789+-−=()abcdefghijklmnoprstuvwxyzABDEGHIJKLMNOPRTUVWαβγδϵθφχ′∘ ",
                  u"⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂᵅᵝᵞᵟᵋᶿᵠᵡ′° ");
}

QString lowered(const QString& text)
{
    return mapped(text, u"0123456789+-−=()aehijklmnoprstuvxβγρφχ ", u"₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓᵦᵧᵨᵩᵪ ");
}

/// Holds the text that has been written, and the places of fractions and roots in it, which need brackets where the
/// next text would read as a part of them: "1/2x" is not half of x.
struct Written {
    struct Part {
        qsizetype start, end;
        bool fraction;
    };

    QString text;
    QList<Part> parts;

    QString withBrackets() const
    {
        QString out = text;
        for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
            if (!touches(*part))
                continue;
            out.insert(part->end, u')');
            out.insert(part->start, u'(');
        }
        return out;
    }

private:
    bool touches(const Part& part) const
    {
        const QStringView before = part.fraction ? QStringView(text).first(part.start).trimmed() : QStringView();
        const QStringView after = QStringView(text).sliced(part.end).trimmed();
        const auto isOne = [](QChar c, QStringView others) { return c.isLetterOrNumber() || others.contains(c); };
        return (!before.isEmpty() && isOne(before.back(), u")]⟩⌋⌉|‖/!′°√∞")) ||
               (!after.isEmpty() && isOne(after.front(), u"([⟨⌊⌈|‖√∑∏∫∬∮∂∇∞^_!′°⁺⁻⁼⁽₊₋₌₍"));
    }
};

/// Reads a formula and writes Unicode; gives up at the first part that characters cannot express exactly.
class Writer
{
public:
    explicit Writer(QStringView formula)
        : m_text(formula)
    {
    }

    std::optional<QString> all()
    {
        Written out;
        while (m_at < m_text.size()) {
            if (m_text[m_at] == u'}')
                return {};
            if (!item(out))
                return {};
        }
        return out.withBrackets();
    }

private:
    bool item(Written& written)
    {
        QString& out = written.text;
        const QChar c = m_text[m_at];
        if (c == u'\\')
            return command(written);
        if (c == u'^' || c == u'_') {
            ++m_at;
            const auto inner = argument();
            if (!inner || out.isEmpty())
                return false;
            const QString moved = c == u'^' ? raised(*inner) : lowered(*inner);
            out += moved.isEmpty() ? c + grouped(*inner) : moved;
            return !inner->isEmpty();
        }
        if (c == u'{')
            return braces(written);
        if (c == u'&' || c == u'#' || c == u'%' || c == u'~')
            return false;
        out += c == u'-' ? QChar(u'−') : c == u'\'' ? QChar(u'′') : c;
        ++m_at;
        return true;
    }

    void skipSpaces()
    {
        while (m_at < m_text.size() && m_text[m_at] == u' ')
            ++m_at;
    }

    std::optional<QString> argument()
    {
        skipSpaces();
        if (m_at >= m_text.size() || m_text[m_at] == u'}')
            return {};
        if (++m_depth > kDeepestFormula)
            return {};
        Written out;
        if (!item(out))
            return {};
        --m_depth;
        return out.withBrackets();
    }

    bool braces(Written& out)
    {
        if (++m_depth > kDeepestFormula)
            return false;
        ++m_at;
        while (m_at < m_text.size() && m_text[m_at] != u'}')
            if (!item(out))
                return false;
        if (m_at >= m_text.size())
            return false;
        ++m_at;
        --m_depth;
        return true;
    }

    std::optional<QString> words()  // the argument of \text, as it stands
    {
        if (m_at >= m_text.size() || m_text[m_at] != u'{')
            return {};
        const qsizetype end = m_text.sliced(m_at).indexOf(u'}');
        if (end < 0)
            return {};
        const QString inner = m_text.sliced(m_at + 1, end - 1).toString();
        if (inner.contains(u'{') || inner.contains(u'\\') || inner.contains(u'$'))
            return {};
        m_at += end + 1;
        return inner;
    }

    bool command(Written& written)
    {
        QString& out = written.text;
        qsizetype end = ++m_at;
        while (end < m_text.size() && m_text[end].unicode() < 128 && m_text[end].isLetter())
            ++end;
        if (end == m_at)
            return symbol(out);
        const QString name = m_text.sliced(m_at, end - m_at).toString();
        m_at = end;
        if (const auto found = symbols().find(name); found != symbols().end()) {
            const bool word = found->size() > 1 && found->at(0).isLetter();
            if (word && !out.isEmpty() && out.back().isLetterOrNumber())
                out += u' ';
            out += *found;
            return true;
        }
        if (name == QLatin1String("frac") || name == QLatin1String("dfrac") || name == QLatin1String("tfrac"))
            return fraction(written);
        if (name == QLatin1String("sqrt"))
            return root(written);
        if (name == QLatin1String("text") || name == QLatin1String("mathrm") || name == QLatin1String("operatorname") ||
            name == QLatin1String("textbf") || name == QLatin1String("textit")) {
            const auto inner = words();
            out += inner.value_or(QString());
            return inner.has_value();
        }
        if (name == QLatin1String("mathbb"))
            return doubleStruck(out);
        if (name == QLatin1String("boxed")) {
            const auto inner = argument();
            out += inner.value_or(QString());
            return inner.has_value();
        }
        if (name == QLatin1String("quad") || name == QLatin1String("qquad")) {
            out += QLatin1String("  ");
            return true;
        }
        if (name == QLatin1String("left") || name == QLatin1String("right")) {
            skipSpaces();
            m_at += m_at < m_text.size() && m_text[m_at] == u'.' ? 1 : 0;  // no bracket on this side
            return true;
        }
        return name == QLatin1String("displaystyle");
    }

    bool symbol(QString& out)
    {
        if (m_at >= m_text.size())
            return false;
        const QChar c = m_text[m_at++];
        if (QStringView(u",;: ").contains(c))
            out += u' ';
        else if (QStringView(u"{}$%&#_").contains(c))
            out += c;
        else if (c == u'|')
            out += u'‖';
        else
            return c == u'!';
        return true;
    }

    bool fraction(Written& out)
    {
        const auto above = argument();
        const auto below = above ? argument() : std::nullopt;
        if (!below || above->isEmpty() || below->isEmpty())
            return false;
        append(out, grouped(*above) + u'/' + grouped(*below), true);
        return true;
    }

    bool root(Written& out)
    {
        if (m_at < m_text.size() && m_text[m_at] == u'[')
            return false;
        const auto inner = argument();
        if (!inner || inner->isEmpty())
            return false;
        append(out, u'√' + grouped(*inner), false);
        return true;
    }

    static void append(Written& out, const QString& part, bool fraction)
    {
        out.parts.append({out.text.size(), out.text.size() + part.size(), fraction});
        out.text += part;
    }

    bool doubleStruck(QString& out)
    {
        const auto inner = words();
        const QString letter = inner ? mapped(*inner, u"CHNPQRZ", u"ℂℍℕℙℚℝℤ") : QString();
        out += letter;
        return !letter.isEmpty();
    }

    /// Puts a text into brackets unless it is one name or number.
    static QString grouped(const QString& text)
    {
        const bool number = std::all_of(text.begin(), text.end(), [](QChar c) { return c.isDigit() || c == u'.'; });
        if (number || text.size() == 1)
            return text;
        return u'(' + text + u')';
    }

    QStringView m_text;
    qsizetype m_at = 0;
    int m_depth = 0;
};

QString withoutTabs(const QString& rows)
{
    QString out;
    for (qsizetype i = 0; i < rows.size(); ++i) {
        if (rows[i] == u'\\')
            out += rows[i++];
        else if (rows[i] == u'&')
            continue;
        out += rows.mid(i, 1);
    }
    return out;
}

/// Returns a formula without environments that only put lines under each other.
QString withoutAlignment(QString formula)
{
    for (const char* name : {"aligned", "align", "align*", "gather", "gather*", "gathered", "equation", "equation*"}) {
        const QString begin = QStringLiteral("\\begin{%1}").arg(QLatin1String(name));
        const QString end = QStringLiteral("\\end{%1}").arg(QLatin1String(name));
        if (formula.startsWith(begin) && formula.endsWith(end))
            return withoutTabs(formula.mid(begin.size(), formula.size() - begin.size() - end.size())).trimmed();
    }
    return formula;
}

}  // namespace

QString shownFormula(QStringView formula)
{
    QString typed = formula.trimmed().toString();
    QStringList lines;
    const QStringList rows = withoutAlignment(typed).split(QLatin1String("\\\\"));
    for (const QString& row : rows) {
        const QString line = row.simplified();
        const bool moved = &row != &rows.first() && line.startsWith(u'[');  // \\[4pt]
        const auto shown = moved ? std::nullopt : Writer(line).all();
        if (!shown)
            return typed;
        lines += shown->simplified();
    }
    while (!lines.isEmpty() && lines.last().isEmpty())
        lines.removeLast();
    return lines.isEmpty() ? typed : lines.join(QChar::LineSeparator);
}
