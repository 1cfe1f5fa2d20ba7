//! Mistakes: each is reported once, with the right code, in the right line, in words.

use bgm::base::diagnostics::Code;

use super::read;

#[track_caller]
fn mistakes(text: &str, expected: &[(Code, usize)]) {
    let parsed = read(text);
    assert_eq!(parsed.mistakes(), expected, "{text}\n{}", parsed.messages());
}

/// One mistake, and what is said about it.
#[track_caller]
fn says(text: &str, line: usize, expected: &str) {
    let parsed = read(text);
    assert_eq!(parsed.messages().trim_end(), expected, "{text}");
    assert_eq!(parsed.mistakes()[0].1, line, "{text}");
}

/// One mistake in a statement of a model.
#[track_caller]
fn statement_says(statement: &str, expected: &str) {
    let text = format!("model M\n  a = 1\n  {statement}\n  b = 2\nend\n");
    says(&text, 3, &format!("E0106: {expected}"));
    // What stands around it was read.
    let dump = read(&text).dump();
    assert!(
        dump.contains("(ref a)") && dump.contains("(ref b)"),
        "{dump}"
    );
}

#[test]
fn several_in_one_run() {
    let text = "\
model A
  x = 3 +
  cut A(v/i) B
  connect a b
  y = (1
  z = 2 $ 3
end
model type
  parameter p 3
end
experiment A
  simutime
  plot x
  tolerance )
end
y = 3
";
    mistakes(
        text,
        &[
            (Code::Syntax, 2),
            (Code::Syntax, 3),
            (Code::Syntax, 4),
            (Code::UnclosedBracket, 5),
            (Code::UnknownCharacter, 6),
            (Code::Syntax, 8),
            (Code::Syntax, 9),
            (Code::Syntax, 12),
            (Code::Syntax, 14),
            (Code::Syntax, 16),
        ],
    );
}

#[test]
fn unclosed_brackets() {
    let bracket = Code::UnclosedBracket;
    mistakes("model M\n x = (a + b\n y = c\nend", &[(bracket, 2)]);
    mistakes("model M\n x = a[1\n local y\nend", &[(bracket, 2)]);
    mistakes("model M\n x = sin(a\nend", &[(bracket, 2)]);
    mistakes("model M\n x = (\nend", &[(bracket, 2)]);
    mistakes("model M\n x = [((a; y = 1\nend", &[(bracket, 2)]);
    mistakes(
        "model M\n cut A(v/i\n path P <A - A\n x = 1\nend",
        &[(bracket, 2), (bracket, 3)],
    );
    mistakes(
        "model M\n submodel (R) R(R = 1\n connect (R - n\nend",
        &[(bracket, 2), (bracket, 3)],
    );
    mistakes(
        "model M\n for i in (1 to 2 do\n x[i] = 1\n endfor\nend",
        &[(bracket, 2)],
    );
    // The inner one, where the outer one is closed.
    mistakes("model M\n x = (a[1)\n y = b\nend", &[(bracket, 2)]);
    says(
        "model M\n x = f[(a]\nend",
        2,
        "E0104: `(` is never closed | opened here | `)` expected before `]`",
    );
}

#[test]
fn brackets_too_many_or_of_the_wrong_kind() {
    statement_says(
        "x = a)",
        "`)` is not expected here | expected the end of the line | hint: no bracket is open that \
         this could close",
    );
    statement_says("x = (a]", "`]` is not expected here | expected `)`");
}

#[test]
fn unclosed_comments() {
    mistakes(
        "model M\n x = 1\n { y = 2\nend",
        &[(Code::UnclosedComment, 3)],
    );
    mistakes(
        "model M\n x = (1 { y = 2\nend",
        &[(Code::UnclosedComment, 2)],
    );
    mistakes("model M\n x =\n { {} \nend", &[(Code::UnclosedComment, 3)]);
    // What stands before it is read as ever.
    mistakes(
        "model M\n x = )\n {",
        &[(Code::Syntax, 2), (Code::UnclosedComment, 3)],
    );
    mistakes("model M\n x = 1 }\nend", &[(Code::UnknownCharacter, 2)]);
}

#[test]
fn unclosed_texts() {
    mistakes(
        "model M\n parameter R 'Ohm\n x = 1\nend",
        &[(Code::UnclosedText, 2)],
    );
    mistakes(
        "model M\n parameter R = 1 \"res\n x = 1\nend",
        &[(Code::UnclosedText, 2)],
    );
    mistakes(
        "model M\n x = \"res\n y = 1\nend",
        &[(Code::UnclosedText, 2)],
    );
    mistakes("model M\n x' = 1\n y = 1\nend", &[(Code::UnclosedText, 2)]);
}

#[test]
fn unclosed_blocks() {
    let missing = Code::MissingEnd;
    mistakes("model M\n x = 1", &[(missing, 1)]);
    mistakes("model M\n x = 1\nmodel N\nend", &[(missing, 1)]);
    mistakes("model M\n x = 1\n## doc\nmodel N\nend", &[(missing, 1)]);
    mistakes("model M\n x = 1\nexperiment M\nend", &[(missing, 1)]);
    mistakes("experiment M\n plot x\nmodel M\nend", &[(missing, 1)]);
    mistakes(
        "model M\n for i in 1 to 2 do\n x[i] = 1\nend\nmodel N\nend",
        &[(missing, 2)],
    );
    mistakes("model M\n when a then\n new(x) = 1\nend", &[(missing, 2)]);
    mistakes(
        "model M\n for i in 1 to 2 do\n when a then\n new(x) = 1\n endfor\n y = 1\nend",
        &[(missing, 3)],
    );
    mistakes(
        "model M\n when a then\n for i in 1 to 2 do\n new(x) = 1\n elsewhen b then\n endwhen\nend",
        &[(missing, 3)],
    );
    mistakes("cmodel\n ctblock\n drunr\nend", &[(missing, 2)]);
}

#[test]
fn blocks_closed_with_the_wrong_word() {
    says(
        "model M\n for i in 1 to 2 do\n x[i] = 1\n end\n y = 1\nend",
        4,
        "E0105: a `for` is closed with `endfor`, not with `end` | write `endfor` | opened here",
    );
    says(
        "model M\n when a then\n new(x) = 1\n end when;\n y = 1\nend",
        4,
        "E0106: `endwhen` is one word | write `endwhen`",
    );
    says(
        "model M\n x = 1\n endfor\n y = 1\nend",
        3,
        "E0106: `endfor` is not expected here | expected a declaration, an equation, `connect` or \
         `end` | hint: nothing is open that this could close",
    );
}

#[test]
fn an_end_too_many_is_one_mistake() {
    mistakes("model M\nend\nend\nmodel N\nend", &[(Code::Syntax, 3)]);
    mistakes(
        "model M\nend\n x = 1\n y = 2\nend\nmodel N\n z = )\nend",
        &[(Code::Syntax, 3), (Code::Syntax, 7)],
    );
}

#[test]
fn heads_and_ends_of_blocks() {
    mistakes(
        "model\n x = 1\n local y\nend\nmodel N\nend",
        &[(Code::Syntax, 1)],
    );
    mistakes(
        "model type 5\n x = 1\n local y\nend\nmodel N\nend",
        &[(Code::Syntax, 1)],
    );
    mistakes(
        "model M\n x = 1\nend M N\nmodel N\nend",
        &[(Code::Syntax, 3)],
    );
    mistakes(
        "model M\n for i = 1 to 3 do\n x[i] = 1\n endfor\n y = 1\nend",
        &[(Code::Syntax, 2)],
    );
    mistakes(
        "model M\n for i in 1 to 3\n x[i] = 1\n endfor\n y = 1\nend",
        &[(Code::Syntax, 2)],
    );
    mistakes(
        "model M\n when a\n new(x) = 1\n endwhen\n y = 1\nend",
        &[(Code::Syntax, 2)],
    );
    mistakes(
        "model M\n when a then\n elsewhen )\n new(x) = 1\n endwhen\nend",
        &[(Code::Syntax, 3)],
    );
    mistakes(
        "model M\n for i in 1 to 3 do\n endfor i\n y = 1\nend",
        &[(Code::Syntax, 3)],
    );
    mistakes(
        "experiment\n simutime 1\nend\nmodel N\nend",
        &[(Code::Syntax, 1)],
    );
    mistakes(
        "cmodel 5\n simutime 1\nend\nmodel N\nend",
        &[(Code::Syntax, 1)],
    );
    mistakes(
        "cmodel\n outblock A\n dispt\n outend\n step 1\nend",
        &[(Code::Syntax, 4)],
    );
    mistakes(
        "cmodel\n outblock A\n dispt x\n step 1\nend",
        &[(Code::Syntax, 3)],
    );
    says(
        "model M(Base)\nend",
        1,
        "E0106: `(` is not expected here | expected the end of the line | hint: what a model \
         inherits stands before its name: `model class (BASE) NAME`",
    );
    says(
        "model M\nend N",
        2,
        "E0112: `end N` closes the model `M` | does not agree with the model's name | the model's name | \
         hint: the name after `end` may be left out",
    );
}

#[test]
fn equations() {
    statement_says(
        "x y = 1",
        "the name `y` is not expected here | expected an operator or `=` | hint: an operator or a \
         line end is missing before it",
    );
    statement_says(
        "x = 1 y = 2",
        "the name `y` is not expected here | expected an operator or the end of the line | hint: \
         an operator or a line end is missing before it",
    );
    statement_says(
        "x := 1",
        "`:` is not expected here | expected an operator or `=` | hint: an equation is written \
         `left = right`",
    );
    statement_says(
        "x == 1",
        "the statement ends too early | expected `=` | hint: an equation is written with one `=`",
    );
    statement_says(
        "x*y",
        "the statement ends too early | expected `=` | hint: a statement that \
         begins like this is an equation: `left = right`",
    );
    statement_says(
        "x = a < b < c",
        "`<` is not expected here | expected an operator or the end of the line | hint: relations \
         do not chain: write `a < b and b < c`",
    );
    statement_says(
        "x = 1 + if a then b else c",
        "`if` is not expected here | expected an expression | hint: an `if` that is an operand \
         needs brackets: `1 + (if a then b else c)`",
    );
    statement_says(
        "if c then x = 1 else x = 2",
        "`=` is not expected here | expected `elseif` or `else` | hint: `if` is an expression, not \
         a statement: `x = if a then b else c`",
    );
    statement_says(
        "x = if c then d",
        "the statement ends too early | expected `elseif` or `else` | hint: every `if` needs an \
         `else`",
    );
    statement_says(
        "x = sin y",
        "the name `y` is not expected here | expected an operator or the end of the line | hint: \
         the arguments of a function stand in brackets: `sin(x)`",
    );
    statement_says(
        "der x = 1",
        "the name `x` is not expected here | expected `(` | hint: the variable stands in brackets: \
         `der(x)`",
    );
    says(
        "model M\n  x = a +\n  y = b\nend",
        3,
        "E0106: `=` is not expected here | expected the end of the line | the statement begins \
         here | hint: an equation has one `=`, and the line above goes on because it ends with `+`",
    );
}

#[test]
fn declarations_and_connections() {
    statement_says(
        "paramter R = 1",
        "the name `R` is not expected here | expected an operator or `=` | hint: did you mean \
         `parameter`?",
    );
    statement_says(
        "parameter R 1",
        "the number `1` is not expected here | expected `,`, `=` or the end of the line",
    );
    statement_says("local", "the statement ends too early | expected a name");
    statement_says(
        "local new",
        "`new` is not expected here | expected a name | hint: `new` is a word of the language, not \
         a name",
    );
    statement_says(
        "cut A(v i)",
        "the name `i` is not expected here | expected `)`, `,` or `/`",
    );
    statement_says(
        "path P A - B",
        "the name `A` is not expected here | expected `<`",
    );
    statement_says(
        "submodel (R)",
        "the statement ends too early | expected a name",
    );
    statement_says(
        "connect a b",
        "the name `b` is not expected here | expected `at`, `from`, `-`, `//`, `,` or the end of \
         the line",
    );
    statement_says(
        "connect a from b",
        "the statement ends too early | expected `to`",
    );
    statement_says(
        "connect a = b",
        "`=` is not expected here | expected `at`, `from`, `-`, `//`, `,` or the end of the line | \
         hint: connections are written `connect a at b` or `connect a - b`",
    );
}

#[test]
fn words_used_as_names() {
    let word = |statement: &str, word: &str, expected: &str| {
        let hint = format!("hint: `{word}` is a word of the language, not a name");
        statement_says(
            statement,
            &format!("`{word}` is not expected here | {expected} | {hint}"),
        );
    };
    word("local end", "end", "expected a name");
    word("parameter a, node = 3", "node", "expected a name");
    word("x = end + 1", "end", "expected an expression");
    word("x = sin(input)", "input", "expected an expression");
    word("submodel (model) m", "model", "expected a name");
    word(
        "connect for - b",
        "for",
        "expected a submodel, a node or a cut",
    );
}

/// One mistake, whatever follows from it.
#[test]
fn no_avalanches() {
    let syntax = Code::Syntax;
    mistakes(
        "model M\n experiment = 1\n x = 2\n y = 3\nend",
        &[(Code::MissingEnd, 1), (syntax, 2), (syntax, 3)],
    );
    mistakes(
        "experiment M\n x = 2\n y = 3\n cut A(v/i)\n plot )\nend",
        &[(syntax, 2), (syntax, 5)],
    );
    mistakes(
        "model M\n x = f('V)\n y = 3\nend",
        &[(Code::UnclosedText, 2)],
    );
    mistakes(
        "model M\n x = 1\ncmodel\n simutime 1\nend",
        &[(Code::MissingEnd, 1)],
    );
    mistakes("model M\n cmodel = 1\n cmodel\n = 2\nend", &[]);
    mistakes(
        "model M\n x = a && b c\n y $$$ 3\nend",
        &[(Code::UnknownCharacter, 2), (Code::UnknownCharacter, 3)],
    );
}

#[test]
fn outside_of_models() {
    says(
        "x = 1\ny = 2\nmodel M\nend",
        1,
        "E0106: the name `x` is not expected here | expected `model`, `experiment` or an include \
         `@name` | hint: statements stand between `model NAME` and `end`",
    );
    says(
        "modle M\nx = 1\nend",
        1,
        "E0106: the name `modle` is not expected here | expected `model`, `experiment` or an \
         include `@name` | hint: did you mean `model`?",
    );
    says(
        "model M\n@lib\nx = 1\nend",
        2,
        "E0207: the include `@lib` stands inside a model | includes stand outside models | hint: \
         move it above the `model`",
    );
}
