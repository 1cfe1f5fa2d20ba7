//! Counts, structures and tables of a C program.

use std::fmt::Write;

use super::blocks::FULL;
use super::dialect::{C, number};
use super::{comment, text};
use crate::base::words::quoted;
use crate::export::Request;
use crate::export::model::Model;
use crate::export::places::Place;
use crate::expr::BinaryOp;
use crate::flat::{Flat, Leaf, VarId};
use crate::passes::relations::WatchKind;

/// The most unknowns of nonlinear loops that are solved on the stack.
const FEW: usize = 12;

/// Declared outputs.
pub fn outputs(flat: &Flat) -> impl Iterator<Item = VarId> + '_ {
    flat.variable_ids().filter(|&id| flat.variable(id).output)
}

/// Everything before the functions. `auxiliaries` are those of modes: their texts and names.
pub fn types(request: &Request<'_>, c: &C<'_>, auxiliaries: &[(String, String)]) -> String {
    let model = request.model;
    let flat = model.flat;
    let mut out = String::new();
    let _ = write!(
        out,
        "/* {}: a program made by bgm.

   MODEL_start makes a run ready; MODEL_begin settles its start; MODEL_derivatives, MODEL_read_outputs and MODEL_indicators compute;
   MODEL_event settles what happens at a time; MODEL_advance integrates through all events. All but the first come back with 0 if
   all is well, else MODEL_message tells why. With -DMODEL_MAIN there is a main, which prints a run as CSV. */

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Long functions have parts; put together again they would take compilers ever longer. */
#ifdef __GNUC__
#define MODEL_PART static __attribute__((noinline))
#else
#define MODEL_PART static
#endif

",
        comment(flat.model()),
    );
    let computed = model.computed.len();
    let conditions: usize = model.whens.iter().map(Vec::len).sum();
    let selections = model.selected().count();
    let modes = model.switched.iter().flat_map(|switched| &switched.modes);
    let jumps = (modes.clone()).filter_map(|mode| Some(mode.jump?.columns.len()));
    let selections = selections
        + modes
            .clone()
            .map(|mode| mode.model.selected().count())
            .sum::<usize>();
    let events = !model.watches.is_empty()
        || !model.samplers.is_empty()
        || !model.discretes.is_empty()
        || conditions > 0;
    let counts = [
        ("STATES", model.states.len()),
        ("INPUTS", model.inputs.len() + model.slopes.len()),
        ("PARAMETERS", model.parameters.len()),
        ("OUTPUTS", outputs(flat).count()),
        ("DISCRETES", model.discretes.len()),
        ("COMPUTED", computed),
        ("WATCHES", model.watches.len()),
        ("SAMPLERS", model.samplers.len()),
        ("SINES", model.sines.len()),
        ("CONDITIONS", conditions),
        ("SELECTIONS", selections),
        ("COLUMNS", model.columns.len()),
        ("LARGEST", FULL),
        ("FEW", FEW),
        ("EVENTS", usize::from(events)),
        ("JUMP", jumps.max().unwrap_or(0)),
    ];
    out.push_str("enum {\n");
    for (name, count) in counts {
        let _ = writeln!(out, "    MODEL_{name} = {count},");
    }
    out.push_str("};\n\n");
    let run = request.run;
    for (name, value) in [
        ("FROM", run.from),
        ("UNTIL", run.until),
        ("STEP", run.step.unwrap_or(0.0)),
    ] {
        let _ = writeln!(out, "#define MODEL_{name} {}", number(value).at_least(9));
    }
    let _ = writeln!(out, "#define MODEL_POINTS {}", run.points);
    let parameters = format!(
        "The first {} can be changed; the others follow from them, or are fixed.",
        model.parameters.len()
    );
    let discretes = "What changes at events only; false and true are 0 and 1.";
    for (name, about, place) in [
        ("states", "What is integrated.", Place::States),
        ("inputs", "Given from outside.", Place::Inputs),
        ("parameters", &parameters, Place::Parameters),
        ("discretes", discretes, Place::Discretes),
        ("before", "Values before an event.", Place::Before),
    ] {
        structure(&mut out, c, (name, about), &model.kept_in(place), &[]);
    }
    let mut variables = model.kept_in(Place::Eliminated);
    variables.retain(|leaf| !matches!(leaf, Leaf::New(_)));
    variables.splice(0..0, model.kept_in(Place::Computed));
    let about = "What is computed; MODEL_complete computes the last ones.";
    structure(&mut out, c, ("variables", about), &variables, auxiliaries);
    let outputs: Vec<Leaf> = outputs(flat).map(Leaf::Var).collect();
    structure(&mut out, c, ("outputs", "Declared outputs."), &outputs, &[]);
    out.push_str(STRUCTURE);
    tables(&mut out, model);
    out
}

fn structure(
    out: &mut String,
    c: &C<'_>,
    (name, about): (&str, &str),
    leaves: &[Leaf],
    more: &[(String, String)],
) {
    let _ = writeln!(out, "\n/* {about} */\ntypedef struct {{");
    for &leaf in leaves {
        let shown = comment(&c.flat.leaf_name(leaf));
        let unit = &c.flat.declaration(leaf.variable()).remarks.unit;
        let unit = match unit {
            Some(unit) if matches!(leaf, Leaf::Var(_)) => format!(" in {}", comment(unit)),
            _ => String::new(),
        };
        let _ = writeln!(out, "    double {}; /* {shown}{unit} */", c.names.get(leaf));
    }
    for (shown, name) in more {
        let _ = writeln!(out, "    double {name}; /* {} */", comment(shown));
    }
    if leaves.is_empty() && more.is_empty() {
        out.push_str("    double none;\n");
    }
    let _ = writeln!(out, "}} MODEL_{name};");
}

const STRUCTURE: &str = "
/* A run: all that it knows. A copy is a run of its own. */
typedef struct {
    double time;
    MODEL_states x;
    MODEL_inputs u;
    MODEL_parameters p;
    MODEL_discretes d, next;
    MODEL_before pre;
    MODEL_variables v;
    int position;                         /* of the switches, where that changes the equations */
    int own_inputs;                       /* inputs are what the experiment says */
    double held[MODEL_WATCHES + 1];       /* relations keep their truth between events */
    double sampled[MODEL_SAMPLERS + 1];   /* true at the moment of a sample */
    int condition[MODEL_CONDITIONS + 1];  /* conditions of `when`s, as they were last */
    int event;                            /* next values are computed */
    int resettles;                        /* samples of this moment have been taken */
    int projects, fixed[MODEL_STATES + 1];
    double scale[MODEL_WATCHES + 1], largest, shared;
    int rests[MODEL_WATCHES + 1], dull[MODEL_WATCHES + 1];
    int crossed[MODEL_WATCHES + 1];       /* what this event is about: its sides are equal but for how well that was located */
    double relative, absolute, span, longest, step, sizes[MODEL_STATES + 1];
    double crowd_since[2][MODEL_WATCHES + 1], last_event[2][MODEL_WATCHES + 1], between[2][MODEL_WATCHES + 1];
    int crowd[2][MODEL_WATCHES + 1], sooner[2][MODEL_WATCHES + 1];
    long events;
    int failed;
    const char *what, *about;
    double failed_at;
} MODEL;
";

fn tables(out: &mut String, model: &Model<'_>) {
    let flat = model.flat;
    let mut names = |name: &str, all: &[String]| {
        let _ = writeln!(out, "\nconst char *const MODEL_{name}[] = {{");
        for one in all {
            let _ = writeln!(out, "    {},", text(one));
        }
        out.push_str("    \"\"};\n");
    };
    let computed: Vec<String> = model
        .computed
        .iter()
        .map(|&leaf| flat.leaf_name(leaf))
        .collect();
    names("variable_names", &computed);
    let columns: Vec<String> = (model.columns.iter())
        .map(|column| column.name.clone())
        .collect();
    names("column_names", &columns);
    let relations: Vec<String> = (model.watches.iter())
        .map(|watch| flat.expression(watch.node))
        .collect();
    names("relations", &relations);
    out.push_str("\n#ifdef MODEL_MAIN\n/* The same as in the first line of a file. */\nstatic const char *const MODEL_head[] = {\n");
    for column in &model.columns {
        let mut name = Vec::new();
        quoted(&column.name, &mut name);
        let _ = writeln!(out, "    {},", text(&String::from_utf8_lossy(&name)));
    }
    out.push_str("    \"\"};\n#endif\n");
    out.push_str("\n/* Relations: what they are, and whether nothing moves in them but Time. */\nstatic const int MODEL_kinds[] = {\n");
    for watch in &model.watches {
        let kind = match watch.kind {
            WatchKind::Relation(BinaryOp::Less) => 0,
            WatchKind::Relation(BinaryOp::LessEqual) => 1,
            WatchKind::Relation(BinaryOp::Greater) => 2,
            WatchKind::Relation(_) => 3,
            WatchKind::Sign => 4,
            WatchKind::Floor => 5,
            WatchKind::Ceil => 6,
        };
        let _ = writeln!(
            out,
            "    {kind}, /* {} */",
            comment(&flat.expression(watch.node))
        );
    }
    out.push_str("    0};\nstatic const int MODEL_timed[] = {");
    for watch in &model.watches {
        let _ = write!(out, "{}, ", u8::from(watch.timed));
    }
    out.push_str("0};\n\n");
    if model.switched.is_none() {
        out.push_str("/* What they are at the start, with the values given. */\nstatic const double MODEL_truths_at_start[] = {");
        for watch in 0..model.watches.len() {
            let _ = write!(out, "{:?}, ", model.truth_at_start(watch));
        }
        out.push_str("0.0};\n\n");
    }
}
