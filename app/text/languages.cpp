#include "app/text/languages.h"

namespace {

using Word = CodeWord;
using Region = CodeRegion;

constexpr Region kSlashes{u"//", u"", Word::Comment};
constexpr Region kSlashStar{u"/*", u"*/", Word::Comment, Region::Lines, false};
constexpr Region kHash{u"#", u"", Word::Comment, Region::OneLine, false, true};
constexpr Region kDashes{u"--", u"", Word::Comment};
constexpr Region kDouble{u"\"", u"\""};
constexpr Region kSingle{u"'", u"'"};
constexpr Region kDoubleLines{u"\"", u"\"", Word::String, Region::Lines};
constexpr Region kSingleLines{u"'", u"'", Word::String, Region::Lines};
constexpr Region kQuoted{u"'", u"'", Word::String, Region::Lines, false};
constexpr Region kLetter{u"'", u"'", Word::String, Region::Character};
constexpr Region kTripleDouble{u"\"\"\"", u"\"\"\"", Word::String, Region::Lines};
constexpr Region kTripleSingle{u"'''", u"'''", Word::String, Region::Lines};
constexpr Region kBackticks{u"`", u"`", Word::String, Region::Lines};

constexpr Region kPythonRegions[] = {kHash, kTripleDouble, kTripleSingle, kDouble, kSingle};
constexpr Region kScriptRegions[] = {kSlashes, kSlashStar, kBackticks, kDouble, kSingle};
constexpr Region kCRegions[] = {kSlashes, kSlashStar, kDouble, kLetter};
constexpr Region kCppRegions[] = {
    kSlashes, kSlashStar, {u"R\"(", u")\"", Word::String, Region::Lines, false, true}, kDouble, kLetter};
constexpr Region kJavaRegions[] = {kSlashes, kSlashStar, kTripleDouble, kDouble, kLetter};
constexpr Region kCsRegions[] = {
    kSlashes, kSlashStar, kTripleDouble, {u"@\"", u"\"", Word::String, Region::Lines, false}, kDouble, kLetter};
constexpr Region kGoRegions[] = {
    kSlashes, kSlashStar, {u"`", u"`", Word::String, Region::Lines, false}, kDouble, kLetter};
constexpr Region kRustRegions[] = {
    kSlashes, kSlashStar, {u"r#\"", u"\"#", Word::String, Region::Lines, false, true}, kDoubleLines, kLetter};
constexpr Region kPhpRegions[] = {kSlashes, kSlashStar, kHash, kDoubleLines, kSingleLines};
constexpr Region kRubyRegions[] = {
    kHash, {u"=begin", u"=end", Word::Comment, Region::Lines, false, true}, kDoubleLines, kSingleLines, kBackticks};
constexpr Region kSwiftRegions[] = {kSlashes, kSlashStar, kTripleDouble, kDouble};
constexpr Region kSqlRegions[] = {kDashes, kSlashStar, kQuoted, kDouble};
constexpr Region kShellRegions[] = {kHash, kDoubleLines, kQuoted};
constexpr Region kPowerRegions[] = {
    {u"<#", u"#>", Word::Comment, Region::Lines, false},  kHash,
    {u"@\"", u"\"@", Word::String, Region::Lines, false}, {u"@'", u"'@", Word::String, Region::Lines, false},
    {u"\"", u"\"", Word::String, Region::Lines, false},   kQuoted};
constexpr Region kMarkupRegions[] = {{u"<!--", u"-->", Word::Comment, Region::Lines, false},
                                     {u"<![CDATA[", u"]]>", Word::String, Region::Lines, false},
                                     {u"\"", u"\"", Word::String, Region::Lines, false},
                                     {u"'", u"'", Word::String, Region::Lines, false}};
constexpr Region kCssRegions[] = {kSlashStar, kDouble, kSingle};
constexpr Region kJsonRegions[] = {kSlashes, kSlashStar, kDouble};
constexpr Region kYamlRegions[] = {kHash, kDouble, {u"'", u"'", Word::String, Region::OneLine, false, true}};
constexpr Region kTomlRegions[] = {
    kHash, kTripleDouble, kTripleSingle, kDouble, {u"'", u"'", Word::String, Region::OneLine, false}};
constexpr Region kLuaRegions[] = {{u"--[[", u"]]", Word::Comment, Region::Lines, false},
                                  {u"[[", u"]]", Word::String, Region::Lines, false},
                                  kDashes,
                                  kDouble,
                                  kSingle};
constexpr Region kCmakeRegions[] = {{u"#[[", u"]]", Word::Comment, Region::Lines, false}, kHash, kDoubleLines};
constexpr Region kProseRegions[] = {{u"<!--", u"-->", Word::Comment, Region::Lines, false},
                                    {u"```", u"```", Word::String, Region::Lines, false},
                                    {u"`", u"`", Word::String, Region::OneLine, false}};
constexpr Region kHashRegions[] = {kHash, kDouble, kSingle};

constexpr QStringView kScriptWords =
    u"as async await break case catch class const continue debugger default delete do else export extends false "
    u"finally "
    u"for from function get if import in instanceof let new null of return set static super switch this throw true try "
    u"typeof undefined var void while with yield";
constexpr QStringView kCWords =
    u"auto break case const continue default do else enum extern false for goto if inline nullptr register restrict "
    u"return sizeof static struct switch true typedef union volatile while NULL";
constexpr QStringView kCTypes =
    u"bool char double float int long short signed size_t ssize_t unsigned void int8_t int16_t int32_t int64_t uint8_t "
    u"uint16_t uint32_t uint64_t ptrdiff_t uintptr_t FILE wchar_t char8_t char16_t char32_t string vector map set "
    u"unordered_map unique_ptr shared_ptr optional pair tuple array span string_view";

constexpr Language kLanguages[] = {
    {.names = u"python py python3 py3 ipython pycon",
     .title = u"Python",
     .regions = kPythonRegions,
     .keywords =
         u"False None True and as assert async await break case class continue def del elif else except finally "
         u"for from global if import in is lambda match nonlocal not or pass raise return try while with yield "
         u"self cls",
     .types = u"int float str bool list dict set tuple bytes object complex frozenset bytearray type",
     .beforeNames = u"@",
     .capitalTypes = true},
    {.names = u"javascript js jsx mjs cjs node",
     .title = u"JavaScript",
     .regions = kScriptRegions,
     .keywords = kScriptWords,
     .inWords = u"$",
     .beforeNames = u"@",
     .capitalTypes = true},
    {.names = u"typescript ts tsx mts",
     .title = u"TypeScript",
     .regions = kScriptRegions,
     .keywords =
         u"abstract as async await break case catch class const continue debugger declare default delete do else enum "
         u"export extends false finally for from function get if implements import in infer instanceof interface is "
         u"keyof let namespace new null of override private protected public readonly return satisfies set static "
         u"super "
         u"switch this throw true try type typeof undefined var void while with yield",
     .types = u"any bigint boolean never number object string symbol unknown",
     .inWords = u"$",
     .beforeNames = u"@",
     .capitalTypes = true},
    {.names = u"java",
     .title = u"Java",
     .regions = kJavaRegions,
     .keywords =
         u"abstract assert break case catch class const continue default do else enum exports extends false final "
         u"finally for goto if implements import instanceof interface module native new null package permits "
         u"private protected public record requires return sealed static strictfp super switch synchronized this "
         u"throw throws transient true try var volatile while yield",
     .types = u"boolean byte char double float int long short void",
     .beforeNames = u"@",
     .capitalTypes = true},
    {.names = u"c h", .title = u"C", .regions = kCRegions, .keywords = kCWords, .types = kCTypes, .preprocessor = true},
    {.names = u"cpp c++ cc cxx hpp hxx h++ arduino ino cuda cu",
     .title = u"C++",
     .regions = kCppRegions,
     .keywords =
         u"alignas alignof and asm auto break case catch class co_await co_return co_yield concept const const_cast "
         u"consteval constexpr constinit continue decltype default delete do dynamic_cast else enum explicit export "
         u"extern false final for friend goto if inline mutable namespace new noexcept not nullptr operator or "
         u"override "
         u"private protected public register reinterpret_cast requires return sizeof static static_assert static_cast "
         u"struct switch template this thread_local throw true try typedef typeid typename union using virtual "
         u"volatile "
         u"while",
     .types = kCTypes,
     .preprocessor = true},
    {.names = u"csharp cs c#",
     .title = u"C#",
     .regions = kCsRegions,
     .keywords =
         u"abstract as async await base break case catch checked class const continue default delegate do else enum "
         u"event "
         u"explicit extern false finally fixed for foreach get goto if implicit in init interface internal is lock "
         u"namespace new null operator out override params private protected public readonly record ref return sealed "
         u"set sizeof stackalloc static struct switch this throw true try typeof unchecked unsafe using value var "
         u"virtual "
         u"volatile when where while with yield",
     .types = u"bool byte char decimal double dynamic float int long nint object sbyte short string uint ulong ushort "
              u"void",
     .capitalTypes = true,
     .preprocessor = true},
    {.names = u"go golang",
     .title = u"Go",
     .regions = kGoRegions,
     .keywords = u"break case chan const continue default defer else fallthrough false for func go goto if import "
                 u"interface iota map nil package range return select struct switch true type var",
     .types = u"any bool byte complex128 complex64 error float32 float64 int int16 int32 int64 int8 rune string uint "
              u"uint16 uint32 uint64 uint8 uintptr"},
    {.names = u"rust rs",
     .title = u"Rust",
     .regions = kRustRegions,
     .keywords =
         u"as async await break const continue crate dyn else enum extern false fn for if impl in let loop match "
         u"mod move mut pub ref return self static struct super trait true type unsafe use where while",
     .types = u"bool char f32 f64 i128 i16 i32 i64 i8 isize str u128 u16 u32 u64 u8 usize Self",
     .capitalTypes = true},
    {.names = u"php",
     .title = u"PHP",
     .regions = kPhpRegions,
     .keywords =
         u"abstract and array as break callable case catch class clone const continue declare default do echo else "
         u"elseif "
         u"empty enum extends false final finally fn for foreach function global goto if implements include "
         u"include_once instanceof insteadof interface isset list match namespace new null or print private protected "
         u"public readonly require require_once return static switch throw trait true try unset use var while xor "
         u"yield",
     .types = u"bool float int iterable mixed never object string void",
     .beforeNames = u"$",
     .capitalTypes = true},
    {.names = u"ruby rb",
     .title = u"Ruby",
     .regions = kRubyRegions,
     .keywords =
         u"alias and begin break case class def do else elsif end ensure false for if in module next nil not or "
         u"redo rescue retry return self super then true undef unless until when while yield require "
         u"require_relative attr_reader attr_writer attr_accessor puts",
     .beforeNames = u"@:",
     .capitalTypes = true},
    {.names = u"swift",
     .title = u"Swift",
     .regions = kSwiftRegions,
     .keywords =
         u"actor any as associatedtype async await break case catch class continue default defer deinit do else enum "
         u"extension fallthrough false fileprivate final for func get guard if import in indirect init inout internal "
         u"is "
         u"lazy let mutating nil open operator override private protocol public repeat rethrows return self set some "
         u"static struct subscript super switch throw throws true try typealias unowned var weak where while",
     .beforeNames = u"@",
     .capitalTypes = true},
    {.names = u"kotlin kt kts",
     .title = u"Kotlin",
     .regions = kJavaRegions,
     .keywords =
         u"abstract actual as break by catch class companion const constructor continue crossinline data do else enum "
         u"expect external false final finally for fun get if import in infix init inline inner interface internal is "
         u"lateinit noinline null object open operator out override package private protected public reified return "
         u"sealed set super suspend tailrec this throw true try typealias val var vararg when where while",
     .beforeNames = u"@",
     .capitalTypes = true},
    {.names = u"sql mysql postgresql postgres sqlite plsql tsql",
     .title = u"SQL",
     .regions = kSqlRegions,
     .keywords =
         u"add all alter and as asc begin between by cascade case check column commit constraint create cross current "
         u"database default delete desc distinct drop else end except exists explain false fetch filter first for "
         u"foreign "
         u"from full grant group having if in index inner insert intersect into is join key last left like limit "
         u"materialized not null nulls offset on or order outer over partition primary recursive references replace "
         u"returning revoke right rollback row rows select set table temporary then to transaction trigger true "
         u"truncate "
         u"union unique update using values view when where window with",
     .types = u"bigint blob boolean char date decimal double float int integer json jsonb numeric real serial smallint "
              u"text time timestamp timestamptz uuid varchar",
     .anyCase = true},
    {.names = u"bash sh shell zsh console shell-session terminal ksh fish",
     .title = u"Shell",
     .regions = kShellRegions,
     .keywords =
         u"case do done elif else esac export fi for function if in local readonly return select set source then "
         u"trap unset until while echo exit cd sudo",
     .inWords = u"-",
     .beforeNames = u"$"},
    {.names = u"powershell ps1 pwsh posh",
     .title = u"PowerShell",
     .regions = kPowerRegions,
     .keywords = u"begin break catch class continue data do dynamicparam else elseif end enum exit filter finally for "
                 u"foreach from function if in param process return switch throw trap try until using while",
     .inWords = u"-",
     .beforeNames = u"$",
     .anyCase = true},
    {.names = u"html htm xhtml vue svelte xml svg xsl xsd plist qrc",
     .title = u"HTML",
     .kind = Language::Markup,
     .regions = kMarkupRegions},
    {.names = u"css scss less sass", .title = u"CSS", .kind = Language::Style, .regions = kCssRegions, .inWords = u"-"},
    {.names = u"json jsonc json5 jsonl ndjson geojson",
     .title = u"JSON",
     .kind = Language::Keys,
     .regions = kJsonRegions,
     .keywords = u"false null true"},
    {.names = u"yaml yml",
     .title = u"YAML",
     .kind = Language::Keys,
     .regions = kYamlRegions,
     .keywords = u"false no null off on true yes",
     .inWords = u"-."},
    {.names = u"toml ini cfg conf properties dotenv env",
     .title = u"TOML",
     .kind = Language::Keys,
     .regions = kTomlRegions,
     .keywords = u"false true",
     .inWords = u"-."},
    {.names = u"lua luau",
     .title = u"Lua",
     .regions = kLuaRegions,
     .keywords = u"and break do else elseif end false for function goto if in local nil not or repeat return then true "
                 u"until while"},
    {.names = u"cmake",
     .title = u"CMake",
     .regions = kCmakeRegions,
     .keywords =
         u"else elseif endforeach endfunction endif endmacro endwhile foreach function if macro return while and "
         u"or not public private interface required on off true false",
     .anyCase = true},
    {.names = u"dockerfile docker containerfile",
     .title = u"Dockerfile",
     .regions = kHashRegions,
     .keywords = u"add arg as cmd copy entrypoint env expose from healthcheck label onbuild run shell stopsignal user "
                 u"volume workdir",
     .inWords = u"-",
     .beforeNames = u"$",
     .anyCase = true},
    {.names = u"makefile make mk",
     .title = u"Makefile",
     .regions = kHashRegions,
     .keywords = u"define else endef endif export ifdef ifeq ifndef ifneq include override",
     .beforeNames = u"$"},
    {.names = u"qml",
     .title = u"QML",
     .regions = kScriptRegions,
     .keywords =
         u"alias as bool break case catch const continue default do double else false for function if import in "
         u"int let new null of on pragma property readonly real required return signal string switch this throw "
         u"true try typeof undefined url var while",
     .capitalTypes = true},
    {.names = u"diff patch", .title = u"Diff", .kind = Language::Difference},
    {.names = u"markdown md mdx", .title = u"Markdown", .kind = Language::Prose, .regions = kProseRegions},
};

}  // namespace

std::span<const Language> languages()
{
    return kLanguages;
}
