// Returns KaTeX's boxes as plain data. layOut() does with them what katex.css would do in a browser.

// latex -> JSON: {c: classes, s: style, k: children, h: height, d: depth} for a span, {t: text, i: italic, ...} for a
// symbol, {svg: {...}} for a drawing; lengths are in em. Throws where the formula is wrong or too large.
function formulaTree(latex, display, mostBoxes, deepest) {
    let boxes = 0;

    function drawing(node) {
        const svg = { view: node.attributes.viewBox, aspect: node.attributes.preserveAspectRatio,
                      width: node.attributes.width, paths: [], lines: [] };
        for (const part of node.children) {
            if (part.pathName !== undefined)
                svg.paths.push(/ d=['"]([^'"]*)['"]/.exec(part.toMarkup())[1]);
            else
                svg.lines.push(part.attributes);
        }
        return svg;
    }

    function plain(node, depth) {
        if (++boxes > mostBoxes || depth > deepest)
            throw new Error("too large");
        if (!node.classes && node.attributes)
            return { svg: drawing(node) };
        const out = { h: node.height || 0, d: node.depth || 0 };
        const classes = (node.classes || []).filter(name => name);
        if (classes.length)
            out.c = classes;
        if (node.style && Object.keys(node.style).length)
            out.s = node.style;
        if (node.text !== undefined) {
            out.t = node.text;
            out.i = node.italic || 0;
        } else {
            out.k = (node.children || []).map(child => plain(child, depth + 1));
        }
        return out;
    }

    const tree = katex.__renderToHTMLTree(latex, {
        displayMode: display, throwOnError: true, strict: "ignore", trust: false, errorColor: "error", maxExpand: 1000, maxSize: 40 });
    return JSON.stringify(plain(tree, 0));
}
