//! Pipes, devices, large files; the folders that `--untrusted` leaves.

use std::fs::File;
use std::process::Stdio;

use super::folder::{Folder, PART, including};

#[test]
fn pipes_and_devices_are_refused_wherever_a_text_is_read() {
    let folder = Folder::new("pipes");
    folder.pipe("in/pipe.bgm");
    folder.write("in/model.bgm", including("pipe"));
    folder.write("in/device.bgm", including("/dev/zero"));
    folder.write("in/good.bgm", including("part"));
    folder.run(&["check", "model.bgm"]).fails(1, "error[E0210]");
    folder.run(&["check", "pipe.bgm"]).fails(1, "it is a pipe");
    folder
        .run(&["check", "device.bgm"])
        .fails(1, "it is a device");
    folder.run(&["check", "/dev/zero"]).fails(1, "error[E0210]");
    let words = ["simulate", "good.bgm", "--experiment", "./pipe.bgm"];
    folder.run(&words).fails(1, "error[E0210]");
    folder.run(&["reduce", "pipe.bgm"]).fails(1, "error[E0210]");
    folder.run(&["golden", "pipe.bgm"]).fails(2, "it is a pipe");
    folder
        .run(&["session", "pipe.bgm"])
        .fails(1, "it is a pipe");
    let said = folder.run_on(&["session"], "enter model\n@pipe\n");
    said.fails(1, "error[E0210]");
    // A folder is none either, and stays what it was called.
    folder.run(&["check", "sub"]).fails(1, "error[E0201]");
}

#[test]
fn standard_input_ends_somewhere() {
    let folder = Folder::new("endless");
    let zero = || Stdio::from(File::open("/dev/zero").expect("there is one"));
    let said = folder.run_with(&["check", "--untrusted", "-"], zero());
    said.fails(1, "error[E0211]");
    let said = folder.run_with(&["reduce", "--untrusted", "-"], zero());
    said.fails(1, "error[E0211]");
    let said = folder.run_with(&["session", "--untrusted"], zero());
    said.fails(1, "it is larger than 1 MB (E0211)");
}

#[test]
fn what_is_entered_in_a_session_ends_somewhere() {
    let folder = Folder::new("entering");
    let line = format!("{{ {} }}\n", "x".repeat(100_000));
    let text = format!("enter model\nmodel M\n{}", line.repeat(12));
    let said = folder.run_on(&["session", "--untrusted"], &text);
    said.fails(1, "too long");
}

#[test]
fn large_files_are_refused() {
    let folder = Folder::new("large");
    let file = File::create(folder.path("in/large.bgm")).expect("a file can be made");
    file.set_len((64 << 20) + 1).expect("it can be long");
    folder.write("in/model.bgm", including("large"));
    folder.run(&["check", "large.bgm"]).fails(1, "error[E0211]");
    let said = folder.run(&["check", "model.bgm"]);
    said.fails(1, "it is larger than 64 MB");
    assert!(said.err.contains("model.bgm:1:1"), "{}", said.err);
    // With the flag sooner.
    let long = PART.to_string() + &"# nothing\n".repeat(120_000);
    folder.write("in/long.bgm", &long);
    folder.write("in/model.bgm", including("long"));
    folder.run(&["check", "model.bgm"]).succeeds();
    let said = folder.run(&["check", "--untrusted", "model.bgm"]);
    said.fails(1, "it is larger than 1 MB");
}

#[test]
fn untrusted_models_have_few_files() {
    let folder = Folder::new("files");
    let model = |count: usize| {
        let names = (0..count).map(|at| format!("@p{at}\n"));
        names.collect::<String>() + "model M\n  local x\n  x = 1\nend\n"
    };
    for at in 0..64 {
        folder.write(&format!("in/p{at}.bgm"), "# nothing but a comment\n");
    }
    folder.write("in/model.bgm", model(63));
    folder
        .run(&["check", "--untrusted", "model.bgm"])
        .succeeds();
    folder.write("in/model.bgm", model(64));
    let said = folder.run(&["check", "--untrusted", "model.bgm"]);
    said.fails(1, "error[E0211]: the model includes more than 64 files");
    folder.run(&["check", "model.bgm"]).succeeds();
    let filling = "# nothing\n".repeat(100_000);
    for at in 0..5 {
        folder.write(&format!("in/p{at}.bgm"), &filling);
    }
    folder.write("in/model.bgm", model(5));
    let said = folder.run(&["check", "--untrusted", "model.bgm"]);
    said.fails(1, "more than 4 MB of text");
}

#[test]
fn untrusted_models_have_few_instances_and_points() {
    let folder = Folder::new("instances");
    let model = "@part\nmodel M\n  submodel (Part) a[20001]\nend\n";
    folder.write("in/model.bgm", model);
    let raised = [
        "check",
        "--untrusted",
        "--max-instances",
        "30000",
        "model.bgm",
    ];
    for words in [&raised[..2], &raised[..4]] {
        let words: Vec<&str> = words.iter().copied().chain(["model.bgm"]).collect();
        let said = folder.run(&words);
        said.fails(1, "error[E0507]");
        assert!(said.err.contains("`--untrusted` sets"), "{}", said.err);
    }
    let run = "model N\n  local x\n  der(x) = -x\nend\nexperiment N\n";
    folder.write(
        "in/run.bgm",
        format!("{run}  simutime 1\n  commupoints 200000\nend\n"),
    );
    let words = ["simulate", "--untrusted", "run.bgm", "-o", "rows.csv"];
    folder.run(&words).fails(1, "at most 100000");
    // A step that nobody can keep is found without the flag, too.
    folder.write("in/run.bgm", &run[..run.len() - "experiment N\n".len()]);
    let words = ["simulate", "run.bgm", "--step", "1e-300", "-o", "rows.csv"];
    folder.run(&words).fails(1, "error[E0512]: too many points");
}

#[test]
fn untrusted_includes_stay_in_their_folders() {
    let folder = Folder::new("inside");
    let inside = folder.path("in/part").display().to_string();
    let outside = folder.path("out/part.bgm").display().to_string();
    folder.link("../out/part.bgm", "in/link.bgm");
    folder.link("../out", "in/away");
    folder.link("sub/part.bgm", "in/near.bgm");
    folder.link("/nowhere/at/all", "in/lost.bgm");
    for name in ["part", "sub/part", "sub/../part", "near", &inside] {
        folder.write("in/model.bgm", including(name));
        folder
            .run(&["check", "--untrusted", "model.bgm"])
            .succeeds();
    }
    let refused = [
        "../out/part",
        "../out/nothing",
        "sub/../../out/part",
        "link",
        "lost",
        "away/part",
        "away/nothing",
        &outside,
        "/etc/passwd",
        "/etc/no-such-file",
    ];
    for name in refused {
        folder.write("in/model.bgm", including(name));
        let said = folder.run(&["check", "--untrusted", "model.bgm"]);
        said.fails(1, "error[E0212]");
        // Nothing tells whether it is there.
        for word in ["did you mean", "root:", "No such file"] {
            assert!(!said.err.contains(word), "{}", said.err);
        }
    }
    // Folders that the command line names are read.
    for name in ["../out/part", "link", "away/part", &outside] {
        folder.write("in/model.bgm", including(name));
        let words = ["check", "--untrusted", "-I", "../out", "model.bgm"];
        folder.run(&words).succeeds();
        folder.run(&["check", "model.bgm"]).succeeds();
    }
    // Included files have the same folders, and standard input has the current one.
    folder.write("in/sub/more.bgm", "@../../out/part\n");
    folder.write("in/model.bgm", including("sub/more"));
    let said = folder.run(&["check", "--untrusted", "model.bgm"]);
    said.fails(1, "error[E0212]");
    let said = folder.run_on(&["check", "--untrusted", "-"], &including("../out/part"));
    said.fails(1, "error[E0212]");
    folder
        .run_on(&["check", "--untrusted", "-"], &including("part"))
        .succeeds();
}

#[test]
fn an_untrusted_model_is_no_link_out_of_its_folder() {
    let folder = Folder::new("link");
    folder.write("out/secret.bgm", "a line that nobody is to see\n");
    folder.link("../out/secret.bgm", "in/model.bgm");
    let said = folder.run(&["check", "--untrusted", "model.bgm"]);
    said.fails(1, "error[E0212]");
    assert!(!said.err.contains("nobody"), "{}", said.err);
    folder.write("in/good.bgm", including("part"));
    let words = [
        "simulate",
        "--untrusted",
        "good.bgm",
        "--experiment",
        "./model.bgm",
    ];
    let said = folder.run(&words);
    said.fails(1, "error[E0212]");
    assert!(!said.err.contains("nobody"), "{}", said.err);
    // An experiment that the command line names may lie elsewhere; what it includes may not.
    folder.write("out/e.bgm", "experiment M\n  simutime 1\nend\n");
    let words = [
        "simulate",
        "--untrusted",
        "good.bgm",
        "--experiment",
        "../out/e.bgm",
    ];
    folder.run(&words).succeeds();
    folder.write("out/e.bgm", "@secret\nexperiment M\n  simutime 1\nend\n");
    folder.run(&words).fails(1, "error[E0212]");
}

#[test]
fn untrusted_models_start_no_compiler() {
    let folder = Folder::new("compiler");
    folder.write("in/model.bgm", including("part"));
    let words = [
        "export",
        "--untrusted",
        "--to",
        "fmu",
        "-o",
        "m.fmu",
        "model.bgm",
    ];
    let said = folder.run(&words);
    said.succeeds();
    assert!(said.err.contains("starts no compiler"), "{}", said.err);
}
