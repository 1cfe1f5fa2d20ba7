//! A typeset report of the model.
//!
//! Before: a flat model with an experiment in it, inputs apart. After: the text of a document; see
//! [`crate::listing::latex_report`].

use super::Exported;
use crate::base::diagnostics::Diagnostics;
use crate::bond::sketch::sketch;
use crate::bond::view::{Choice, view};
use crate::compile::{Aliases, Presented, bond_graph, presented, sorted};
use crate::flat::Flat;
use crate::listing::latex_report::{Stages, report};

/// `None` after an error that was said.
pub fn document(flat: &Flat, said: &mut Diagnostics) -> Option<Exported> {
    let mut unsaid = Diagnostics::default();
    let (sorted_flat, order) = sorted(flat.clone(), Aliases::Eliminate, said)?;
    let presented = presented(flat.clone(), Aliases::Eliminate, &mut unsaid)?;
    let (solved, notes) = match &presented {
        Presented::One(solved) | Presented::Paper(_, solved) => (solved, Vec::new()),
        Presented::ByPosition(_, solved) => (
            solved,
            vec!["the solved equations of the report hold where no divisor vanishes; `bgm solve` lists each position of the switches".to_string()],
        ),
    };
    let graph = bond_graph(flat.clone(), &[], &mut unsaid).ok().flatten();
    let picture = graph.map(|model| {
        let view = view(&model.flat, &model.graph, Choice::default());
        sketch(&model, &view)
    });
    let text = report(&Stages {
        flat,
        sorted: (&sorted_flat, &order),
        solved,
        picture: picture.as_ref(),
    });
    Some(Exported { text, notes })
}
