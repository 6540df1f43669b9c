#include "app/formulas/formula_layout.h"

#include <QHash>

#include <algorithm>
#include <array>

namespace {

using L1 = QLatin1String;

enum class Align { Left, Center, Right };

/// Holds the style that a box inherits from the one around it.
struct Style {
    FormulaFace face = {};
    double em = 1;
    QColor color = {};
    Align align = Align::Left;
};

// The sizes size1 to size11 of katex.css, in em of the text.
constexpr std::array kSizes{0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2, 1.44, 1.728, 2.074, 2.488};
constexpr double kTagGap = 2;      // em before an equation's number
constexpr double kLineGap = 0.35;  // em between the lines of a formula

double sizeNamed(const QStringList& classes, L1 prefix)
{
    for (const QString& name : classes) {
        if (!name.startsWith(prefix))
            continue;
        const int number = QStringView(name).sliced(prefix.size()).toInt();
        if (number >= 1 && number <= int(kSizes.size()))
            return kSizes[size_t(number - 1)];
    }
    return 1;
}

struct FaceRule {
    const char* name;    // class
    const char* family;  // nullptr: that of the box around
    bool bold;
    bool italic;
    bool upright;  // not italic, also in an italic box
};

// In the order of katex.css: of several that fit, the later one counts.
constexpr FaceRule kFaces[] = {
    {"textbf", nullptr, true, false, false},         {"textit", nullptr, false, true, false},
    {"textrm", "Main", false, false, false},         {"textsf", "SansSerif", false, false, false},
    {"texttt", "Typewriter", false, false, false},   {"mathnormal", "Math", false, true, false},
    {"mathit", "Main", false, true, false},          {"mathrm", nullptr, false, false, true},
    {"mathbf", "Main", true, false, false},          {"boldsymbol", "Math", true, true, false},
    {"amsrm", "AMS", false, false, false},           {"mathbb", "AMS", false, false, false},
    {"textbb", "AMS", false, false, false},          {"mathcal", "Caligraphic", false, false, false},
    {"mathfrak", "Fraktur", false, false, false},    {"textfrak", "Fraktur", false, false, false},
    {"mathtt", "Typewriter", false, false, false},   {"mathscr", "Script", false, false, false},
    {"textscr", "Script", false, false, false},      {"mathsf", "SansSerif", false, false, false},
    {"textsf", "SansSerif", false, false, false},    {"mathboldsf", "SansSerif", true, false, false},
    {"textboldsf", "SansSerif", true, false, false}, {"mathitsf", "SansSerif", false, true, false},
    {"textitsf", "SansSerif", false, true, false},   {"mainrm", "Main", false, false, true},
    {"small-op", "Size1", false, false, false},      {"large-op", "Size2", false, false, false},
    {"delim-size1", "Size1", false, false, false},   {"delim-size4", "Size4", false, false, false},
};

Style inherited(const FormulaBox& box, Style style)
{
    if (box.is(L1("sizing")) || box.is(L1("fontsize-ensurer")))
        style.em *= sizeNamed(box.classes, L1("size")) / sizeNamed(box.classes, L1("reset-size"));
    if (box.is(L1("delimsizing")) && !box.is(L1("mult")))
        for (const char* family : {"Size1", "Size2", "Size3", "Size4"})
            if (box.is(L1(QByteArray(family).toLower())))
                style.face = {L1(family)};
    for (const FaceRule& rule : kFaces) {
        if (!box.is(L1(rule.name)))
            continue;
        if (rule.family)
            style.face.family = L1(rule.family);
        style.face.bold |= rule.bold;
        style.face.italic = !rule.upright && (style.face.italic || rule.italic);
    }
    const QString color = box.style.value(QStringLiteral("color"));
    if (color == QLatin1String("error"))  // from formula_tree.js
        style.color = QColor::fromRgba(kErrorInk);
    else if (QColor::isValidColor(color))
        style.color = QColor(color);
    for (const char* name : {"mfrac", "op-limits", "accent", "x-arrow", "mover", "munder", "col-align-c"})
        if (box.is(L1(name)))
            style.align = Align::Center;
    if (box.is(L1("msupsub")) || box.is(L1("svg-align")) || box.is(L1("col-align-l")))
        style.align = Align::Left;
    if (box.is(L1("col-align-r")))
        style.align = Align::Right;
    return style;
}

struct Sides {
    double left = 0, right = 0;
    double both() const { return left + right; }
};

Sides padding(const FormulaBox& box)
{
    Sides sides{box.em("paddingLeft"), box.em("paddingRight")};
    const auto add = [&](const char* name, double left, double right) {
        if (box.is(L1(name)))
            sides = {sides.left + left, sides.right + right};
    };
    add("boxpad", 0.3, 0.3);
    add("cancel-pad", 0.2, 0.2);
    add("x-arrow-pad", 0.5, 0.5);
    add("cd-arrow-pad", 0.55556, 0.27778);
    add("anglpad", 0.03889, 0.03889);
    return sides;
}

Sides margin(const FormulaBox& box)
{
    Sides sides{box.em("marginLeft"), box.em("marginRight")};
    const auto add = [&](const char* name, double left, double right) {
        if (box.is(L1(name)))
            sides = {sides.left + left, sides.right + right};
    };
    add("root", 0.27777778, -0.55555556);
    add("cancel-lap", -0.2, -0.2);
    add("vertical-separator", -0.02, -0.02);
    return sides;
}

bool isList(const FormulaBox& box)
{
    return box.is(L1("vlist-t"));
}

/// Returns the boxes stacked in a list. They are in its first row; the other rows only say how deep the list is.
const QList<FormulaBox>& stacked(const FormulaBox& list)
{
    static const QList<FormulaBox> none;
    if (list.children.isEmpty() || list.children[0].children.isEmpty())
        return none;
    return list.children[0].children[0].children;
}

/// Returns how far below the list's baseline the baseline of a stacked box lies, in em of the list.
double loweredBy(const FormulaBox& item)
{
    double lowered = item.em("top");
    for (const FormulaBox& child : item.children)
        if (child.is(L1("pstrut")))
            lowered += child.em("height");
    return lowered;
}

bool takesNoRoom(const FormulaBox& box)
{
    for (const char* name : {"strut", "pstrut", "vlist-s", "llap", "rlap", "clap", "thinbox", "fix", "mtr-glue"})
        if (box.is(L1(name)))
            return true;
    return box.is(L1("accent-body")) && !box.is(L1("accent-full"));
}

/// Says whether the box is as wide as the list it is stacked in.
bool fillsWidth(const FormulaBox& box)
{
    for (const char* name :
         {"frac-line", "overline-line", "underline-line", "hline", "hdashline", "stretchy", "hide-tail", "hbox",
          "brace-left", "brace-center", "brace-right", "halfarrow-left", "halfarrow-right"})
        if (box.is(L1(name)))
            return true;
    return std::ranges::any_of(box.children, [](const FormulaBox& child) { return child.drawing.has_value(); });
}

class Layouter
{
public:
    explicit Layouter(FormulaFonts& fonts)
        : m_fonts(fonts)
    {
    }

    FormulaLayout all(const FormulaBox& root);

private:
    double width(const FormulaBox& box, const Style& around);
    double contentWidth(const FormulaBox& box, const Style& style);
    double newWidth(const FormulaBox& box, const Style& style);
    double listWidth(const FormulaBox& list, const Style& style);

    void place(const FormulaBox& box, const Style& around, double x, double y, double room);
    void placeContent(const FormulaBox& box, const Style& style, double x, double y, double room);
    void placeInLine(const QList<FormulaBox>& boxes, const Style& style, double x, double y, double room);
    void placeList(const FormulaBox& list, const Style& style, double x, double y);
    void placeText(const FormulaBox& box, const Style& style, double x, double y);
    void placeDrawing(const FormulaDrawing& drawing, const Style& style, const QRectF& rect);
    void placeLines(const FormulaBox& box, const Style& style, double x, double y, double room);
    void frame(const FormulaBox& box, const Style& style, double x, double y, double room);
    void findLines(const FormulaBox& box);

    FormulaFonts& m_fonts;
    FormulaLayout m_out;
    QList<QList<const FormulaBox*>> m_lines;
    QHash<const FormulaBox*, double> m_widths;  // of contents: every level asks for those below it again
};

// ---- widths ----

double Layouter::width(const FormulaBox& box, const Style& around)
{
    const Style style = inherited(box, around);
    return contentWidth(box, style) + margin(box).both() * style.em;
}

double Layouter::contentWidth(const FormulaBox& box, const Style& style)
{
    if (const auto known = m_widths.constFind(&box); known != m_widths.constEnd())
        return *known;
    const double width = newWidth(box, style);
    m_widths.insert(&box, width);
    return width;
}

double Layouter::newWidth(const FormulaBox& box, const Style& style)
{
    if (takesNoRoom(box))
        return 0;
    if (!box.text.isEmpty())
        return (m_fonts.shape(style.face, box.text).width + box.italic) * style.em;
    if (isList(box))
        return listWidth(box, style);
    if (box.is(L1("nulldelimiter")))
        return 0.12 * style.em;
    if (box.is(L1("rule")) || box.is(L1("vertical-separator")))
        return box.em("borderRightWidth") * style.em;
    if (const double fixed = box.em("width", -1); fixed >= 0)
        return fixed * style.em;
    double sum = padding(box).both() * style.em;
    for (const FormulaBox& child : box.children)
        sum += width(child, style);
    return std::max(sum, box.em("minWidth") * style.em);
}

double Layouter::listWidth(const FormulaBox& list, const Style& style)
{
    double widest = 0;
    for (const FormulaBox& item : stacked(list))
        widest = std::max(widest, width(item, style));
    return widest;
}

// ---- places ----

/// Places a box. `x`: where its margin begins; `y`: the baseline of its line; `room`: the width of a box that fills it.
void Layouter::place(const FormulaBox& box, const Style& around, double x, double y, double room)
{
    const Style style = inherited(box, around);
    x += (margin(box).left + box.em("left")) * style.em;
    y += box.em("top") * style.em;
    placeContent(box, style, x, y, room);
}

void Layouter::placeContent(const FormulaBox& box, const Style& style, double x, double y, double room)
{
    if (box.is(L1("pstrut")) || box.is(L1("strut")) || box.is(L1("vlist-s")))
        return;
    if (!box.text.isEmpty())
        return placeText(box, style, x, y);
    if (isList(box))
        return placeList(box, style, x, y);
    frame(box, style, x, y, room);
    if (box.is(L1("rule"))) {
        const double wide = box.em("borderRightWidth") * style.em, high = box.em("borderTopWidth") * style.em;
        if (wide > 0 && high > 0)  // else it is empty and only takes room
            m_out.rules.append({{x, y - box.em("bottom") * style.em - high, wide, high}, style.color});
    } else if (box.is(L1("vertical-separator"))) {
        const double bottom = y - box.em("verticalAlign") * style.em, high = box.em("height") * style.em;
        m_out.rules.append({{x, bottom - high, box.em("borderRightWidth") * style.em, high}, style.color});
    } else if (fillsWidth(box)) {
        placeLines(box, style, x, y, room);
    } else {
        if (box.is(L1("llap")) || box.is(L1("clap"))) {
            double inside = 0;
            for (const FormulaBox& child : box.children)
                inside += width(child, style);
            x -= box.is(L1("llap")) ? inside : inside / 2;
        }
        placeInLine(box.children, style, x + padding(box).left * style.em, y, room);
    }
}

void Layouter::placeInLine(const QList<FormulaBox>& boxes, const Style& style, double x, double y, double room)
{
    for (const FormulaBox& child : boxes) {
        place(child, style, x, y, room);
        x += width(child, style);
    }
}

void Layouter::placeList(const FormulaBox& list, const Style& style, double x, double y)
{
    const double room = listWidth(list, style);
    for (const FormulaBox& item : stacked(list)) {
        const Style inner = inherited(item, style);
        const double content = contentWidth(item, inner);
        const Sides sides = margin(item);
        const bool fills = std::ranges::any_of(item.children, fillsWidth);
        const double free = fills ? 0 : room - sides.both() * inner.em - content;
        const double pushed = inner.align == Align::Center ? free / 2 : inner.align == Align::Right ? free : 0;
        placeContent(item, inner, x + sides.left * inner.em + pushed, y + loweredBy(item) * inner.em,
                     room - sides.both() * inner.em);
    }
}

void Layouter::placeText(const FormulaBox& box, const Style& style, double x, double y)
{
    const QTransform to = QTransform::fromTranslate(x, y).scale(style.em, style.em);
    m_out.shapes.append({to.map(m_fonts.shape(style.face, box.text).path), style.color});
}

/// Places a box that is as wide as the list around it: lines above, below and between, and drawings that stretch.
void Layouter::placeLines(const FormulaBox& box, const Style& style, double x, double y, double room)
{
    const double thickness = box.em("borderBottomWidth") * style.em;
    if (thickness > 0)
        m_out.rules.append({{x, y - thickness, room, thickness}, style.color});
    if (box.is(L1("sout")))
        m_out.rules.append({{x, y - 0.08 * style.em, room, 0.08 * style.em}, style.color});
    const double wide = box.em("width", -1) >= 0 ? box.em("width") * style.em : room;
    double from = 0, part = 1;
    if (box.is(L1("brace-left")))
        part = 0.251;
    else if (box.is(L1("brace-center")))
        from = 0.25, part = 0.5;
    else if (box.is(L1("brace-right")))
        from = 0.749, part = 0.251;
    else if (box.is(L1("halfarrow-left")))
        part = 0.502;
    else if (box.is(L1("halfarrow-right")))
        from = 0.498, part = 0.502;
    const double high = box.em("height", box.height) * style.em;
    for (const FormulaBox& child : box.children) {
        if (child.drawing)
            placeDrawing(*child.drawing, style, {x + from * wide, y - high, part * wide, high});
        else
            place(child, style, x, y, room);
    }
}

void Layouter::placeDrawing(const FormulaDrawing& drawing, const Style& style, const QRectF& rect)
{
    for (const FormulaDrawing::Line& line : drawing.lines)
        m_out.strokes.append({{rect.x() + line.x1 * rect.width(), rect.y() + line.y1 * rect.height()},
                              {rect.x() + line.x2 * rect.width(), rect.y() + line.y2 * rect.height()},
                              line.thickness * style.em,
                              style.color});
    if (drawing.viewWidth <= 0 || drawing.viewHeight <= 0)
        return;
    double across = rect.width() / drawing.viewWidth, down = rect.height() / drawing.viewHeight;
    if (drawing.aspect.endsWith(L1("slice")))
        across = down = std::max(across, down);
    else if (drawing.aspect != L1("none"))
        across = down = std::min(across, down);
    QRectF target(rect.x(), rect.y(), drawing.viewWidth * across, drawing.viewHeight * down);
    if (drawing.aspect.startsWith(L1("xMid")))
        target.moveLeft(rect.center().x() - target.width() / 2);
    else if (drawing.aspect.startsWith(L1("xMax")))
        target.moveRight(rect.right());
    // Only the part of the drawing that is seen is kept: it may be 400 em wide.
    const QRectF seen = target.intersected(rect);
    if (seen.isEmpty())
        return;
    const QRectF view((seen.x() - target.x()) / across, (seen.y() - target.y()) / down, seen.width() / across,
                      seen.height() / down);
    for (const QString& path : drawing.paths)
        m_out.curves.append({path, view, seen, style.color});
}

/// Adds the frame and the ground of \boxed, \fbox and \colorbox.
void Layouter::frame(const FormulaBox& box, const Style& style, double x, double y, double room)
{
    const QRectF rect(x, y - box.em("height") * style.em, room, box.em("height") * style.em);
    const QColor ground(box.style.value(QStringLiteral("backgroundColor")));
    if (ground.isValid())
        m_out.grounds.append({rect, ground});
    const double line = box.em("borderWidth") * style.em;
    if (line <= 0)
        return;
    const QColor named(box.style.value(QStringLiteral("borderColor")));
    const QColor color = named.isValid() ? named : style.color;
    m_out.rules.append({{rect.left(), rect.top(), rect.width(), line}, color});
    m_out.rules.append({{rect.left(), rect.bottom() - line, rect.width(), line}, color});
    m_out.rules.append({{rect.left(), rect.top(), line, rect.height()}, color});
    m_out.rules.append({{rect.right() - line, rect.top(), line, rect.height()}, color});
}

// ---- the whole ----

/// Gathers the boxes of each line of the formula. Outside of an environment, \\ begins a new line.
void Layouter::findLines(const FormulaBox& box)
{
    if (box.is(L1("newline"))) {
        m_lines.append(QList<const FormulaBox*>());
    } else if (box.is(L1("katex-display")) || box.is(L1("katex")) || box.is(L1("katex-html"))) {
        for (const FormulaBox& child : box.children)
            findLines(child);
    } else {
        m_lines.last().append(&box);
    }
}

FormulaLayout Layouter::all(const FormulaBox& root)
{
    m_lines.append(QList<const FormulaBox*>());
    findLines(root);
    const bool display = root.is(L1("katex-display"));
    const Style style{.align = display ? Align::Center : Align::Left};
    QList<double> widths;
    for (const auto& line : std::as_const(m_lines)) {
        double sum = 0;
        for (const FormulaBox* box : line)
            sum += width(*box, style) + (box->is(L1("tag")) ? kTagGap : 0);
        widths.append(sum);
        m_out.width = std::max(m_out.width, sum);
    }
    double y = 0;
    for (qsizetype i = 0; i < m_lines.size(); ++i) {
        double height = 0, depth = 0;
        for (const FormulaBox* box : std::as_const(m_lines[i])) {
            height = std::max(height, box->height);
            depth = std::max(depth, box->depth);
        }
        if (i == 0)
            m_out.height = height;
        else
            y += m_out.depth - y + kLineGap + height;
        double x = display ? (m_out.width - widths[i]) / 2 : 0;
        for (const FormulaBox* box : std::as_const(m_lines[i])) {
            x += box->is(L1("tag")) ? kTagGap : 0;
            place(*box, style, x, y, 0);
            x += width(*box, style);
        }
        m_out.depth = y + depth;
    }
    return std::move(m_out);
}

}  // namespace

FormulaLayout layOut(const FormulaBox& root, FormulaFonts& fonts)
{
    return Layouter(fonts).all(root);
}
