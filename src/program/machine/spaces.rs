//! Room to work in for loops: made once, so that nothing is allocated on the way.

use sprs::CsMat;

use crate::numeric::Coloring;
use crate::numeric::lu::Lu;
use crate::numeric::zero::Contraction;
use crate::program::Part;

/// Room to work in for the loops of a part.
#[derive(Debug)]
pub(super) struct Spaces {
    pub(super) systems: Vec<SystemSpace>,
    pub(super) loops: Vec<LoopSpace>,
}

#[derive(Debug)]
pub(super) struct SystemSpace {
    pub(super) matrix: CsMat<f64>,
    pub(super) place: Vec<u32>,
    pub(super) right: Vec<f64>,
    pub(super) lu: Lu,
    /// Whether the factors are those of the matrix.
    pub(super) factored: bool,
}

#[derive(Debug)]
pub(super) struct LoopSpace {
    /// Of the residuals by all unknowns.
    pub(super) slopes: CsMat<f64>,
    /// By unknown: those of one colour are moved together.
    pub(super) colors: Vec<u32>,
    pub(super) color_count: usize,
    /// The unknowns that are solved for, and the place of each among these.
    pub(super) columns: Vec<usize>,
    pub(super) place: Vec<u32>,
    pub(super) lu: Lu,
    /// Of these columns, now and before the step.
    pub(super) values: Vec<f64>,
    pub(super) from: Vec<f64>,
    pub(super) residuals: Vec<f64>,
    pub(super) step: Vec<f64>,
    /// The step that would come next.
    pub(super) after: Vec<f64>,
    /// The values before a correction, and where the search began.
    pub(super) before: Vec<f64>,
    pub(super) begun: Vec<f64>,
    /// By row: what rounding made of the residuals when this was last asked.
    pub(super) errors: Vec<f64>,
    /// By row: the largest residuals of this search.
    pub(super) peaks: Vec<f64>,
    /// How far rounding may move the unknowns.
    pub(super) doubts: Vec<f64>,
    pub(super) contraction: Contraction,
    /// All unknowns where the run was last: integrators also try points far away, and come back.
    pub(super) kept: Vec<f64>,
    /// The largest values so far.
    pub(super) largest: Vec<f64>,
}

impl Spaces {
    pub(super) fn new(part: &Part) -> Self {
        let systems = (part.systems.iter()).map(|system| {
            let size = system.unknowns.len();
            let matrix = system.matrix.map(|_| f64::NAN);
            SystemSpace {
                lu: Lu::new(matrix.structure_view()),
                matrix,
                place: (0..size as u32).collect(),
                right: vec![0.0; size],
                factored: false,
            }
        });
        let loops = (part.loops.iter()).map(|of| {
            let (size, rows) = (of.unknowns.len(), of.residuals.len());
            let Coloring {
                pattern,
                colors,
                count,
            } = &*of.coloring;
            let lu = match of.selections.is_empty() {
                true => Lu::new(pattern.view()),
                false => Lu::full(rows),
            };
            LoopSpace {
                slopes: pattern.map(|()| 0.0),
                colors: colors.clone(),
                color_count: *count,
                columns: (0..size).collect(),
                place: (0..size as u32).collect(),
                lu,
                values: vec![0.0; rows],
                from: vec![0.0; rows],
                residuals: vec![0.0; rows],
                step: vec![0.0; rows],
                after: vec![0.0; rows],
                before: vec![0.0; rows],
                begun: vec![0.0; rows],
                errors: vec![0.0; rows],
                doubts: vec![0.0; rows],
                peaks: vec![0.0; rows],
                contraction: Contraction::default(),
                kept: vec![0.0; size],
                largest: vec![0.0; rows],
            }
        });
        Spaces {
            systems: systems.collect(),
            loops: loops.collect(),
        }
    }
}
