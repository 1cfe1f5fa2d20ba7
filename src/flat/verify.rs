//! Verifier of flat models, after any stage.
//!
//! Ids are in range, operands come before the nodes that use them, every leaf is a variable of the model with a
//! declaration; lists by variable are in order; parameters and constants have values; a derivative belongs to a
//! variable with a derivative of this order; no equation contains an eliminated variable; spans lie in their files.

use super::dump::Shown;
use super::{EquationKind, Flat, Given, InstanceId, Kind, Leaf, VarId};
use crate::base::flaw::{Flaws, Place};
use crate::base::source::{Sources, Span};
use crate::expr::{ExprId, Node};

/// Checks a model, and its spans if the source texts are given. Time and memory grow linearly with the model.
pub fn verify(flat: &Flat, sources: Option<&Sources>) -> Result<(), Flaws> {
    let mut verifier = Verifier {
        flat,
        flaws: Flaws::default(),
    };
    verifier.tree();
    verifier.variables();
    let count = flat.variables.len();
    let declared = |leaf: Leaf| match leaf.variable().index() < count {
        true => Ok(()),
        false => Err(format!("there is no variable {:?}", leaf.variable())),
    };
    flat.exprs.verify(declared, &mut verifier.flaws);
    verifier.lists();
    verifier.equations();
    verifier.ports();
    // The other checks use these ids as indices.
    if verifier.flaws.is_empty() {
        verifier.leaves();
    }
    if let Some(sources) = sources {
        verifier.spans(sources);
    }
    verifier.flaws.into_result()
}

impl Flat {
    /// The expressions that the model refers to, each with the kind of thing that refers to it.
    pub fn roots(&self) -> Vec<(&'static str, ExprId)> {
        let mut all = Vec::with_capacity(2 * self.equations.len() + self.values.len());
        for equation in &self.equations {
            all.extend([("equation", equation.left), ("equation", equation.right)]);
        }
        for when in &self.whens {
            let conditions = when.conditions.iter();
            all.extend(conditions.map(|&(condition, _)| ("condition", condition)));
        }
        let values = self.values.iter().map(|given| ("value", given.expression));
        let starts = self.starts.iter().map(|given| ("start", given.expression));
        all.extend(values.chain(starts));
        let aliases = self.eliminated.iter();
        all.extend(aliases.map(|alias| ("eliminated", alias.expression)));
        if let Some(reduction) = &self.reduction {
            for derived in &reduction.derived {
                all.extend([("derived", derived.of.left), ("derived", derived.of.right)]);
            }
            all.extend(reduction.zeros.iter().map(|&zero| ("zero", zero)));
        }
        for law in &self.ports.laws {
            all.extend([("law", law.left), ("law", law.right)]);
        }
        all
    }
}

struct Verifier<'f> {
    flat: &'f Flat,
    flaws: Flaws,
}

impl Verifier<'_> {
    fn instance(&mut self, place: impl std::fmt::Debug, id: InstanceId) {
        let holds = id.index() < self.flat.instances.len();
        (self.flaws).unless(holds, place, || format!("there is no instance {id:?}"));
    }

    fn known(&mut self, place: &'static str, id: VarId) {
        let holds = id.index() < self.flat.variables.len();
        (self.flaws).unless(holds, Place(place), || {
            format!("there is no variable {id:?}")
        });
    }

    /// Parents come before their parts, so a path upwards ends at the top.
    fn tree(&mut self) {
        let flat = self.flat;
        if flat.instances.is_empty() {
            self.flaws.add(Place("model"), "it has no instance i0");
        }
        for (at, instance) in flat.instances.iter().enumerate() {
            let id = InstanceId(at as u32);
            let holds = instance.parent < id || id == InstanceId::TOP && instance.parent == id;
            let parent = instance.parent;
            (self.flaws).unless(holds, id, || {
                format!("its parent {parent:?} does not come before it")
            });
            let named = flat.names.holds(instance.name) && flat.names.holds(instance.class);
            (self.flaws).unless(named, id, || "its name is not known".to_string());
        }
        for (at, declaration) in flat.declarations.iter().enumerate() {
            let named = flat.names.holds(declaration.name);
            let place = super::DeclId(at as u32);
            (self.flaws).unless(named, place, || "its name is not known".to_string());
        }
    }

    fn variables(&mut self) {
        let flat = self.flat;
        for id in flat.variable_ids() {
            let known = flat.variable(id);
            self.instance(id, known.instance);
            let declared = known.declaration.index() < flat.declarations.len();
            let flaws = &mut self.flaws;
            flaws.unless(declared, id, || {
                format!("there is no declaration {:?}", known.declaration)
            });
            flaws.unless(known.states <= known.order, id, || {
                format!("{} states, but order {}", known.states, known.order)
            });
            let moves = matches!(known.kind, Kind::State | Kind::Algebraic | Kind::Output);
            flaws.unless(known.states == 0 || moves, id, || {
                format!("a {} has states", known.kind.text())
            });
            let fixed = matches!(known.kind, Kind::Parameter | Kind::Constant);
            flaws.unless(!fixed || flat.value(id).is_some(), id, || {
                format!("a {} without a value", known.kind.text())
            });
        }
    }

    fn lists(&mut self) {
        let flat = self.flat;
        self.given("value", &flat.values);
        self.given("start", &flat.starts);
        let wishes: Vec<VarId> = flat.wishes.iter().map(|&(id, _)| id).collect();
        self.sorted("wish", &wishes);
        self.sorted("shaping", &flat.shaping);
        for alias in &flat.eliminated {
            self.known("eliminated", alias.leaf.variable());
        }
        for (what, id) in flat.roots() {
            let holds = flat.exprs.holds(id);
            (self.flaws).unless(holds, Place(what), || {
                format!("there is no expression {id:?}")
            });
        }
        let Some(reduction) = &flat.reduction else {
            return;
        };
        for dropped in &reduction.dropped {
            self.known("dropped", dropped.state.variable());
        }
        for selection in &reduction.selections {
            let (candidates, states) = (selection.candidates.len(), selection.states as usize);
            (self.flaws).unless(states <= candidates, Place("selection"), || {
                format!("{states} states of {candidates} candidates")
            });
            for leaf in selection.candidates.iter().chain(&selection.choice) {
                self.known("selection", leaf.variable());
            }
        }
    }

    fn given(&mut self, what: &'static str, list: &[Given]) {
        let of: Vec<VarId> = list.iter().map(|given| given.variable).collect();
        self.sorted(what, &of);
    }

    /// Checks that the list contains each variable once, in order: it is searched by bisection.
    fn sorted(&mut self, what: &'static str, list: &[VarId]) {
        for pair in list.windows(2) {
            (self.flaws).unless(pair[0] < pair[1], Place(what), || {
                format!("{:?} comes before {:?}", pair[0], pair[1])
            });
        }
        for &id in list {
            self.known(what, id);
        }
    }

    fn equations(&mut self) {
        let flat = self.flat;
        let mut closed = vec![false; flat.whens.len()];
        let mut open = None;
        for id in flat.equation_ids() {
            let equation = &flat.equations[id.index()];
            self.instance(id, equation.origin);
            let flaws = &mut self.flaws;
            let mut here = None;
            match equation.kind {
                EquationKind::When(when, branch) => {
                    here = Some(when);
                    match flat.whens.get(when.index()) {
                        None => flaws.add(id, format!("there is no {when:?}")),
                        Some(known) => {
                            let holds = usize::from(branch) < known.conditions.len();
                            flaws.unless(holds, id, || format!("{when:?} has no branch {branch}"));
                            let apart = open != here && closed[when.index()];
                            flaws.unless(!apart, id, || {
                                format!("the equations of {when:?} do not stand together")
                            });
                            closed[when.index()] = true;
                        }
                    }
                }
                EquationKind::Derivative(of) => {
                    let derived = flat.reduction.as_ref().map_or(0, |r| r.derived.len());
                    let holds = (of as usize) < derived;
                    flaws.unless(holds, id, || format!("nothing was derived as {of}"));
                }
                _ => {}
            }
            open = here;
        }
        for when in &flat.whens {
            self.instance(Place("when"), when.origin);
        }
    }

    fn ports(&mut self) {
        let ports = &self.flat.ports;
        let mut before = InstanceId::TOP;
        for id in ports.ids() {
            let port = ports.get(id);
            self.instance(id, port.instance);
            (self.flaws).unless(before <= port.instance, id, || {
                format!("{before:?} comes before {:?}", port.instance)
            });
            before = port.instance;
            for at in [port.outside, port.inside].into_iter().flatten() {
                let holds = at.index() < ports.junctions.len();
                (self.flaws).unless(holds, id, || format!("there is no junction {}", at.index()));
            }
            for pair in ports.pairs(id) {
                for one in [pair.across, pair.through].into_iter().flatten() {
                    self.known("port", one.variable());
                }
            }
        }
    }

    /// Checks the leaves of equations: derivatives exist, and eliminated variables do not occur.
    fn leaves(&mut self) {
        let flat = self.flat;
        let mut eliminated: Vec<Leaf> = flat.eliminated.iter().map(|alias| alias.leaf).collect();
        eliminated.sort_unstable_by_key(|leaf| (leaf.variable(), leaf.order()));
        for pair in eliminated.windows(2) {
            (self.flaws).unless(pair[0] != pair[1], Shown(pair[0]), || {
                "it was eliminated twice".to_string()
            });
        }
        let sides = (flat.equations.iter()).flat_map(|equation| [equation.left, equation.right]);
        let reached = flat.exprs.reached(sides);
        for at in (0..flat.exprs.len()).filter(|&at| reached[at]) {
            let id = ExprId(at as u32);
            let Node::Leaf(leaf) = flat.exprs.node(id) else {
                continue;
            };
            let known = flat.variable(leaf.variable());
            let flaws = &mut self.flaws;
            if let Leaf::Der(of, order) = leaf {
                flaws.unless((1..=known.order).contains(&order), id, || {
                    let highest = known.order;
                    format!("{} of {of:?}, which has order {highest}", Shown(leaf))
                });
            }
            if let Leaf::New(of) = leaf {
                flaws.unless(known.kind == Kind::Discrete, id, || {
                    format!("{} of {of:?}, a {}", Shown(leaf), known.kind.text())
                });
            }
            let key = (leaf.variable(), leaf.order());
            let found =
                eliminated.binary_search_by_key(&key, |leaf| (leaf.variable(), leaf.order()));
            flaws.unless(found.is_err() || leaf.order().is_none(), id, || {
                format!("an equation reads {}, which was eliminated", Shown(leaf))
            });
        }
    }

    fn spans(&mut self, sources: &Sources) {
        let flat = self.flat;
        let flaws = &mut self.flaws;
        let mut check = |place: &dyn std::fmt::Debug, span: Span| {
            flaws.unless(sources.holds(span), place, || {
                format!("its place {span:?} is in no file, or cuts a character in two")
            });
        };
        for (at, instance) in flat.instances.iter().enumerate() {
            check(&InstanceId(at as u32), instance.span);
            check(&InstanceId(at as u32), instance.class_span);
        }
        for (at, declaration) in flat.declarations.iter().enumerate() {
            check(&super::DeclId(at as u32), declaration.span);
        }
        for id in flat.equation_ids() {
            check(&id, flat.equations[id.index()].span);
        }
        for given in flat.values.iter().chain(&flat.starts) {
            check(&given.variable, given.span);
        }
        for (at, when) in flat.whens.iter().enumerate() {
            for &(_, span) in &when.conditions {
                check(&super::WhenId(at as u32), span);
            }
        }
    }
}
