//! A model that is not balanced, with the functions that show its equations and unknowns.

use super::Row;
use super::incidence::Columns;
use crate::base::diagnostics::Diagnostic;
use crate::base::source::Span;
use crate::expr::Node;
use crate::flat::{EqId, Equation, EquationKind, Flat, InstanceId, Leaf, Printer, Role, VarId};
use crate::structure::Incidence;

/// The model and its pattern, by rows and by columns.
pub struct Case<'a> {
    pub flat: &'a Flat,
    pub rows: &'a [Row],
    pub columns: &'a Columns,
    pub pattern: &'a Incidence,
    /// The rows of each column.
    pub uses: Incidence,
    /// For each instance, the range of its variables.
    runs: Vec<std::ops::Range<u32>>,
}

impl<'a> Case<'a> {
    pub fn new(
        flat: &'a Flat,
        rows: &'a [Row],
        columns: &'a Columns,
        pattern: &'a Incidence,
    ) -> Self {
        let mut runs = vec![0..0; flat.instances.len()];
        for (at, variable) in (0u32..).zip(&flat.variables) {
            let run = &mut runs[variable.instance.index()];
            if run.start == run.end {
                run.start = at;
            }
            run.end = at + 1;
        }
        Case {
            flat,
            rows,
            columns,
            pattern,
            uses: pattern.transposed(),
            runs,
        }
    }

    /// The unknowns among the variables of one instance.
    pub fn own_columns(&self, instance: InstanceId) -> impl Iterator<Item = u32> {
        let run = self.runs[instance.index()].clone();
        run.filter_map(|variable| self.columns.of_variable(VarId(variable)))
    }

    /// The equation of a row; for a `when` the one in its first branch.
    pub fn equation_id(&self, row: u32) -> EqId {
        match &self.rows[row as usize] {
            Row::Equation(id) => *id,
            Row::When(_, ids) => ids.first().copied().unwrap_or(EqId(0)),
            // Only models as written are reported, and these have no selections.
            Row::Selection(_) => EqId(0),
        }
    }

    pub fn equation(&self, row: u32) -> &Equation {
        &self.flat.equations[self.equation_id(row).index()]
    }

    pub fn origin(&self, row: u32) -> InstanceId {
        self.equation(row).origin
    }

    /// Whether a connection, or a missing connection, made the equation.
    pub fn is_from_connection(&self, row: u32) -> bool {
        let kind = self.equation(row).kind;
        matches!(
            kind,
            EquationKind::Coupling
                | EquationKind::Sum
                | EquationKind::ZeroFlow
                | EquationKind::Reference
        )
    }

    /// The variable that is alone on the left side.
    pub fn target(&self, row: u32) -> Option<VarId> {
        match self.flat.exprs.node(self.equation(row).left) {
            Node::Leaf(leaf) => Some(leaf.variable()),
            _ => None,
        }
    }

    /// How many equations and connections of its own model contain an unknown.
    pub fn uses_inside(&self, column: u32) -> usize {
        let instance = self.instance(column);
        (self.uses.row(column).iter())
            .filter(|&&(row, _)| self.origin(row) == instance)
            .count()
    }

    /// Whether an equation has the unknown, or its derivative, alone on the left side.
    pub fn is_defined(&self, column: u32) -> bool {
        (self.uses.row(column).iter()).any(|&(row, _)| {
            !self.is_from_connection(row) && self.target(row) == Some(self.variable(column))
        })
    }

    pub fn variable(&self, column: u32) -> VarId {
        self.columns.leaf(column).variable()
    }

    pub fn instance(&self, column: u32) -> InstanceId {
        self.flat.variable(self.variable(column)).instance
    }

    pub fn role(&self, column: u32) -> Role {
        self.flat.declaration(self.variable(column)).role
    }

    /// The name in the model: `` `U1.e` ``, `` `new(x)` ``.
    pub fn name(&self, column: u32) -> String {
        let leaf = self.columns.leaf(column);
        let name = self.flat.name(leaf.variable());
        match leaf {
            Leaf::New(_) => format!("`new({name})`"),
            _ => format!("`{name}`"),
        }
    }

    /// The name in its own type: `` `e` ``.
    pub fn local_name(&self, column: u32) -> String {
        let mut name = String::new();
        (self.flat).write_name(self.variable(column), self.instance(column), &mut name);
        format!("`{name}`")
    }

    /// The path of an instance: `` `U1` ``.
    pub fn path(&self, instance: InstanceId) -> String {
        format!("`{}`", self.flat.path(instance))
    }

    /// The type of an instance: `` `SE` ``.
    pub fn type_name(&self, instance: InstanceId) -> String {
        let class = self.flat.instances[instance.index()].class;
        format!("`{}`", self.flat.names.name(class))
    }

    pub fn submodel_span(&self, instance: InstanceId) -> Span {
        self.flat.instances[instance.index()].span
    }

    pub fn text(&self, row: u32) -> String {
        let equation = self.equation(row);
        let printer = Printer::new(self.flat);
        let mut text = String::new();
        printer.write(equation.left, &mut text);
        text.push_str(" = ");
        printer.write(equation.right, &mut text);
        shortened(text)
    }

    /// Several names: `` `a`, `b` and 3 more ``.
    pub fn names(&self, columns: &[u32]) -> String {
        listed(columns, |column| self.name(column))
    }

    /// The place where an equation is shown: its own in the source, or for an equation of another file that of the
    /// submodel.
    fn place(&self, row: u32) -> Span {
        let file = self.flat.instances[0].span.file;
        let equation = self.equation(row);
        let mut span = equation.span;
        let mut at = equation.origin;
        while span.file != file && at != InstanceId::TOP {
            span = self.submodel_span(at);
            at = self.flat.instances[at.index()].parent;
        }
        span
    }

    /// Adds labels for equations: first those of the model itself, last those of connections. If there are very many,
    /// only those of the model itself are shown, which are most probably wrong.
    pub fn with_equations(&self, rows: &[u32], mut diagnostic: Diagnostic) -> Diagnostic {
        const SHOWN: usize = 7;
        let first = diagnostic.labels.len();
        let mut rows = rows.to_vec();
        rows.sort_by_key(|&row| {
            let outer = self.origin(row) != InstanceId::TOP;
            (self.is_from_connection(row), outer, self.equation_id(row))
        });
        let own = |row: u32| self.origin(row) == InstanceId::TOP && !self.is_from_connection(row);
        let only_own = rows.len() > FEW && rows.iter().any(|&row| own(row));
        let mut hidden: Vec<u32> = Vec::new();
        for &row in &rows {
            let span = self.place(row);
            let text = match self.equation(row).kind {
                EquationKind::ZeroFlow => format!("not connected: {}", self.text(row)),
                _ => self.text(row),
            };
            let labels = &mut diagnostic.labels;
            let known = (first..labels.len()).find(|&at| labels[at].span == span);
            match known {
                _ if only_own && !own(row) => hidden.push(row),
                // Several equations have the same place: they belong to one submodel or one connection.
                Some(at) if labels[at].text.len() + text.len() < 70 => {
                    labels[at].text.push_str(", ");
                    labels[at].text.push_str(&text);
                }
                None if labels.len() < SHOWN => diagnostic = diagnostic.at(span, text),
                _ => hidden.push(row),
            }
        }
        if hidden.is_empty() {
            return diagnostic;
        }
        let more = crate::base::words::count(hidden.len(), "more equation");
        let made = hidden
            .iter()
            .filter(|&&row| self.is_from_connection(row))
            .count();
        diagnostic.note(match made {
            0 => format!("and {more}"),
            _ if made == hidden.len() => format!("and {more}, of connections"),
            _ => format!("and {more}, of submodels and connections"),
        })
    }
}

/// The most equations or unknowns that are listed.
pub const FEW: usize = 10;

/// A list: `` `a`, `b` and `c` ``. Of a long list only the first elements are named.
pub fn listed<T: Copy>(items: &[T], name: impl Fn(T) -> String) -> String {
    const SHOWN: usize = 6;
    let some = match items.len() {
        0..=SHOWN => items,
        _ => &items[..SHOWN - 1],
    };
    let mut names: Vec<String> = some.iter().map(|&item| name(item)).collect();
    if some.len() < items.len() {
        names.push(format!("{} more", items.len() - some.len()));
    }
    match names.pop() {
        Some(last) if !names.is_empty() => format!("{} and {last}", names.join(", ")),
        last => last.unwrap_or_default(),
    }
}

fn shortened(text: String) -> String {
    const MOST: usize = 100;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} ...", &text[..end]),
        None => text,
    }
}
