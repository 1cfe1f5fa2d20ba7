//! LaTeX that can be typeset: on every model of the project, groups, environments and brackets that
//! grow are closed in order, and only what amsmath knows is used.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::text::{all_diagnostics, compile_text};
use bgm::expr::print::Style;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn models() -> Vec<PathBuf> {
    let mut files = Vec::new();
    for folder in ["examples", "tests/papers", "tests/language"] {
        for entry in std::fs::read_dir(root().join(folder)).expect("a folder of models") {
            let path = entry.expect("an entry").path();
            if path.extension().is_some_and(|extension| extension == "bgm") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Commands that may occur; any other is a slip.
const KNOWN: &[&str] = &[
    "documentclass",
    "usepackage",
    "setlength",
    "newlength",
    "newcommand",
    "oddsidemargin",
    "textwidth",
    "topmargin",
    "textheight",
    "parindent",
    "parskip",
    "lineskip",
    "lineskiplimit",
    "relpenalty",
    "binoppenalty",
    "column",
    "row",
    "ruled",
    "unruled",
    "par",
    "hangindent",
    "makebox",
    "texttt",
    "medskip",
    "textit",
    "textbf",
    "enspace",
    "hrulefill",
    "nopagebreak",
    "raggedright",
    "section",
    "subsection",
    "quad",
    "begin",
    "end",
    "displaystyle",
    "frac",
    "sqrt",
    "dot",
    "ddot",
    "overset",
    "mathrm",
    "mathit",
    "mathbf",
    "mathbin",
    "text",
    "itshape",
    "operatorname",
    "left",
    "right",
    "bigl",
    "bigr",
    "lvert",
    "rvert",
    "lfloor",
    "rfloor",
    "lceil",
    "rceil",
    "cdot",
    "land",
    "lor",
    "lnot",
    "le",
    "ge",
    "ne",
    "allowbreak",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "ln",
    "log",
    "min",
    "max",
    "alpha",
    "Omega",
    "dots",
];

/// Commands of reports, beside these.
const OF_REPORTS: &[&str] = &[
    "definecolor",
    "draw",
    "fill",
    "node",
    "textcolor",
    "sffamily",
    "large",
    "normalsize",
    "small",
    "footnotesize",
    "parbox",
    "textbackslash",
    "textasciicircum",
    "textless",
    "textgreater",
    "textbar",
    "textquotedbl",
    "textquotesingle",
    "textasciigrave",
    "textdegree",
];

/// Accents, letters and signs of [`LETTERS`].
const OF_LETTERS: &[&str] = &[
    "'",
    "`",
    "^",
    "~",
    "\"",
    "=",
    ".",
    "u",
    "v",
    "H",
    "c",
    "d",
    "b",
    "r",
    "i",
    "j",
    "l",
    "L",
    "oe",
    "OE",
    "S",
    "ensuremath",
    "textsuperscript",
    "textsubscript",
    "textmu",
    "textohm",
    "textperiodcentered",
    "textendash",
    "textemdash",
    "textquoteleft",
    "textquoteright",
    "textquotedblleft",
    "textquotedblright",
    "omega",
    "rho",
    "chi",
    "eta",
    "phi",
    "vartheta",
    "times",
    "div",
    "pm",
    "leq",
    "geq",
    "neq",
    "approx",
    "infty",
    "rightarrow",
    "Delta",
    "surd",
    "textbullet",
];

/// What is wrong with a document, if anything.
fn check(document: &str) -> Result<(), String> {
    let mut open: Vec<String> = Vec::new();
    let mut math = false;
    let mut rest = document;
    let close = |open: &mut Vec<String>, expected: &str| match open.pop() {
        Some(last) if last == expected => Ok(()),
        last => Err(format!("`{expected}` closes {last:?}")),
    };
    while let Some(letter) = rest.chars().next() {
        rest = &rest[letter.len_utf8()..];
        match letter {
            '\\' => {
                let length = rest.find(|c: char| !c.is_ascii_alphabetic());
                let (word, after) = rest.split_at(length.unwrap_or(rest.len()).max(1));
                rest = after;
                match word {
                    "_" | "," | " " | "\\" | "{" | "}" | "$" | "&" | "#" | "%" => {}
                    "left" => open.push("left".to_string()),
                    "right" => close(&mut open, "left")?,
                    "bigl" => open.push("big".to_string()),
                    "bigr" => close(&mut open, "big")?,
                    "begin" | "end" => {
                        let (name, after) = (rest.strip_prefix('{'))
                            .and_then(|rest| rest.split_once('}'))
                            .ok_or("an environment without a name")?;
                        rest = after;
                        match word {
                            "begin" => open.push(name.to_string()),
                            _ => close(&mut open, name)?,
                        }
                    }
                    _ if KNOWN.contains(&word) || OF_REPORTS.contains(&word) => {}
                    _ if OF_LETTERS.contains(&word) => {}
                    _ => return Err(format!("the command `\\{word}`")),
                }
            }
            '{' => open.push("{".to_string()),
            '}' => close(&mut open, "{")?,
            '$' if math => {
                close(&mut open, "$")?;
                math = false;
            }
            '$' => {
                open.push("$".to_string());
                math = true;
            }
            '_' | '^' if !math => return Err(format!("`{letter}` outside math mode")),
            '#' | '%' | '~' if math => return Err(format!("`{letter}` in math mode")),
            '\n' if math => return Err("a line that ends in math mode".to_string()),
            _ => {}
        }
    }
    match open.pop() {
        None => Ok(()),
        Some(last) => Err(format!("`{last}` is not closed")),
    }
}

#[test]
fn the_check_finds_slips() {
    assert_eq!(check(r"\frac{a}{b} $x_{1}$"), Ok(()));
    for wrong in [
        r"\frac{a}{b",
        r"a_1",
        r"$x",
        r"\left(a)",
        r"\begin{cases} a {\end{cases}}",
        r"\fracc{a}{b}",
        r"${$}",
    ] {
        assert!(check(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn all_models_can_be_typeset() {
    let mut documents = 0;
    for file in models() {
        for words in [
            &["equations"][..],
            &["equations", "--style", "1990"],
            &["sort"],
            &["sort", "--eliminate"],
            &["solve"],
            &["solve", "--no-eliminate", "--style", "1990"],
        ] {
            let output = Command::new(env!("CARGO_BIN_EXE_bgm"))
                .args(words)
                .arg(&file)
                .args(["--format", "latex"])
                .output()
                .expect("bgm runs");
            if output.status.code() != Some(0) {
                continue;
            }
            let text = String::from_utf8(output.stdout).expect("LaTeX is UTF-8");
            let (title, words) = (file.display(), words.join(" "));
            assert_eq!(check(&text), Ok(()), "{title} {words}");
            assert!(text.ends_with("\\end{document}\n"), "{title} {words}");
            documents += 1;
        }
    }
    assert!(documents > 150, "only {documents} documents");
}

/// Reports: variables, three kinds of equations, a picture where there is a bond graph.
#[test]
fn all_models_have_a_report() {
    let mut pictures = 0;
    for file in models()
        .into_iter()
        .chain([root().join("tests/export/awkward.bgm")])
    {
        let output = Command::new(env!("CARGO_BIN_EXE_bgm"))
            .args(["export", "--to", "latex"])
            .arg(&file)
            .output()
            .expect("bgm runs");
        if output.status.code() != Some(0) {
            continue;
        }
        let text = String::from_utf8(output.stdout).expect("LaTeX is UTF-8");
        let title = file.display();
        assert_eq!(check(&text), Ok(()), "{title}");
        for heading in [
            "Variables",
            "Equations",
            "Sorted equations",
            "Solved equations",
        ] {
            assert!(
                text.contains(&format!("\\section*{{{heading}}}")),
                "{title} {heading}"
            );
        }
        assert_eq!(text.matches("\\begin{document}").count(), 1, "{title}");
        pictures += text.matches("\\begin{tikzpicture}").count();
    }
    assert!(pictures > 15, "only {pictures} pictures");
}

/// Names and descriptions in letters of many scripts.
const LETTERS: &str = "@bondgraph
model Größe
  parameter é = 1.0 'Ω' \"čřžšěďťňůýĩőąęłøœßıĳŋ ÀÖÿ ðþÐÞ\", жёсткость = 2.0 'µm' \"Жёсткость пружины, объём, їґ\"
  parameter 質量 = 3.0 'kg' \"質量 ― mass\", ω₀ = 1 \"ω₀ ± 5 °C × 2 ÷ 3, x², ≤ ≥ ≠ ≈ ∞ → “quoted” ‘so’ – — … • § ⅓\"
  submodel (SE) ἀρχή
  submodel (R) Ř1(R = é)
  submodel (C) Ć_1(C = жёсткость)
  submodel (I) مقاومة(I = 質量)
  junction1 ϑ_ϕ
  output выход 'm·s⁻¹' \"Ausgangsgröße\"
  connect ἀρχή at ϑ_ϕ, Ř1 at ϑ_ϕ, Ć_1 at ϑ_ϕ, مقاومة at ϑ_ϕ
  ἀρχή.E0 = ω₀
  выход = Ř1.e
end
experiment Größe
  simutime 1
  plot выход
end
";

/// All that pdflatex can set; and it does, where there is one.
#[test]
fn letters_of_all_scripts() {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("letters");
    std::fs::create_dir_all(&place).expect("a folder can be made");
    std::fs::write(place.join("letters.bgm"), LETTERS).expect("a file can be written");
    let known = ["é", "Ö", "ÿ", "ß", "ø", "ö"];
    for (words, name) in [
        (&["export", "--to", "latex", "letters.bgm"][..], "report"),
        (&["solve", "--format", "latex", "letters.bgm"], "solved"),
        (
            &[
                "equations",
                "--style",
                "1990",
                "--format",
                "latex",
                "letters.bgm",
            ],
            "equations",
        ),
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_bgm"))
            .args(words)
            .current_dir(&place)
            .output()
            .expect("bgm runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{said}");
        let text = String::from_utf8(output.stdout).expect("LaTeX is UTF-8");
        assert_eq!(check(&text), Ok(()), "{name}\n{text}");
        let is_plain = |c: &char| c.is_ascii() || ('À'..='ÿ').contains(c);
        assert_eq!(text.chars().find(|c| !is_plain(c)), None, "{name}");
        assert!(known.iter().any(|known| text.contains(known)), "{text}");
        let numbered = if name == "report" {
            "[U+8CEA]"
        } else {
            "[U+0645]"
        };
        assert!(text.contains(numbered), "{text}");
        assert!(text.contains("vykhod"), "{text}");
        let file = format!("{name}.tex");
        std::fs::write(place.join(&file), text).expect("a file can be written");
        let typeset = Command::new("pdflatex")
            .args(["-interaction=nonstopmode", "-halt-on-error", &file])
            .current_dir(&place)
            .output();
        let Ok(typeset) = typeset else {
            continue;
        };
        let told = String::from_utf8_lossy(&typeset.stdout);
        assert!(typeset.status.success(), "{told}");
        for warning in ["Missing character", "undefined", "LaTeX Warning"] {
            assert!(!told.contains(warning), "{told}");
        }
    }
}

/// The right side of the equation `y = ...`.
fn right(expression: &str) -> String {
    let model = format!(
        "model M\n  input u, v\n  local y, flag\n  flag = u > v\n  y = {expression}\nend\n"
    );
    let compiled = compile_text(&model);
    let said = all_diagnostics(&compiled);
    let flat = compiled.flat.unwrap_or_else(|| panic!("{said}"));
    let text = bgm::listing::latex::equations(&flat, Style::Plain);
    assert_eq!(check(&text), Ok(()));
    let line = text.lines().find(|line| line.contains("y = "));
    let (_, right) = line.and_then(|line| line.split_once("y = ")).expect("y");
    right.trim_end_matches("$}").to_string()
}

#[test]
fn expressions() {
    for (expression, expected) in [
        ("u/v", r"\frac{u}{v}"),
        ("u/v*2", r"\frac{u}{v} \cdot 2"),
        ("2*(u/v)", r"2 \cdot \frac{u}{v}"),
        ("(u/v)**2", r"\left(\frac{u}{v}\right)^{2}"),
        ("u - (v - u)", "u - (v - u)"),
        ("u - (-v)*u", r"u - (-v\,u)"),
        ("-(u*v)", r"-u\,v"),
        ("-(u + v)", "-(u + v)"),
        ("-(-u)", "-(-u)"),
        ("(u**v)**2", "(u^{v})^{2}"),
        ("u**v**2", "u^{v^{2}}"),
        ("(-u)**2", "(-u)^{2}"),
        ("sin(u)**2", r"(\sin(u))^{2}"),
        ("sin(u/v)", r"\sin\left(\frac{u}{v}\right)"),
        ("1.5e-7*u", r"1.5 \cdot 10^{-7}\,u"),
        ("u/1.5e-7", r"\frac{u}{1.5 \cdot 10^{-7}}"),
        ("1e20**u", r"(10^{20})^{u}"),
        ("u*(v*u)", r"u\,(v\,u)"),
        (
            "if flag then u else v",
            r"\begin{cases} u & \text{if } \mathit{flag} \\ v & \text{else} \end{cases}",
        ),
        (
            "1 + (if flag then u else v)",
            r"1 + \left(\begin{cases} u & \text{if } \mathit{flag} \\ v & \text{else} \end{cases}\right)",
        ),
        ("min(u, v, abs(u))", r"\min(u, v, \lvert u\rvert )"),
        ("sqrt(u/v)", r"\sqrt{\frac{u}{v}}"),
    ] {
        assert_eq!(right(expression), expected, "{expression}");
    }
}

/// What cannot be broken into lines stays narrow, however long or deep an expression is.
#[test]
fn long_and_deep_expressions() {
    let sum = vec!["u*v"; 40].join(" + ");
    let fraction = right(&format!("({sum})/({sum})"));
    assert!(fraction.contains(r"\mathbin{/}"), "{fraction}");
    let cases = right(&format!("if flag then {sum} else v"));
    assert!(cases.starts_with(r"\mathbf{if}\ \mathit{flag}"), "{cases}");
    let chain = "if u > 1 then v else".repeat(30) + " u";
    let cases = right(&chain);
    assert!(cases.matches(r"\\").count() <= 8, "{cases}");
    let deep = format!("{}u{}", "1/(1 + ".repeat(5000), ")".repeat(5000));
    let deep = right(&deep);
    let nested = |text: &str| text.matches(r"\frac").count();
    assert!(nested(&deep) <= 3, "{} fractions", nested(&deep));
    let powers = format!("{}u{}", "(2**".repeat(2000), ")".repeat(2000));
    assert!(right(&powers).contains(r"\operatorname{pow}(2, "));
}
