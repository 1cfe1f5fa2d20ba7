//! Exit codes and messages where the input of a command does not allow what is asked.

use super::folder::Folder;

const CIRCUIT: &str = "@electrical\nmodel M\n  submodel (ConstantVoltage) U0(E = 1)\n  submodel (Resistor) R1(R = 1)\n  submodel (Inductor) L1(L = 1)\n  submodel Ground\n  connect Ground - U0 - R1 - L1 - Ground\nend\n";

#[test]
fn a_model_that_cannot_be_read_is_an_error_of_the_model() {
    let folder = Folder::new("unreadable");
    folder.write(
        "in/latin.bgm",
        b"model M\n  local x \"\xe9\"\n  x = 1\nend\n",
    );
    for command in ["solve", "draw", "reduce"] {
        folder.run(&[command, "none.bgm"]).fails(1, "none.bgm");
        folder.run(&[command, "latin.bgm"]).fails(1, "UTF-8");
        folder.run(&[command, "sub"]).fails(1, "sub");
    }
    folder
        .run(&["augment", "none.bgm", "--propose"])
        .fails(1, "none.bgm");
    folder.run(&["session", "none"]).fails(1, "none");
    folder.run(&["session", "sub"]).fails(1, "sub");
}

#[test]
fn a_model_without_power_ports_cannot_be_reduced() {
    let folder = Folder::new("portless");
    folder.write("in/m.bgm", "model M\n  local x\n  x = 1\nend\n");
    let words = "no power ports";
    folder.run(&["reduce", "m.bgm"]).fails(1, words);
    folder
        .run(&["augment", "m.bgm", "--propose"])
        .fails(1, words);
}

#[test]
fn a_model_without_variables_cannot_be_simulated() {
    let folder = Folder::new("empty_model");
    folder.write("in/m.bgm", "model M\nend\n");
    let said = folder.run(&["simulate", "m.bgm"]);
    assert!(
        said.err.contains("`M` has nothing to simulate"),
        "{}",
        said.err
    );
    assert!(!said.err.contains('*'), "{}", said.err);
}

#[test]
fn the_name_of_a_program_suits_its_target() {
    let folder = Folder::new("targets");
    folder.write("in/m.bgm", CIRCUIT);
    let export = |target: &str, name: &str| {
        let said = folder.run(&[
            "export", "m.bgm", "--to", target, "--until", "1", "-o", name,
        ]);
        (said, folder.has(&format!("in/{name}")))
    };
    let (said, made) = export("fmu", "e.txt");
    said.fails(1, "`.txt` is not the ending of an FMU");
    assert!(!made);
    for target in ["c", "python", "modelica", "latex", "fmu", "desire"] {
        let (said, made) = export(target, "e.cpp");
        said.fails(1, "`.cpp` says that it is C++");
        assert!(!made, "{target}");
    }
    let (said, made) = export("python", "e.py");
    said.succeeds();
    assert!(made);
}

#[test]
fn folders_for_includes_that_are_none_are_told() {
    let folder = Folder::new("include_folders");
    folder.write("in/m.bgm", CIRCUIT);
    folder.pipe("in/pipe");
    let said = folder.run(&["check", "m.bgm", "-I", "nowhere", "-I", "pipe", "-I", "sub"]);
    said.succeeds();
    assert!(said.err.contains("warning: `-I nowhere`: "), "{}", said.err);
    assert!(
        said.err.contains("warning: `-I pipe` is not a folder"),
        "{}",
        said.err
    );
    assert!(!said.err.contains("-I sub"), "{}", said.err);
}

#[test]
fn the_name_of_a_folder_is_no_name_of_a_file() {
    let folder = Folder::new("folder_names");
    folder.write("in/m.bgm", CIRCUIT);
    let said = folder.run(&["solve", "m.bgm", "-o", "r.txt/"]);
    said.fails(1, "it is the name of a folder");
    assert!(!folder.has("in/r.txt"));
}
