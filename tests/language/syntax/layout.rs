//! The rules of docs/language.md, "Text": which tokens make a statement, one test for each.

use super::{read, statements, tree};

#[track_caller]
fn same(one: &str, other: &str) {
    assert_eq!(statements(one), statements(other), "{one}\n{other}");
}

#[track_caller]
fn same_file(one: &str, other: &str) {
    assert_eq!(tree(one), tree(other), "{one}\n{other}");
}

#[track_caller]
fn wrong(body: &str) {
    let parsed = read(&format!("model M\n{body}\nend\n"));
    assert!(!parsed.diagnostics.is_empty(), "{body}");
}

#[test]
fn names() {
    assert!(statements("größe_2 = Ωx1").contains("(equation (ref größe_2) (ref Ωx1))"));
    assert_ne!(statements("a = B"), statements("a = b"));
    wrong("_a = 1");
    wrong("2a = 1");
    wrong("end = 1");
}

#[test]
fn numbers() {
    same(
        "x = 1 + 0.5 + 0.000001 + 1500",
        "x = 1.0 + .5 + 1E-6 + 1.5e3",
    );
    same("x = 1.", "x = 1");
    wrong("x = 1e");
    wrong("x = 1 2");
}

#[test]
fn words_are_special_only_where_they_stand() {
    same("sin = min[1]", " sin=min [ 1 ] ");
    same("state = 1; state x", "state = 1\nstate x");
    same("nostate = 2; nostate y, z", "nostate = 2\nnostate y, z");
    same("ic = 1", "(ic) = 1");
    same(
        "submodel (R) ic, R1(ic = 3, ic ic = 4)",
        "submodel (R) ic R1(ic = 3, ic ic = 4)",
    );
    same(
        "step = start*plot; cmodel = method",
        "step = (start)*plot\ncmodel = method",
    );
    same_file(
        "experiment step for start plot plot, x.plot, start init step = start*2 end",
        "experiment step for start\nplot plot, x.plot,\nstart\ninit step = start*2\nend",
    );
}

#[test]
fn comments_are_blanks_and_nest() {
    same("x {a} = {b {c} d} y", "x = y");
    same("x = y # the rest\nz = 1", "x = y\nz = 1");
    same("x = y # } { '\nz = 1", "x = y\nz = 1");
    // Line ends inside a comment do not count.
    same("x = a {\n\n} + b", "x = a + b");
    wrong("a{}b = 1");
}

#[test]
fn doc_lines_belong_to_the_declaration_below() {
    let documented = statements("## one\n  ##two\n\nparameter R");
    assert!(
        documented.contains("(Parameter (variable R) (doc \"one\\ntwo\"))"),
        "{documented}"
    );
    same("## a comment above an equation\nx = 1", "x = 1");
    same("x = 1 ## behind a statement\nlocal y", "x = 1\nlocal y");
    same(
        "connect a at b,\n## inside a statement\nc at d\nlocal y",
        "connect a at b, c at d\nlocal y",
    );
    same("## above\n{ a comment }\nx = 1\nlocal y", "x = 1\nlocal y");
    same_file("## doc\nmodel type A end\n", "##doc\nmodel type A\nend");
    same_file(
        "experiment M\n## no\ninput u = 1\nend",
        "experiment M\ninput u = 1\nend",
    );
}

#[test]
fn statements_end_with_their_line() {
    assert_eq!(statements("a = b\nc = d").matches("equation").count(), 2);
    same("a = b\n\n\r\n\tc = d", "a = b\nc = d");
    // A line that begins with a sign begins a statement.
    same("a = b\n-c = d\n+e = f", "a = b; -c = d; +e = f");
}

#[test]
fn semicolons_separate() {
    same("a = b; c = d", "a = b\nc = d");
    same(";; a = b ;; ; c = d;", "a = b\nc = d");
}

#[test]
fn words_split_a_line() {
    same(
        "cut A(v/i) main cut B[A] path P <A - A> main path Q <A - A> terminal t local l parameter p \
         constant c = 1 input u output y node n junction1 j submodel (R) R connect a at b \
         when a then new(b) = c elsewhen d then new(b) = e endwhen \
         for i in 1 to 2 do for j in 1 to 2 do x[i] = j endfor endfor",
        "cut A(v/i)\nmain cut B[A]\npath P <A - A>\nmain path Q <A - A>\nterminal t\nlocal l\n\
         parameter p\nconstant c = 1\ninput u\noutput y\nnode n\njunction1 j\nsubmodel (R) R\n\
         connect a at b\nwhen a then\nnew(b) = c\nelsewhen d then\nnew(b) = e\nendwhen\n\
         for i in 1 to 2 do\nfor j in 1 to 2 do\nx[i] = j\nendfor\nendfor",
    );
    same_file(
        "model type A local x end model B end",
        "model type A\nlocal x\nend\nmodel B\nend",
    );
    same_file(
        "model B; y = 2 end experiment B simutime 1 end B",
        "model B\ny = 2\nend\nexperiment B\nsimutime 1\nend B",
    );
}

#[test]
fn words_of_an_experiment_split_a_line() {
    same_file(
        "experiment fast for M simutime 1 start 0 commupoints 3 step 0.5 input u = init(x) \
         parameter R.R = 2 init x = 1, y = 2 plot x, y method bdf tolerance 1e-8 absolute 1e-9 \
         absolute y 1e-10 end",
        "experiment fast for M\nsimutime 1\nstart 0\ncommupoints 3\nstep 0.5\ninput u = init(x)\n\
         parameter R.R = 2\ninit x = 1, y = 2\nplot x, y\nmethod bdf\ntolerance 1e-8\n\
         absolute 1e-9\nabsolute y 1e-10\nend",
    );
    same_file(
        "cmodel step 1 input 1, u(independ, 10.0) ctblock x ctend outblock O dispt x outend end",
        "cmodel\nstep 1\ninput 1, u(independ, 10.0)\nctblock x ctend\noutblock O\ndispt x\noutend\nend",
    );
}

#[test]
fn a_line_goes_on_inside_brackets() {
    same("x = sin(\na\n+ b\n)*c[\n1\n]", "x = sin(a + b)*c[1]");
    same(
        "submodel (R) R1(R = 1,\nC = 2), R2\nx = 1",
        "submodel (R) R1(R = 1, C = 2), R2; x = 1",
    );
    same("path P <A\n- B\n>", "path P <A - B>");
    same("cut C[A\nB\n]", "cut C[A, B]");
}

#[test]
fn a_line_goes_on_after_what_cannot_end_a_statement() {
    for end in [
        "+", "-", "*", "/", "**", "^", "<", "<=", ">", ">=", "==", "<>",
    ] {
        same(&format!("x = a {end}\nb"), &format!("x = a {end} b"));
    }
    same("x =\na", "x = a");
    same(
        "x = if\na then\nb elseif\nc then\nd else\ne",
        "x = if a then b elseif c then d else e",
    );
    same("x = a and\nb or\nnot\nc", "x = a and b or not c");
    same(
        "when\na then\nnew(x) = 1\nendwhen",
        "when a then new(x) = 1 endwhen",
    );
    same(
        "connect x:A at y, loop\na -\nb //\nc to\nreversed\nd par\ne, f from\ng to\nh, i:\nA at\nj",
        "connect x:A at y, loop a - b // c to reversed d par e, f from g to h, i:A at j",
    );
}

#[test]
fn a_line_goes_on_when_the_next_cannot_begin_a_statement() {
    for begin in [
        "*", "/", "**", "^", "<", "<=", ">", ">=", "==", "<>", "and", "or",
    ] {
        same(&format!("x = a\n{begin} b"), &format!("x = a {begin} b"));
    }
    same(
        "x\n= if a\nthen b\nelseif c\nthen d\nelse e",
        "x = if a then b elseif c then d else e",
    );
    same(
        "connect a\nat b\n, c\nfrom d\nto e\n, f\n// g\npar h, i\n:A at k",
        "connect a at b, c from d to e, f // g par h, i:A at k",
    );
    same(
        "for i\nin 1\nto 3\ndo\nx[i] = 1\nendfor",
        "for i in 1 to 3 do x[i] = 1 endfor",
    );
    same("path P\n<A - B>", "path P <A - B>");
}

#[test]
fn the_old_continuation_mark() {
    same("x = a ->\n+ b", "x = a + b");
    same("x = a -> { more } # comes\n\n- b", "x = a - b");
    same("connect a - b ->\n- c", "connect a - b - c");
    wrong("x = a -> b");
}

#[test]
fn a_body_begins_behind_its_head() {
    same(
        "when a then state x\nendwhen",
        "when a then\nstate x\nendwhen",
    );
    same(
        "for i in 1 to 2 do -x = y endfor",
        "for i in 1 to 2 do\n-x = y\nendfor",
    );
    same("when a then\n-x = y\nendwhen", "when a then -x = y endwhen");
    same(
        "when if a then b else c then x = 1 endwhen",
        "when (if a then b else c) then\nx = 1\nendwhen",
    );
    same(
        "when a then\nwhen b then\nx = 1\nendwhen\nendwhen",
        "when a then when b then x = 1 endwhen endwhen",
    );
    same(
        "when a then elsewhen b then endwhen",
        "when a then\nelsewhen b then\nendwhen",
    );
}

#[test]
fn lists_with_blanks_and_commas() {
    same(
        "cut A(v/i) B(v/i), C[A B, A]",
        "cut A(v/i), B(v/i), C[A, B, A]",
    );
    same(
        "submodel (R) a b(R = 1) (ic e = 2), c[3] d",
        "submodel (R) a, b(R = 1) (ic e = 2), c[3], d",
    );
    for other in [
        "local a b",
        "node a b",
        "path P <A - B> Q <A - B>",
        "connect a at b c at d",
    ] {
        wrong(other);
    }
}

#[test]
fn array_cuts_and_bundles() {
    let array = statements("cut p[n](v/i)");
    assert!(
        array.contains("(cut p [(ref n)] (across (plus v)) (through (plus i)))"),
        "{array}"
    );
    let bundle = statements("cut p[n] q(v/i)");
    assert!(
        bundle.contains("(cut p (bundle (ref n))) (cut q "),
        "{bundle}"
    );
    same(
        "cut p[n[1]](v/i), q[p[1] p[n[2]]]",
        "cut p[n[1]](v/i) q[p[1], p[n[2]]]",
    );
    same("cut A(x)", "cut A(x/.)");
    same("cut A(+x, . / -y)", "cut A(x, ./-y)");
}

#[test]
fn angle_brackets_of_paths() {
    same(
        "path P <A - B>, Q <B - A>\nx = a < b",
        "path P <A - B>, Q <B - A>; x = (a < b)",
    );
    same(
        "path P <A[if n > 2 then 1 else 2] - B>; x = c > d",
        "path P <A[if n > 2 then 1 else 2] - B>\nx = c > d",
    );
}

#[test]
fn includes() {
    same_file(
        "@a.bgm @b;@c{x}@d#e\n@f@g\nmodel M end",
        "@a.bgm\n@b\n@c\n@d\n@f\n@g\nmodel M\nend",
    );
    assert_eq!(
        tree("@lib/a-b.c(d)'\t@e\r\n"),
        "(include (name \"lib/a-b.c(d)'\"))\n(include (name \"e\"))\n"
    );
}

#[test]
fn blocks_of_models() {
    same_file("model type A end A", "model type A\nend A\n");
    assert_ne!(tree("model type A end"), tree("model class A end"));
    same_file("model (A,\nB) C end", "model (A, B) C\nend");
    assert_eq!(tree(""), "");
    assert_eq!(tree("\u{feff}\n# nothing\n{ here }"), "");
}
