//! Explains how a variable is computed: its equation, the place of this in the source, and its dependencies down to
//! states, inputs and parameters.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::reduction;
use crate::base::diagnostics::nearest;
use crate::base::source::{Sources, Span};
use crate::expr::{ExprId, Node};
use crate::flat::{EqId, EquationKind, Flat, Kind, Leaf, VarId};
use crate::passes::blocks::{Assignment, Block, Linear, Method, Solved};

/// Longer lists are truncated.
const MOST_BLOCKS: usize = 200;
const MOST_UNKNOWNS: usize = 12;
const MOST_FORMULAS: usize = 12;

/// Returns the explanation, or an error if the name is unknown.
pub fn explain(model: &Solved, sources: &Sources, name: &str) -> Result<String, String> {
    let requested = find(&model.flat, name)?;
    let mut explanation = Explanation {
        model,
        sources,
        out: String::new(),
        block_of: index(model),
        eliminated: model.flat.replacements(),
        known_leaves: BTreeSet::new(),
        time: false,
        requested,
    };
    explanation.write(requested);
    Ok(explanation.out)
}

/// Finds the leaf of a name: `C1.e`, `der(C1.e)`, `new(S.open)`.
fn find(flat: &Flat, name: &str) -> Result<Leaf, String> {
    let name = name.trim();
    let (mut inner, mut order, mut new) = (name, 0u8, false);
    loop {
        let opened = inner.strip_suffix(')').and_then(|text| {
            (text.strip_prefix("der(").map(|text| (text, false)))
                .or_else(|| text.strip_prefix("new(").map(|text| (text, true)))
        });
        match opened {
            Some((text, true)) if !new => (inner, new) = (text.trim(), true),
            Some((text, false)) if order < 9 => (inner, order) = (text.trim(), order + 1),
            _ => break,
        }
    }
    let mut text = String::new();
    for id in flat.variable_ids() {
        text.clear();
        flat.write_name(id, crate::flat::InstanceId::TOP, &mut text);
        if text == inner {
            return Ok(match order {
                _ if new => Leaf::New(id),
                0 => Leaf::Var(id),
                order => Leaf::Der(id, order),
            });
        }
    }
    let names: Vec<String> = flat.variable_ids().map(|id| flat.name(id)).collect();
    let hint = match nearest(inner, names.iter().map(String::as_str)) {
        Some(near) => format!("; did you mean `{near}`?"),
        None => String::new(),
    };
    Err(format!(
        "there is no variable `{inner}` in {}{hint}",
        flat.model()
    ))
}

/// Maps each leaf, including auxiliaries, to the block that computes it.
fn index(model: &Solved) -> FxHashMap<Leaf, usize> {
    let mut found = FxHashMap::default();
    for (at, block) in model.blocks.iter().enumerate() {
        for &leaf in block.unknowns() {
            found.insert(leaf, at);
        }
        for formula in formulas(block) {
            found.insert(formula.target, at);
        }
    }
    found
}

/// Returns the unknowns of a block: `x, y and 3 more`.
fn unknowns_in_words(flat: &Flat, block: &Block) -> String {
    let names: Vec<String> = (block.unknowns().iter().take(MOST_UNKNOWNS))
        .map(|&leaf| flat.leaf_name(leaf))
        .collect();
    let names = names.join(", ");
    match block.unknowns().len().saturating_sub(MOST_UNKNOWNS) {
        0 => names,
        more => format!("{names} and {more} more"),
    }
}

/// Returns the formulas of a linear loop that is solved by formulas: auxiliaries and unknowns in order.
fn formulas(block: &Block) -> &[Assignment] {
    match block {
        Block::Linear(Linear {
            method: Method::Formulas(formulas),
            ..
        }) => formulas,
        _ => &[],
    }
}

struct Explanation<'f> {
    model: &'f Solved,
    sources: &'f Sources,
    out: String,
    block_of: FxHashMap<Leaf, usize>,
    eliminated: FxHashMap<Leaf, ExprId>,
    /// Leaves that no block computes, in the order of the model: kind, variable, name.
    known_leaves: BTreeSet<(&'static str, VarId, String)>,
    /// True if Time is needed.
    time: bool,
    requested: Leaf,
}

impl<'f> Explanation<'f> {
    fn flat(&self) -> &'f Flat {
        &self.model.flat
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn write(&mut self, requested: Leaf) {
        let flat = self.flat();
        let name = flat.leaf_name(requested);
        let mut start = requested;
        let alias = self.eliminated.get(&requested).copied();
        if let Some(expression) = alias {
            let text = flat.expression(expression);
            self.line(&format!("{name} = {text}, eliminated"));
            let mut leaves = Vec::new();
            flat.exprs.leaves(expression, |leaf| leaves.push(leaf));
            match leaves.first() {
                Some(&leaf) => start = leaf,
                None => return,
            }
        }
        let mut start_kind = flat.variable(start.variable()).kind;
        if let (Kind::Discrete, Leaf::Var(id)) = (start_kind, start) {
            let text = flat.name(id);
            self.line(&format!(
                "{text} is discrete: it changes at events, to new({text})"
            ));
            start = Leaf::New(id);
            start_kind = Kind::Algebraic;
        }
        let computed = self.block_of.contains_key(&start);
        if !computed {
            self.known(start, start_kind);
            let highest = flat.variable(start.variable()).order;
            match start_kind {
                Kind::State => start = Leaf::Der(start.variable(), highest),
                _ => {
                    let place = self.place(flat.declaration(start.variable()).span);
                    self.line(&format!("  declared in {place}"));
                    return;
                }
            }
            if alias.is_none() && self.eliminated.contains_key(&start) {
                let text = flat.expression(self.eliminated[&start]);
                let name = flat.leaf_name(start);
                self.line(&format!("{name} = {text}, eliminated"));
            }
        }
        let kind = flat.variable(start.variable()).kind;
        if let (Kind::Auxiliary, Some(&at)) = (kind, self.block_of.get(&start)) {
            self.auxiliary(start, &self.model.blocks[at]);
        }
        self.write_dependencies(start);
    }

    /// Writes the formula of an auxiliary, and the loop that it belongs to.
    fn auxiliary(&mut self, leaf: Leaf, block: &Block) {
        let flat = self.flat();
        let name = flat.leaf_name(leaf);
        if let Some(formula) = formulas(block).iter().find(|f| f.target == leaf) {
            let text = flat.expression(formula.value);
            let of = unknowns_in_words(flat, block);
            self.line(&format!("{name} = {text}"));
            self.line(&format!("  an auxiliary of the linear loop of {of}\n"));
        }
    }

    /// Describes a leaf that no block computes.
    fn known(&mut self, leaf: Leaf, kind: Kind) {
        let flat = self.flat();
        let name = flat.leaf_name(leaf);
        let value = flat.value(leaf.variable());
        let text = match kind {
            Kind::State => {
                let start = flat
                    .start(leaf.variable())
                    .map_or_else(|| "0".to_string(), |given| given.value.to_string());
                format!("{name} is a state: it starts at {start} and is integrated")
            }
            Kind::Parameter | Kind::Constant => match value {
                Some(given) => format!("{name} is a {}: {}", kind.text(), given.value),
                None => format!("{name} is a {}", kind.text()),
            },
            Kind::Input => format!("{name} is an input"),
            _ => format!("{name} is {}", kind.text()),
        };
        self.line(&text);
    }

    /// Writes all blocks that are needed, in the order of evaluation, after the block of `start`.
    fn write_dependencies(&mut self, start: Leaf) {
        let mut needed: BTreeSet<usize> = BTreeSet::new();
        let mut work_list = vec![start];
        let first = self.block_of.get(&start).copied();
        self.requested = start;
        while let Some(leaf) = work_list.pop() {
            match self.block_of.get(&leaf) {
                Some(&block) => {
                    if needed.insert(block) {
                        self.time |= self.leaves_of(&self.model.blocks[block], &mut work_list);
                    }
                }
                None => match self.eliminated.get(&leaf) {
                    Some(&expression) => {
                        self.time |= self.read(expression, &mut work_list);
                    }
                    None => self.note_known(leaf),
                },
            }
        }
        if let Some(first) = first {
            self.block(first);
            needed.remove(&first);
        }
        if !needed.is_empty() {
            self.line("\nwhich needs, in the order of evaluation,");
        }
        for &block in needed.iter().take(MOST_BLOCKS) {
            self.block(block);
        }
        if needed.len() > MOST_BLOCKS {
            let more = needed.len() - MOST_BLOCKS;
            self.line(&format!("... and {more} more"));
        }
        self.write_knowns();
    }

    fn note_known(&mut self, leaf: Leaf) {
        let flat = self.flat();
        let kind = match (flat.variable(leaf.variable()).kind, leaf) {
            (Kind::Auxiliary, _) => return,
            (_, Leaf::Pre(_)) => "values before an event",
            (Kind::State, _) => "states",
            (Kind::Input, _) => "inputs",
            (Kind::Parameter, _) => "parameters",
            (Kind::Constant, _) => "constants",
            (Kind::Discrete, _) => "discrete variables",
            _ => "others",
        };
        self.known_leaves
            .insert((kind, leaf.variable(), flat.leaf_name(leaf)));
    }

    fn write_knowns(&mut self) {
        if self.known_leaves.is_empty() && !self.time {
            return;
        }
        self.line("\ndown to");
        let known_leaves = std::mem::take(&mut self.known_leaves);
        let order = [
            "states",
            "discrete variables",
            "values before an event",
            "inputs",
            "parameters",
            "constants",
            "others",
        ];
        for kind in order {
            let names: Vec<&str> = (known_leaves.iter())
                .filter(|(of, ..)| *of == kind)
                .map(|(.., name)| name.as_str())
                .collect();
            if names.is_empty() {
                continue;
            }
            let shown = names[..names.len().min(MOST_BLOCKS)].join(", ");
            let more = if names.len() > MOST_BLOCKS {
                ", ..."
            } else {
                ""
            };
            self.line(&format!("  {kind} {shown}{more}"));
        }
        if self.time {
            self.line("  Time");
        }
    }

    /// Collects the leaves of an expression; returns true if it contains Time.
    fn read(&self, root: ExprId, out: &mut Vec<Leaf>) -> bool {
        let exprs = &self.flat().exprs;
        let (mut stack, mut time) = (vec![root], false);
        while let Some(id) = stack.pop() {
            match exprs.node(id) {
                Node::Leaf(leaf) => out.push(leaf),
                Node::Time => time = true,
                _ => exprs.operands(id, &mut stack),
            }
        }
        time
    }

    /// Collects the leaves that a block reads; returns true if it reads Time.
    fn leaves_of(&self, block: &Block, out: &mut Vec<Leaf>) -> bool {
        let flat = self.flat();
        let mut time = false;
        let mut read = |id: ExprId| time |= self.read(id, out);
        let mut of_assignments =
            |list: &[Assignment]| list.iter().for_each(|assignment| read(assignment.value));
        match block {
            Block::Assignment(assignment) => of_assignments(std::slice::from_ref(assignment)),
            Block::Linear(linear) => match &linear.method {
                Method::Formulas(assignments) => of_assignments(assignments),
                Method::System { matrix, right } => {
                    matrix.iter().for_each(|entry| read(entry.value));
                    right.iter().for_each(|&right| read(right));
                }
            },
            Block::Selected(selected) => {
                let residuals = selected.residuals.iter();
                residuals.for_each(|residual| read(residual.value));
            }
            Block::Nonlinear(nonlinear) => {
                of_assignments(&nonlinear.inner);
                let residuals = nonlinear.residuals.iter();
                residuals.for_each(|residual| read(residual.value));
            }
            Block::When(when) => {
                for id in &when.equations {
                    read(flat.equations[id.index()].right);
                }
                for &(condition, _) in &flat.whens[when.when.index()].conditions {
                    read(condition);
                }
            }
        }
        time
    }

    fn block(&mut self, at: usize) {
        let flat = self.flat();
        let block = &self.model.blocks[at];
        if let Block::Assignment(assignment) = block {
            let text = format!(
                "{} = {}",
                flat.leaf_name(assignment.target),
                flat.expression(assignment.value)
            );
            self.line(&text);
            block.equations().iter().for_each(|&id| self.equation(id));
            return;
        }
        let names = unknowns_in_words(flat, block);
        let how = match block {
            Block::Linear(_) => "together, from linear equations",
            Block::Nonlinear(_) => "together, by iteration",
            Block::Selected(_) => "together with states: which of them are, the run chooses",
            _ => "when its condition becomes true",
        };
        self.line(&format!("{names}, {how}"));
        self.formulas(formulas(block));
        let equations = block.equations();
        for &id in equations.iter().take(MOST_UNKNOWNS) {
            self.equation(id);
        }
        if equations.len() > MOST_UNKNOWNS {
            let more = equations.len() - MOST_UNKNOWNS;
            self.line(&format!("  ... and {more} more equations"));
        }
    }

    /// Writes the first formulas of a loop, and the one for the requested variable.
    fn formulas(&mut self, list: &[Assignment]) {
        let flat = self.flat();
        for (at, formula) in list.iter().enumerate() {
            if at == MOST_FORMULAS {
                self.line("  ...");
            }
            if at < MOST_FORMULAS || formula.target == self.requested {
                let name = flat.leaf_name(formula.target);
                let text = flat.expression(formula.value);
                self.line(&format!("  {name} = {text}"));
            }
        }
    }

    /// Writes the flat equation and its source line.
    fn equation(&mut self, id: EqId) {
        let flat = self.flat();
        let equation = &flat.equations[id.index()];
        let owner = match flat.path(equation.origin).as_str() {
            "" => flat.model().to_string(),
            path => path.to_string(),
        };
        let kind = match equation.kind {
            EquationKind::Coupling | EquationKind::Sum => ", of a connection",
            EquationKind::Reference => ", set as a reference",
            EquationKind::ZeroFlow => ", of a cut that nothing is connected to",
            _ => "",
        };
        let kind = match reduction::remark(flat, equation.kind) {
            Some(remark) => format!(", {remark}"),
            None => kind.to_string(),
        };
        let place = self.place(equation.span);
        let text = flat.equation_text(id);
        self.line(&format!("  from {text}{kind}"));
        self.line(&format!("  in {owner}, {place}"));
    }

    /// Returns a source line with its place: `rlc.bgm:12: y1 = C1.e`.
    fn place(&self, span: Span) -> String {
        let file = self.sources.file(span.file);
        let line = file.line_index(span.start as usize);
        let text = (file.line_range(line)).and_then(|range| file.text.get(range));
        format!("{}:{}: {}", file.name, line + 1, text.unwrap_or("").trim())
    }
}
