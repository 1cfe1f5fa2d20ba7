//! A typeset report of the model.
//!
//! Before: a flat model in which the experiment has set everything but the inputs. After: the text of a document; see
//! [`crate::listing::latex_report`].

use super::Exported;
use crate::base::diagnostics::Diagnostics;
use crate::bond::sketch::sketch;
use crate::bond::view::{Choice, view};
use crate::compile::{Aliases, NoObserver, Presented, bond_graph, presented, sorted_in_some_mode};
use crate::flat::Flat;
use crate::listing::latex_report::{Stages, report};
use crate::listing::modes::mode_note;

/// `None` after an error that was reported.
pub fn document(flat: &Flat, said: &mut Diagnostics) -> Option<Exported> {
    let mut unsaid = Diagnostics::default();
    let done = sorted_in_some_mode(flat.clone(), Aliases::Eliminate, &mut NoObserver, said)?;
    let (sorted_flat, order, positions) = done;
    let sorted_where = positions.map(|positions| mode_note(&positions, "sorted"));
    let presented = presented(
        flat.clone(),
        Aliases::Eliminate,
        &mut NoObserver,
        &mut unsaid,
    )?;
    let (solved, solved_where) = match &presented {
        Presented::One(solved) => (&**solved, None),
        Presented::Paper(paper) => (&paper.solved, None),
        Presented::ByPosition(positions, solved) => {
            (&**solved, Some(mode_note(positions, "solved")))
        }
    };
    let notes = solved_where
        .iter()
        .map(|text| format!("the report is {text}"))
        .collect();
    let graph = bond_graph(flat.clone(), &[], &mut unsaid).ok().flatten();
    let picture = graph.map(|model| {
        let view = view(&model.flat, &model.graph, Choice::default());
        sketch(&model, &view)
    });
    let text = report(&Stages {
        flat,
        sorted: (&sorted_flat, &order),
        sorted_where: sorted_where.as_deref(),
        solved,
        solved_where: solved_where.as_deref(),
        picture: picture.as_ref(),
    });
    Some(Exported { text, notes })
}
