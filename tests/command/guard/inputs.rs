//! No command writes over what it has read, by whatever name; places that cannot be written are told with E0209.

use super::folder::Folder;

const MODEL: &str = "@electrical\n@part\nmodel M\n  submodel (ConstantVoltage) U0(E = 1)\n  submodel (Resistor) R1(R = 1)\n  submodel (Inductor) L1(L = 1), L2(L = 2)\n  submodel (Part) p\n  submodel Ground\n  connect Ground - U0 - R1 - L1 - L2 - Ground\nend\n";
const EXPERIMENT: &str = "experiment M\n  simutime 1\n  commupoints 3\nend\n";

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.write("in/m.bgm", MODEL);
    folder.write("in/e.bgm", EXPERIMENT);
    folder.link("m.bgm", "in/soft");
    folder.link("soft", "in/softer");
    std::fs::hard_link(folder.path("in/m.bgm"), folder.path("in/hard")).expect("a link");
    std::fs::hard_link(folder.path("in/part.bgm"), folder.path("in/hard_part")).expect("a link");
    folder
}

/// Every command that writes, without the option that says where.
const COMMANDS: &[(&[&str], &str)] = &[
    (&["equations", "m.bgm", "--experiment", "e.bgm"], "-o"),
    (&["sort", "m.bgm", "--experiment", "e.bgm"], "-o"),
    (&["solve", "m.bgm", "--experiment", "e.bgm"], "-o"),
    (
        &[
            "solve",
            "m.bgm",
            "--experiment",
            "e.bgm",
            "--format",
            "json",
        ],
        "-o",
    ),
    (
        &["solve", "m.bgm", "--experiment", "e.bgm", "--modes"],
        "-o",
    ),
    (&["causality", "m.bgm", "--experiment", "e.bgm"], "-o"),
    (&["fields", "m.bgm", "--experiment", "e.bgm"], "-o"),
    (&["check", "m.bgm", "--experiment", "e.bgm"], "-o"),
    (&["draw", "m.bgm", "--experiment", "e.bgm"], "-o"),
    (&["simulate", "m.bgm", "--experiment", "e.bgm"], "-o"),
    (&["simulate", "m.bgm", "--experiment", "e.bgm"], "--plot"),
    (
        &[
            "simulate",
            "m.bgm",
            "--experiment",
            "e.bgm",
            "--sweep",
            "R1.R=1,2",
        ],
        "-o",
    ),
    (
        &["export", "m.bgm", "--experiment", "e.bgm", "--to", "c"],
        "-o",
    ),
    (
        &["export", "m.bgm", "--experiment", "e.bgm", "--to", "fmu"],
        "-o",
    ),
];

#[test]
fn no_command_writes_over_what_it_has_read() {
    let folder = folder("inputs");
    let names = [
        "m.bgm",
        "./m.bgm",
        "sub/../m.bgm",
        "soft",
        "softer",
        "hard",
        "part.bgm",
        "hard_part",
        "e.bgm",
    ];
    let before: Vec<String> = names
        .map(|name| folder.read(&format!("in/{name}")))
        .to_vec();
    for (words, option) in COMMANDS {
        for name in names {
            let words = [words, &[*option, name][..]].concat();
            let said = folder.run(&words);
            assert!(said.err.contains("error[E0209]"), "{words:?}: {}", said.err);
            assert!(
                said.err.contains("was read from it"),
                "{words:?}: {}",
                said.err
            );
            assert_eq!(said.code, Some(1), "{words:?}");
        }
    }
    for command in [
        &["reduce", "m.bgm"][..],
        &["augment", "m.bgm", "--at", "nowhere"],
    ] {
        for name in ["m.bgm", "soft", "hard", "part.bgm"] {
            let said = folder.run(&[command, &["-o", name]].concat());
            assert_ne!(said.code, Some(0), "{}{}", said.out, said.err);
        }
    }
    let said = folder.run(&["reduce", "m.bgm", "-o", "softer"]);
    said.fails(
        1,
        "error[E0209]: cannot write `softer`: the model was read from it",
    );
    // Standard input may be a file, too.
    let input = std::fs::File::open(folder.path("in/e.bgm")).expect("it is there");
    let said = folder.run_with(&["check", "-", "-o", "e.bgm"], input.into());
    said.fails(1, "error[E0209]");
    for (name, before) in names.iter().zip(before) {
        assert_eq!(folder.read(&format!("in/{name}")), before, "{name}");
    }
    assert_eq!(folder.litter(), [""; 0]);
}

#[test]
fn other_files_are_replaced_and_keep_what_they_were() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("replaced");
    folder.write("out/old", "old\n");
    folder.link("../out/old", "in/there");
    folder.link("../out/new", "in/dangling");
    let mode = |name: &str| {
        let found = std::fs::metadata(folder.path(name)).expect("it is there");
        found.permissions().mode() & 0o777
    };
    let secret = std::fs::Permissions::from_mode(0o640);
    std::fs::set_permissions(folder.path("out/old"), secret).expect("permissions");
    // What is linked to is written, and the link stays.
    for name in ["there", "dangling", "plain"] {
        folder.run(&["solve", "m.bgm", "-o", name]).succeeds();
        assert!(
            folder.read(&format!("in/{name}")).starts_with("M: "),
            "{name}"
        );
    }
    let is_link = |name: &str| {
        let found = std::fs::symlink_metadata(folder.path(name));
        found.expect("it is there").is_symlink()
    };
    assert!(is_link("in/there") && is_link("in/dangling") && !is_link("in/plain"));
    assert_eq!(mode("out/old"), 0o640);
    // A new file has the permissions that any program gives it.
    folder.write("out/any", "");
    assert_eq!(mode("in/plain"), mode("out/any"));
    folder
        .run(&["simulate", "m.bgm", "--until", "1", "-o", "there"])
        .succeeds();
    assert!(is_link("in/there") && folder.read("out/old").starts_with("Time,"));
    assert_eq!(mode("out/old"), 0o640);
    assert!(!folder.has("out/old.part") && folder.litter().is_empty());
}

#[test]
fn places_that_are_no_files_are_written_as_they_are() {
    let folder = folder("devices");
    let listing = folder.run(&["solve", "m.bgm"]).out;
    for name in ["-", "/dev/stdout", "/dev/fd/1"] {
        let said = folder.run(&["solve", "m.bgm", "-o", name]);
        said.succeeds();
        assert_eq!(said.out, listing, "{name}");
    }
    folder
        .run(&["solve", "m.bgm", "-o", "/dev/null"])
        .succeeds();
    folder
        .run(&["simulate", "m.bgm", "--until", "1", "-o", "/dev/null"])
        .succeeds();
    // What stands in front of standard output stays there.
    folder.write("in/log", "first\n");
    let log = std::fs::OpenOptions::new()
        .append(true)
        .open(folder.path("in/log"));
    let log = log.expect("it can be opened");
    let mut command = folder.command(&["solve", "m.bgm", "-o", "/dev/stdout"]);
    assert!(
        command
            .stdout(log)
            .status()
            .is_ok_and(|status| status.success())
    );
    assert_eq!(folder.read("in/log"), format!("first\n{listing}"));
    // A pipe.
    folder.pipe("in/pipe");
    let reader = folder.path("in/pipe");
    let reader = std::thread::spawn(move || std::fs::read_to_string(reader).expect("text"));
    folder.run(&["solve", "m.bgm", "-o", "pipe"]).succeeds();
    assert_eq!(reader.join().expect("it was read"), listing);
}

#[test]
fn places_that_cannot_be_written_are_told() {
    let folder = folder("nowhere");
    folder.write("in/sealed", "old\n");
    for (words, option) in COMMANDS {
        for (name, why) in [
            ("missing/r", "the folder `missing` does not exist"),
            ("sub", "it is a folder"),
            ("m.bgm/r", "`m.bgm` is not a folder"),
        ] {
            let said = folder.run(&[words, &[*option, name][..]].concat());
            said.fails(1, why);
            assert!(said.err.contains("error[E0209]"), "{}", said.err);
        }
    }
    let said = folder.run(&["simulate", "m.bgm", "-o", "r", "--plot", "sub/../r"]);
    said.fails(1, "cannot hold both the rows and the picture");
    assert!(!folder.has("in/r"));
}
