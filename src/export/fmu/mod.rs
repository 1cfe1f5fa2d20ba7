//! The target `fmu`: a Functional Mock-up Unit, FMI 2.0, for model exchange and co-simulation.
//!
//! Before: a [`Model`](super::model::Model) whose inputs come from outside. After: a [`Unit`], its description and its C source, which needs nothing but libm: the
//! program of the target `c`, and around it the functions of the standard. [`Unit::packed`] makes the file, with a
//! binary if there is one. Nothing in it depends on when or where it was made.

mod depend;
mod description;
mod variables;
mod zip;

use std::fmt::Write;

use rustc_hash::FxHashMap;

use super::model::{Told, derivatives_of_inputs};
use super::{Refusal, Request, c};
use crate::evaluate::{Point, Walk};
use crate::expr::{ExprId, Value};
use crate::flat::{Flat, VarId};
use crate::passes::blocks::Solved;
use description::{Description, GUID};
use variables::{Role, Variables, inputs, variables};

/// Texts that are the same for all models. The tables come after the first.
pub const TEXTS: &[&str] = &[
    include_str!("interface.c"),
    include_str!("instance.c"),
    include_str!("values.c"),
    include_str!("exchange.c"),
    include_str!("cosimulation.c"),
];

/// The parts of an FMU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unit {
    /// The prefix of the names of files and functions.
    pub identifier: String,
    /// `modelDescription.xml`
    pub description: String,
    /// The one source file.
    pub source: String,
}

/// A shared library for one kind of machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binary {
    /// As the standard calls it: `linux64`.
    pub platform: String,
    /// The end of its name: `so`.
    pub extension: String,
    pub bytes: Vec<u8>,
}

impl Unit {
    /// The name of the source file.
    pub fn source_name(&self) -> String {
        format!("{}.c", self.identifier)
    }

    /// The bytes of the file.
    pub fn packed(&self, binary: Option<&Binary>) -> Result<Vec<u8>, Refusal> {
        let mut files = vec![
            (
                "modelDescription.xml".to_string(),
                self.description.as_bytes(),
            ),
            (
                format!("sources/{}", self.source_name()),
                self.source.as_bytes(),
            ),
        ];
        if let Some(binary) = binary {
            let name = format!(
                "binaries/{}/{}.{}",
                binary.platform, self.identifier, binary.extension
            );
            files.push((name, &binary.bytes));
        }
        zip::archive(&files)
    }
}

/// The values of inputs and of their derivatives at the start, from the experiment. An FMU knows nothing else of the
/// experiment.
pub fn at_start(
    solved: &mut Solved,
    forms: &[&Flat],
    inputs: &FxHashMap<VarId, ExprId>,
    time: f64,
) -> Told {
    let forms = forms.iter().copied().chain([&solved.flat]);
    let needed = derivatives_of_inputs(&forms.collect::<Vec<_>>());
    let mut point = Point::new(solved);
    point.time = time;
    let exprs = &mut solved.flat.exprs;
    let mut ids: Vec<VarId> = inputs.keys().copied().collect();
    ids.sort_unstable();
    let mut numbers = FxHashMap::default();
    let mut slopes = FxHashMap::default();
    for id in ids {
        let mut given = inputs[&id];
        let value = match point.value(exprs, given, &mut Walk::default()) {
            Ok(Value::Bool(value)) => exprs.bool(value),
            Ok(Value::Real(value)) if value.is_finite() => exprs.number(value),
            _ => continue,
        };
        numbers.insert(id, value);
        for &leaf in needed.iter().filter(|leaf| leaf.variable() == id) {
            let one = exprs.number(1.0);
            // A formula of Time and constants.
            let Some(rate) = exprs.differentiate(given, Some(one), |_, _| None) else {
                break;
            };
            given = rate;
            let value = point.number(exprs, given).unwrap_or(0.0);
            slopes.insert(leaf, value);
        }
    }
    Told {
        inputs: numbers,
        slopes: Some(slopes),
    }
}

/// Makes the parts.
pub fn unit(request: &Request<'_>) -> Result<Unit, Refusal> {
    let model = request.model;
    let c = c::C::new(model);
    let variables = variables(model, &c);
    if let Some(&state) = (model.states.iter()).find(|state| !variables.of.contains_key(state)) {
        return Err(model.refuse(state, "a state that the program has no place for"));
    }
    let indicators = model.watches.iter().filter(|watch| !watch.timed).count();
    let nominal = request.run.absolute / request.run.relative;
    let description = Description {
        request,
        variables: &variables,
        identifier: &c.prefix,
        indicators,
        nominal,
    }
    .text();
    let mut around = String::from(TEXTS[0]);
    tables(&mut around, request, &c, &variables);
    for part in &TEXTS[1..] {
        around.push_str(part);
    }
    let around = around
        .replace("MODEL_UNIT_INDICATORS", &indicators.to_string())
        .replace("MODEL_UNIT_NOMINAL", &c::number(nominal))
        .replace("MODEL", &c.prefix);
    let mut source = c::program(request);
    source.push_str(&around);
    let guid = guid(&[&description, &source]);
    Ok(Unit {
        identifier: c.prefix,
        description: description.replace(GUID, &guid),
        source: source.replace(GUID, &guid),
    })
}

/// The memory of an instance, where its variables are in it, and the access to each.
fn tables(out: &mut String, request: &Request<'_>, c: &c::C<'_>, variables: &Variables) {
    let count = variables.all.len();
    let _ = write!(
        out,
        "
/* What identifies this unit: made from its description and its source. */
#define MODEL_UNIT_GUID \"{GUID}\"

enum {{ MODEL_UNIT_ALL = {count} }};

/* What an instance remembers. A copy is another memory of the same. */
typedef struct {{
    MODEL m;
    double rate[MODEL_STATES + 1];
    double from, span, relative;       /* the experiment; a tolerance of 0 is that of the model */
    double settled;                    /* the time of the last event */
    int stage;
    int known;                         /* 0: nothing is computed yet; 1: derivatives are; 2: all is */
    int touched;                       /* something was set after the last event */
    int derives;                       /* a parameter was set */
    double given[MODEL_UNIT_ALL];           /* what was set before the start */
    unsigned char is_given[MODEL_UNIT_ALL];
}} MODEL_unit_kept;

static const size_t MODEL_unit_places[MODEL_UNIT_ALL] = {{
"
    );
    for variable in &variables.all {
        let place = &variable.place;
        let _ = writeln!(out, "    offsetof(MODEL_unit_kept, {place}),");
    }
    out.push_str("};\n\nstatic const char *const MODEL_unit_names[MODEL_UNIT_ALL] = {\n");
    for variable in &variables.all {
        let _ = writeln!(out, "    {},", c::text(&variable.name));
    }
    out.push_str(
        "};

/* What may be set, and when; what needs no computing; what is false or true. */
enum { MODEL_UNIT_PARAMETER = 1, MODEL_UNIT_BEGINS = 2, MODEL_UNIT_INPUT = 4, MODEL_UNIT_DIRECT = 8, MODEL_UNIT_BOOLEAN = 16 };

static const unsigned char MODEL_unit_roles[MODEL_UNIT_ALL] = {",
    );
    for (at, variable) in variables.all.iter().enumerate() {
        let role = match variable.role {
            Role::Computed | Role::Derived => 0,
            Role::Constant | Role::Follows | Role::Time => 8,
            Role::Parameter => 1 + 8,
            Role::State | Role::Guessed => 2 + 8,
            Role::Input => 4 + 8,
        };
        let role = role + if variable.boolean { 16 } else { 0 };
        let gap = if at % 24 == 0 { "\n    " } else { " " };
        let _ = write!(out, "{gap}{role},");
    }
    out.push_str(
        "};\n\n/* Inputs at the start, where nobody sets others. */\nstatic void MODEL_unit_first_inputs(MODEL *m)\n{\n    (void)m;\n",
    );
    for (leaf, value) in inputs(request.model) {
        let place = c.place(leaf);
        let _ = writeln!(
            out,
            "    m->{} = {};",
            place.replacen("->", ".", 1),
            c::number(value)
        );
    }
    out.push_str("}\n");
}

/// The guid: a hash of all parts of the unit (FNV-1a, 128 bits).
fn guid(parts: &[&str]) -> String {
    let mut hash: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    for byte in parts.iter().flat_map(|part| part.bytes().chain([0])) {
        hash ^= u128::from(byte);
        hash = hash.wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
    }
    let digits = format!("{hash:032x}");
    format!(
        "{{{}-{}-{}-{}-{}}}",
        &digits[..8],
        &digits[8..12],
        &digits[12..16],
        &digits[16..20],
        &digits[20..]
    )
}
