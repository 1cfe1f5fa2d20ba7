//! Kinds of files and their name endings. A file is not written under a name that indicates another kind.

use crate::export::Target;
use std::path::Path;

/// The kind of content that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A listing.
    Text,
    Json,
    Latex,
    /// Rows.
    Rows,
    /// A script for Octave and Matlab.
    Script,
    Svg,
    Png,
    Dot,
    Model,
    /// A golden file; its name is fixed.
    Golden,
    Program(Target),
}

/// Endings that indicate a kind. Other endings indicate nothing and are allowed for all text.
const KNOWN: &[(&str, &[&str])] = &[
    ("CSV", &["csv"]),
    ("a table with tabs", &["tsv"]),
    ("JSON", &["json"]),
    ("XML", &["xml"]),
    ("HTML", &["html", "htm"]),
    ("LaTeX", &["tex", "latex"]),
    ("SVG", &["svg"]),
    ("compressed SVG", &["svgz"]),
    ("PNG", &["png"]),
    ("Graphviz", &["dot", "gv"]),
    ("PDF", &["pdf"]),
    ("PostScript", &["ps", "eps"]),
    ("JPEG", &["jpg", "jpeg"]),
    (
        "a picture",
        &["gif", "bmp", "tif", "tiff", "webp", "avif", "emf", "wmf"],
    ),
    ("Parquet", &["parquet"]),
    ("Arrow", &["arrow", "feather"]),
    ("HDF5", &["h5", "hdf5", "hdf"]),
    ("NetCDF", &["nc"]),
    ("NumPy", &["npy", "npz"]),
    ("Matlab", &["mat"]),
    ("a spreadsheet", &["xls", "xlsx", "ods"]),
    ("a document", &["doc", "docx", "odt", "rtf"]),
    ("a database", &["db", "sqlite"]),
    (
        "an archive",
        &["zip", "gz", "bz2", "xz", "zst", "tar", "7z"],
    ),
    (
        "a program for a machine",
        &["exe", "dll", "so", "dylib", "o", "a", "lib", "jar", "wasm"],
    ),
    ("a script for a shell", &["sh", "bat", "ps1"]),
    ("YAML", &["yaml", "yml"]),
    ("a model of bgm", &["bgm"]),
    ("an FMU", &["fmu"]),
    ("C", &["c", "h"]),
    ("C++", &["cpp", "cc", "cxx", "hpp", "hxx"]),
    ("Fortran", &["f", "for", "f90"]),
    ("Java", &["java"]),
    ("JavaScript", &["js", "ts"]),
    ("Julia", &["jl"]),
    ("a program of Matlab", &["m"]),
    ("Rust", &["rs"]),
    ("Python", &["py"]),
    ("Modelica", &["mo"]),
];

impl Kind {
    /// Returns a description of the kind, and its endings.
    fn description(self) -> (&'static str, &'static [&'static str]) {
        match self {
            Kind::Text => ("a listing as text", &["txt"]),
            Kind::Json => ("JSON", &["json"]),
            Kind::Latex => ("LaTeX", &["tex", "latex"]),
            Kind::Rows => ("rows as CSV", &["csv"]),
            Kind::Script => ("a script for Octave and Matlab", &["m"]),
            Kind::Svg => ("a picture as SVG", &["svg"]),
            Kind::Png => ("a picture as PNG", &["png"]),
            Kind::Dot => ("a text for Graphviz", &["dot", "gv"]),
            Kind::Model => ("a model", &["bgm"]),
            Kind::Golden => ("a golden file", &[]),
            Kind::Program(Target::C) => ("a program in C", &["c", "h"]),
            Kind::Program(Target::Python) => ("a program in Python", &["py"]),
            Kind::Program(Target::Fmu) => ("an FMU", &["fmu", "zip"]),
            Kind::Program(Target::Modelica) => ("a Modelica class", &["mo"]),
            Kind::Program(Target::Latex) => ("LaTeX", &["tex", "latex"]),
            Kind::Program(Target::Desire) => ("a program for DESIRE", &[]),
            Kind::Program(Target::Simnon) => ("a program for SIMNON", &[]),
            Kind::Program(Target::Acsl) => ("a program for ACSL", &[]),
        }
    }

    fn is_picture(self) -> bool {
        matches!(self, Kind::Svg | Kind::Png)
    }

    /// Returns true if the content is not text, so it cannot be shown on a terminal.
    pub fn is_binary(self) -> bool {
        matches!(self, Kind::Png | Kind::Program(Target::Fmu))
    }

    /// Returns the kind of picture for a file: PNG if its name ends so, else SVG.
    pub fn of_picture(path: Option<&Path>) -> Kind {
        match path.and_then(ending).as_deref() {
            Some("png") => Kind::Png,
            _ => Kind::Svg,
        }
    }

    /// Checks that the name of a file suits the kind.
    pub fn fits(self, path: &Path) -> Result<(), Misnamed> {
        let Some(ending) = ending(path) else {
            return Ok(());
        };
        let (what, own) = self.description();
        if own.contains(&ending.as_str()) {
            return Ok(());
        }
        let known = (KNOWN.iter()).find(|(_, endings)| endings.contains(&ending.as_str()));
        let shown = path.display();
        match known {
            None if self.is_picture() => Err(Misnamed {
                message: format!(
                    "cannot write `{shown}`: `.{ending}` is no kind of picture that is made"
                ),
                hint: PICTURE_ADVICE.to_string(),
            }),
            // Under the name of a text, binary content would be taken for a text.
            None if self.is_binary() => Err(Misnamed {
                message: format!("cannot write `{shown}`: `.{ending}` is not the ending of {what}"),
                hint: self.advice(&ending, own),
            }),
            None => Ok(()),
            Some((other, _)) => Err(Misnamed {
                message: format!(
                    "cannot write `{shown}`: `.{ending}` says that it is {other}, and this is {what}"
                ),
                hint: self.advice(&ending, own),
            }),
        }
    }

    /// Returns advice: how to make the kind that the name indicates, or which name to choose.
    fn advice(self, ending: &str, own: &[&str]) -> String {
        if self.is_picture() {
            return PICTURE_ADVICE.to_string();
        }
        let option = match (self, ending) {
            (Kind::Text | Kind::Latex, "json") => Some("json"),
            (Kind::Text | Kind::Json, "tex" | "latex") => Some("latex"),
            _ => None,
        };
        match (option, own.first()) {
            (Some(option), Some(own)) => format!(
                "where the command has it, `--format {option}` makes that; else choose a name that ends in `.{own}`"
            ),
            (None, Some(own)) => format!("choose a name that ends in `.{own}`"),
            (_, None) => "choose a name with another ending, or with none".to_string(),
        }
    }
}

const PICTURE_ADVICE: &str =
    "pictures are made as SVG and PNG: choose a name that ends in `.svg` or `.png`";

/// The reason why a name does not suit a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misnamed {
    pub message: String,
    pub hint: String,
}

/// Returns the extension in small letters; `None` if there is none, as for devices and pipes.
pub fn ending(path: &Path) -> Option<String> {
    path.extension()
        .map(|ending| ending.to_string_lossy().to_lowercase())
        .filter(|ending| !ending.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_says_something_else_is_refused() {
        let fits = |kind: Kind, name: &str| kind.fits(Path::new(name)).is_ok();
        for name in ["r", "r.txt", "r.listing", "r.v2", ".json", "-", "/dev/null"] {
            assert!(fits(Kind::Text, name), "{name}");
        }
        for name in [
            "r.json",
            "r.CSV",
            "r.tex",
            "r.svg",
            "r.bgm",
            "r.pdf",
            "r.parquet",
        ] {
            assert!(!fits(Kind::Text, name), "{name}");
        }
        assert!(
            fits(Kind::Rows, "r.csv") && fits(Kind::Rows, "r.dat") && fits(Kind::Rows, "r.txt")
        );
        assert!(!fits(Kind::Rows, "r.parquet") && !fits(Kind::Rows, "r.tsv"));
        assert!(fits(Kind::Svg, "p.SVG") && fits(Kind::Svg, "p") && fits(Kind::Png, "p.png"));
        for name in ["p.jpg", "p.pdf", "p.foo", "p.csv", "p.svgz"] {
            assert!(
                !fits(Kind::of_picture(Some(Path::new(name))), name),
                "{name}"
            );
        }
        assert!(fits(Kind::Program(Target::Fmu), "m.zip"));
        assert!(
            fits(Kind::Program(Target::Fmu), "m") && !fits(Kind::Program(Target::Fmu), "m.txt")
        );
        assert!(!fits(Kind::Program(Target::C), "m.py"));
        for &target in Target::ALL {
            assert!(!fits(Kind::Program(target), "m.cpp"), "{target:?}");
        }
    }
}
