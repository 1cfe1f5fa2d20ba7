//! Large linear loops as C: the matrix by columns. Entries that are the same in every run are in a table.

use std::fmt::Write;

use super::Program;
use super::blocks::FULL;
use super::dialect::number;
use super::fill::column_order;
use super::sparse::{starts, table};
use crate::export::statements::Statements;
use crate::expr::{ExprId, Node};
use crate::numeric::numbered;
use crate::passes::blocks::{Linear, Method};

impl Program<'_> {
    pub(super) fn system_name(&self, at: usize) -> String {
        format!("MODEL_system{}_{at}", self.suffix)
    }

    /// The tables and functions of a linear loop, if it is large.
    pub(super) fn system(&mut self, at: usize, linear: &Linear) {
        let Method::System { matrix, right } = &linear.method else {
            return;
        };
        let size = linear.unknowns.len();
        if size <= FULL {
            return;
        }
        let places = matrix.iter().map(|entry| (entry.row, entry.column));
        let matrix = numbered(size, places).map(|&at| matrix[at].value);
        let pattern = matrix.map(|_| ());
        let order = column_order(&pattern);
        let name = self.system_name(at);
        let mut tables = String::from("\n/* A linear loop: its matrix by columns. */\n");
        table(&mut tables, &format!("{name}_start"), starts(&pattern));
        table(&mut tables, &format!("{name}_row"), pattern.indices());
        table(&mut tables, &format!("{name}_order"), &order);
        let mut numbers: Vec<f64> = Vec::with_capacity(matrix.nnz() + right.len());
        let places = (0..).map(|at| format!("a[{at}]"));
        let entries = matrix.data().iter().copied().zip(places);
        let places = (0..).map(|at| format!("b[{at}]"));
        for (value, place) in entries.chain(right.iter().copied().zip(places)) {
            let constant = self.constant(value);
            numbers.push(constant.unwrap_or(0.0));
            if constant.is_none() {
                let value = self.value(value);
                self.line(&format!("{place} = {};", value.text));
                self.cut();
            }
        }
        let _ = writeln!(tables, "static const double {name}_numbers[] = {{");
        for some in numbers.chunks(16) {
            let some: Vec<String> = some.iter().map(|&value| number(value).text).collect();
            let _ = writeln!(tables, "    {},", some.join(", "));
        }
        tables.push_str("};\n");
        self.file.push_str(&tables);
        let head = format!("static int {name}_fill(MODEL *m, double *a, double *b)");
        self.function("", &head, "    (void)a, (void)b;\n    return 0;\n");
        self.unpack(&linear.unknowns, "b");
        let head = format!("static int {name}_read(MODEL *m, const double *b)");
        self.function("", &head, "    return 0;\n");
        let about = self.about(&linear.equations);
        let _ = writeln!(
            self.file,
            "\nstatic const MODEL_system {name} = {{{size}, {name}_start, {name}_row, {name}_order, {name}_numbers, {name}_fill, {name}_read,\n    {about}}};",
        );
    }

    /// The value of an expression that is a number.
    fn constant(&self, id: ExprId) -> Option<f64> {
        match self.model.flat.exprs.node(id) {
            Node::Number(value) => Some(value.0),
            _ => None,
        }
    }
}
