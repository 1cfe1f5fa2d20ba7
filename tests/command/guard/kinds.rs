//! Nothing is written under a name that says that it is something else.

use super::folder::Folder;
use resvg::tiny_skia::Pixmap;

const MODEL: &str = "@electrical\nmodel M\n  submodel (ConstantVoltage) U0(E = 1)\n  submodel (Resistor) R1(R = 1)\n  submodel (Inductor) L1(L = 1)\n  submodel Ground\n  output y \"current\"\n  connect Ground - U0 - R1 - L1 - Ground\n  y = L1.i\nend\n";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("in/m.bgm", MODEL);
    folder
}

/// Width and height of a picture that can be read and has more than one colour.
fn png(bytes: &[u8]) -> (u32, u32) {
    assert!(bytes.ends_with(b"IEND\xaeB`\x82"), "it is whole");
    let image = Pixmap::decode_png(bytes).expect("a PNG");
    let pixels = image.pixels();
    let first = pixels.first().expect("it has a size");
    assert!(pixels.iter().any(|pixel| pixel != first), "one colour only");
    (image.width(), image.height())
}

/// An SVG without its words.
fn without_words(svg: &str) -> String {
    let mut bare = String::new();
    let mut rest = svg;
    while let Some((before, text)) = rest.split_once("<text") {
        bare.push_str(before);
        rest = text.split_once("</text>").expect("it ends").1;
    }
    bare + rest
}

#[test]
fn pictures_are_what_their_names_say() {
    let folder = folder("pictures");
    let read = |name: &str| std::fs::read(folder.path(&format!("in/{name}"))).expect("a file");
    folder
        .run(&["simulate", "m.bgm", "--plot", "p.png"])
        .succeeds();
    let (width, height) = png(&read("p.png"));
    assert!(width == 1600 && height > 400, "{width} x {height}");
    folder
        .run(&[
            "simulate", "m.bgm", "--plot", "s.png", "--sweep", "R1.R=1,2",
        ])
        .succeeds();
    png(&read("s.png"));
    folder
        .run(&["simulate", "m.bgm", "--plot", "p.SVG"])
        .succeeds();
    assert!(read("p.SVG").starts_with(b"<svg "));
    // Letters are drawn: the same picture without its words has fewer bytes.
    let svg = folder.read("in/p.SVG");
    let bare = bgm::picture::png::png(&without_words(&svg)).expect("it can be drawn");
    assert_eq!(png(&bare), (width, height));
    let (with, without) = (read("p.png").len(), bare.len());
    assert!(without < with, "{without} bytes without words, {with} with");
    folder.run(&["draw", "m.bgm", "-o", "d.png"]).succeeds();
    png(&read("d.png"));
    folder.run(&["draw", "m.bgm", "-o", "d.dot"]).succeeds();
    assert!(read("d.dot").starts_with(b"digraph") || read("d.dot").starts_with(b"strict"));
    folder.run(&["draw", "m.bgm", "-o", "d.svg"]).succeeds();
    assert!(read("d.svg").starts_with(b"<svg "));
    let script = "enter model\n@m\nsimulate\noutfile q.png\nplot\n";
    let said = folder.run_on(&["session"], script);
    said.succeeds();
    png(&read("q.png"));
}

#[test]
fn other_kinds_are_refused() {
    let folder = folder("kinds");
    let made = "pictures are made as SVG and PNG";
    for (words, help) in [
        (&["simulate", "m.bgm", "--plot", "p.jpg"][..], made),
        (&["simulate", "m.bgm", "--plot", "p.pdf"], made),
        (&["simulate", "m.bgm", "--plot", "p.svgz"], made),
        (&["simulate", "m.bgm", "--plot", "p.foo"], made),
        (&["simulate", "m.bgm", "--plot", "p.csv"], made),
        (&["draw", "m.bgm", "-o", "p.pdf"], made),
        (&["draw", "m.bgm", "-o", "p.txt"], made),
        (&["draw", "m.bgm", "--format", "svg", "-o", "p.png"], made),
        (
            &["draw", "m.bgm", "--format", "dot", "-o", "p.svg"],
            "`.dot`",
        ),
        (&["simulate", "m.bgm", "-o", "r.parquet"], "ends in `.csv`"),
        (&["simulate", "m.bgm", "-o", "r.json"], "ends in `.csv`"),
        (&["simulate", "m.bgm", "-o", "r.svg"], "ends in `.csv`"),
        (&["solve", "m.bgm", "-o", "r.json"], "`--format json`"),
        (&["solve", "m.bgm", "-o", "r.tex"], "`--format latex`"),
        (
            &["solve", "m.bgm", "--format", "json", "-o", "r.csv"],
            "`.json`",
        ),
        (&["equations", "m.bgm", "-o", "r.pdf"], "`.txt`"),
        (&["causality", "m.bgm", "-o", "r.svg"], "`.txt`"),
        (&["reduce", "m.bgm", "-o", "r.csv"], "`.bgm`"),
        (&["export", "m.bgm", "--to", "c", "-o", "r.py"], "`.c`"),
        (&["export", "m.bgm", "--to", "c", "-o", "r.exe"], "`.c`"),
        (&["solve", "m.bgm", "-o", "r.yaml"], "`.txt`"),
        (&["export", "m.bgm", "--to", "fmu", "-o", "r.c"], "`.fmu`"),
    ] {
        let said = folder.run(words);
        said.fails(1, "error[E0209]: cannot write");
        assert!(said.err.contains(help), "{words:?}: {}", said.err);
        let name = words[words.len() - 1];
        assert!(!folder.has(&format!("in/{name}")), "{words:?}");
    }
    for words in [
        &["solve", "m.bgm", "-o", "r.listing"][..],
        &["solve", "m.bgm", "-o", "r.txt"],
        &["solve", "m.bgm", "--format", "json", "-o", "r.json"],
        &["solve", "m.bgm", "--format", "json", "-o", "r.dat"],
        &["simulate", "m.bgm", "-o", "r.txt"],
        &["simulate", "m.bgm", "-o", "r"],
        &["simulate", "m.bgm", "--plot", "picture"],
    ] {
        folder.run(words).succeeds();
    }
    // A session holds to it, too.
    let script = "enter model\n@m\noutfile r.png\noutput equations\n";
    folder
        .run_on(&["session"], script)
        .fails(1, "cannot write `r.png`");
    assert_eq!(folder.litter(), [""; 0]);
}
