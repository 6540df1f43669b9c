#include "app/attachments/file_kind.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace {

struct Language {
    std::string_view word;
    std::string_view endings;  // of names, or whole names; between spaces
};

constexpr Language kLanguages[] = {
    {"ada", " adb ads "},
    {"asm", " asm s nasm "},
    {"awk", " awk "},
    {"bash", " sh bash zsh ksh bashrc profile "},
    {"bat", " bat cmd "},
    {"bibtex", " bib "},
    {"c", " c h "},
    {"clojure", " clj cljs cljc edn "},
    {"cmake", " cmake cmakelists.txt "},
    {"cpp", " cpp cc cxx hpp hh hxx ipp inl tpp ino "},
    {"csharp", " cs csx "},
    {"css", " css "},
    {"csv", " csv tsv "},
    {"cuda", " cu cuh "},
    {"d", " d di "},
    {"dart", " dart "},
    {"diff", " diff patch "},
    {"dockerfile", " dockerfile containerfile "},
    {"dot", " gv dot "},
    {"elixir", " ex exs "},
    {"elm", " elm "},
    {"erlang", " erl hrl "},
    {"fish", " fish "},
    {"fortran", " f f77 f90 f95 f03 f08 for "},
    {"fsharp", " fs fsi fsx "},
    {"gdscript", " gd "},
    {"glsl", " glsl vert frag comp geom "},
    {"go", " go mod "},
    {"gradle", " gradle "},
    {"graphql", " graphql gql "},
    {"groovy", " groovy jenkinsfile "},
    {"haskell", " hs lhs cabal "},
    {"hcl", " tf tfvars hcl "},
    {"hlsl", " hlsl fx "},
    {"html", " html htm xhtml "},
    {"ini", " ini cfg conf properties desktop service editorconfig gitconfig "},
    {"java", " java "},
    {"javascript", " js mjs cjs jsx "},
    {"jinja", " jinja j2 jinja2 "},
    {"json", " json jsonl ndjson json5 geojson ipynb webmanifest "},
    {"julia", " jl "},
    {"kotlin", " kt kts "},
    {"latex", " tex sty cls ltx "},
    {"less", " less "},
    {"lisp", " lisp lsp cl el "},
    {"lua", " lua "},
    {"makefile", " makefile gnumakefile mk mak "},
    {"markdown", " md markdown mdown mkd mdx qmd rmd "},
    {"matlab", " m mlx "},
    {"meson", " meson.build meson_options.txt "},
    {"nim", " nim nims "},
    {"nix", " nix "},
    {"objectivec", " mm "},
    {"ocaml", " ml mli "},
    {"pascal", " pas pp dpr lpr "},
    {"perl", " pl pm pod t "},
    {"php", " php phtml "},
    {"powershell", " ps1 psm1 psd1 "},
    {"prolog", " pro prolog "},
    {"protobuf", " proto "},
    {"python", " py pyi pyw pyx sconstruct "},
    {"qml", " qml "},
    {"r", " r "},
    {"racket", " rkt "},
    {"rst", " rst "},
    {"ruby", " rb rake gemspec gemfile rakefile "},
    {"rust", " rs "},
    {"scala", " scala sc sbt "},
    {"scheme", " scm ss "},
    {"scss", " scss sass "},
    {"solidity", " sol "},
    {"sql", " sql "},
    {"svelte", " svelte "},
    {"swift", " swift "},
    {"tcl", " tcl "},
    {"toml", " toml "},
    {"typescript", " ts tsx mts cts "},
    {"vala", " vala vapi "},
    {"vb", " vb bas vbs "},
    {"verilog", " v vh sv svh "},
    {"vhdl", " vhd vhdl "},
    {"vim", " vim vimrc "},
    {"vue", " vue "},
    {"wgsl", " wgsl "},
    {"xml", " xml xsd xsl xslt svg plist ui qrc csproj vcxproj rss atom "},
    {"yaml", " yaml yml "},
    {"zig", " zig zon "},
};

constexpr std::string_view kNotCode[] = {"markdown", "csv", "rst"};

std::string_view languageWord(const QString& fileName)
{
    const QString name = fileName.toLower();
    const QString ending = name.mid(name.lastIndexOf(u'.') + 1);  // the whole name where there is no dot
    for (const QString& wanted : {name, ending}) {
        const std::string key = ' ' + wanted.toStdString() + ' ';
        if (wanted.isEmpty() || wanted.contains(u' '))
            continue;
        for (const Language& language : kLanguages)
            if (language.endings.find(key) != std::string_view::npos)
                return language.word;
    }
    return {};
}

}  // namespace

QString kindOfText(const QString& fileName)
{
    const std::string_view word = languageWord(fileName);
    if (word == "markdown")
        return QStringLiteral("markdown");
    const bool isCode =
        !word.empty() && std::find(std::begin(kNotCode), std::end(kNotCode), word) == std::end(kNotCode);
    return isCode ? QStringLiteral("code") : QStringLiteral("text");
}

QString languageOf(const QString& fileName)
{
    const std::string_view word = languageWord(fileName);
    return QString::fromLatin1(word.data(), qsizetype(word.size()));
}
