//! Modes of a model with switches: a table for `bgm solve --modes`, and the solved equations of each mode. Texts for
//! users say *position* for a mode.

use std::io::{self, Write};

use serde::Serialize;

use super::solved::solved;
use crate::base::words::count;
use crate::compile::{LISTED, Shapes, Table};
use crate::expr::print::Style;
use crate::positions::{Mode, Positions, Shape};

/// Of each switch whether its causality is free and what its positions take out of play; of each position its order and index.
pub fn modes(positions: &Positions, shapes: &Shapes) -> String {
    let modes = &shapes.modes;
    let model = positions.written.model();
    let switches = count(positions.switches.len(), "switch").replace("switchs", "switches");
    let mut out = format!(
        "{model}: {switches}, {}\n",
        count_of_modes(positions, shapes)
    );
    out.push_str("\nSWITCHES\n\n");
    let rows: Vec<[String; 3]> = (0..positions.switches.len())
        .map(|at| switch_row(positions, modes, at))
        .collect();
    table(&mut out, &rows);
    write_modes(&mut out, positions, modes);
    out
}

/// What stands below a listing in the form of the paper.
pub fn table_of_positions(table: &Table) -> String {
    let mut out = String::new();
    write_modes(&mut out, &table.positions, &table.shapes.modes);
    out.push_str("\nA run solves each position by itself; what jumps follows from the balance of impulses.\n");
    out
}

/// Returns a sentence that tells for which mode a listing is valid: `sorted in one position: S open, D1 closed; ...`
pub fn mode_note(positions: &Positions, what: &str) -> String {
    match &positions.shown {
        Some(key) => format!(
            "{what} in one position of the switches: {}; in others otherwise (`bgm solve` lists them)",
            positions.position_name(key)
        ),
        None => format!(
            "{what} once for all positions of the switches; where a divisor vanishes, `bgm solve` lists the position by itself"
        ),
    }
}

fn write_modes(out: &mut String, positions: &Positions, modes: &[Mode]) {
    out.push_str("\nPOSITIONS\n\n");
    let rows: Vec<[String; 3]> = (modes.iter())
        .map(|mode| {
            let name = positions.position_name(&mode.key);
            match &mode.shape {
                None => [name, "impossible".into(), String::new()],
                Some(shape) => {
                    let order = format!("order {}, index {}", shape.order, shape.index);
                    [name, order, remarks(positions, shape)]
                }
            }
        })
        .collect();
    table(out, &rows);
}

fn count_of_modes(positions: &Positions, Shapes { modes, all }: &Shapes) -> String {
    match all {
        true => count(modes.len(), "position"),
        false => format!(
            "2**{} positions, {} of them looked at",
            positions.switches.len(),
            modes.len()
        ),
    }
}

/// Returns name, causality and disabled states of a switch. Its causality is free if changing it alone never changes
/// order or index.
fn switch_row(positions: &Positions, modes: &[Mode], at: usize) -> [String; 3] {
    let free = is_free(modes, at);
    let causality = if free {
        "free causality"
    } else {
        "fixed causality"
    };
    let mut words = Vec::new();
    for truth in [true, false] {
        let names = disabled(positions, modes, at, truth);
        if !names.is_empty() {
            let word = positions.word(at, truth);
            words.push(format!("{word}: disables {}", names.join(", ")));
        }
    }
    [
        positions.switch_name(at),
        causality.into(),
        words.join("; "),
    ]
}

/// Returns the pairs of modes that differ only in one switch.
fn pairs(modes: &[Mode], at: usize) -> impl Iterator<Item = (&Mode, &Mode)> {
    modes
        .iter()
        .filter(move |mode| mode.key[at])
        .filter_map(move |mode| {
            let mut key = mode.key.clone();
            key[at] = false;
            let other = modes.iter().find(|other| other.key == key)?;
            Some((mode, other))
        })
}

fn is_free(modes: &[Mode], at: usize) -> bool {
    pairs(modes, at).all(|(a, b)| match (&a.shape, &b.shape) {
        (Some(a), Some(b)) => a.order == b.order && a.index == b.index,
        _ => false,
    })
}

/// Returns states that exist in the other position of the switch but not in this one.
fn disabled(positions: &Positions, modes: &[Mode], at: usize, truth: bool) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (open, closed) in pairs(modes, at) {
        let (here, there) = if truth {
            (open, closed)
        } else {
            (closed, open)
        };
        let (Some(here), Some(there)) = (&here.shape, &there.shape) else {
            continue;
        };
        for (state, _) in &here.dropped {
            let name = positions.written.leaf_name(*state);
            let only =
                here.order < there.order && !there.dropped.iter().any(|(other, _)| other == state);
            if only && !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

fn remarks(positions: &Positions, shape: &Shape) -> String {
    let flat = &positions.written;
    let mut words: Vec<String> = (shape.dropped.iter())
        .map(|(state, others)| {
            let name = flat.leaf_name(*state);
            let others: Vec<String> = others.iter().map(|&leaf| flat.leaf_name(leaf)).collect();
            match others.is_empty() {
                true => format!("{name} is no state"),
                false => format!("{name} follows {}", others.join(", ")),
            }
        })
        .collect();
    if shape.loose {
        words.push("not all is determined: least norm".into());
    }
    words.join("; ")
}

fn table(out: &mut String, rows: &[[String; 3]]) {
    let width = |at: usize| {
        let widths = rows.iter().map(|row| row[at].chars().count());
        widths.max().unwrap_or(0)
    };
    let (first, second) = (width(0), width(1));
    for [a, b, c] in rows {
        let line = format!("{a:<first$}  {b:<second$}  {c}");
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

/// Solved equations position by position, where no single set of formulas does for all.
pub fn by_position(table: &Table, style: Style) -> String {
    let Table {
        positions, shapes, ..
    } = table;
    let modes = &shapes.modes;
    let possible: Vec<&Mode> = modes.iter().filter(|mode| mode.shape.is_some()).collect();
    let model = positions.written.model();
    let mut out = format!(
        "{model}: solved by position; {}, {} of these possible\n",
        count_of_modes(positions, shapes),
        possible.len()
    );
    for mode in modes.iter().filter(|mode| mode.shape.is_none()) {
        out.push_str(&format!(
            "impossible: {}\n",
            positions.position_name(&mode.key)
        ));
    }
    for mode in possible.iter().take(LISTED) {
        let Some(shape) = &mode.shape else { continue };
        out.push_str(&format!(
            "\n\nPOSITION: {}\norder {}, index {}\n\n",
            positions.position_name(&mode.key),
            shape.order,
            shape.index
        ));
        if let Some(model) = table.solved.get(&mode.key) {
            out.push_str(&solved(model, style));
        }
    }
    if possible.len() > LISTED {
        let more = count(possible.len() - LISTED, "more position");
        out.push_str(&format!("\n\nand {more}: `--modes` lists them\n"));
    }
    out
}

#[derive(Serialize)]
struct ModesJson {
    version: u32,
    model: String,
    switches: Vec<SwitchJson>,
    positions: Vec<PositionJson>,
    /// True if all modes are listed.
    all: bool,
}

#[derive(Serialize)]
struct SwitchJson {
    name: String,
    condition: String,
    causality: &'static str,
    disables_if_true: Vec<String>,
    disables_if_false: Vec<String>,
}

#[derive(Serialize)]
struct PositionJson {
    /// The truth of the condition of each switch.
    key: Vec<bool>,
    possible: bool,
    order: Option<usize>,
    index: Option<u8>,
    dropped: Vec<String>,
    least_norm: bool,
}

pub fn write_json(positions: &Positions, shapes: &Shapes, out: &mut dyn Write) -> io::Result<()> {
    let modes = &shapes.modes;
    let flat = &positions.written;
    let document = ModesJson {
        version: 1,
        model: flat.model().to_string(),
        switches: (0..positions.switches.len())
            .map(|at| SwitchJson {
                name: positions.switch_name(at),
                condition: flat.expression(positions.written_switches[at].condition),
                causality: if is_free(modes, at) { "free" } else { "fixed" },
                disables_if_true: disabled(positions, modes, at, true),
                disables_if_false: disabled(positions, modes, at, false),
            })
            .collect(),
        positions: (modes.iter())
            .map(|mode| {
                let shape = mode.shape.as_ref();
                let dropped = shape.iter().flat_map(|shape| &shape.dropped);
                PositionJson {
                    key: mode.key.to_vec(),
                    possible: shape.is_some(),
                    order: shape.map(|shape| shape.order),
                    index: shape.map(|shape| shape.index),
                    dropped: dropped.map(|(state, _)| flat.leaf_name(*state)).collect(),
                    least_norm: shape.is_some_and(|shape| shape.loose),
                }
            })
            .collect(),
        all: shapes.all,
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)
}
