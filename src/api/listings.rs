//! Listings, bond graph and drawing of a model.

use super::error::Error;
use super::model::Model;
use crate::base::diagnostics::{Code, Diagnostics};
use crate::bond::BondGraph;
use crate::bond::sketch::sketch;
use crate::bond::view::{Choice, view};
use crate::compile::{Aliases, NoObserver, bond_graph, listed, sorted_in_some_mode};
use crate::expr::print::Style;
use crate::listing::modes::mode_note;
use crate::listing::{causality, equations, solved, sorted};
use crate::picture::bond::svg;

const STYLE: Style = Style::Plain;

impl Model {
    /// The flat equations, as `bgm equations` lists them.
    pub fn equations(&self) -> String {
        equations::equations(&self.flat, STYLE)
    }

    /// The equations in the order of evaluation, each with its unknown in brackets, as `bgm sort` lists them.
    pub fn sorted(&self) -> Result<String, Error> {
        let mut diagnostics = Diagnostics::default();
        let done = sorted_in_some_mode(
            self.flat.clone(),
            Aliases::Keep,
            &mut NoObserver,
            &mut diagnostics,
        );
        let (flat, order, positions) =
            done.ok_or_else(|| Error::new(&self.sources, &diagnostics))?;
        let place = positions.map(|positions| mode_note(&positions, "sorted"));
        Ok(sorted::sorted_in_some_mode(
            &flat,
            &order,
            place.as_deref(),
            STYLE,
        ))
    }

    /// The equations solved, as `bgm solve` lists them.
    pub fn solved(&self) -> Result<String, Error> {
        let mut diagnostics = Diagnostics::default();
        let flat = self.flat.clone();
        let done = listed(flat, Aliases::Eliminate, &mut NoObserver, &mut diagnostics);
        let done = done.ok_or_else(|| Error::new(&self.sources, &diagnostics))?;
        Ok(solved::listed(&done, STYLE))
    }

    /// The bond graph with its strokes, as `bgm causality` lists it.
    pub fn causality(&self) -> Result<String, Error> {
        Ok(match self.graph()? {
            None => causality::without_ports(&self.flat),
            Some(graph) => {
                let view = view(&graph.flat, &graph.graph, Choice::default());
                causality::causality(&graph, &view)
            }
        })
    }

    /// A drawing of the bond graph with its strokes, as SVG; an error for a model without power ports.
    pub fn draw(&self) -> Result<String, Error> {
        let Some(graph) = self.graph()? else {
            let mut diagnostics = Diagnostics::default();
            diagnostics.push(causality::nothing_to_draw(&self.flat));
            return Err(Error::new(&self.sources, &diagnostics));
        };
        let view = view(&graph.flat, &graph.graph, Choice::default());
        Ok(svg(&sketch(&graph, &view)))
    }

    fn graph(&self) -> Result<Option<BondGraph>, Error> {
        let mut diagnostics = Diagnostics::default();
        let found =
            bond_graph(self.flat.clone(), &[], &mut diagnostics).map_err(Error::of_request)?;
        // A model can have a graph even if it cannot be sorted, so errors do not matter if there is a graph. They do not
        // matter either if the model merely has no power ports.
        let hides = found.is_none() && diagnostics.iter().any(|one| one.code != Code::NoPowerPorts);
        match hides && diagnostics.has_errors() {
            true => Err(Error::new(&self.sources, &diagnostics)),
            false => Ok(found),
        }
    }
}
