//! The domain of each bond, as a section of a listing of causality.

use super::causality::table;
use crate::base::unit::{Domain, Measure, domain};
use crate::bond::graph::{Bond, Quantity};
use crate::bond::view::View;
use crate::flat::{Flat, VarId};

/// The domain of a bond, if the units of its effort and its flow are known.
pub fn domain_of(flat: &Flat, bond: &Bond) -> Option<&'static Domain> {
    domain(&measure(flat, &bond.effort)?, &measure(flat, &bond.flow)?)
}

/// The variables of a sum have one unit; not each of them needs to have it.
fn of<'f, T>(quantity: &Quantity, find: impl Fn(VarId) -> Option<T> + 'f) -> Option<T> {
    (quantity.0.iter().flatten()).find_map(|&(_, id)| find(id))
}

fn measure(flat: &Flat, quantity: &Quantity) -> Option<Measure> {
    of(quantity, |id| flat.units.measure(id))
}

/// Empty unless units are asked for.
pub fn section(flat: &Flat, view: &View) -> String {
    let graph = &view.graph;
    if !flat.units.are_shown() || graph.bonds.is_empty() {
        return String::new();
    }
    let titles = [
        "",
        "domain",
        "effort",
        "",
        "flow",
        "",
        "momentum",
        "displacement",
    ];
    let mut rows: Vec<Vec<String>> = vec![titles.map(str::to_string).to_vec()];
    for id in graph.bond_ids() {
        let bond = graph.bond(id);
        let unit = |quantity: &Quantity| {
            of(quantity, |id| flat.unit(id).map(str::to_string)).unwrap_or_default()
        };
        let mut row = vec![View::number(id).to_string()];
        match domain_of(flat, bond) {
            Some(domain) => row.extend([
                domain.name.to_string(),
                domain.effort.to_string(),
                unit(&bond.effort),
                domain.flow.to_string(),
                unit(&bond.flow),
                domain.momentum.to_string(),
                domain.displacement.to_string(),
            ]),
            None => row.extend([
                "-".to_string(),
                String::new(),
                unit(&bond.effort),
                String::new(),
                unit(&bond.flow),
            ]),
        }
        rows.push(row);
    }
    let mut out = "\nDOMAINS\n\n".to_string();
    table(&rows, 1, &mut out);
    out
}
